//! What people do with a cluster every day, through our API, and read back by a
//! client that knows nothing of it.

use crate::agree;
use crate::day::Day;
use crate::rolled::{restart, until_configured};
use serde_json::{Value, json};
use test_support::installation::Installation;
use test_support::witness::Witness;

pub async fn are_what_kafka_has(castellan: &Installation, instance: &Value) {
    let day = Day::of(castellan, instance);
    let servers = instance["nodes"].as_i64().unwrap();
    day.topics(day.replicas).await;
    day.users_and_rights(instance["username"].as_str().unwrap()).await;
    day.settings(servers).await;
    day.nodes(instance).await;
    day.metrics(servers).await;
}

/// Settings of all brokers that differ from what they start with, and that none is
/// restarted for.
pub fn live_settings() -> Value {
    json!({
        "log.retention.bytes": 1_073_741_824,
        "log.retention.ms": 7_200_000,
        "log.segment.bytes": 134_217_728,
        "message.max.bytes": 1_048_576,
        "min.insync.replicas": 1,
    })
}

/// Settings that brokers read when they start, beyond what Kafka lets a running broker
/// of these cores have.
pub fn settings_at_start() -> Value {
    json!({
        "auto.create.topics.enable": false,
        "num.io.threads": 10,
        "num.network.threads": 10,
    })
}

/// Chooses them, unless [`are_what_kafka_has`] has done so.
pub async fn choose_live_settings(castellan: &Installation, instance: &Value) {
    let day = Day::of(castellan, instance);
    if day.get("config/kafka").await == json!([]) {
        let mut chosen = live_settings();
        chosen["min.insync.replicas"] = json!(2);
        day.post("config/kafka", &chosen, 200).await;
        day.until_every_broker_has(&chosen, instance["nodes"].as_i64().unwrap()).await;
    }
}

