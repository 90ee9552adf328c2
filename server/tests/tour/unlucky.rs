//! Rolls of the real cluster under the checker with bad luck in the middle. What holds
//! without it holds with it; whoever has to wait says why, and nobody else is touched.

use crate::installation::Installation;
use crate::left_over;
use crate::luck::{Case, Luck, Moment, Victim, rolls};
use crate::rolled::{
    PARTITIONS, PATIENCE, TOPIC, brokers, is_clean, restart, start, until_configured,
};
use crate::tight::Tight;
use checker::Load;
use faults::{Fault, FaultError, Injected, Store};
use host::ProcessId;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const BETWEEN_OTHERS: Duration = Duration::from_secs(5);
/// A coordinator of transactions gives up what it has written itself after so long; see
/// [`others_write`], who can't help it.
const STANDING: Duration = Duration::from_mins(1);

/// What `luck::rolls` says, one after another.
pub async fn survives_bad_luck(castellan: &mut Installation, instance: &Value) {
    let is_full = |cases: &Vec<Case>| cases.iter().any(|case| case.luck == Luck::FullDisk);
    let (full, others): (Vec<Vec<Case>>, Vec<Vec<Case>>) = rolls().into_iter().partition(is_full);
    for cases in others {
        through(castellan, instance, &cases, None).await;
    }
    if full.is_empty() {
        return;
    }
    // The last one: its turn is never the first.
    let last = brokers(castellan).len() - 1;
    let Some(tight) = Tight::put(castellan, instance, last).await else { return };
    for cases in full {
        through(castellan, instance, &cases, Some(&tight)).await;
    }
    tight.take_back(castellan, instance).await;
}

/// One roll, with all of this in it.
async fn through(
    castellan: &mut Installation,
    instance: &Value,
    cases: &[Case],
    tight: Option<&Tight>,
) {
    let began = Instant::now();
    let id = instance["id"].as_i64().unwrap();
    let load = start(instance).await;
    let first = brokers(castellan);
    restart(castellan, id).await;
    let mut before = first.clone();
    for case in cases {
        eprintln!("{case}");
        let (moving, victim) = until(castellan, &before, *case, tight).await;
        happens(castellan, id, *case, victim, tight, &load).await;
        before = until_all_are_there(castellan, &before, *case, moving).await;
    }
    until_configured(castellan, id).await;
    let after = brokers(castellan);
    assert!(first.iter().zip(&after).all(|(first, after)| first != after), "all are restarted");
    is_clean(instance, load).await;
    eprintln!("{cases:?}: {:.0} s", began.elapsed().as_secs_f64());
}

/// It happens, is as it should be meanwhile, and is over.
async fn happens(
    castellan: &mut Installation,
    id: i64,
    case: Case,
    victim: usize,
    tight: Option<&Tight>,
    load: &Load,
) {
    let fault = inject(castellan, case.luck, victim, tight).await;
    match case.luck {
        Luck::PauseBroker => nobody_else_is_touched(castellan, id, victim).await,
        Luck::KillControlPlane => castellan.serve().await,
        Luck::StoreAway => load.goes_on(50, PATIENCE).await.unwrap(),
        Luck::FullDisk => holds_while_full(castellan, id, victim, load).await,
        Luck::KillAgent | Luck::KillBroker => {}
    }
    if let Some(mut fault) = fault {
        fault.undo().await.unwrap();
    }
}

/// The brokers by which the next turn is known: those after this one, whoever was
/// killed in it.
async fn until_all_are_there(
    castellan: &Installation,
    before: &[ProcessId],
    case: Case,
    moving: usize,
) -> Vec<ProcessId> {
    castellan
        .until("every broker is there", async || {
            let now = brokers(castellan);
            let has_moved = case.moment == Moment::Begun || now[moving] != before[moving];
            if has_moved && now.iter().all(ProcessId::is_alive) { Ok(now) } else { Err(now) }
        })
        .await
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
    tokio::select! {
        gone_on = load.goes_on(200, PATIENCE + STANDING) => gone_on.unwrap(),
        () = others_write(castellan, id) => {}
    }
    assert_eq!(held, brokers(castellan), "nobody else is touched");
    let alive: Vec<bool> = held.iter().map(ProcessId::is_alive).collect();
    let expected: Vec<bool> = (0..held.len()).map(|server| server != victim).collect();
    assert_eq!(alive, expected, "it alone is away");
}

/// A broker that starts on a full disk may end after it has caught up and before it is in
/// sync. A leader that waits for it looks again only when something is written, and every
/// client may be waiting for the leader by then, until its time is over. Where clusters
/// have more than a few clients, one more comes along.
async fn others_write(castellan: &Installation, id: i64) {
    let path = format!("/api/instances/{id}/topics/{TOPIC}/messages");
    let all: Value = (0..PARTITIONS).map(|it| json!({"partition": it, "value": "hello"})).collect();
    let mut now = tokio::time::interval(BETWEEN_OTHERS);
    loop {
        now.tick().await;
        castellan.post(&path, &json!({"messages": all})).await;
    }
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

/// Waits for the moment, and says whose turn it is and whom it hits.
async fn until(
    castellan: &Installation,
    before: &[ProcessId],
    case: Case,
    tight: Option<&Tight>,
) -> (usize, usize) {
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
    let victim = match case.victim {
        Victim::Moving => moving,
        Victim::Another => only.unwrap_or((moving + 1) % before.len()),
    };
    (moving, victim)
}
