//! Rolls of the real cluster under the checker: in order while nothing goes
//! wrong, and with bad luck in the middle. Nothing that was acknowledged is lost,
//! nothing is there twice, and no send fails.

use crate::checked::customers;
use crate::installation::Installation;
use checker::{Load, LoadSpec, judge, read_back};
use faults::{Fault, Injected, Store};
use host::ProcessId;
use kafka::client::admin::quorum::DescribeQuorum;
use kafka::client::{Call as _, Connection, DirectDial, Limits, Mechanism, sasl, tls};
use model::Secret;
use serde_json::{Value, json};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_mins(2);

/// What goes wrong in the middle of a roll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Luck {
    KillControlPlane,
    KillAgent,
    KillBroker,
    PauseBroker,
    StoreAway,
}

/// When it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Moment {
    /// Nothing has been touched.
    Begun,
    /// The first server is down.
    Down,
    /// The first server has been started anew.
    Back,
}

const LUCK: [Luck; 5] =
    [Luck::KillControlPlane, Luck::KillAgent, Luck::KillBroker, Luck::PauseBroker, Luck::StoreAway];
const MOMENTS: [Moment; 3] = [Moment::Begun, Moment::Down, Moment::Back];

/// One fault at one moment, another one every time; all of them in the long run.
/// `CASTELLAN_SEED` says which.
pub async fn survives_bad_luck(castellan: &mut Installation, instance: &Value) {
    let all: Vec<(Luck, Moment)> =
        LUCK.into_iter().flat_map(|luck| MOMENTS.map(|moment| (luck, moment))).collect();
    if std::env::var_os("CASTELLAN_TEST_ALL").is_some() {
        for (luck, moment) in all {
            through(castellan, instance, luck, moment).await;
        }
        return;
    }
    let given = std::env::var("CASTELLAN_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: usize = given.unwrap_or_else(|| usize::try_from(std::process::id()).unwrap());
    println!("CASTELLAN_SEED={seed}");
    let (luck, moment) = all[seed % all.len()];
    through(castellan, instance, luck, moment).await;
}

async fn through(castellan: &mut Installation, instance: &Value, luck: Luck, moment: Moment) {
    eprintln!("{luck:?} at {moment:?}");
    let id = instance["id"].as_i64().unwrap();
    let load = start(instance).await;
    let before = brokers(castellan);
    restart(castellan, id).await;
    let moving = until(castellan, &before, moment).await;
    // Another one than the one whose turn it is, where one has had its turn.
    let victim = (moving + 1) % before.len();
    let fault = inject(castellan, luck, victim).await;
    if luck == Luck::PauseBroker {
        nobody_else_is_touched(castellan, id, victim).await;
    }
    if luck == Luck::KillControlPlane {
        castellan.serve().await;
    }
    if luck == Luck::StoreAway {
        load.goes_on(50, PATIENCE).await.unwrap();
    }
    if let Some(mut fault) = fault {
        fault.undo().await.unwrap();
    }
    until_configured(castellan, id).await;
    let after = brokers(castellan);
    assert!(before.iter().zip(&after).all(|(before, after)| before != after), "all are restarted");
    is_clean(instance, load).await;
}

async fn inject(castellan: &mut Installation, luck: Luck, victim: usize) -> Option<Injected> {
    let processes = castellan.processes();
    let fault = match luck {
        Luck::KillControlPlane => {
            castellan.kill_control_plane().await;
            return None;
        }
        Luck::KillAgent => Fault::kill(&processes[victim].agent),
        Luck::KillBroker => Fault::kill(&processes[victim].broker),
        Luck::PauseBroker => Fault::Pause(processes[victim].broker.clone()),
        Luck::StoreAway => Fault::StoreAway(Store::Sqlite(castellan.data().join("castellan.db"))),
    };
    Some(fault.inject().await.unwrap())
}

/// A server that stands still holds the roll, which says why; the others stay as
/// they are.
async fn nobody_else_is_touched(castellan: &Installation, id: i64, paused: usize) {
    let title = format!("server {}", paused + 1);
    castellan
        .until("the roll is held", async || {
            let (_, instance) = castellan.get(&format!("/api/instances/{id}")).await;
            let status = instance["status"].as_str().unwrap_or_default();
            let says = ["does not answer", "is behind", "replicas in sync", "controllers would"];
            let held = says.iter().any(|words| status.contains(words));
            if held && brokers(castellan).iter().all(ProcessId::is_alive) {
                Ok(())
            } else {
                Err(format!("{title} stands still, and {status}"))
            }
        })
        .await;
}

/// While nothing goes wrong: every server is restarted once, one at a time, the
/// active controller last, as the brokers themselves saw it.
pub async fn goes_in_order(castellan: &Installation, instance: &Value) {
    let id = instance["id"].as_i64().unwrap();
    let load = start(instance).await;
    let mut known = brokers(castellan);
    restart(castellan, id).await;
    let (status, second) = castellan.post(&restart_path(id), &json!({})).await;
    assert_eq!(status, 400, "{second}");
    let mut active = None;
    let mut order: Vec<(usize, Option<i32>)> = Vec::new();
    castellan
        .until("the roll has ended", async || {
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
                active = active_controller(instance).await.or(active);
            }
            let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
            if cluster["configured"] == true { Ok(()) } else { Err(format!("{order:?} {cluster}")) }
        })
        .await;
    let node = |server: usize| Some(i32::try_from(server + 1).unwrap());
    assert_eq!(order.len(), known.len(), "each is restarted once: {order:?}");
    let (last, _) = order.pop().unwrap();
    // One that stops hands over before its process has ended, so the others tell
    // who was active: nobody else took over while they went.
    for (server, active) in &order {
        assert_eq!(*active, node(last), "the active controller goes last: {order:?}, {last}");
        assert_ne!(*server, last);
    }
    is_clean(instance, load).await;
}

