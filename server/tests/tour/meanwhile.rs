//! What people do while servers are restarted: everything, through our API, and seen by
//! clients that know nothing of it before it is taken back.

use crate::agree;
use crate::checked::customers;
use crate::day::Day;
use crate::resources::{live_settings, settings_at_start};
use crate::rolled::until_configured;
use checker::{Access, Question, ask_admin_client};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use test_support::clients::{Clients, P256};
use test_support::installation::Installation;

/// The client with a certificate.
const CERTIFIED: &str = "p256";
const RETENTION: &str = "log.retention.ms";

/// People go on with everything while servers are restarted, until that has ended; then
/// every broker has what was chosen, and nothing else is left.
pub async fn go_on(castellan: &Installation, instance: &Value, ended: &AtomicBool) {
    let meanwhile = Meanwhile::of(castellan, instance);
    let mut rounds = 0;
    while !ended.load(Ordering::Relaxed) {
        rounds += 1;
        Box::pin(meanwhile.round(rounds)).await;
    }
    eprintln!("everything was done {rounds} times while servers were restarted");
    assert!(rounds > 0);
    until_configured(castellan, instance["id"].as_i64().unwrap()).await;

    let mut chosen = live_settings();
    chosen.as_object_mut().unwrap().extend(settings_at_start().as_object().unwrap().clone());
    chosen["min.insync.replicas"] = json!(2);
    chosen[RETENTION] = json!(retention(rounds));
    let day = &meanwhile.day;
    assert_eq!(day.get("config/kafka").await, agree::listed(&chosen));
    let seen = day.witness.everything().await;
    let brokers = seen["brokers"].as_object().unwrap().len();
    assert_eq!(agree::going_by(&seen, &chosen), brokers, "{chosen}: {seen}");
    assert!(!seen.to_string().contains("meanwhile"), "{seen}");
    let quotas = meanwhile.quotas().await.unwrap();
    assert!(!quotas.concat().contains("meanwhile"), "{quotas:?}");
    for noun in ["topics", "users", "acls", "groups", "quotas"] {
        let told = day.get(noun).await;
        assert!(!told.to_string().contains("meanwhile"), "{noun}: {told}");
    }
}

/// Of messages, in milliseconds: another one in each round.
fn retention(round: i64) -> i64 {
    7_200_000 + round
}

struct Meanwhile<'a> {
    day: Day<'a>,
    instance: &'a Value,
    access: Access,
}

impl<'a> Meanwhile<'a> {
    fn of(castellan: &'a Installation, instance: &'a Value) -> Self {
        let day = Day::of(castellan, instance);
        Self { day, instance, access: customers(instance).access() }
    }

    /// Each thing made, seen by somebody else, and taken back.
    async fn round(&self, number: i64) {
        let name = &format!("meanwhile-{number}");
        self.topic(name).await;
        self.day.post("config/kafka", &json!({RETENTION: retention(number)}), 200).await;
        let by_password = Box::pin(self.user_with_a_password(name));
        let by_certificate = Box::pin(self.user_with_a_certificate(name));
        let (acl, (clients, serial)) = tokio::join!(by_password, by_certificate);
        Box::pin(self.messages_and_a_group(name)).await;
        let quota = json!({"user": name, "producer_byte_rate": 1_000_000});
        self.day.put("quotas", &quota).await;
        self.nodes().await;
        tokio::join!(Box::pin(self.is_seen(name, number)), Box::pin(self.quota_is_seen(name)));

        self.day.delete(&format!("ca/certificates/{serial}"), 204).await;
        self.day
            .castellan
            .until("a revoked certificate is refused", async || clients.refusal(CERTIFIED).await)
            .await;
        assert!(self.certificate(&serial).await["revoked_at"].is_string());
        self.day.delete(&format!("groups/{name}"), 204).await;
        self.day.delete(&format!("quotas?user={name}"), 204).await;
        self.day.delete(&format!("acls/{acl}"), 200).await;
        self.day.delete(&format!("users/{name}"), 200).await;
        self.day.delete(&format!("users/{}", certified(name)), 200).await;
        self.day.delete(&format!("topics/{name}"), 200).await;
    }

