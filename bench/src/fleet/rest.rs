//! What a real agent takes for itself while its broker rests.

use crate::castellan::{Castellan, resident_mib};
use anyhow::{Context, Result};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// From the first write until all is quiet.
const QUIET: Duration = Duration::from_mins(1);
const WATCHED: Duration = Duration::from_mins(1);

pub struct Rest {
    /// Percent of a core, without what its broker takes.
    pub cpu: f64,
    pub resident_mib: f64,
}

impl Rest {
    pub async fn measure(binary: &Path) -> Result<Self> {
        let castellan = Castellan::start(binary).await?;
        castellan.first_write(1).await?;
        let measured = Self::watch(&castellan).await;
        castellan.end().await?;
        measured
    }

    async fn watch(castellan: &Castellan) -> Result<Self> {
        sleep(QUIET).await;
        let pid = castellan.agent()?;
        let taken = || host::usage(pid).context("the agent runs").map(|usage| usage.cpu);
        let (began, before) = (Instant::now(), taken()?);
        sleep(WATCHED).await;
        let cpu =
            taken()?.saturating_sub(before).as_secs_f64() / began.elapsed().as_secs_f64() * 100.0;
        Ok(Self { cpu, resident_mib: resident_mib(pid)? })
    }
}
