//! What Castellan costs, beside the plain thing in the same run. Figures are
//! ratios, because machines are noisy; nothing is asserted. The tables go to
//! standard output and to `docs/benchmarks.md`.
//!
//! `make bench` runs every part; `make bench PARTS=clusters` that one.

mod api;
mod castellan;
mod changes;
mod clusters;
mod failover;
mod fleet;
mod on_record;
mod page;
mod producer;
mod resources;
mod rolls;
mod stock;
mod stock_cluster;
mod timeline;

use anyhow::{Context, Result, bail};
use page::Page;
use std::path::Path;

const PARTS: [&str; 7] = ["clusters", "rolls", "failover", "changes", "api", "resources", "fleet"];

#[tokio::main]
async fn main() -> Result<()> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("a crate has a parent")?;
    let binary = root.join("target/release/castellan");
    let mut page = Page::load(&root.join("docs/benchmarks.md"));
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if let [part, count] = asked.as_slice()
        && part == resources::brokers::ARGUMENT
    {
        return resources::brokers::serve(count.parse()?).await;
    }
    if let Some(unknown) = asked.iter().find(|part| !PARTS.contains(&part.as_str())) {
        bail!("there is no part {unknown}; choose of {}", PARTS.join(", "));
    }
    for part in PARTS.into_iter().filter(|part| asked.is_empty() || asked.iter().any(|a| a == part))
    {
        match part {
            "api" => api::run(&binary, &mut page).await?,
            "changes" => changes::run(&binary, &mut page).await?,
            "clusters" => clusters::run(&binary, &mut page).await?,
            "failover" => failover::run(&binary, &mut page).await?,
            "fleet" => fleet::run(&binary, &mut page).await?,
            "resources" => resources::run(&binary, &mut page).await?,
            "rolls" => rolls::run(&binary, &mut page).await?,
            _ => unreachable!("every part is named above"),
        }
        // Saved after each, so that a later failure loses nothing.
        println!("{}", page.save()?);
    }
    Ok(())
}