    async fn topic(&self, name: &str) {
        let topic = json!({"name": name, "partitions": 2, "replicas": self.day.replicas});
        self.day.post("topics", &topic, 201).await;
        let listed = self.day.get("topics").await;
        assert!(agree::names(&listed).contains(&name), "{name} in {listed}");
        let change = json!({"partitions": 3, "config": {"max.message.bytes": 2000}});
        let changed = self.day.put(&format!("topics/{name}"), &change).await;
        assert_eq!(changed["partitions"], 3, "{changed}");
        let message = json!({"value": "ours", "partition": 0});
        self.day.post(&format!("topics/{name}/messages"), &message, 201).await;
    }

    /// The number of its one right.
    async fn user_with_a_password(&self, name: &str) -> i64 {
        let made = self.day.post("users", &json!({"name": name}), 201).await;
        let rule = json!({"operation": "write", "resource": "topic", "resource_pattern": name});
        let acls = self.day.post("acls", &json!({"user": name, "rules": [rule]}), 201).await;
        let user = self.day.witness.of(name, made["password"].as_str().unwrap());
        self.day
            .castellan
            .until("the new user may write", async || match user.write(name, "theirs").await {
                None => Ok(()),
                refused => Err(refused),
            })
            .await;
        acls[0]["id"].as_i64().unwrap()
    }

    /// With the serial of its one certificate.
    async fn user_with_a_certificate(&self, name: &str) -> (Clients, String) {
        let castellan = self.day.castellan;
        let cn = certified(name);
        self.day.post("users", &json!({"name": cn, "type": "ssl"}), 201).await;
        let clients = Clients::new(castellan, self.instance, name).await;
        let serial = clients.request(castellan, CERTIFIED, &P256, &cn).await;
        clients.allow(castellan, &cn).await;
        castellan
            .until("the certificate is good", async || {
                let written = clients.produce(CERTIFIED, "by certificate").await;
                let said = String::from_utf8_lossy(&written.stderr).into_owned();
                if written.status.success() { Ok(()) } else { Err(said) }
            })
            .await;
        let listed = self.certificate(&serial).await;
        assert_eq!((&listed["cn"], &listed["revoked_at"]), (&json!(cn), &Value::Null));
        (clients, serial)
    }

    async fn certificate(&self, serial: &str) -> Value {
        let listed = self.day.get("ca/certificates").await;
        let found = listed.as_array().unwrap().iter().find(|it| it["serial"] == serial);
        found.unwrap_or_else(|| panic!("{serial} in {listed}")).clone()
    }

    /// What was written is read by the witness for a group, which then starts anew.
    async fn messages_and_a_group(&self, name: &str) {
        let told = self.day.get(&format!("topics/{name}/messages?from=earliest&limit=10")).await;
        // Whoever had no answer wrote again.
        let values: BTreeSet<&str> =
            told.as_array().unwrap().iter().filter_map(|it| it["value"].as_str()).collect();
        assert_eq!(values, BTreeSet::from(["by certificate", "ours", "theirs"]), "{told}");
        let count = told.as_array().unwrap().len();
        self.day
            .castellan
            .until("the witness reads the same", async || {
                let read = self.day.witness.read_for(name, name, count).await?;
                if agree::places(&read) == agree::places(&told) {
                    Ok(())
                } else {
                    Err(read.to_string())
                }
            })
            .await;

        let path = format!("groups/{name}");
        self.until_behind(&path, 0).await;
        let listed = self.day.get("groups").await;
        assert!(agree::names(&listed).contains(&name), "{name} in {listed}");
        let reset = format!("{path}/reset");
        let dry_run = json!({"strategy": "to-earliest", "dry_run": true});
        let foreseen = self.day.post(&reset, &dry_run, 200).await;
        self.until_behind(&path, 0).await;
        let moved = self.day.post(&reset, &json!({"strategy": "to-earliest"}), 200).await;
        assert_eq!(moved, foreseen);
        self.until_behind(&path, count).await;
    }

