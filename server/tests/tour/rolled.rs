//! A roll of the real cluster under the checker, in order while nothing goes wrong.
//! Nothing that was acknowledged is lost, nothing is there twice, and no send fails.

use crate::checked::customers;
use crate::resources::settings_at_start;
use crate::shared::Tour;
use crate::{certified, meanwhile, resources};
use checker::{Load, LoadSpec, judge, read_back};
use host::ProcessId;
use kafka::Endpoint;
use kafka::client::admin::quorum::DescribeQuorum;
use kafka::client::admin::topics::DescribeTopics;
use kafka::client::{Call as _, Connection, Limits, Mechanism, sasl, tls};
use model::Secret;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use test_support::installation::Installation;

pub const TOPIC: &str = "rolled";
pub const PARTITIONS: i32 = 6;
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Clients with certificates come in before and after.
pub async fn goes_in_order_and_certificates_stay_as_they_were(tour: &mut Tour) {
    let Tour { castellan, instance, .. } = tour;
    let certified = match tour.certified.take() {
        Some(certified) => certified,
        None => certified::come_in_until_they_are_revoked(castellan, instance).await,
    };
    resources::choose_live_settings(castellan, instance).await;
    goes_in_order(castellan, instance).await;
    certified::stay_as_they_were(castellan, instance, &certified).await;
}

/// While nothing goes wrong: every server is restarted once, one at a time, the
/// active controller last and nobody while another lacks a copy, as the brokers
/// themselves saw it. It is a setting that asks for it, and people go on to use the
/// cluster meanwhile.
pub async fn goes_in_order(castellan: &Installation, instance: &Value) {
    let id = instance["id"].as_i64().unwrap();
    let load = start(instance).await;
    let mut known = brokers(castellan);
    choose_what_is_read_at_start(castellan, id).await;
    let (status, second) = castellan.post(&restart_path(id), &json!({})).await;
    assert_eq!(status, 400, "{second}");
    let mut active = None;
    let mut order: Vec<(usize, Option<i32>)> = Vec::new();
    let ended = AtomicBool::new(false);
    let watching = async {
        let until = castellan.until("the roll has ended", async || {
            let now = brokers(castellan);
            for server in 0..now.len() {
                if now[server] != known[server] {
                    order.push((server, active));
                    known[server] = now[server].clone();
                }
            }
            let down = now.iter().filter(|broker| !broker.is_alive()).count();
            assert!(down <= 1, "{down} brokers are down at once");
            if down == 0 {
                let seen = Box::pin(look(instance)).await;
                assert!(seen.behind.len() <= 1, "{:?} lack copies at once", seen.behind);
                active = seen.active.or(active);
            }
            let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
            if cluster["configured"] == true { Ok(()) } else { Err(format!("{order:?} {cluster}")) }
        });
        until.await;
        ended.store(true, Ordering::Relaxed);
    };
    tokio::join!(watching, meanwhile::go_on(castellan, instance, &ended));
    let node = |server: usize| Some(i32::try_from(server + 1).unwrap());
    assert_eq!(order.len(), known.len(), "each is restarted once: {order:?}");
    let (last, _) = order.pop().unwrap();
    // One that stops hands over before its process has ended, so the others tell who was
    // active while they went. On 3.9 one that comes back may call for an election, and
    // another is active by its own choice: who is then, goes last.
    for (server, active) in &order {
        assert_ne!(*server, last);
        assert_ne!(*active, node(*server), "the active controller goes last: {order:?}, {last}");
    }
    let (_, active) = order.last().unwrap();
    let went_already = order.iter().any(|(server, _)| node(*server) == *active);
    let is_elected_anew = order.iter().any(|(_, other)| other != active);
    assert!(
        *active == node(last) || is_elected_anew && went_already,
        "the active controller goes last: {order:?}, {last}"
    );
    is_clean(instance, load).await;
}

