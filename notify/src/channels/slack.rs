//! Slack's incoming webhooks: <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>.
//!
//! `text` is for notifications, where blocks are not shown. Colour is something
//! only attachments have, and they may hold blocks. Lengths: 150 characters in a
//! header, 3,000 in a section, 2,000 in a field, ten fields, 40,000 in a text.

use super::HttpRequest;
use crate::words::{facts, headline};
use model::{Notification, NotificationState};
use serde_json::{Value, json};
use url::Url;

pub fn request(url: Url, notification: &Notification) -> HttpRequest {
    let headline = headline(notification);
    let fields: Vec<Value> = facts(notification)
        .iter()
        .take(10)
        .map(|(name, fact)| marked(&format!("*{name}*\n{}", escaped(fact, 1900))))
        .collect();
    let origin = format!("Castellan, instance {}", notification.instance_id);
    let body = json!({
        "text": escaped(&headline, 3000),
        "blocks": [{
            "type": "header",
            "text": {"type": "plain_text", "text": escaped(&headline, 150), "emoji": false},
        }],
        "attachments": [{
            "color": colour(notification.state),
            "blocks": [
                {"type": "section", "text": marked(&escaped(&notification.message, 3000))},
                {"type": "section", "fields": fields},
                {"type": "context", "elements": [marked(&origin)]},
            ],
        }],
    });
    HttpRequest::json(url, &body)
}

/// Verbatim: nothing in it becomes a link or calls a person by itself.
fn marked(text: &str) -> Value {
    json!({"type": "mrkdwn", "text": text, "verbatim": true})
}

fn colour(state: NotificationState) -> &'static str {
    match state {
        NotificationState::Triggered => "#d32f2f",
        NotificationState::Reminder => "#f57c00",
        NotificationState::Resolved => "#388e3c",
        NotificationState::Test => "#1976d2",
    }
}

/// The three characters that Slack wants escaped; never cut within one. An
/// empty text would be refused.
fn escaped(text: &str, characters: usize) -> String {
    let mut escaped = String::new();
    let mut length = 0;
    let mut buffer = [0; 4];
    for character in text.chars() {
        let written = match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            _ => character.encode_utf8(&mut buffer),
        };
        length += written.chars().count();
        if length > characters {
            break;
        }
        escaped += written;
    }
    if escaped.is_empty() { "-".into() } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{bodies, hostile, recipient, shown_in_every_state};
    use super::*;
    use model::RecipientType;

    const URL: &str = "https://hooks.slack.com/services/T0/B0/x";

    #[test]
    fn bodies_in_every_state() {
        let recipient = recipient(RecipientType::Slack, URL);
        insta::assert_snapshot!("slack", shown_in_every_state(&recipient));
    }

    #[test]
    fn names_call_nobody_and_texts_fit() {
        let body = &bodies(&recipient(RecipientType::Slack, URL), &hostile())[0];
        let text = body.to_string();
        assert!(!text.contains('<') && !text.contains('>'), "{text}");
        assert!(text.contains("&lt;!channel&gt;"), "{text}");
        let length =
            |pointer: &str| body.pointer(pointer).unwrap().as_str().unwrap().chars().count();
        assert!(length("/blocks/0/text/text") <= 150);
        assert!((2990..=3000).contains(&length("/attachments/0/blocks/0/text/text")));
    }

    #[test]
    fn an_escaped_character_is_whole() {
        let check = |text: &str, characters: usize, expected: &str| {
            assert_eq!(escaped(text, characters), expected);
        };
        check("a<b>&c", 100, "a&lt;b&gt;&amp;c");
        check("a<b", 4, "a");
        check("a<b", 5, "a&lt;");
        check("Söhne", 2, "Sö");
        check("", 2, "-");
    }
}
