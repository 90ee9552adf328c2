//! A cluster from nothing to its first acknowledged write, beside stock Kafka
//! by hand in the same run, of one server and of three, with JVMs that are started for it and
//! with JVMs of the pool.

use crate::castellan::{Castellan, PowerCycle, Processes};
use crate::page::{Page, median};
use crate::stock::Stock;
use crate::timeline::{self, Timeline};
use anyhow::{Context, Result};
use std::path::Path;

const ROUNDS: usize = 3;
/// Warm JVMs.
const POOL: usize = 3;

/// Medians of rounds taken in turn.
struct Compared {
    stock: f64,
    /// Servers that were stopped, started once more by hand.
    stock_again: f64,
    ready: f64,
    written: f64,
    /// With JVMs of the pool.
    warm: f64,
    /// Of each round.
    timelines: Vec<Timeline>,
}

pub async fn run(binary: &Path, page: &mut Page) -> Result<()> {
    let stock = Stock::prepare().await?;
    let castellan = Castellan::start(binary).await?;
    let warm = Castellan::start_warm(binary, POOL).await?;
    let (one, _, processes) = compare(&stock, &castellan, &warm, 1).await?;
    let (three, power, _) = compare(&stock, &castellan, &warm, 3).await?;
    let pool_mib = warm.pool_filled().await?;
    warm.end().await?;
    let control_plane = castellan.resident_mib()?;
    let second_up = castellan.second_up(binary).await?;

    let Processes { agent_mib, flags } = processes;
    page.put(
        "One server: from nothing to the first acknowledged write",
        &format!(
            "Kafka {} on Java {}. Flags of Castellan's broker: `{flags}`,\nand the start-up \
             cache.\n\n{}",
            stock.version,
            stock.java.version,
            one.table("0.55", "0.25")
        ),
    );
    let PowerCycle { stop, start } = power;
    let again = three.stock_again;
    page.put(
        "Three servers: from nothing to the first acknowledged write",
        &format!(
            "A topic with three replicas and `acks=all`; by hand, one format after the other, then \
             the three\nservers at once. The same flags as above.\n\n{}\
             | `cluster-stop` until no process is left | {stop:.2} |\n\
             | `cluster-start` until a write is acknowledged | {start:.2} |\n\
             | the same servers started by hand until a write is acknowledged | {again:.2} |\n\
             | **`cluster-start` ÷ by hand, goal ≤ 1.1** | **{:.2}** |\n\
             | a second `castellan up` | {second_up:.2} |\n",
            three.table("0.5", "0.3"),
            start / again
        ),
    );
    page.put(
        "Where the time of a create goes",
        &format!(
            "Milliseconds after the POST, medians of {ROUNDS}; of three servers, when the first \
             and when the last\nof them is there.\n\n{}",
            timeline::table(&one.timelines, &three.timelines)
        ),
    );
    page.put(
        "Memory",
        &format!(
            "| what | resident | goal |\n|---|---|---|\n\
             | control plane after these rounds, with one cluster | {control_plane:.1} MiB | ≤ 32 MiB |\n\
             | agent | {agent_mib:.1} MiB | ≤ 20 MiB |\n\
             | the pool of {POOL} warm JVMs | {pool_mib} MiB | |\n"
        ),
    );
    Ok(())
}

async fn compare(
    stock: &Stock,
    castellan: &Castellan,
    warm: &Castellan,
    servers: u8,
) -> Result<(Compared, PowerCycle, Processes)> {
    let (mut by_hand, mut again, mut ready) = (vec![], vec![], vec![]);
    let (mut written, mut from_pool) = (vec![], vec![]);
    let (mut stops, mut starts, mut processes) = (vec![], vec![], None);
    let mut timelines = vec![];
    for round in 1..=ROUNDS {
        let stock = stock.first_write(servers).await?;
        let first = castellan.first_write(servers).await?;
        processes = Some(castellan.processes()?);
        let power = castellan.power_cycle(first.id).await?;
        castellan.remove(first.id).await?;
        warm.pool_filled().await?;
        let pooled = warm.first_write(servers).await?;
        warm.remove(pooled.id).await?;
        // Its JVMs are warmed up before anything else is measured.
        warm.pool_filled().await?;
        eprintln!(
            "{servers} servers, round {round}: stock {:.2} s, castellan {:.2} s (ready after \
             {:.2} s), from the pool {:.2} s, stop {:.2} s, start {:.2} s, by hand {:.2} s",
            stock.first,
            first.written,
            first.ready,
            pooled.written,
            power.stop,
            power.start,
            stock.again
        );
        by_hand.push(stock.first);
        again.push(stock.again);
        from_pool.push(pooled.written);
        ready.push(first.ready);
        written.push(first.written);
        timelines.push(first.timeline);
        stops.push(power.stop);
        starts.push(power.start);
    }
    let compared = Compared {
        stock: median(&mut by_hand),
        stock_again: median(&mut again),
        warm: median(&mut from_pool),
        ready: median(&mut ready),
        written: median(&mut written),
        timelines,
    };
    let power = PowerCycle { stop: median(&mut stops), start: median(&mut starts) };
    Ok((compared, power, processes.context("there were rounds")?))
}

impl Compared {
    fn table(&self, goal: &str, warm_goal: &str) -> String {
        let Self { stock, ready, written, warm, .. } = self;
        let (ratio, warm_ratio) = (written / stock, warm / stock);
        format!(
            "| what | seconds (median of {ROUNDS}) |\n|---|---|\n\
             | stock Kafka by hand: format, start with the default flags, no caches, plaintext | {stock:.2} |\n\
             | Castellan: POST to the first acked write over TLS and SCRAM | {written:.2} |\n\
             | of that, POST until `ready` (a SCRAM login has succeeded) | {ready:.2} |\n\
             | **ratio, goal ≤ {goal}** | **{ratio:.2}** |\n\
             | Castellan with JVMs of its pool | {warm:.2} |\n\
             | **ratio, goal ≤ {warm_goal}** | **{warm_ratio:.2}** |\n"
        )
    }
}