/// The replicas of a topic's partitions.
fn copies(topic: &Value) -> i64 {
    topic["partitions"].as_i64().unwrap() * topic["replicas"].as_i64().unwrap()
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
        agree::seen_topic(&self.witness.everything().await, name)
    }

    async fn topics(&self, replicas: i64) {
        let config = json!({"retention.ms": 3_600_000, "cleanup.policy": "compact"});
        let asked = json!({"name": "day", "partitions": 2, "replicas": replicas, "config": config});
        let made = self.post("topics", &asked, 201).await;
        assert_eq!((&made["config"], &made["status"]), (&config, &json!("ready")));
        let listed = self.get("topics").await;
        assert!(listed.as_array().unwrap().contains(&made), "{made} in {listed}");
        let all = self.witness.everything().await;
        assert_eq!(agree::names(&listed), agree::names(&all["topics"]));
        let by_protocol = "tour";
        assert!(agree::names(&listed).contains(&by_protocol), "{listed}");
        let seen = agree::seen_topic(&all, "day");
        assert_eq!((&seen["partitions"], &seen["replicas"]), (&json!(2), &json!(replicas)));
        assert_eq!(seen["config"], json!({"cleanup.policy": "compact", "retention.ms": "3600000"}));

        let change = json!({"partitions": 3, "config": {"max.message.bytes": 2000}});
        let (status, changed) = self.castellan.put(&self.path("topics/day"), &change).await;
        assert_eq!((status, &changed["config"]), (200, &change["config"]), "{changed}");
        let seen = self.seen("day").await;
        assert_eq!(seen["partitions"], 3);
        assert_eq!(seen["config"], json!({"max.message.bytes": "2000"}), "the others are gone");
        let details = self.get("topics/day").await;
        assert_eq!(agree::partitions(&details["details"]), agree::partitions(&seen["details"]));
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
        self.strain(replicas).await;
        let both = json!({"partitions": 4, "config": {"retention.ms": "soon"}});
        let (status, refused) = self.castellan.put(&self.path("topics/day"), &both).await;
        assert_eq!(status, 400, "{refused}");
        assert_eq!(self.seen("day").await, seen, "everything or nothing");
    }

    /// As many partitions as the plan allows, and what is made while brokers are busy with them.
    async fn strain(&self, replicas: i64) {
        let others: i64 = self.get("topics").await.as_array().unwrap().iter().map(copies).sum();
        // A plan of so many servers has 1000 for each.
        let most = (1000 * replicas - others) / replicas;
        let many = |partitions| json!({"name": "many", "partitions": partitions});
        let refused = self.post("topics", &many(most + 1), 400).await;
        let says = format!("must be at most {most} with {replicas} replicas");
        assert!(refused["error"].as_str().unwrap().contains(&says), "{refused}");
        self.post("topics", &many(1), 201).await;
        // Room is left for one more topic.
        let grown = json!({"partitions": most - 1});
        let (status, answer) = self.castellan.put(&self.path("topics/many"), &grown).await;
        assert_eq!((status, &answer["partitions"]), (200, &grown["partitions"]), "{answer}");
        let made = self.post("topics", &json!({"name": "x-0", "partitions": 1}), 201).await;
        assert_eq!(self.get("topics/x-0").await["partitions"], 1, "{made}");
        let user = self.post("users", &json!({"name": "strained"}), 201).await;
        assert_eq!(user["password"].as_str().unwrap().len(), 32);
        for rest in ["topics/x-0", "topics/many", "users/strained"] {
            self.delete(rest, 200).await;
        }
    }

    async fn users_and_rights(&self, default_user: &str) {
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
        assert_eq!(agree::told_rights(&acls), agree::seen_rights(&seen, default_user));
        assert_eq!(seen["users"]["bob"], 2, "both mechanisms: {seen}");
        let users = self.get("users").await;
        assert_eq!(agree::told_users(&users), agree::seen_users(&seen));
        assert!(agree::told_users(&users).contains(&default_user), "{users}");
        assert_eq!(bob.write("day", "two").await, None);

        self.creating(&bob).await;
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
        let users = self.get("users").await;
        assert_eq!(agree::told_users(&users), agree::seen_users(&seen));
        self.castellan
            .until("the user is gone", async || match bob.write("day", "four").await {
                Some(refused) if refused.contains("uthentication failed") => Ok(()),
                outcome => Err(outcome),
            })
            .await;
    }

    /// Who may create on the cluster makes topics over Kafka's own protocol, but none of
    /// Kafka's own names.
    async fn creating(&self, bob: &Witness) {
        let is_refused = |outcome: &Option<String>| {
            outcome.as_ref().is_some_and(|it| it.contains("uthorization"))
        };
        let before = bob.make("bobs").await;
        assert!(is_refused(&before), "{before:?}");
        let rules = json!([{"operation": "create", "resource": "cluster"}]);
        let acls = self.post("acls", &json!({"user": "bob", "rules": rules}), 201).await;
        assert_eq!(bob.make("bobs").await, None);
        let hidden = bob.make("__bobs").await;
        assert!(is_refused(&hidden), "{hidden:?}");
        let create = acls.as_array().unwrap().last().unwrap()["id"].as_i64().unwrap();
        self.delete(&format!("acls/{create}"), 200).await;
        self.castellan
            .until("the right is gone", async || match bob.make("more").await {
                outcome if is_refused(&outcome) => Ok(()),
                outcome => Err(outcome),
            })
            .await;
        self.delete("topics/bobs", 200).await;
    }

    async fn settings(&self, servers: i64) {
        assert_eq!(self.get("config/kafka").await, json!([]));
        let mut chosen = live_settings();
        self.post("config/kafka", &chosen, 200).await;
        assert_eq!(self.get("config/kafka").await, agree::listed(&chosen));
        self.until_every_broker_has(&chosen, servers).await;
        for asked in [json!({"num.io.threads": 100}), json!({"log.dirs": "/tmp"})] {
            self.post("config/kafka", &asked, 400).await;
        }
        // What comes next is to be as safe as it is without.
        let safe = json!({"min.insync.replicas": 2});
        self.post("config/kafka", &safe, 200).await;
        chosen["min.insync.replicas"] = safe["min.insync.replicas"].clone();
        assert_eq!(self.get("config/kafka").await, agree::listed(&chosen));
        self.until_every_broker_has(&chosen, servers).await;
    }

    async fn until_every_broker_has(&self, chosen: &Value, servers: i64) {
        self.castellan
            .until("every broker has the settings", async || {
                let cluster = self.get("cluster/status").await;
                let seen = self.witness.everything().await;
                let whole = i64::try_from(agree::going_by(&seen, chosen)) == Ok(servers);
                if whole && cluster["configured"] == true { Ok(()) } else { Err((cluster, seen)) }
            })
            .await;
    }

    async fn nodes(&self, instance: &Value) {
        let nodes = self.get("nodes").await;
        let nodes = nodes.as_array().unwrap();
        let brokers: Vec<&str> = instance["brokers"].as_str().unwrap().split(',').collect();
        assert_eq!(nodes.len(), brokers.len(), "{nodes:?}");
        for (node, broker) in nodes.iter().zip(&brokers) {
            assert_eq!((&node["running"], &node["configured"]), (&json!(true), &json!(true)));
            assert_eq!(node["disk_size"], 25, "{node}");
            assert_eq!(node["kafka_version"], instance["kafka_version"], "{node}");
            let (host, _) = broker.rsplit_once(':').unwrap();
            assert_eq!(node["hostname"], host, "{node}");
            let roles = node["roles"].as_array().unwrap();
            assert!(roles.contains(&json!("broker")) && roles.contains(&json!("controller")));
        }
        let numbered: Value = (1..).zip(&brokers).map(|it| json!(it)).collect();
        assert_eq!(self.witness.everything().await["hosts"], numbered);
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

/// The default user gets another password while all servers are being restarted. It is
/// told at once and good within moments, and the old one is not; so it is with brokers
/// that were started since.
pub async fn another_password(castellan: &Installation, instance: &Value) {
    let id = instance["id"].as_i64().unwrap();
    if castellan.get(&format!("/api/instances/{id}/topics/day")).await.0 == 404 {
        Day::of(castellan, instance).post("topics", &json!({"name": "day"}), 201).await;
    }
    until_configured(castellan, id).await;
    restart(castellan, id).await;
    let path = format!("/api/instances/{id}/account/rotate-password");
    let (status, answer) = castellan.post(&path, &json!({})).await;
    assert_eq!(status, 204, "{answer}");
    let (_, rotated) = castellan.get(&format!("/api/instances/{id}")).await;
    assert_ne!(rotated["password"], instance["password"]);
    let (new, old) = (Witness::new(&rotated), Witness::new(instance));
    let until_changed = async || {
        castellan
            .until("the new password is good and the old one is not", async || {
                let (new, old) = tokio::join!(new.write("day", "new"), old.write("day", "old"));
                let refused = old.as_ref().is_some_and(|it| it.contains("uthentication failed"));
                if new.is_none() && refused { Ok(()) } else { Err((new, old)) }
            })
            .await;
    };
    until_changed().await;
    until_configured(castellan, id).await;
    until_changed().await;
}