fn restart_path(id: i64) -> String {
    format!("/api/instances/{id}/actions/cluster-restart")
}

async fn restart(castellan: &Installation, id: i64) {
    let (status, answer) = castellan.post(&restart_path(id), &json!({})).await;
    assert_eq!(status, 200, "{answer}");
    let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
    assert_eq!((&cluster["ready"], &cluster["configured"]), (&json!(true), &json!(false)));
}

async fn until_configured(castellan: &Installation, id: i64) {
    castellan
        .until("the roll has ended", async || {
            let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
            let (_, instance) = castellan.get(&format!("/api/instances/{id}")).await;
            let ended = cluster["configured"] == true && instance["status"] == "running";
            if ended { Ok(()) } else { Err(instance["status"].to_string()) }
        })
        .await;
}

fn brokers(castellan: &Installation) -> Vec<ProcessId> {
    castellan.processes().into_iter().map(|processes| processes.broker).collect()
}

/// The server whose turn it is at that moment.
async fn until(castellan: &Installation, before: &[ProcessId], moment: Moment) -> usize {
    castellan
        .until("the first server is restarted", async || {
            let now = brokers(castellan);
            let moved = |at: &usize| match moment {
                Moment::Begun => true,
                Moment::Down => !now[*at].is_alive() || now[*at] != before[*at],
                Moment::Back => now[*at] != before[*at],
            };
            (0..now.len()).find(moved).ok_or_else(|| format!("{moment:?}: {now:?}"))
        })
        .await
}

/// Clients of both kinds, with and without transactions.
async fn start(instance: &Value) -> Load {
    let load = Load::start(&spec(instance)).await.unwrap();
    load.goes_on(50, PATIENCE).await.unwrap();
    load
}

async fn is_clean(instance: &Value, load: Load) {
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
    LoadSpec { topic: "rolled".into(), partitions: 6, ..customers(instance) }
}

/// As whoever answers first has it.
async fn active_controller(instance: &Value) -> Option<i32> {
    let text = |field: &str| instance[field].as_str().unwrap().to_owned();
    let tls = tls::client_config(&text("ca"), None).unwrap();
    let password = Secret::new(text("password"));
    for broker in spec(instance).brokers {
        let limits = Limits { call: Duration::from_secs(2), ..Limits::default() };
        let Ok(mut connection) = Connection::open(&DirectDial, &broker, &tls, limits).await else {
            continue;
        };
        let mechanism = Mechanism::ScramSha512;
        if sasl::log_in(&mut connection, &text("username"), &password, mechanism).await.is_err() {
            continue;
        }
        if let Ok(quorum) = DescribeQuorum.run(&mut connection).await {
            return quorum.leader;
        }
    }
    None
}
