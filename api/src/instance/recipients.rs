//! `/api/alarms/recipients`.

use crate::about::{About, Input};
use crate::answer::{Answer, SecretJson};
use crate::auth::{Changing, Seeing};
use crate::body::{Body, Fields};
use crate::path::RecipientPath;
use app::Right;
use app::recipients::{self, RESPONDERS, RecipientFields, Tested};
use axum::Json;
use axum::http::StatusCode;
use model::{RecipientOptions, RecipientType, Responder, Secret, Timestamp};
use web::error::Failure;
use wire::alarms::{LastStatus, Recipient};
use wire::customer::Message;

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

fn example_fields() -> wire::alarms::RecipientFields {
    wire::alarms::RecipientFields {
        kind: "email".into(),
        value: Secret::new("ops@example.com"),
        name: Some("Ops".into()),
        options: None,
    }
}

/// `GET /api/alarms/recipients`.
pub async fn list(Seeing(access, app): Seeing) -> Result<SecretJson<Vec<Recipient>>, Failure> {
    let found = recipients::list(&access, &app).await?;
    Ok(SecretJson(found.iter().map(document).collect()))
}

pub fn about_list() -> About {
    About::new("List whom alarms are told to").needs(Right::SeeInstances).list("By id", example())
}

/// `POST /api/alarms/recipients`.
pub async fn create(
    Changing(access, app): Changing,
    body: Body,
) -> Result<(StatusCode, SecretJson<Recipient>), Failure> {
    let recipient = recipients::create(&access, &app, body.ask(asked)).await?;
    Ok((StatusCode::CREATED, SecretJson(whole(&recipient))))
}

pub fn about_create() -> About {
    let about = About::new("Have alarms told to somebody")
        .needs(Right::ChangeInstances)
        .body(&FIELDS, &example_fields());
    with_values(about).created_json("The recipient", &example())
}

/// `GET /api/alarms/recipients/<id>`.
pub async fn read(
    Seeing(access, app): Seeing,
    RecipientPath(id): RecipientPath,
) -> Result<SecretJson<Recipient>, Failure> {
    Ok(SecretJson(document(&recipients::read(&access, &app, id).await?)))
}

pub fn about_read() -> About {
    About::new("Read a recipient, and how telling them went the last time")
        .needs(Right::SeeInstances)
        .json("The recipient", &example())
}

/// `PUT /api/alarms/recipients/<id>`.
pub async fn update(
    Changing(access, app): Changing,
    RecipientPath(id): RecipientPath,
    body: Body,
) -> Result<SecretJson<Recipient>, Failure> {
    let recipient = recipients::update(&access, &app, id, body.ask(asked)).await?;
    Ok(SecretJson(whole(&recipient)))
}

pub fn about_update() -> About {
    let about = About::new("Change a recipient; name and options stay if not given")
        .needs(Right::ChangeInstances)
        .body(&FIELDS, &example_fields());
    with_values(about).json("The recipient as it is now", &example())
}

/// `POST /api/alarms/recipients/<id>/test`.
pub async fn test(
    Changing(access, app): Changing,
    RecipientPath(id): RecipientPath,
) -> Answer<Message> {
    let tested = recipients::test(&access, &app, id).await?;
    Ok(Json(done(&tested)))
}

fn done(tested: &Tested) -> Message {
    let message = match tested {
        Tested::Sent => "A test is on its way; last_status tells what became of it",
        Tested::LinkSent => {
            "The address is not confirmed yet; a mail with a link is on its way instead of a test"
        }
    };
    Message { message: message.into() }
}

pub fn about_test() -> About {
    About::new("Send a test")
        .needs(Right::ChangeInstances)
        .refuses("waiting for confirmation: a mail with a link went to ops@example.com")
        .json("It is on its way", &done(&Tested::Sent))
}

/// `DELETE /api/alarms/recipients/<id>`. A body is let through and not looked at.
pub async fn delete(
    Changing(access, app): Changing,
    RecipientPath(id): RecipientPath,
) -> Result<StatusCode, Failure> {
    recipients::delete(&access, &app, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_delete() -> About {
    About::new("Delete a recipient, who leaves every alarm's list").needs(Right::ChangeInstances)
}
