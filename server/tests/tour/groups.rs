//! Messages, groups and quotas through our API, read back by clients that know nothing
//! of it: librdkafka, and Kafka's own admin client where librdkafka has no words.

use crate::agree;
use crate::checked::customers;
use crate::day::Day;
use checker::{Question, ask_admin_client};
use serde_json::{Value, json};
use test_support::installation::Installation;

const TOPIC: &str = "letters";

pub async fn are_what_kafka_has(castellan: &Installation, instance: &Value) {
    let day = Day::of(castellan, instance);
    day.messages().await;
    day.groups("classic").await;
    // Groups whose coordinator does the assigning are of Kafka 4.
    if !instance["kafka_version"].as_str().unwrap().starts_with("3.") {
        day.groups("consumer").await;
    }
    day.quotas(instance).await;
    day.delete(&format!("topics/{TOPIC}"), 200).await;
    let (listed, seen) = (day.get("topics").await, day.witness.everything().await);
    assert_eq!(agree::names(&listed), agree::names(&seen["topics"]), "Kafka's own are hidden");
    assert!(!agree::names(&listed).contains(&TOPIC), "{listed}");
    let hidden = seen["hidden"].as_array().unwrap();
    assert!(hidden.contains(&json!("__consumer_offsets")), "{hidden:?}");
}

