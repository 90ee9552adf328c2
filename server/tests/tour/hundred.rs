//! A hundred rolls, and in each of them a broker that leads is killed and something else goes
//! wrong: the checker finds nothing lost, doubled or reordered. Only where everything is tried.

use crate::rolled::{brokers, is_clean, restart, start_at, until_configured};
use crate::shared::Tour;
use faults::Fault;
use host::ProcessId;
use std::ops::Range;
use std::time::{Duration, Instant};
use test_support::left_over;

const TIMES: usize = 100;
/// The checker reads everything back after so many rolls.
const ROLLS_EACH: usize = 10;
/// With more, two cores are busy with the load, and a roll waits for them.
const RATE_PER_SECOND: u32 = 40;
const PAUSE: Duration = Duration::from_secs(2);

/// What goes wrong while a roll is under way, beside the kill of a broker.
#[derive(Clone, Copy, Debug)]
enum Mishap {
    Nothing,
    KillWarmJvm,
    PauseWarmJvm,
    KillAgent,
    KillControlPlane,
}

const MISHAPS: [Mishap; 5] = [
    Mishap::Nothing,
    Mishap::KillWarmJvm,
    Mishap::PauseWarmJvm,
    Mishap::KillAgent,
    Mishap::KillControlPlane,
];

pub async fn rolls_1_to_50(tour: &mut Tour) {
    rolls(tour, 0..50).await;
}

pub async fn rolls_51_to_100(tour: &mut Tour) {
    rolls(tour, 50..TIMES).await;
}

async fn rolls(tour: &mut Tour, numbers: Range<usize>) {
    let began = Instant::now();
    for group in numbers.clone().step_by(ROLLS_EACH) {
        let load = start_at(&tour.instance, RATE_PER_SECOND).await;
        for number in group..group + ROLLS_EACH {
            let before = brokers(&tour.castellan);
            restart(&tour.castellan, tour.id).await;
            mishap(tour, MISHAPS[number % MISHAPS.len()], number).await;
            kill_a_leader(tour, &before, number).await;
            until_configured(&tour.castellan, tour.id).await;
            let after = brokers(&tour.castellan);
            let all = before.iter().zip(&after).all(|(before, after)| before != after);
            assert!(all, "every broker is restarted: {before:?} {after:?}");
        }
        is_clean(&tour.instance, load).await;
    }
    eprintln!("{} rolls in {:.0} s", numbers.len(), began.elapsed().as_secs_f64());
}

async fn mishap(tour: &mut Tour, mishap: Mishap, number: usize) {
    let victim = number % brokers(&tour.castellan).len();
    match mishap {
        Mishap::Nothing => {}
        Mishap::KillControlPlane => {
            tour.castellan.kill_control_plane().await;
            tour.castellan.serve().await;
        }
        Mishap::KillAgent => kill(&tour.castellan.processes()[victim].agent).await,
        Mishap::KillWarmJvm => kill(&warm_jvm(tour).await).await,
        Mishap::PauseWarmJvm => {
            let jvm = warm_jvm(tour).await;
            let paused = Fault::Pause(jvm).inject().await;
            tokio::time::sleep(PAUSE).await;
            if let Ok(mut pause) = paused {
                // It may have ended with its agent's patience.
                let _ = pause.undo().await;
            }
        }
    }
}

/// Kills a broker once none, one or two of the three have been restarted. Every broker of this
/// cluster leads, until it stops or dies.
async fn kill_a_leader(tour: &Tour, before: &[ProcessId], number: usize) {
    let restarted_first = number % before.len();
    let castellan = &tour.castellan;
    let victim = castellan
        .until("brokers were restarted, and another runs", async || {
            let now = brokers(castellan);
            let restarted = before.iter().zip(&now).filter(|(before, now)| before != now).count();
            // Another one each time a roll is at the same point.
            let in_turn = (0..now.len()).map(|at| (number / before.len() + at) % now.len());
            let victim = in_turn.map(|at| now[at].clone()).find(ProcessId::is_alive);
            victim.filter(|_| restarted >= restarted_first).ok_or(now)
        })
        .await;
    drop(Fault::kill(&victim).inject().await.expect("a broker that runs can be killed"));
}

async fn kill(process: &ProcessId) {
    drop(Fault::kill(process).inject().await);
}

/// One that rehearses or waits for its order.
async fn warm_jvm(tour: &Tour) -> ProcessId {
    let castellan = &tour.castellan;
    castellan
        .until("a JVM is warmed up", async || {
            let now = brokers(castellan);
            let marked = left_over::processes_of("CASTELLAN_SUCCESSOR", &castellan.data());
            let found = marked.into_iter().filter_map(ProcessId::from_pid);
            found.into_iter().find(|process| !now.contains(process)).ok_or(now)
        })
        .await
}
