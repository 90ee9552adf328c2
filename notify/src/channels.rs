//! What each channel sends: a recipient and a notification become
//! calls. Pure; `egress` makes the calls. Each file says what its service
//! documents, and keeps to the lengths that are given there.

pub mod email;
mod opsgenie;
mod pagerduty;
#[cfg(test)]
pub mod samples;
mod signl4;
mod slack;
mod teams;
mod victorops;
mod webhook;

use crate::settings::Endpoints;
use egress::HttpRequest;
use model::{Notification, Recipient, RecipientType, Timestamp};
use serde_json::{Map, Value};
use url::Url;

/// What to call, in this order; none: the recipient's value is not of its type.
/// `now` is when it is called.
pub fn requests(
    endpoints: &Endpoints,
    recipient: &Recipient,
    notification: &Notification,
    now: Timestamp,
) -> Option<Vec<HttpRequest>> {
    let value = recipient.value.expose();
    recipient.kind.check(value).ok()?;
    let options = &recipient.options;
    let own = || recipient.kind.url(value);
    match recipient.kind {
        RecipientType::Email => None,
        RecipientType::Webhook => {
            let request = webhook::request(own()?, options.secret.as_ref(), notification, now)?;
            Some(vec![request])
        }
        RecipientType::Slack => Some(vec![slack::request(own()?, notification)]),
        RecipientType::Teams => Some(vec![teams::request(own()?, notification)]),
        RecipientType::Pagerduty => {
            Some(pagerduty::requests(&endpoints.pagerduty, value, options, notification))
        }
        RecipientType::Opsgenie => {
            opsgenie::requests(&endpoints.opsgenie, value, options, notification)
        }
        RecipientType::OpsgenieEu => {
            opsgenie::requests(&endpoints.opsgenie_eu, value, options, notification)
        }
        RecipientType::Victorops => {
            let request = victorops::request(&endpoints.victorops, value, options, notification);
            Some(vec![request])
        }
        RecipientType::Signl4 => Some(signl4::requests(&endpoints.signl4, value, notification)),
    }
}

/// A path below an endpoint. Segments are escaped, so a key stays one.
fn below(endpoint: &Url, segments: &[&str]) -> Url {
    let mut url = endpoint.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    url
}

/// Facts as a document, to which more may be added.
fn document(facts: Vec<(&'static str, String)>) -> Map<String, Value> {
    facts.into_iter().map(|(name, fact)| (name.to_owned(), fact.into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Maintenance, NotificationState};

    #[test]
    fn a_pager_takes_no_notice_for_another() {
        for (kind, key) in [
            (RecipientType::Pagerduty, "dedup_key"),
            (RecipientType::Opsgenie, "alias"),
            (RecipientType::Victorops, "entity_id"),
            (RecipientType::Signl4, "X-S4-ExternalID"),
        ] {
            let recipient = samples::recipient(kind, "k3y");
            let [one, same, other] = [1, 1, 2].map(|number| {
                let notice = samples::notice(number, Maintenance::Emergency);
                samples::bodies(&recipient, &notice).remove(0)[key].clone()
            });
            assert!(one.is_string(), "{kind}: {one}");
            assert_eq!(one, same, "{kind}: the same one is sent again");
            assert_ne!(one, other, "{kind}");
        }
    }

    /// Kafka sets no bound to the names of groups, and services do.
    #[test]
    fn a_pager_takes_no_group_for_another_that_begins_alike() {
        for (kind, key, most) in [
            (RecipientType::Pagerduty, "dedup_key", 255),
            (RecipientType::Opsgenie, "alias", 512),
            (RecipientType::Victorops, "entity_id", 512),
            (RecipientType::Signl4, "X-S4-ExternalID", 255),
        ] {
            let recipient = samples::recipient(kind, "k3y");
            let known_by = |group: &str| {
                let body = samples::bodies(&recipient, &samples::behind(group)).remove(0);
                body[key].as_str().unwrap().to_owned()
            };
            let alike = "ö".repeat(600);
            let [one, same, other] = ["a", "a", "b"].map(|end| known_by(&format!("{alike}{end}")));
            assert!(one.starts_with("castellan-7-3-öö"), "{kind}: {one}");
            assert_eq!((one.chars().count(), &one), (most, &same), "{kind}");
            assert_ne!(one, other, "{kind}");
            assert_eq!(known_by("billing"), "castellan-7-3-billing", "{kind}");
        }
    }

    /// Whoever is told by a pager of a disk that is nearly full has it closed when there
    /// is room again.
    #[test]
    fn a_disk_that_has_room_again_closes_what_it_opened() {
        for (kind, key) in [
            (RecipientType::Pagerduty, "dedup_key"),
            (RecipientType::Victorops, "entity_id"),
            (RecipientType::Signl4, "X-S4-ExternalID"),
        ] {
            let mut recipient = samples::recipient(kind, "k3y");
            // It is no alarm that others could be hidden behind.
            recipient.options.dedupkey = Some("ours".into());
            let states = [NotificationState::Triggered, NotificationState::Resolved];
            let [began, ended] = states.map(|state| {
                let told = Notification { state, ..samples::nearly_full() };
                samples::bodies(&recipient, &told).remove(0)
            });
            assert_eq!(began[key], "castellan-7-3-prod-02", "{kind}");
            assert_eq!(ended[key], began[key], "{kind}");
        }
        let opsgenie = samples::recipient(RecipientType::Opsgenie, "k3y");
        let over = Notification { state: NotificationState::Resolved, ..samples::nearly_full() };
        let shown = samples::shown(&opsgenie, &over);
        assert!(shown.contains("/v2/alerts/castellan-7-3-prod-02/close"), "{shown}");
    }

    #[test]
    fn a_pager_names_the_group_that_is_behind() {
        let payload = |group: &str| {
            let recipient = samples::recipient(RecipientType::Pagerduty, "k3y");
            samples::bodies(&recipient, &samples::behind(group)).remove(0)["payload"].clone()
        };
        let (billing, audit) = (payload("billing"), payload("audit"));
        assert_eq!(billing["summary"], "Triggered: consumer_lag on \"prod\" group billing");
        assert_eq!(billing["custom_details"]["Group"], "billing");
        assert_ne!(billing["summary"], audit["summary"]);
    }

    #[test]
    fn keys_stay_below_their_endpoint() {
        let check = |endpoint: &str, segments: &[&str], expected: &str| {
            assert_eq!(below(&endpoint.parse().unwrap(), segments).as_str(), expected);
        };
        check("https://a.test", &["v2", "alerts"], "https://a.test/v2/alerts");
        check("https://a.test/gate/", &["v2"], "https://a.test/gate/v2");
        check("https://a.test/gate", &["a/b?c#d e"], "https://a.test/gate/a%2Fb%3Fc%23d%20e");
        check("https://a.test/gate", &["..", "x"], "https://a.test/gate/x");
    }
}
