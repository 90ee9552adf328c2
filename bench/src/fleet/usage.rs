//! What the control plane takes at one moment: time, memory and disk.

use crate::api::plane::Plane;
use anyhow::{Context, Result};
use host::ProcessId;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

const KIB: f64 = 1024.0;
const DAY: f64 = 24.0 * 3600.0;
/// Seconds that one row of the history covers, as servers measured.
pub const WINDOW: i64 = 600;
/// From the end of its time until a row is surely written.
pub const WRITTEN: i64 = 100;

#[derive(Clone, Copy)]
pub struct Usage {
    at: Instant,
    /// The time of this look, in Unix seconds.
    second: i64,
    cpu: Duration,
    /// Of this program, that is of the simulated agents.
    own_cpu: Duration,
    resident: u64,
    store: u64,
    history: u64,
}

impl Usage {
    pub fn of(plane: &Plane) -> Result<Self> {
        let taken = host::usage(plane.pid()).context("the control plane runs")?;
        let own = host::usage(ProcessId::own().pid).context("this program runs")?;
        let data = plane.data();
        Ok(Self {
            at: Instant::now(),
            second: super::now(),
            cpu: taken.cpu,
            own_cpu: own.cpu,
            resident: taken.resident,
            store: size(&data, "castellan.db"),
            history: size(&data, "metrics.db"),
        })
    }

    pub fn resident_mib(&self) -> f64 {
        number(self.resident) / KIB / KIB
    }

    /// Memory taken since then by each of so many.
    pub fn kib_each_since(&self, before: &Self, count: u32) -> f64 {
        (number(self.resident) - number(before.resident)) / KIB / f64::from(count)
    }

    pub fn seconds_since(&self, before: &Self) -> f64 {
        (self.at - before.at).as_secs_f64()
    }

    pub fn rate_since(&self, before: &Self, count: usize) -> f64 {
        f64::from(u32::try_from(count).unwrap_or(u32::MAX)) / self.seconds_since(before)
    }

    /// Percent of a core.
    pub fn cpu_since(&self, before: &Self) -> f64 {
        self.cpu.saturating_sub(before.cpu).as_secs_f64() / self.seconds_since(before) * 100.0
    }

    pub fn own_cpu_since(&self, before: &Self) -> f64 {
        self.own_cpu.saturating_sub(before.own_cpu).as_secs_f64() / self.seconds_since(before)
            * 100.0
    }

    /// MiB a day: what the store grew by, over the time.
    pub fn store_a_day_since(&self, before: &Self) -> f64 {
        let grown = (number(self.store) - number(before.store)) / KIB / KIB;
        grown / self.seconds_since(before) * DAY
    }

    /// MiB a day: what the history grew by, over the windows that were written in the
    /// time, for it grows only then. None if there were none.
    pub fn history_a_day_since(&self, before: &Self) -> Option<f64> {
        let grown = (number(self.history) - number(before.history)) / KIB / KIB;
        let written = |second: i64| (second - WRITTEN).div_euclid(WINDOW);
        let windows = u32::try_from(written(self.second) - written(before.second)).ok()?;
        let a_day = DAY / f64::from(u32::try_from(WINDOW).ok()?);
        (windows > 0).then(|| grown / f64::from(windows) * a_day)
    }
}

/// With its log.
fn size(data: &Path, name: &str) -> u64 {
    let file = |name: &str| fs::metadata(data.join(name)).map_or(0, |file| file.len());
    file(name) + file(&format!("{name}-wal"))
}

#[expect(clippy::cast_precision_loss, reason = "nobody counts single bytes of petabytes")]
fn number(count: u64) -> f64 {
    count as f64
}