    /// A group without members: by how many messages is known while each of its
    /// partitions is led.
    async fn until_behind(&self, path: &str, messages: usize) {
        self.day
            .castellan
            .until("it is known how far the group is", async || {
                let group = self.day.get(path).await;
                let is_it = group["state"] == "Empty" && group["lag"] == messages;
                if is_it { Ok(()) } else { Err(group) }
            })
            .await;
    }

    async fn nodes(&self) {
        let brokers: Vec<&str> = self.instance["brokers"].as_str().unwrap().split(',').collect();
        self.day
            .castellan
            .until("all servers but one run", async || {
                let nodes = self.day.get("nodes").await;
                let all = nodes.as_array().unwrap();
                assert_eq!(all.len(), brokers.len(), "{nodes}");
                let running = all.iter().filter(|node| node["running"] == true).count();
                if running + 1 >= brokers.len() { Ok(()) } else { Err(nodes) }
            })
            .await;
    }

    /// What our API tells of this round, the witness sees.
    async fn is_seen(&self, name: &str, number: i64) {
        let topic = self.day.get(&format!("topics/{name}")).await;
        let group = self.day.get(&format!("groups/{name}")).await;
        let (users, acls) = (self.day.get("users").await, self.day.get("acls").await);
        let ssl = json!({"name": certified(name), "type": "ssl"});
        assert!(users.as_array().unwrap().contains(&ssl), "{users}");
        let told = json!({
            "partitions": 3, "replicas": self.day.replicas,
            "config": agree::texts(&topic["config"]), "copies": agree::copies(&topic["details"]),
            "users": agree::told_users(&users), "rights": agree::told_rights(&acls),
            "offsets": agree::told_offsets(&group), "retention": [retention(number).to_string()],
        });
        let default_user = self.instance["username"].as_str().unwrap();
        self.day
            .castellan
            .until("the witness sees what is told", async || {
                let all = self.day.witness.look().await?;
                let topic = agree::seen_topic(&all, name);
                let brokers = all["brokers"].as_object().unwrap().values();
                let retention: BTreeSet<&str> =
                    brokers.filter_map(|broker| broker[RETENTION].as_str()).collect();
                let seen = json!({
                    "partitions": topic["partitions"], "replicas": topic["replicas"],
                    "config": topic["config"], "copies": agree::copies(&topic["details"]),
                    "users": agree::seen_users(&all),
                    "rights": agree::seen_rights(&all, default_user),
                    "offsets": all["groups"][name], "retention": retention,
                });
                if seen == told { Ok(()) } else { Err(format!("{seen}, but told is {told}")) }
            })
            .await;
    }

    /// By Kafka's own admin client: librdkafka has no words for quotas.
    async fn quota_is_seen(&self, name: &str) {
        let told = self.day.get("quotas").await;
        let is_it = |it: &Value| it["user"] == name && it["producer_byte_rate"] == 1_000_000;
        assert!(told.as_array().unwrap().iter().any(is_it), "{told}");
        let line = format!("{{user={name}}} {{producer_byte_rate=1000000.0}}");
        self.day
            .castellan
            .until("Kafka's own client sees the quota", async || {
                let seen = self.quotas().await?;
                if seen.contains(&line) { Ok(()) } else { Err(seen.join("\n")) }
            })
            .await;
    }

    async fn quotas(&self) -> Result<Vec<String>, String> {
        let asked = ask_admin_client(&self.access, None, &Question::Quotas).await;
        asked.map_err(|error| error.to_string())
    }
}

/// Who comes by certificate in a round.
fn certified(name: &str) -> String {
    format!("{name}-certified")
}
