//! A consumer that can be held back: librdkafka in a process of its own, which
//! stands still while others write. It stays in its group meanwhile, or joins it
//! again once it goes on; what it has not read by then it reads.

use crate::day::Day;
use faults::{Fault, Injected};
use host::ProcessId;
use serde_json::{Value, json};
use test_support::installation::Installation;
use test_support::witness::Member;

pub const GROUP: &str = "slow-readers";
const TOPIC: &str = "held-back";

pub struct Consumer<'a> {
    day: Day<'a>,
    member: Member,
}

impl<'a> Consumer<'a> {
    /// On return it has read and committed all that there is.
    pub async fn join(castellan: &'a Installation, instance: &Value) -> Self {
        let day = Day::of(castellan, instance);
        let topic = json!({"name": TOPIC, "partitions": 1, "replicas": day.replicas});
        day.post("topics", &topic, 201).await;
        write(&day, "one").await;
        let member = day.witness.join(TOPIC, GROUP, "classic").await;
        let consumer = Self { day, member };
        consumer
            .until("it has read everything", |group| {
                group["lag"] == 0 && group["offsets"][0]["offset"] == 1
            })
            .await;
        consumer
    }

    /// It stands still, and there is something to read.
    pub async fn hold(&self) -> Injected {
        let mut found = ProcessId::own().children();
        found.retain(|process| process.command_line().iter().any(|word| word == GROUP));
        let [process] = &found[..] else { panic!("which is it of {found:?}") };
        let held = Fault::Pause(process.clone()).inject().await.unwrap();
        write(&self.day, "two").await;
        held
    }

    /// Nothing of it is left.
    pub async fn leave(self) {
        self.until("it has caught up", |group| group["lag"] == 0).await;
        let Self { day, member } = self;
        member.leave().await;
        until(&day, "the group is empty", |group| group["state"] == "Empty").await;
        day.delete(&format!("groups/{GROUP}"), 204).await;
        day.delete(&format!("topics/{TOPIC}"), 200).await;
    }

    async fn until(&self, what: &str, is_so: fn(&Value) -> bool) {
        until(&self.day, what, is_so).await;
    }
}

async fn write(day: &Day<'_>, value: &str) {
    let messages = json!({"messages": [{"value": value, "partition": 0}]});
    day.post(&format!("topics/{TOPIC}/messages"), &messages, 201).await;
}

async fn until(day: &Day<'_>, what: &str, is_so: fn(&Value) -> bool) {
    let path = day.path(&format!("groups/{GROUP}"));
    day.castellan
        .until(what, async || {
            let (_, group) = day.castellan.get(&path).await;
            if is_so(&group) { Ok(()) } else { Err(group) }
        })
        .await;
}
