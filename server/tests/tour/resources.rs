//! What people do with a cluster every day, through our API, and read back by a
//! client that knows nothing of it.

use crate::day::Day;
use crate::installation::Installation;
use crate::witness::Witness;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

pub async fn are_what_kafka_has(castellan: &Installation, instance: &Value) {
    let day = Day::of(castellan, instance);
    let servers = instance["nodes"].as_i64().unwrap();
    day.topics(day.replicas).await;
    day.users_and_rights().await;
    day.settings(servers).await;
    day.nodes(servers).await;
    day.metrics(servers).await;
}

/// What every server tells of itself within moments, broker and all.
const MEASURED: [&str; 14] = [
    "bytes_in_per_second",
    "certificate_days_left",
    "connections",
    "cpu_percent",
    "disk_free_bytes",
    "failed_logins_per_second",
    "gc_percent",
    "heap_used_bytes",
    "log_size_bytes",
    "memory_percent",
    "produce_p99_ms",
    "quorum_leader",
    "request_idle_percent",
    "under_replicated_partitions",
];

impl Day<'_> {
    /// A topic as the witness has it.
    async fn seen(&self, name: &str) -> Value {
        let all = self.witness.everything().await;
        let found = all["topics"].as_array().unwrap().iter().find(|topic| topic["name"] == name);
        found.cloned().unwrap_or_default()
    }

    async fn topics(&self, replicas: i64) {
        let config = json!({"retention.ms": 3_600_000, "cleanup.policy": "compact"});
        let asked = json!({"name": "day", "partitions": 2, "replicas": replicas, "config": config});
        let made = self.post("topics", &asked, 201).await;
        assert_eq!((&made["config"], &made["status"]), (&config, &json!("ready")));
        let listed = self.get("topics").await;
        assert!(listed.as_array().unwrap().contains(&made), "{made} in {listed}");
        let seen = self.seen("day").await;
        assert_eq!((&seen["partitions"], &seen["replicas"]), (&json!(2), &json!(replicas)));
        assert_eq!(seen["config"], json!({"cleanup.policy": "compact", "retention.ms": "3600000"}));

        let change = json!({"partitions": 3, "config": {"max.message.bytes": 2000}});
        let (status, changed) = self.castellan.put(&self.path("topics/day"), &change).await;
        assert_eq!((status, &changed["config"]), (200, &change["config"]), "{changed}");
        let seen = self.seen("day").await;
        assert_eq!(seen["partitions"], 3);
        assert_eq!(seen["config"], json!({"max.message.bytes": "2000"}), "the others are gone");
        let details = self.get("topics/day").await;
        let in_sync = details["details"][2]["in_sync"].as_array().unwrap().len();
        assert_eq!(i64::try_from(in_sync).unwrap(), replicas, "{details}");

        for (asked, says) in [
            (json!({"name": "day"}), "exists already"),
            (json!({"name": "more", "replicas": 100}), "number of servers"),
            (json!({"name": "more", "config": {"colour": "red"}}), "Unknown topic config name"),
            (json!({"name": "more", "config": {"retention.ms": "soon"}}), "retention.ms"),
        ] {
            let refused = self.post("topics", &asked, 400).await;
            assert!(refused["error"].as_str().unwrap().contains(says), "{asked}: {refused}");
        }
        let both = json!({"partitions": 4, "config": {"retention.ms": "soon"}});
        let (status, refused) = self.castellan.put(&self.path("topics/day"), &both).await;
        assert_eq!(status, 400, "{refused}");
        assert_eq!(self.seen("day").await, seen, "everything or nothing");
    }

    async fn users_and_rights(&self) {
        let made = self.post("users", &json!({"name": "bob"}), 201).await;
        let bob = self.witness.of("bob", made["password"].as_str().unwrap());
        let refused = bob.write("day", "one").await.unwrap();
        assert!(refused.contains("uthorization failed"), "{refused}");
        let rules = json!([
            {"operation": "Write", "resource": "topic", "resource_pattern": "da",
             "resource_pattern_type": "prefixed"},
            {"operation": "describe", "resource": "Topic", "resource_pattern": "day"},
        ]);
        let acls = self.post("acls", &json!({"user": "bob", "rules": rules}), 201).await;
        assert_eq!(self.get("acls").await, acls, "the default user's own are not listed");
        let seen = self.witness.everything().await;
        let bobs = |all: &Value| {
            let acls = all["acls"].as_array().unwrap().iter();
            acls.filter(|acl| acl[0] == "User:bob").cloned().collect::<Vec<_>>()
        };
        assert_eq!(
            json!(bobs(&seen)),
            json!([
                ["User:bob", "DESCRIBE", "TOPIC", "day", "LITERAL", "ALLOW", "*"],
                ["User:bob", "WRITE", "TOPIC", "da", "PREFIXED", "ALLOW", "*"],
            ])
        );
        assert_eq!(seen["users"]["bob"], 2, "both mechanisms: {seen}");
        assert_eq!(bob.write("day", "two").await, None);

        let write = acls[0]["id"].as_i64().unwrap();
        self.delete(&format!("acls/{write}"), 200).await;
        self.castellan
            .until("the right is gone", async || match bob.write("day", "three").await {
                Some(refused) if refused.contains("uthorization failed") => Ok(()),
                outcome => Err(outcome),
            })
            .await;
        self.delete("users/bob", 200).await;
        let seen = self.witness.everything().await;
        assert!(bobs(&seen).is_empty() && seen["users"]["bob"].is_null(), "{seen}");
        self.castellan
            .until("the user is gone", async || match bob.write("day", "four").await {
                Some(refused) if refused.contains("uthentication failed") => Ok(()),
                outcome => Err(outcome),
            })
            .await;
    }

    async fn settings(&self, servers: i64) {
        assert_eq!(self.get("config/kafka").await, json!([]));
        let asked = json!({"log.retention.ms": 7_200_000, "num.io.threads": 5});
        self.post("config/kafka", &asked, 200).await;
        let expected = json!([
            {"name": "log.retention.ms", "value": 7_200_000},
            {"name": "num.io.threads", "value": 5}]);
        assert_eq!(self.get("config/kafka").await, expected);
        self.castellan
            .until("every broker has them", async || {
                let cluster = self.get("cluster/status").await;
                let seen = self.witness.everything().await;
                let brokers = seen["brokers"].as_object().unwrap();
                let has = |settings: &Value| {
                    settings["log.retention.ms"] == "7200000" && settings["num.io.threads"] == "5"
                };
                let all = brokers.values().filter(|settings| has(settings)).count();
                let whole = i64::try_from(all).unwrap() == servers;
                if whole && cluster["configured"] == true { Ok(()) } else { Err((cluster, seen)) }
            })
            .await;
        for asked in [json!({"num.io.threads": 100}), json!({"log.dirs": "/tmp"})] {
            self.post("config/kafka", &asked, 400).await;
        }
        assert_eq!(self.get("config/kafka").await, expected);
    }

    async fn nodes(&self, servers: i64) {
        let nodes = self.get("nodes").await;
        let nodes = nodes.as_array().unwrap();
        assert_eq!(i64::try_from(nodes.len()).unwrap(), servers);
        for node in nodes {
            assert_eq!((&node["running"], &node["configured"]), (&json!(true), &json!(true)));
            assert_eq!(node["disk_size"], 25, "{node}");
        }
    }

    async fn metrics(&self, servers: i64) {
        let path = format!("metrics?series={}", MEASURED.join(","));
        self.castellan
            .until("every server tells everything", async || {
                let told = self.get(&path).await;
                let all = told["servers"].as_array().unwrap();
                let whole =
                    |server: &&Value| server["series"].as_array().unwrap().len() == MEASURED.len();
                let count = i64::try_from(all.iter().filter(whole).count()).unwrap();
                if count == servers { Ok(()) } else { Err(told) }
            })
            .await;
    }
}