impl Day<'_> {
    async fn messages(&self) {
        let topic = json!({"name": TOPIC, "partitions": 2, "replicas": self.replicas});
        self.post("topics", &topic, 201).await;
        let path = format!("topics/{TOPIC}/messages");
        let several = json!({"messages": [
            {"key": "a", "value": "one", "partition": 0,
             "headers": [{"name": "trace", "value": "4bf9"}]},
            {"value": "two", "partition": 1},
            {"key": "b", "partition": 1},
        ]});
        let written = self.post(&path, &several, 201).await;
        let place = |partition: i64, offset: i64| json!({"partition": partition, "offset": offset});
        assert_eq!(written, json!([place(0, 0), place(1, 0), place(1, 1)]));
        let seen = self.witness.read(TOPIC, 3).await;
        let told = |partition: i64, offset: i64, key: Value, value: Value, headers: Value| json!({"partition": partition, "offset": offset, "key": key, "value": value, "headers": headers});
        let expected = json!([
            told(0, 0, json!("a"), json!("one"), json!([["trace", "4bf9"]])),
            told(1, 0, json!(null), json!("two"), json!([])),
            told(1, 1, json!("b"), json!(null), json!([])),
        ]);
        assert_eq!(seen, expected);

        assert_eq!(self.witness.write(TOPIC, "of the witness").await, None);
        let read = self.get(&format!("{path}?from=earliest&limit=10")).await;
        let mut values: Vec<&str> =
            read.as_array().unwrap().iter().filter_map(|it| it["value"].as_str()).collect();
        values.sort_unstable();
        assert_eq!(values, ["of the witness", "one", "two"], "{read}");
        assert_eq!(self.witness.read(TOPIC, 4).await.as_array().unwrap().len(), 4);

        let one = self.get(&format!("{path}?partition=1&offset=1&limit=1")).await;
        assert_eq!((&one[0]["offset"], &one[0]["key"]), (&json!(1), &json!("b")), "{one}");
        let latest = read.as_array().unwrap().iter().find(|it| it["value"] == "of the witness");
        let since = latest.unwrap()["timestamp"].as_str().unwrap();
        let read = self.get(&format!("{path}?from={since}&limit=10")).await;
        assert_eq!(read[0]["value"], "of the witness", "{read}");
        let details = self.get(&format!("topics/{TOPIC}")).await;
        let sizes = details["details"].as_array().unwrap().iter().map(|it| &it["size"]);
        assert!(sizes.clone().all(|size| size.as_i64() > Some(0)), "{details}");
    }

    /// A group that is read as its members share the work, by either protocol.
    async fn groups(&self, protocol: &str) {
        let name = format!("{protocol}-readers");
        let path = format!("groups/{name}");
        let member = self.witness.join(TOPIC, &name, protocol).await;
        let group = self
            .castellan
            .until("the group has read everything", async || {
                let group = self.get(&path).await;
                let done = group["state"] == "Stable" && group["lag"] == 0;
                if done { Ok(group) } else { Err(group) }
            })
            .await;
        let [told] = group["members"].as_array().unwrap().as_slice() else { panic!("{group}") };
        assert_eq!(told["client_id"], "witness", "{group}");
        assert_eq!(told["assignments"], json!([{"topic": TOPIC, "partitions": member.assigned}]));
        let listed = self.get("groups").await;
        let found = listed.as_array().unwrap().iter().find(|it| it["name"] == name.as_str());
        let found = found.unwrap_or_else(|| panic!("{name} in {listed}"));
        assert_eq!(*found, group, "the list tells the same");

        let reset = |body: Value| {
            let path = format!("{path}/reset");
            async move { self.castellan.post(&self.path(&path), &body).await }
        };
        let (status, refused) = reset(json!({"strategy": "to-earliest"})).await;
        assert_eq!(status, 400, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains("has 1 member"), "{refused}");
        self.delete(&path, 400).await;
        member.leave().await;
        self.castellan
            .until("the group is empty", async || {
                let group = self.get(&path).await;
                if group["state"] == "Empty" { Ok(()) } else { Err(group) }
            })
            .await;

        let read = self.offsets(&name).await;
        assert_eq!(read.iter().map(|(_, offset)| offset).sum::<i64>(), 4, "{read:?}");
        let (status, foreseen) = reset(json!({"strategy": "to-earliest", "dry_run": true})).await;
        assert_eq!(status, 200, "{foreseen}");
        assert_eq!(self.offsets(&name).await, read, "it was a dry run");
        let (status, moved) = reset(json!({"strategy": "to-earliest"})).await;
        assert_eq!((status, &moved), (200, &foreseen));
        let begins = |(at, _): &(String, i64)| (at.clone(), 0);
        assert_eq!(self.offsets(&name).await, read.iter().map(begins).collect::<Vec<_>>());
        assert_eq!(self.get(&path).await["lag"], 4);
        let (status, moved) = reset(json!({"strategy": "shift-by", "shift_by": 1})).await;
        assert_eq!(status, 200, "{moved}");
        assert!(self.offsets(&name).await.iter().all(|(_, offset)| *offset == 1));
        let long_ago = json!({"strategy": "to-datetime", "datetime": "2026-01-01T00:00:00Z"});
        let (status, moved) = reset(long_ago).await;
        assert_eq!(status, 200, "{moved}");
        assert!(self.offsets(&name).await.iter().all(|(_, offset)| *offset == 0));
        let (status, moved) = reset(json!({"strategy": "to-latest"})).await;
        assert_eq!(status, 200, "{moved}");
        assert_eq!(self.offsets(&name).await, read);

        self.delete(&path, 204).await;
        assert_eq!(self.castellan.get(&self.path(&path)).await.0, 404);
        assert_eq!(self.offsets(&name).await, []);
    }

    /// What a group has committed, by partition, as the witness has it.
    async fn offsets(&self, group: &str) -> Vec<(String, i64)> {
        let seen = self.witness.everything().await;
        let offsets = seen["groups"][group].as_object().cloned().unwrap_or_default();
        offsets.into_iter().map(|(at, offset)| (at, offset.as_i64().unwrap())).collect()
    }

    async fn quotas(&self, instance: &Value) {
        let access = customers(instance).access();
        let seen =
            async || ask_admin_client(&access, None, &Question::Quotas).await.unwrap().join("\n");
        assert_eq!(seen().await, "");
        let both = json!({"user": "ada", "client_id": "reports", "producer_byte_rate": 1024,
                          "request_percentage": 12.5});
        let others = json!({"user": "<default>", "consumer_byte_rate": 2048});
        for quota in [&both, &others] {
            self.put("quotas", quota).await;
        }
        let listed = self.get("quotas").await;
        assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
        // Brokers hear of it one after another, and any may be asked.
        let expected = "{client-id=reports, user=ada} {producer_byte_rate=1024.0, request_percentage=12.5}\n\
                        {user=<default>} {consumer_byte_rate=2048.0}";
        let until = async |expected: &str| {
            self.castellan
                .until("Kafka's own client sees it", async || {
                    let seen = seen().await;
                    if seen == expected { Ok(()) } else { Err(seen) }
                })
                .await;
        };
        until(expected).await;
        let one = json!({"user": "ada", "client_id": "reports", "request_percentage": null});
        self.put("quotas", &one).await;
        self.delete("quotas?user=%3Cdefault%3E", 204).await;
        until("{client-id=reports, user=ada} {producer_byte_rate=1024.0}").await;
        self.delete("quotas?user=ada&client_id=reports", 204).await;
        until("").await;
    }
}
