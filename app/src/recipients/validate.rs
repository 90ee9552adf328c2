//! Whether somebody can be told like that.

use crate::{App, Error, Problems, Result};
use model::{Recipient, RecipientOptions, RecipientType, Responder, Secret};
use store::NewRecipient;

/// Characters of a name, a key of an option.
const LENGTH: usize = 128;
const MOST_RESPONDERS: usize = 50;
/// What Opsgenie knows.
pub const RESPONDERS: [&str; 4] = ["team", "user", "escalation", "schedule"];

/// What may be said of a recipient, as sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RecipientFields {
    pub kind: Option<String>,
    pub value: Option<String>,
    pub name: Option<String>,
    pub options: Option<RecipientOptions>,
}

/// The recipient that these fields describe, `before` being what it was.
pub async fn validate(
    app: &App,
    fields: RecipientFields,
    mut problems: Problems,
    before: Option<&Recipient>,
) -> Result<NewRecipient> {
    let kind = kind(&fields, &mut problems);
    let value = problems.required("value", fields.value);
    if let (Some(kind), Some(value)) = (kind, &value) {
        problems.take("value", kind.check(value));
    }
    let name = match fields.name {
        Some(name) => capitalised(&name),
        None => before.map(|before| before.name.clone()).unwrap_or_default(),
    };
    if name.chars().count() > LENGTH || name.chars().any(char::is_control) {
        problems.add("name", format!("must be at most {LENGTH} characters of text"));
    }
    let sent = fields.options.as_ref();
    // Also those of other types, which are dropped.
    check_options(sent.unwrap_or(&RecipientOptions::default()), &mut problems);
    let kept = before.filter(|before| sent.is_none() && Some(before.kind) == kind);
    let options = match kept {
        Some(before) => before.options.clone(),
        None => kind.map(|kind| own(kind, sent.cloned().unwrap_or_default())).unwrap_or_default(),
    };
    problems.finish()?;
    let (Some(kind), Some(value)) = (kind, value) else {
        return Err(Error::field("value", "Field is required"));
    };
    if let Some(url) = kind.url(&value)
        && let Err(reason) = app.destinations.may_call(&url).await
    {
        return Err(Error::field("value", reason));
    }
    Ok(NewRecipient { kind, value: Secret::new(value), name, options })
}

fn kind(fields: &RecipientFields, problems: &mut Problems) -> Option<RecipientType> {
    let given = problems.required("type", fields.kind.as_deref())?;
    let kind = given.parse();
    if kind.is_err() {
        let all: Vec<&str> = RecipientType::ALL.iter().map(|kind| kind.as_str()).collect();
        problems.add("type", format!("must be one of {}", all.join(", ")));
    }
    kind.ok()
}

/// Those that the type has; others say nothing to it.
fn own(kind: RecipientType, sent: RecipientOptions) -> RecipientOptions {
    let none = RecipientOptions::default();
    match kind {
        RecipientType::Pagerduty => RecipientOptions { dedupkey: sent.dedupkey, ..none },
        RecipientType::Victorops => RecipientOptions { rk: sent.rk, ..none },
        RecipientType::Opsgenie | RecipientType::OpsgenieEu => {
            RecipientOptions { responders: sent.responders, ..none }
        }
        RecipientType::Webhook => RecipientOptions { secret: sent.secret, ..none },
        _ => none,
    }
}

fn check_options(options: &RecipientOptions, problems: &mut Problems) {
    let plain = |text: &str| text.chars().count() <= LENGTH && !text.chars().any(char::is_control);
    let in_path = |text: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
        plain(text) && text.chars().all(fits) && !text.starts_with('.')
    };
    if options.dedupkey.as_deref().is_some_and(|key| !plain(key)) {
        problems.add("options", "has a dedupkey that is too long or no plain text");
    }
    if options.rk.as_deref().is_some_and(|key| !in_path(key)) {
        problems.add("options", "has an rk that is no routing key: letters, digits, - and _");
    }
    let secret = options.secret.as_ref().map(Secret::expose);
    if secret.is_some_and(|secret| secret.len() > 1024) {
        problems.add("options", "has a secret of more than 1024 bytes");
    }
    let responders = options.responders.as_deref().unwrap_or_default();
    if responders.len() > MOST_RESPONDERS || !responders.iter().all(is_responder) {
        let what = format!(
            "has responders that are none: at most {MOST_RESPONDERS}, each with a type ({}) and \
             an id, a name or a username",
            RESPONDERS.join(", ")
        );
        problems.add("options", what);
    }
}

fn is_responder(responder: &Responder) -> bool {
    let named = [&responder.id, &responder.name, &responder.username];
    let short = named.iter().all(|it| it.as_ref().is_none_or(|it| it.len() <= LENGTH));
    RESPONDERS.contains(&responder.kind.as_str()) && named.iter().any(|it| it.is_some()) && short
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_begins_with_a_capital() {
        let check = |name: &str, expected: &str| assert_eq!(capitalised(name), expected);
        check("ops", "Ops");
        check("", "");
        check("ölberg", "Ölberg");
        check("OPS team", "OPS team");
    }

    #[test]
    fn a_type_has_its_own_options() {
        let all = RecipientOptions {
            dedupkey: Some("d".into()),
            rk: Some("r".into()),
            responders: Some(vec![]),
            secret: Some(Secret::new("s")),
        };
        let check = |kind, expected: &str| {
            let options = own(kind, all.clone());
            assert_eq!(serde_json::to_string(&options).unwrap(), expected);
        };
        check(RecipientType::Email, "{}");
        check(RecipientType::Slack, "{}");
        check(RecipientType::Pagerduty, r#"{"dedupkey":"d"}"#);
        check(RecipientType::Victorops, r#"{"rk":"r"}"#);
        check(RecipientType::OpsgenieEu, r#"{"responders":[]}"#);
        check(RecipientType::Webhook, r#"{"secret":"s"}"#);
    }
}
