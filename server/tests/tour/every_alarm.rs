//! Every type of alarm on one instance, all of them told to one webhook.
//!
//! What comes must be what was expected, in that order and in time; whatever else
//! comes fails the test with its text. In the end the histories must agree.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use test_support::installation::Installation;
use test_support::webhook::Webhook;

/// What a busy machine may take besides: for the fault itself, for a sample on its
/// way, for the delivery.
const MARGIN: Duration = Duration::from_secs(20);

/// What shall come of a fault.
pub struct Expected {
    pub fault: &'static str,
    /// The type of the alarm.
    pub kind: &'static str,
    /// The name of the server, or of the group of a `consumer_lag`.
    pub about: String,
    /// Seconds after which it fires at the latest: those of thresholds and looks.
    pub fires: u64,
    /// Seconds after which it is over at the latest, once the fault is.
    pub ends: u64,
}

pub struct EveryAlarm<'a> {
    castellan: &'a Installation,
    /// Of the instance's alarms.
    path: String,
    receiver: Webhook,
    /// The path of the receiver as a recipient.
    recipient: String,
    /// By type.
    ids: BTreeMap<String, Value>,
    /// Type and whom it was about, in the order in which they came.
    told: Vec<(&'static str, String)>,
}

impl<'a> EveryAlarm<'a> {
    /// In the place of those that the instance began with, which would tell the same
    /// a second time.
    pub async fn set(castellan: &'a Installation, instance: &Value, alarms: &[Value]) -> Self {
        let path = format!("/api/instances/{}/alarms", instance["id"]);
        let (_, first) = castellan.get(&path).await;
        let is_of_servers = |alarm: &&Value| alarm["type"] != "notice";
        for alarm in first.as_array().unwrap().iter().filter(is_of_servers) {
            assert_eq!(castellan.delete(&format!("{path}/{}", alarm["id"])).await, 204, "{alarm}");
        }
        let receiver = Webhook::start().await;
        let recipients = format!("{path}/recipients");
        let (status, made) = castellan.post(&recipients, &receiver.recipient()).await;
        assert_eq!(status, 201, "{made}");
        let mut ids = BTreeMap::new();
        for alarm in alarms {
            let mut alarm = alarm.clone();
            alarm["recipients"] = json!([made["id"]]);
            let (status, alarm) = castellan.post(&path, &alarm).await;
            assert_eq!(status, 201, "{alarm}");
            ids.insert(alarm["type"].as_str().unwrap().to_owned(), alarm["id"].clone());
        }
        let recipient = format!("{recipients}/{}", made["id"]);
        let mut all = Self { castellan, path, receiver, recipient, ids, told: Vec::new() };
        all.nothing_is_on_its_way().await;
        all
    }

    /// Waits until the alarm of the fault has come.
    pub async fn triggered(&mut self, expected: &Expected) {
        self.hear(expected, "triggered", expected.fires).await;
        self.told.push((expected.kind, expected.about.clone()));
    }

    /// Waits until its end has come.
    pub async fn resolved(&mut self, expected: &Expected) {
        self.hear(expected, "resolved", expected.ends).await;
    }

    async fn hear(&mut self, expected: &Expected, state: &str, seconds: u64) {
        let Expected { fault, kind, about, .. } = expected;
        let (began, within) = (Instant::now(), Duration::from_secs(seconds) + MARGIN);
        let Some(told) = self.receiver.hear_within(within).await else {
            let histories = self.histories().await;
            panic!("{fault}: {kind} of {about} is not {state} after {within:?}: {histories:?}");
        };
        let whom = if *kind == "consumer_lag" { "group" } else { "server" };
        let found = json!([told["state"], told["alarm_type"], told["alarm_id"], told[whom]]);
        let wanted = json!([state, kind, self.ids[*kind], about]);
        assert_eq!(found, wanted, "{fault}: {told}");
        let took = began.elapsed().as_secs_f64();
        eprintln!("{fault}: {state} after {took:.0} of {seconds} s: {}", told["message"]);
    }

    /// A message that is asked for now is the next that comes.
    async fn nothing_is_on_its_way(&mut self) {
        let test = format!("{}/test", self.recipient);
        let (status, said) = self.castellan.post(&test, &json!({})).await;
        assert_eq!(status, 200, "{said}");
        let told = self.receiver.hear().await;
        assert_eq!(told["state"], "test", "nobody expected {told}");
    }

    /// What people were told of each, the latest first.
    async fn histories(&self) -> BTreeMap<&str, Vec<Value>> {
        let mut histories = BTreeMap::new();
        for (kind, id) in &self.ids {
            let path = format!("{}/{id}/history", self.path);
            let (status, history) = self.castellan.get(&path).await;
            assert_eq!(status, 200, "{history}");
            histories.insert(kind.as_str(), history.as_array().unwrap().clone());
        }
        histories
    }

    /// What came is all that there was, and all of it is over. Removes the alarms.
    pub async fn told_nothing_else(mut self) {
        self.nothing_is_on_its_way().await;
        for (kind, incidents) in self.histories().await {
            let about = |incident: &Value| {
                let whom = incident["server"].as_str().or(incident["group"].as_str());
                whom.unwrap_or("the cluster").to_owned()
            };
            let found: Vec<String> = incidents.iter().rev().map(about).collect();
            let told = self.told.iter().filter(|(of, _)| *of == kind);
            let told: Vec<String> = told.map(|(_, about)| about.clone()).collect();
            assert_eq!(found, told, "{kind}: {incidents:?}");
            let is_over = |incident: &Value| incident["resolved_at"].is_string();
            assert!(incidents.iter().all(is_over), "{kind}: {incidents:?}");
        }
        for id in self.ids.values() {
            assert_eq!(self.castellan.delete(&format!("{}/{id}", self.path)).await, 204);
        }
        assert_eq!(self.castellan.delete(&self.recipient).await, 204);
    }
}
