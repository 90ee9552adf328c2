//! Rolls of the real cluster under the checker with bad luck in the middle. What holds
//! without it holds with it; whoever has to wait says why, and nobody else is touched.

use crate::held::{holds_while_full, nobody_else_is_touched};
use crate::installation::Installation;
use crate::left_over;
use crate::luck::{Case, Luck, Moment, Victim, rolls};
use crate::rolled::{PATIENCE, brokers, is_clean, restart, start, until_configured};
use crate::tight::Tight;
use crate::turns::Turns;
use checker::Load;
use faults::{Fault, FaultError, Injected, Store};
use host::ProcessId;
use serde_json::Value;
use std::time::Instant;

/// A moment may go by before it is seen, and does not so often.
const ATTEMPTS: usize = 4;

/// The moment had gone by.
struct Missed;

/// What `luck::rolls` says, one after another.
pub async fn survives_bad_luck(castellan: &mut Installation, instance: &Value) {
    let is_full = |cases: &Vec<Case>| cases.iter().any(|case| case.luck == Luck::FullDisk);
    let (full, others): (Vec<Vec<Case>>, Vec<Vec<Case>>) = rolls().into_iter().partition(is_full);
    for cases in others {
        until_it_happened(castellan, instance, cases, None).await;
    }
    if full.is_empty() {
        return;
    }
    // The last one: its turn is never the first.
    let last = brokers(castellan).len() - 1;
    let Some(tight) = Tight::put(castellan, instance, last).await else { return };
    for cases in full {
        until_it_happened(castellan, instance, cases, Some(&tight)).await;
    }
    tight.take_back(castellan, instance).await;
}

/// As many rolls as it takes for all of this to have happened in one of them.
async fn until_it_happened(
    castellan: &mut Installation,
    instance: &Value,
    cases: Vec<Case>,
    tight: Option<&Tight>,
) {
    let mut left = cases;
    for _ in 0..ATTEMPTS {
        left = Box::pin(through(castellan, instance, &left, tight)).await;
        if left.is_empty() {
            return;
        }
        eprintln!("came too late, and is tried again: {left:?}");
    }
    panic!("it never happened: {left:?}");
}

/// One roll, with all of this in it, and what of it came too late.
async fn through(
    castellan: &mut Installation,
    instance: &Value,
    cases: &[Case],
    tight: Option<&Tight>,
) -> Vec<Case> {
    let began = Instant::now();
    let id = instance["id"].as_i64().unwrap();
    let load = start(instance).await;
    let first = brokers(castellan);
    let mut turns = Turns::of(id, restart(castellan, id).await);
    let mut before = first.clone();
    let mut missed = Vec::new();
    for case in cases {
        eprintln!("{case}");
        let (moving, victim) = until(castellan, &before, *case, tight, &mut turns).await;
        turns.hits(castellan, *case, victim).await;
        let is_late =
            case.moment == Moment::Leaving && brokers(castellan)[moving] != before[moving];
        if is_late || happens(castellan, id, *case, (moving, victim), tight, &load).await.is_err() {
            missed.push(*case);
        }
        before = until_all_are_there(castellan, &before, *case, moving, &mut turns).await;
        turns.is_over();
    }
    until_over(castellan, id, &mut turns).await;
    let after = brokers(castellan);
    assert!(first.iter().zip(&after).all(|(first, after)| first != after), "all are restarted");
    is_clean(instance, load).await;
    eprintln!("{cases:?}: {:.0} s", began.elapsed().as_secs_f64());
    missed
}

/// It happens, is as it should be meanwhile, and is over.
async fn happens(
    castellan: &mut Installation,
    id: i64,
    case: Case,
    (moving, victim): (usize, usize),
    tight: Option<&Tight>,
    load: &Load,
) -> Result<(), Missed> {
    let before = brokers(castellan);
    let fault = inject(castellan, case.luck, victim, tight).await?;
    match case.luck {
        Luck::PauseBroker => {
            let turn = (case.moment != Moment::Begun).then_some(moving);
            nobody_else_is_touched(castellan, id, victim, &before, turn).await;
        }
        Luck::KillControlPlane => castellan.serve().await,
        Luck::StoreAway => load.goes_on(50, PATIENCE).await.unwrap(),
        Luck::FullDisk => holds_while_full(castellan, id, victim, load).await,
        Luck::KillAgent | Luck::KillBroker => {}
    }
    if let Some(mut fault) = fault {
        fault.undo().await.unwrap();
    }
    Ok(())
}

/// The brokers by which the next turn is known: those after this one, whoever was
/// killed in it.
async fn until_all_are_there(
    castellan: &Installation,
    before: &[ProcessId],
    case: Case,
    moving: usize,
    turns: &mut Turns,
) -> Vec<ProcessId> {
    castellan
        .until("every broker is there", async || {
            turns.look(castellan).await;
            let now = brokers(castellan);
            let has_moved = case.moment == Moment::Begun || now[moving] != before[moving];
            if has_moved && now.iter().all(ProcessId::is_alive) { Ok(now) } else { Err(now) }
        })
        .await
}

/// Looks at every turn until the roll has ended.
async fn until_over(castellan: &Installation, id: i64, turns: &mut Turns) {
    castellan
        .until("the roll has ended", async || {
            turns.look(castellan).await;
            let (_, cluster) = castellan.get(&format!("/api/instances/{id}/cluster/status")).await;
            if cluster["configured"] == true { Ok(()) } else { Err(cluster) }
        })
        .await;
    until_configured(castellan, id).await;
}

async fn inject(
    castellan: &mut Installation,
    luck: Luck,
    victim: usize,
    tight: Option<&Tight>,
) -> Result<Option<Injected>, Missed> {
    let processes = castellan.processes();
    let fault = match luck {
        Luck::KillControlPlane => {
            castellan.kill_control_plane().await;
            return Ok(None);
        }
        Luck::FullDisk => return Ok(Some(tight.expect("it was put there").fill().await)),
        Luck::KillAgent => Fault::kill(&processes[victim].agent),
        Luck::KillBroker => Fault::kill(&processes[victim].broker),
        Luck::PauseBroker => Fault::Pause(processes[victim].broker.clone()),
        Luck::StoreAway => Fault::StoreAway(Store::Sqlite(castellan.data().join("castellan.db"))),
    };
    match fault.inject().await {
        // One that was told to stop may have done so by now.
        Err(FaultError::Ended(_)) if luck == Luck::KillBroker => Err(Missed),
        injected => Ok(Some(injected.unwrap())),
    }
}

/// Waits for the moment, and says whose turn it is and whom it hits.
async fn until(
    castellan: &Installation,
    before: &[ProcessId],
    case: Case,
    tight: Option<&Tight>,
    turns: &mut Turns,
) -> (usize, usize) {
    // A disk can be filled where it is small alone.
    let only = tight.map(|tight| tight.server);
    let awaited = only.filter(|_| case.victim == Victim::Moving);
    let moving = castellan
        .until("the server's turn has come", async || {
            turns.look(castellan).await;
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
