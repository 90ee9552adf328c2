//! What Castellan costs, beside the plain thing in the same run. Figures are
//! ratios, because machines are noisy; nothing is asserted. The tables go to
//! standard output and to `docs/benchmarks.md`.
//!
//! `make bench` runs every part; `make bench PARTS=clusters` that one.

mod api;
mod castellan;
mod changes;
mod clusters;
mod deliveries;
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

use anyhow::{Context, Result, anyhow, bail};
use page::Page;
use std::path::Path;
use std::str::FromStr;

const PARTS: [&str; 8] =
    ["clusters", "rolls", "failover", "changes", "api", "resources", "fleet", "deliveries"];
/// How much of everything there is, where a part can do with less.
const SIZE: &str = "CASTELLAN_BENCH_SIZE";

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
            "deliveries" => deliveries::run(&binary, &mut page).await?,
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

/// What a variable says, if it is set.
fn asked<T: FromStr>(name: &str) -> Result<Option<T>> {
    let Ok(text) = std::env::var(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| anyhow!("{name} is no number: {text}"))
}

/// The share of everything that is wanted; a debug build only tries whether it works.
fn size(debug: f64) -> Result<f64> {
    let usual = if cfg!(debug_assertions) { debug } else { 1.0 };
    Ok(asked(SIZE)?.unwrap_or(usual))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within these bounds")]
fn rounded(of: f64) -> u32 {
    of.round().clamp(1.0, 1e9) as u32
}
