//! What a cluster costs, beside stock Kafka in the same run. Figures are
//! ratios, because machines are noisy; nothing is asserted. The table goes to
//! standard output and to `docs/benchmarks.md`.

mod castellan;
mod producer;
mod report;
mod stock;

use anyhow::{Context, Result};
use castellan::Castellan;
use report::{Figures, median};
use std::path::Path;

const ROUNDS: usize = 5;

#[tokio::main]
async fn main() -> Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("a crate has a parent")?;
    let binary = root.join("target/release/castellan");
    let stock = stock::Stock::prepare().await?;
    let castellan = Castellan::start(&binary).await?;

    let (mut by_hand, mut ours, mut ready) = (Vec::new(), Vec::new(), Vec::new());
    let (mut control_plane, mut agent, mut flags) = (0.0, 0.0, String::new());
    for round in 1..=ROUNDS {
        let stock_took = stock.first_write().await?;
        let first = castellan.first_write().await?;
        eprintln!(
            "round {round}: stock {stock_took:.2} s, castellan {:.2} s (ready after {:.2} s)",
            first.written, first.ready
        );
        by_hand.push(stock_took);
        ours.push(first.written);
        ready.push(first.ready);
        control_plane = castellan.resident_mib()?;
        (agent, flags) = (first.agent_mib, first.flags);
    }
    let second_up = castellan.second_up(&binary).await?;
    let figures = Figures {
        java: stock.java.version.clone(),
        kafka: stock.version.to_string(),
        rounds: ROUNDS,
        stock: median(&mut by_hand),
        castellan: median(&mut ours),
        ready: median(&mut ready),
        second_up,
        control_plane,
        agent,
        flags,
    };
    let page = figures.page();
    println!("{page}");
    std::fs::write(root.join("docs/benchmarks.md"), page)?;
    Ok(())
}
