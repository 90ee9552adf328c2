//! Rolls of the real cluster under the checker: in order while nothing goes
//! wrong, and with bad luck in the middle. Nothing that was acknowledged is lost,
//! nothing is there twice, and no send fails.

use crate::checked::customers;
use crate::installation::Installation;
use crate::left_over;
use crate::luck::{Case, Luck, Moment, Victim, cases};
use crate::resources;
use crate::tight::Tight;
use checker::{Load, LoadSpec, judge, read_back};
use faults::{Fault, FaultError, Injected, Store};
use host::ProcessId;
use kafka::client::admin::quorum::DescribeQuorum;
use kafka::client::{Call as _, Connection, DirectDial, Limits, Mechanism, sasl, tls};
use model::Secret;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_mins(2);

/// What `luck::cases` says, one after another.
pub async fn survives_bad_luck(castellan: &mut Installation, instance: &Value) {
    let (full, others): (Vec<Case>, Vec<Case>) =
        cases().into_iter().partition(|case| case.luck == Luck::FullDisk);
    for case in others {
        through(castellan, instance, case, None).await;
    }
    if full.is_empty() {
        return;
    }
    // The last one: its turn is never the first.
    let last = brokers(castellan).len() - 1;
    let Some(tight) = Tight::put(castellan, instance, last).await else { return };
    for case in full {
        through(castellan, instance, case, Some(&tight)).await;
    }
    tight.take_back(castellan, instance).await;
}

async fn through(
    castellan: &mut Installation,
    instance: &Value,
    case: Case,
    tight: Option<&Tight>,
) {
    eprintln!("{case}");
    let began = Instant::now();
    let id = instance["id"].as_i64().unwrap();
    let load = start(instance).await;
    let before = brokers(castellan);
    restart(castellan, id).await;
    let victim = until(castellan, &before, case, tight).await;
    let fault = inject(castellan, case.luck, victim, tight).await;
    match case.luck {
        Luck::PauseBroker => nobody_else_is_touched(castellan, id, victim).await,
        Luck::KillControlPlane => castellan.serve().await,
        Luck::StoreAway => load.goes_on(50, PATIENCE).await.unwrap(),
        Luck::FullDisk => holds_while_full(castellan, id, victim, &load).await,
        Luck::KillAgent | Luck::KillBroker => {}
    }
    if let Some(mut fault) = fault {
        fault.undo().await.unwrap();
    }
    until_configured(castellan, id).await;
    let after = brokers(castellan);
    assert!(before.iter().zip(&after).all(|(before, after)| before != after), "all are restarted");
    is_clean(instance, load).await;
    eprintln!("{case}: {:.0} s", began.elapsed().as_secs_f64());
}

async fn inject(
    castellan: &mut Installation,
    luck: Luck,
    victim: usize,
    tight: Option<&Tight>,
) -> Option<Injected> {
    let processes = castellan.processes();
    let fault = match luck {
        Luck::KillControlPlane => {
            castellan.kill_control_plane().await;
            return None;
        }
        Luck::FullDisk => return Some(tight.expect("it was put there").fill().await),
        Luck::KillAgent => Fault::kill(&processes[victim].agent),
        Luck::KillBroker => Fault::kill(&processes[victim].broker),
        Luck::PauseBroker => Fault::Pause(processes[victim].broker.clone()),
        Luck::StoreAway => Fault::StoreAway(Store::Sqlite(castellan.data().join("castellan.db"))),
    };
    match fault.inject().await {
        // One that was told to stop may have done so by now.
        Err(FaultError::Ended(_)) if luck == Luck::KillBroker => None,
        injected => Some(injected.unwrap()),
    }
}

/// A server without room on its disk holds the roll. Agent, status and journal
/// say why, the others stay as they are, and clients go on.
async fn holds_while_full(castellan: &Installation, id: i64, victim: usize, load: &Load) {
    let words = format!("server {} is held: the disk is full: ", victim + 1);
    let status = castellan
        .until("the roll is held", async || {
            let (_, instance) = castellan.get(&format!("/api/instances/{id}")).await;
            let status = instance["status"].as_str().unwrap_or_default().to_owned();
            let reports = left_over::reports(castellan).await;
            let running = reports.iter().filter(|(report, _)| report["phase"] == "running").count();
            // Whoever was away when it happened is back.
            let is_held = status.starts_with(&words) && running + 1 == reports.len();
            if is_held { Ok(status) } else { Err(status) }
        })
        .await;
    eprintln!("{status}");
    let report = left_over::reports(castellan).await.swap_remove(victim).0;
    assert_eq!(report["phase"], "failed", "{report}");
    assert!(status.contains(report["disk_fault"].as_str().unwrap()), "{report}");
    let (_, actions) = castellan.get(&format!("/api/instances/{id}/actions")).await;
    let (_, action) =
        castellan.get(&format!("/api/instances/{id}/actions/{}", actions[0]["id"])).await;
    assert!(action["steps"].to_string().contains(&words), "{action}");

    let held = brokers(castellan);
    load.goes_on(200, PATIENCE).await.unwrap();
    assert_eq!(held, brokers(castellan), "nobody else is touched");
    let alive: Vec<bool> = held.iter().map(ProcessId::is_alive).collect();
    let expected: Vec<bool> = (0..held.len()).map(|server| server != victim).collect();
    assert_eq!(alive, expected, "it alone is away");
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
/// active controller last, as the brokers themselves saw it. It is a setting that
/// asks for it, and people go on to use the cluster meanwhile.
pub async fn goes_in_order(castellan: &Installation, instance: &Value) {
    let id = instance["id"].as_i64().unwrap();
    let load = start(instance).await;
    let mut known = brokers(castellan);
    resources::choose_what_is_read_at_start(castellan, id).await;
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
                active = active_controller(instance).await.or(active);
            }
            let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
            if cluster["configured"] == true { Ok(()) } else { Err(format!("{order:?} {cluster}")) }
        });
        until.await;
        ended.store(true, Ordering::Relaxed);
    };
    tokio::join!(watching, resources::go_on(castellan, instance, &ended));
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

/// Waits for the moment, and says whom it hits.
async fn until(
    castellan: &Installation,
    before: &[ProcessId],
    case: Case,
    tight: Option<&Tight>,
) -> usize {
    // A disk can be filled where it is small alone.
    let only = tight.map(|tight| tight.server);
    let awaited = only.filter(|_| case.victim == Victim::Moving);
    let moving = castellan
        .until("the server's turn has come", async || {
            let now = brokers(castellan);
            let reports = match case.moment {
                Moment::Leaving => left_over::reports(castellan).await,
                _ => vec![],
            };
            let moved = |at: &usize| match case.moment {
                Moment::Begun => true,
                Moment::Leaving => reports[*at].0["phase"] == "stopping" || now[*at] != before[*at],
                Moment::Down => !now[*at].is_alive() || now[*at] != before[*at],
                Moment::Back => now[*at] != before[*at],
            };
            let mut servers = (0..now.len()).filter(|at| awaited.is_none_or(|only| only == *at));
            servers.find(moved).ok_or_else(|| format!("{case}: {now:?}"))
        })
        .await;
    match case.victim {
        Victim::Moving => moving,
        Victim::Another => only.unwrap_or((moving + 1) % before.len()),
    }
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
