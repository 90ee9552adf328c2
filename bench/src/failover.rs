//! A broker that leads partitions is killed under load: how long these take no write, with
//! the sessions that Castellan gives brokers, beside Kafka's own on the same cluster.
//!
//! Between the two the configuration on record is changed and the cluster rolled. The active
//! controller is spared, since its end is another matter: an election comes before.

use crate::castellan::Castellan;
use crate::page::{Page, median};
use crate::producer;
use crate::rolls::under_load;
use anyhow::{Context, Result};
use std::path::Path;

const ROUNDS: usize = 3;
const SERVERS: u8 = 3;
const NAMES: [&str; 2] = ["broker.session.timeout.ms", "broker.heartbeat.interval.ms"];
/// What Kafka has where nothing is said.
const STOCK: [&str; 2] = ["9000", "2000"];

pub async fn run(binary: &Path, page: &mut Page) -> Result<()> {
    let castellan = Castellan::start(binary).await?;
    let id = castellan.first_write(SERVERS).await?.id;
    let ours = castellan.settings(id, NAMES).await?;
    let (mut short, mut stock) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        short.push(without_ack(&castellan, id).await?);
        with_sessions(&castellan, id, STOCK).await?;
        stock.push(without_ack(&castellan, id).await?);
        with_sessions(&castellan, id, [&*ours[0], &*ours[1]]).await?;
        let (short, stock) = (short[round - 1], stock[round - 1]);
        eprintln!("round {round}: {short:.0} ms without an ack, {stock:.0} ms with Kafka's own");
    }
    castellan.end().await?;
    let (short, stock) = (median(&mut short), median(&mut stock));
    page.put(
        "A leader that is killed",
        &format!(
            "Three servers under the load of the roll above, kill -9 of a broker that is not the \
             active controller;\nsessions of {} ms with heartbeats every {} ms, beside Kafka's own \
             ({} and {}) on the same cluster; medians of\n{ROUNDS} rounds taken in turn.\n\n\
             | what | Kafka's own | Castellan's | ratio | goal |\n|---|---|---|---|---|\n\
             | longest time without an ack, of any partition | {stock:.0} ms | {short:.0} ms | \
             **{:.2}** | ≤ 0.4 |\n",
            ours[0],
            ours[1],
            STOCK[0],
            STOCK[1],
            short / stock
        ),
    );
    Ok(())
}

async fn with_sessions(castellan: &Castellan, id: i64, values: [&str; 2]) -> Result<()> {
    castellan.change_settings(id, NAMES, values).await?;
    castellan.roll(id).await
}

/// Milliseconds.
async fn without_ack(castellan: &Castellan, id: i64) -> Result<f64> {
    let active = producer::active_controller(&castellan.login(id).await?).await?;
    let victim = (1..=i32::from(SERVERS)).find(|node| *node != active).context("another one")?;
    Ok(under_load(castellan, id, castellan.kill(victim)).await?.longest_without_ack_ms)
}
