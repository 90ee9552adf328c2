//! SIGNL4, by a team's webhook: <https://docs.signl4.com/integrations/webhook/webhook.html>.
//!
//! What is in the body becomes the alert's text; fields that begin with `X-S4-`
//! steer it. An alert is closed by its external id and the status `resolved`. A
//! test opens an alert of its own and closes it. No length is given for that id; it has
//! what others take.

use super::{HttpRequest, below, document};
use crate::words::{cut, facts, headline, known_by};
use model::{Notification, NotificationState};
use url::Url;

pub fn requests(endpoint: &Url, secret: &str, notification: &Notification) -> Vec<HttpRequest> {
    let url = below(endpoint, &["webhook", secret]);
    let event = |status: &str| {
        let mut body = document(facts(notification));
        let mut set = |name: &str, value: String| body.insert(name.into(), value.into());
        set("Title", cut(&headline(notification), 250));
        set("Message", cut(&notification.message, 10_000));
        set("X-S4-ExternalID", known_by(notification, 255));
        set("X-S4-Status", status.into());
        set("X-S4-SourceSystem", "Castellan".into());
        HttpRequest::json(url.clone(), &body.into())
    };
    match notification.state {
        NotificationState::Triggered | NotificationState::Reminder => vec![event("new")],
        NotificationState::Resolved => vec![event("resolved")],
        NotificationState::Test => vec![event("new"), event("resolved")],
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{recipient, shown_in_every_state};
    use model::RecipientType;

    #[test]
    fn bodies_in_every_state() {
        let recipient = recipient(RecipientType::Signl4, "x3j7a9k2");
        insta::assert_snapshot!("signl4", shown_in_every_state(&recipient));
    }
}
