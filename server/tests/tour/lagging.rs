//! A server whose copy lags keeps the next one from its restart, as the brokers themselves
//! see it. What it has to copy is spoiled wherever it could copy it from, so it asks for
//! that again and again until it is mended, however fast the machine is.

use crate::checked::customers;
use crate::day::Day;
use crate::rolled::{brokers, log_in};
use checker::{TopicSpec, make_topic, remove_topic};
use kafka::Endpoint;
use kafka::client::Call as _;
use kafka::client::admin::topics::DescribeTopics;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::time::Instant;
use test_support::installation::Installation;
use test_support::tight::switch;

const TOPIC: &str = "lagging";
const VALUE: &str = "nobody has copied this as yet";
const NEXT: usize = 0;
const LAGS: usize = 2;
const OTHERS: [usize; 2] = [0, 1];
/// With the pauses between them longer than the control plane takes for some of its own.
const LOOKS: usize = 30;

pub async fn keeps_the_next_from_its_restart(castellan: &Installation, instance: &Value) {
    let began = Instant::now();
    let day = Day::of(castellan, instance);
    let access = customers(instance).access();
    // Any one copy is enough for the topic, so it is the lag alone that counts.
    let topic = TopicSpec { name: TOPIC.into(), partitions: 1, replicas: 3, min_in_sync: 1 };
    make_topic(&access, &topic).await.unwrap();
    switch(castellan, instance, LAGS, "stop").await;
    let message = json!({"value": VALUE, "partition": 0});
    day.post(&format!("topics/{TOPIC}/messages"), &message, 201).await;
    let spoiled = OTHERS.map(|server| Spoiled::of(castellan, server));
    let start = ask(&day, instance, "start", LAGS).await;

    let words =
        format!("{TOPIC}-0 has 2 of 3 replicas in sync, the one on server {} lags", LAGS + 1);
    let id = instance["id"].as_i64().unwrap();
    castellan.until_status(id, &format!("waiting: {words}")).await;
    let before = brokers(castellan);
    nobody_is_touched(castellan, instance, &access.brokers).await;
    let waits = day.get(&format!("actions/{start}")).await;
    assert_eq!(waits["state"], "running", "{waits}");
    assert!(waits["steps"].to_string().contains(&words), "{waits}");
    let nodes = json!({"nodes": [name(instance, NEXT)]});
    let refused = day.post("actions/restart", &nodes, 400).await;
    assert!(refused["error"].as_str().unwrap().contains(&words), "{refused}");

    for copy in spoiled {
        copy.mend();
    }
    is_done(castellan, &day, start).await;
    let restart = ask(&day, instance, "restart", NEXT).await;
    is_done(castellan, &day, restart).await;
    castellan
        .until("every broker has all copies in sync", async || {
            let seen = Box::pin(in_sync(instance, &access.brokers)).await;
            if seen == [[1, 2, 3]; 3] { Ok(()) } else { Err(seen) }
        })
        .await;
    let after = brokers(castellan);
    assert_ne!(after[NEXT], before[NEXT], "it is restarted");
    assert_eq!(after[NEXT + 1..], before[NEXT + 1..], "nobody else is touched");
    remove_topic(&access, TOPIC).await.unwrap();
    castellan.until_running(id).await;
    eprintln!("waited for a copy that lags: {:.1} s", began.elapsed().as_secs_f64());
}

fn name(instance: &Value, server: usize) -> String {
    format!("{}-{:02}", instance["username"].as_str().unwrap(), server + 1)
}

/// The id of what was asked of one server.
async fn ask(day: &Day<'_>, instance: &Value, verb: &str, server: usize) -> i64 {
    let nodes = json!({"nodes": [name(instance, server)]});
    let accepted = day.post(&format!("actions/{verb}"), &nodes, 200).await;
    accepted["action"].as_i64().unwrap()
}

async fn is_done(castellan: &Installation, day: &Day<'_>, action: i64) {
    castellan
        .until("what waited is done", async || {
            let now = day.get(&format!("actions/{action}")).await;
            if now["state"] == "done" { Ok(()) } else { Err(now["status"].to_string()) }
        })
        .await;
}

/// For as long as every broker says that a copy is not in sync, which it does.
async fn nobody_is_touched(castellan: &Installation, instance: &Value, at: &[Endpoint]) {
    let before = brokers(castellan);
    let lags = i32::try_from(LAGS + 1).unwrap();
    let mut looks = 0;
    castellan
        .until("it was looked at for a while", async || {
            let seen = Box::pin(in_sync(instance, at)).await;
            assert!(seen.iter().all(|nodes| !nodes.contains(&lags)), "{seen:?}");
            assert_eq!(brokers(castellan), before, "nobody is touched");
            // One that did not answer in time is no look.
            looks += usize::from(seen.len() == at.len());
            if looks == LOOKS { Ok(()) } else { Err(looks) }
        })
        .await;
}

/// The nodes with a copy in sync, by the word of each broker that answers.
async fn in_sync(instance: &Value, brokers: &[Endpoint]) -> Vec<Vec<i32>> {
    let mut all = Vec::new();
    for broker in brokers {
        let Some(mut connection) = log_in(instance, broker).await else { continue };
        let names = [TOPIC.to_owned()];
        let told = DescribeTopics { names: Some(&names) }.run(&mut connection).await;
        for partition in told.iter().flatten().flat_map(|topic| &topic.partitions) {
            let mut nodes = partition.in_sync.clone();
            nodes.sort_unstable();
            all.push(nodes);
        }
    }
    all
}

/// One byte in a server's log that is not what was written.
struct Spoiled {
    log: File,
    place: u64,
    byte: u8,
}

impl Spoiled {
    fn of(castellan: &Installation, server: usize) -> Self {
        let path = format!("data/{TOPIC}-0/00000000000000000000.log");
        let path = castellan.disk(server).join(path);
        let written = fs::read(&path).unwrap();
        let at = written.windows(VALUE.len()).position(|it| it == VALUE.as_bytes());
        let at = at.expect("whoever is in sync has it");
        let (log, byte) = (File::options().write(true).open(path).unwrap(), written[at]);
        let spoiled = Self { log, place: u64::try_from(at).unwrap(), byte };
        spoiled.write(!byte);
        spoiled
    }

    fn mend(self) {
        self.write(self.byte);
    }

    fn write(&self, byte: u8) {
        self.log.write_all_at(&[byte], self.place).unwrap();
    }
}
