//! A customer's own address. The body is the notification, with the fields that
//! are documented; where the recipient has a secret, its receiver can tell that it
//! came from here and when.

use super::HttpRequest;
use hmac::{Hmac, KeyInit as _, Mac as _};
use model::{Notification, Secret, Timestamp};
use reqwest::header::HeaderName;
use sha2::Sha256;
use std::fmt::Write as _;
use url::Url;

const TIMESTAMP: HeaderName = HeaderName::from_static("x-castellan-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("x-castellan-signature");

pub fn request(
    url: Url,
    secret: Option<&Secret>,
    notification: &Notification,
    now: Timestamp,
) -> Option<HttpRequest> {
    let document = Notification { maintenance: None, expiring: None, ..notification.clone() };
    let body = serde_json::to_vec(&document).expect("plain data serialises");
    let timestamp = now.as_second().to_string();
    let signature = secret.map(|secret| signature(secret, &timestamp, &body));
    let request = HttpRequest::new(url, body).header(TIMESTAMP, &timestamp)?;
    match signature {
        Some(signature) => request.header(SIGNATURE, &signature),
        None => Some(request),
    }
}

/// Of time and body together, so that neither can be taken for another's.
fn signature(secret: &Secret, timestamp: &str, body: &[u8]) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes());
    let mut mac = mac.expect("a key of any length will do");
    mac.update(timestamp.as_bytes());
    mac.update(b".");
    mac.update(body);
    let mut text = "sha256=".to_owned();
    for byte in mac.finalize().into_bytes() {
        write!(text, "{byte:02x}").expect("a string takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::samples::{bodies, notice, recipient, shown_in_every_state, triggered};
    use super::*;
    use model::{Maintenance, RecipientType};

    #[test]
    fn bodies_in_every_state() {
        let mut recipient = recipient(RecipientType::Webhook, "https://hooks.example.com/a?b=c");
        recipient.options.secret = Some(Secret::new("hunter2"));
        insta::assert_snapshot!("webhook", shown_in_every_state(&recipient));
    }

    #[test]
    fn a_notice_has_the_fields_of_everything_else() {
        let recipient = recipient(RecipientType::Webhook, "https://hooks.example.com/a");
        let fields = |notification: &Notification| {
            let body = bodies(&recipient, notification).remove(0);
            body.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(fields(&notice(1, Maintenance::Planned)), fields(&triggered()));
    }

    #[test]
    fn a_group_is_named() {
        let recipient = recipient(RecipientType::Webhook, "https://hooks.example.com/a");
        let group = Some("billing".to_owned());
        let told = Notification { server: None, group, ..triggered() };
        assert_eq!(bodies(&recipient, &told)[0]["group"], "billing");
    }

    #[test]
    fn without_a_secret_nothing_is_signed() {
        let recipient = recipient(RecipientType::Webhook, "https://hooks.example.com/a");
        let shown = shown_in_every_state(&recipient);
        assert!(shown.contains("x-castellan-timestamp: 1794745800"), "{shown}");
        assert!(!shown.contains("x-castellan-signature"), "{shown}");
    }

    #[test]
    fn signatures_are_those_of_everybody_else() {
        // Python: hmac.new(b"key", b"1794745800.{}", "sha256").hexdigest()
        let expected = "sha256=56bc5e8664f9b6cd4e66340802672928810162f1927ba57a2953977be6f26321";
        assert_eq!(signature(&Secret::new("key"), "1794745800", b"{}"), expected);
    }
}
