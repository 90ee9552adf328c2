//! `/api/alarms/recipients`.

pub mod create;
pub mod delete;
pub mod list;
pub mod read;
pub mod test;
pub mod update;

use crate::body::Fields;
use crate::openapi::{About, Input};
use app::recipients::{RESPONDERS, RecipientFields};
use model::{RecipientOptions, RecipientType, Responder, Secret, Timestamp};
use wire::alarms::{LastStatus, Recipient};

/// What a read shows: no options before the first update.
fn document(recipient: &model::Recipient) -> Recipient {
    let shown = recipient.updated.then(|| recipient.options.clone());
    Recipient { options: shown, ..whole(recipient) }
}

/// What a create and an update answer.
fn whole(recipient: &model::Recipient) -> Recipient {
    let last_status = recipient.last_status.clone();
    Recipient {
        id: recipient.id.0,
        kind: recipient.kind.to_string(),
        value: recipient.value.clone(),
        name: recipient.name.clone(),
        options: Some(recipient.options.clone()),
        last_status: last_status.map(|it| LastStatus { at: it.at, ok: it.ok, message: it.message }),
    }
}

fn asked(fields: &mut Fields) -> RecipientFields {
    RecipientFields {
        kind: fields.text("type"),
        value: fields.text("value"),
        name: fields.text("name"),
        options: fields.object("options", options),
    }
}

fn options(fields: &mut Fields) -> RecipientOptions {
    RecipientOptions {
        dedupkey: fields.text("dedupkey"),
        rk: fields.text("rk"),
        responders: fields.objects("responders", responder),
        secret: fields.text("secret").map(Secret::new),
    }
}

fn responder(fields: &mut Fields) -> Responder {
    Responder {
        kind: fields.text("type").unwrap_or_default(),
        id: fields.text("id"),
        name: fields.text("name"),
        username: fields.text("username"),
    }
}

const FIELDS: [Input; 4] = [
    Input::text("type", "How they are told").one_of(types).required(),
    Input::text("value", VALUE).required().at_most(2048),
    Input::plain("name", "Its first letter becomes a capital").at_most(128),
    Input::object("options", "Each type takes its own", &OPTIONS),
];

const OPTIONS: [Input; 4] = [
    Input::plain("dedupkey", "pagerduty: one incident for all alarms").at_most(128),
    Input::text("rk", "victorops: the routing key")
        .at_most(128)
        .like("^([A-Za-z0-9 _-][A-Za-z0-9 ._-]*)?$"),
    Input::objects("responders", "opsgenie: who is called", &RESPONDER).items(0, 50),
    Input::text("secret", "webhook: bodies are signed with it").at_most(1024),
];

const RESPONDER: [Input; 4] = [
    Input::text("type", "What is called").one_of(responders).required(),
    Input::text("id", "By which Opsgenie knows it").at_most(128),
    Input::text("name", "Or its name").at_most(128),
    Input::text("username", "Or, of a user, the e-mail").at_most(128),
];

fn types() -> Vec<&'static str> {
    RecipientType::ALL.iter().map(|kind| kind.as_str()).collect()
}

fn responders() -> Vec<&'static str> {
    RESPONDERS.to_vec()
}

/// What each type wants as its value.
fn with_values(about: About) -> About {
    RecipientType::ALL.iter().fold(about, |about, kind| {
        let value = match kind {
            RecipientType::Email => Input::email("value", "An address"),
            RecipientType::Webhook | RecipientType::Slack | RecipientType::Teams => {
                let url =
                    Input::text("value", "An address").like("^[Hh][Tt][Tt][Pp][Ss]?://[!-~]+$");
                url.such_as("https://hooks.example.com/alarms")
            }
            RecipientType::Pagerduty
            | RecipientType::Opsgenie
            | RecipientType::OpsgenieEu
            | RecipientType::Victorops
            | RecipientType::Signl4 => {
                let key =
                    Input::text("value", "A key").like("^[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}$");
                key.such_as("4bf92f3577b34da6")
            }
        };
        about.when("type", &[kind.as_str()], &[value])
    })
}

const VALUE: &str = "An e-mail address; the address of a webhook; the key of an integration";

fn example() -> Recipient {
    let at = Timestamp::constant(1_794_744_000, 0);
    Recipient {
        id: 2,
        kind: "email".into(),
        value: Secret::new("ops@example.com"),
        name: "Ops".into(),
        options: Some(RecipientOptions::default()),
        last_status: Some(LastStatus { at, ok: true, message: "delivered".into() }),
    }
}

fn example_fields() -> RecipientFields {
    wire::alarms::RecipientFields {
        kind: "email".into(),
        value: Secret::new("ops@example.com"),
        name: Some("Ops".into()),
        options: None,
    }
}
