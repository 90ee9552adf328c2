//! A cluster from nothing to its first acknowledged write, beside stock Kafka
//! by hand in the same run, of one server and of three.

use crate::castellan::{Castellan, PowerCycle, Processes};
use crate::page::{Page, median};
use crate::stock::Stock;
use crate::timeline::{self, Timeline};
use anyhow::{Context, Result};
use std::path::Path;

const ROUNDS: usize = 5;

/// Medians of rounds taken in turn.
struct Compared {
    stock: f64,
    ready: f64,
    written: f64,
    /// Of each round.
    timelines: Vec<Timeline>,
}

pub async fn run(binary: &Path, page: &mut Page) -> Result<()> {
    let stock = Stock::prepare().await?;
    let castellan = Castellan::start(binary).await?;
    let (one, _, processes) = compare(&stock, &castellan, 1).await?;
    let (three, power, _) = compare(&stock, &castellan, 3).await?;
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
            one.table("0.6")
        ),
    );
    let PowerCycle { stop, start } = power;
    page.put(
        "Three servers: from nothing to the first acknowledged write",
        &format!(
            "A topic with three replicas and `acks=all`; by hand, one format after the other, then \
             the three\nservers at once. The same flags as above.\n\n{}\
             | `cluster-stop` until no process is left | {stop:.2} |\n\
             | `cluster-start` until a write is acknowledged | {start:.2} |\n\
             | a second `castellan up` | {second_up:.2} |\n",
            three.table("0.5")
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
             | control plane after these rounds, with one cluster | {control_plane:.1} MiB | ≤ 20 MiB |\n\
             | agent | {agent_mib:.1} MiB | ≤ 20 MiB |\n"
        ),
    );
    Ok(())
}

async fn compare(
    stock: &Stock,
    castellan: &Castellan,
    servers: u8,
) -> Result<(Compared, PowerCycle, Processes)> {
    let (mut by_hand, mut ready, mut written) = (vec![], vec![], vec![]);
    let (mut stops, mut starts, mut processes) = (vec![], vec![], None);
    let mut timelines = vec![];
    for round in 1..=ROUNDS {
        let stock_took = stock.first_write(servers).await?;
        let first = castellan.first_write(servers).await?;
        processes = Some(castellan.processes()?);
        let power = castellan.power_cycle(first.id).await?;
        castellan.remove(first.id).await?;
        eprintln!(
            "{servers} servers, round {round}: stock {stock_took:.2} s, castellan {:.2} s (ready \
             after {:.2} s), stop {:.2} s, start {:.2} s",
            first.written, first.ready, power.stop, power.start
        );
        by_hand.push(stock_took);
        ready.push(first.ready);
        written.push(first.written);
        timelines.push(first.timeline);
        stops.push(power.stop);
        starts.push(power.start);
    }
    let compared = Compared {
        stock: median(&mut by_hand),
        ready: median(&mut ready),
        written: median(&mut written),
        timelines,
    };
    let power = PowerCycle { stop: median(&mut stops), start: median(&mut starts) };
    Ok((compared, power, processes.context("there were rounds")?))
}

impl Compared {
    fn table(&self, goal: &str) -> String {
        let Self { stock, ready, written, .. } = self;
        let ratio = written / stock;
        format!(
            "| what | seconds (median of {ROUNDS}) |\n|---|---|\n\
             | stock Kafka by hand: format, start with the default flags, no caches, plaintext | {stock:.2} |\n\
             | Castellan: POST to the first acked write over TLS and SCRAM | {written:.2} |\n\
             | of that, POST until `ready` (a SCRAM login has succeeded) | {ready:.2} |\n\
             | **ratio, goal ≤ {goal}** | **{ratio:.2}** |\n"
        )
    }
}