/// A setting that brokers read when they start: they are restarted for it.
pub async fn choose_what_is_read_at_start(castellan: &Installation, id: i64) {
    let path = format!("/api/instances/{id}/config/kafka");
    let (status, answer) = castellan.post(&path, &json!({"auto.create.topics.enable": true})).await;
    assert_eq!(status, 200, "{answer}");
    let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
    assert_eq!((&cluster["ready"], &cluster["configured"]), (&json!(true), &json!(false)));
}

/// People go on with everything while servers are restarted, until that has ended;
/// then every broker has what was chosen.
pub async fn go_on(castellan: &Installation, instance: &Value, ended: &AtomicBool) {
    let day = Day::of(castellan, instance);
    let mut rounds = 0;
    while !ended.load(Ordering::Relaxed) {
        rounds += 1;
        day.meanwhile(&format!("meanwhile-{rounds}")).await;
    }
    eprintln!("everything was done {rounds} times while servers were restarted");
    assert!(rounds > 0);
    let seen = day.witness.everything().await;
    for (broker, settings) in seen["brokers"].as_object().unwrap() {
        assert_eq!(settings["auto.create.topics.enable"], "true", "broker {broker}");
    }
    assert!(!seen.to_string().contains("meanwhile"), "{seen}");
}

impl Day<'_> {
    /// Each thing made, seen by the witness, and taken back.
    async fn meanwhile(&self, name: &str) {
        let topic = json!({"name": name, "partitions": 2, "replicas": self.replicas});
        self.post("topics", &topic, 201).await;
        let listed = self.get("topics").await;
        let names: Vec<&Value> =
            listed.as_array().unwrap().iter().map(|topic| &topic["name"]).collect();
        assert!(names.contains(&&json!(name)), "{name} in {names:?}");
        let messages = format!("topics/{name}/messages");
        self.post(&messages, &json!({"value": "ours", "partition": 0}), 201).await;

        let made = self.post("users", &json!({"name": name}), 201).await;
        let rule = json!({"operation": "write", "resource": "topic", "resource_pattern": name});
        let acls = self.post("acls", &json!({"user": name, "rules": [rule]}), 201).await;
        let user = self.witness.of(name, made["password"].as_str().unwrap());
        self.castellan
            .until("the new user may write", async || match user.write(name, "theirs").await {
                None => Ok(()),
                refused => Err(refused),
            })
            .await;
        let read = self.get(&format!("{messages}?from=earliest&limit=10")).await;
        let mut values: Vec<&str> =
            read.as_array().unwrap().iter().filter_map(|it| it["value"].as_str()).collect();
        values.sort_unstable();
        values.dedup();
        assert_eq!(values, ["ours", "theirs"], "{read}");
        self.put("quotas", &json!({"user": name, "producer_byte_rate": 1_000_000})).await;
        assert!(self.get("quotas").await.to_string().contains(name));
        self.get("groups").await;

        self.delete(&format!("quotas?user={name}"), 204).await;
        self.delete(&format!("acls/{}", acls[0]["id"]), 200).await;
        self.delete(&format!("users/{name}"), 200).await;
        self.delete(&format!("topics/{name}"), 200).await;
    }
}

/// The default user gets another password: it is told at once, and good within
/// moments; the old one is not. The instance as it is from then on.
pub async fn another_password(castellan: &Installation, instance: &Value) -> Value {
    let id = instance["id"].as_i64().unwrap();
    let path = format!("/api/instances/{id}/account/rotate-password");
    let (status, answer) = castellan.post(&path, &json!({})).await;
    assert_eq!(status, 204, "{answer}");
    let rotated = castellan.until_running(id).await;
    assert_ne!(rotated["password"], instance["password"]);
    let (new, old) = (Witness::new(&rotated), Witness::new(instance));
    castellan
        .until("the new password is good and the old one is not", async || {
            let (new, old) = (new.write("day", "new").await, old.write("day", "old").await);
            let refused = old.as_ref().is_some_and(|it| it.contains("uthentication failed"));
            if new.is_none() && refused { Ok(()) } else { Err((new, old)) }
        })
        .await;
    rotated
}
