//! A hundred rolls with something going wrong in each, and a hundred kills of brokers that
//! lead: the checker finds nothing lost, doubled or reordered. Only where everything is tried.

use crate::rolled::{brokers, in_sync, is_clean, restart, start_at, until_configured};
use crate::shared::Tour;
use faults::Fault;
use host::ProcessId;
use std::ops::Range;
use std::time::{Duration, Instant};
use test_support::left_over;

const TIMES: usize = 100;
/// The checker reads everything back after so many kills.
const KILLS_EACH: usize = 20;
const ROLLS_EACH: usize = 10;
/// With more, two cores are busy with the load, and a roll waits for them.
const RATE_PER_SECOND: u32 = 40;
const PAUSE: Duration = Duration::from_secs(2);

/// What goes wrong while a roll is under way.
#[derive(Clone, Copy, Debug)]
enum Mishap {
    Nothing,
    KillWarmJvm,
    PauseWarmJvm,
    KillAgent,
    KillControlPlane,
    KillBroker,
}

const MISHAPS: [Mishap; 6] = [
    Mishap::Nothing,
    Mishap::KillWarmJvm,
    Mishap::PauseWarmJvm,
    Mishap::KillAgent,
    Mishap::KillControlPlane,
    Mishap::KillBroker,
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
        Mishap::KillBroker => kill(&brokers(&tour.castellan)[victim]).await,
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

pub async fn kills(tour: &mut Tour) {
    let began = Instant::now();
    for group in 0..TIMES / KILLS_EACH {
        let load = start_at(&tour.instance, RATE_PER_SECOND).await;
        for number in group * KILLS_EACH..(group + 1) * KILLS_EACH {
            let before = brokers(&tour.castellan);
            let victim = number % before.len();
            kill(&before[victim]).await;
            tour.castellan.until_broker_is_not(victim, &before[victim]).await;
            // With a replica lagging, the next kill could end the last one in sync.
            let castellan = &tour.castellan;
            let all_in_sync = async || in_sync(&tour.instance).await;
            castellan.until("every replica is in sync", all_in_sync).await;
        }
        is_clean(&tour.instance, load).await;
    }
    eprintln!("{TIMES} kills in {:.0} s", began.elapsed().as_secs_f64());
}
