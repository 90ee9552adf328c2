//! What it costs to bring logs and metrics to where people already look: the agent of a broker
//! that logs a lot, and a control plane with an integration for each instance of a fleet.
//!
//! The systems are receivers in this process, which take everything and only count it.
//! `CASTELLAN_BENCH_SIZE=0.1` makes both as much smaller.

mod intake;
mod lines;
mod logs;
mod metrics;
mod points;
mod writer;

use crate::page::Page;
use anyhow::Result;
use std::path::Path;
use std::time::Duration;

/// At the size 1.
const LOGS: f64 = 120.0;
const INSTANCES: f64 = 1000.0;
const DEBUG: f64 = 0.1;
/// However little is wanted.
const LEAST: Duration = Duration::from_secs(15);

/// How much of everything.
#[derive(Clone, Copy)]
pub struct Scale {
    /// How long logs are written and watched.
    pub logs: Duration,
    pub instances: usize,
}

impl Scale {
    fn new() -> Result<Self> {
        let size = crate::size(DEBUG)?;
        let instances = usize::try_from(crate::rounded(INSTANCES * size))?;
        Ok(Self { logs: Duration::from_secs_f64(LOGS * size).max(LEAST), instances })
    }
}

pub async fn run(binary: &Path, page: &mut Page) -> Result<()> {
    let scale = Scale::new()?;
    logs::run(binary, scale, page).await?;
    // What comes next may fail, on a machine that is too small.
    page.save()?;
    metrics::run(binary, scale, page).await
}
