//! Microsoft Teams, by the webhook of a workflow: a message with an Adaptive
//! Card, which is answered with 202. The whole may have 28 KB.
//! <https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook>
//!
//! All text is in runs: text blocks and fact sets read Markdown, so that a name
//! could become a link there.

use super::HttpRequest;
use crate::words::{cut, facts, headline};
use model::{Notification, NotificationState};
use serde_json::{Value, json};
use url::Url;

pub fn request(url: Url, notification: &Notification) -> HttpRequest {
    let headline = cut(&headline(notification), 300);
    let title = json!({
        "type": "TextRun",
        "text": headline,
        "size": "Large",
        "weight": "Bolder",
        "color": colour(notification.state),
    });
    let mut body = vec![line(&[title]), line(&[plain(&cut(&notification.message, 4000))])];
    for (name, fact) in facts(notification) {
        let name = json!({"type": "TextRun", "text": format!("{name}: "), "weight": "Bolder"});
        body.push(line(&[name, plain(&cut(&fact, 500))]));
    }
    let card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "fallbackText": headline,
        "msteams": {"width": "Full"},
        "body": body,
    });
    let body = json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "contentUrl": null,
            "content": card,
        }],
    });
    HttpRequest::json(url, &body)
}

fn line(runs: &[Value]) -> Value {
    json!({"type": "RichTextBlock", "spacing": "Small", "inlines": runs})
}

fn plain(text: &str) -> Value {
    json!({"type": "TextRun", "text": text})
}

/// Named by the client's theme.
fn colour(state: NotificationState) -> &'static str {
    match state {
        NotificationState::Triggered => "Attention",
        NotificationState::Reminder => "Warning",
        NotificationState::Resolved => "Good",
        NotificationState::Test => "Accent",
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{bodies, hostile, recipient, shown_in_every_state};
    use model::RecipientType;

    const URL: &str = "https://prod-1.westeurope.logic.azure.com/workflows/x?sig=y";

    #[test]
    fn bodies_in_every_state() {
        let recipient = recipient(RecipientType::Teams, URL);
        insta::assert_snapshot!("teams", shown_in_every_state(&recipient));
    }

    #[test]
    fn the_longest_message_fits() {
        let body = bodies(&recipient(RecipientType::Teams, URL), &hostile());
        let length = body[0].to_string().len();
        assert!((4000..28_000).contains(&length), "{length}");
    }
}