/// Settings that brokers read when they start: they are restarted for them. Without them
/// the contrary holds.
async fn choose_what_is_read_at_start(castellan: &Installation, id: i64) {
    let path = format!("/api/instances/{id}/config/kafka");
    let (status, answer) = castellan.post(&path, &settings_at_start()).await;
    assert_eq!(status, 200, "{answer}");
    let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
    assert_eq!((&cluster["ready"], &cluster["configured"]), (&json!(true), &json!(false)));
}

fn restart_path(id: i64) -> String {
    format!("/api/instances/{id}/actions/cluster-restart")
}

/// The action's id.
pub async fn restart(castellan: &Installation, id: i64) -> i64 {
    let (status, answer) = castellan.post(&restart_path(id), &json!({})).await;
    assert_eq!(status, 200, "{answer}");
    let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
    assert_eq!((&cluster["ready"], &cluster["configured"]), (&json!(true), &json!(false)));
    answer["action"].as_i64().unwrap()
}

pub async fn until_configured(castellan: &Installation, id: i64) {
    castellan
        .until("the roll has ended", async || {
            let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
            let (_, instance) = castellan.get(&format!("/api/instances/{id}")).await;
            let ended = cluster["configured"] == true && instance["status"] == "running";
            if ended { Ok(()) } else { Err(instance["status"].to_string()) }
        })
        .await;
}

pub fn brokers(castellan: &Installation) -> Vec<ProcessId> {
    castellan.processes().into_iter().map(|processes| processes.broker).collect()
}

/// Clients of both kinds, with and without transactions.
pub async fn start(instance: &Value) -> Load {
    start_with(&spec(instance)).await
}

/// The same clients with so many records a second.
pub async fn start_at(instance: &Value, rate_per_second: u32) -> Load {
    start_with(&LoadSpec { rate_per_second, ..spec(instance) }).await
}

async fn start_with(spec: &LoadSpec) -> Load {
    let load = Load::start(spec).await.unwrap();
    load.goes_on(50, PATIENCE).await.unwrap();
    load
}

pub async fn is_clean(instance: &Value, load: Load) {
    load.goes_on(50, PATIENCE).await.unwrap();
    let history = load.stop().await.unwrap();
    let access = spec(instance).access();
    let logs = read_back(&access, &history.run).await.unwrap();
    let report = judge(&history, &logs);
    assert!(report.is_clean() && report.whole, "{report}");
    eprintln!("{report}");
    checker::remove_topic(&access, &history.run.topic).await.unwrap();
}

fn spec(instance: &Value) -> LoadSpec {
    LoadSpec { topic: TOPIC.into(), partitions: PARTITIONS, ..customers(instance) }
}

/// What a broker has in its memory.
#[derive(Default)]
struct Seen {
    active: Option<i32>,
    /// The nodes that have a copy which is not in sync.
    behind: BTreeSet<i32>,
}

/// As whoever answers first has it; nothing if nobody does.
async fn look(instance: &Value) -> Seen {
    for broker in spec(instance).brokers {
        let Some(mut connection) = log_in(instance, &broker).await else { continue };
        let Ok(quorum) = DescribeQuorum.run(&mut connection).await else { continue };
        let topics = DescribeTopics { names: None }.run(&mut connection).await;
        let mut behind: BTreeSet<i32> = BTreeSet::new();
        for partition in topics.iter().flatten().flat_map(|topic| &topic.partitions) {
            let lacks = |node: &&i32| !partition.in_sync.contains(*node);
            behind.extend(partition.replicas.iter().filter(lacks).copied());
        }
        return Seen { active: quorum.leader, behind };
    }
    Seen::default()
}

/// On one broker, as the default user; none if it does not answer.
pub async fn log_in(instance: &Value, broker: &Endpoint) -> Option<Connection> {
    let text = |field: &str| instance[field].as_str().unwrap().to_owned();
    let tls = tls::client_config(&text("ca"), None).unwrap();
    let limits = Limits { call: Duration::from_secs(2), ..Limits::default() };
    let mut connection = Connection::open_tcp(broker, &tls, limits).await.ok()?;
    let (password, mechanism) = (Secret::new(text("password")), Mechanism::ScramSha512);
    sasl::log_in(&mut connection, &text("username"), &password, mechanism).await.ok()?;
    Some(connection)
}
