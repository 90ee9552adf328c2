//! Clusters that change while they run: how long the mover takes to plan a large one and how much
//! it copies, and how clients fare while a real one grows and shrinks.
//!
//! `CASTELLAN_BENCH_SIZE=0.05` makes both as much smaller.

mod disk;
mod files;
mod large;
mod plans;
mod resized;

use crate::page::Page;
use crate::rounded;
use anyhow::Result;
use std::path::Path;

/// How much of everything; a debug build only tries whether it works.
#[derive(Clone, Copy)]
pub struct Scale {
    pub topics: u32,
    pub replicas: u32,
    /// Of the topic that moves, in megabytes.
    pub megabytes: u32,
}

impl Scale {
    fn new() -> Result<Self> {
        let size = crate::size(0.02)?;
        let part = |whole: f64| rounded(whole * size);
        Ok(Self { topics: part(10_000.0), replicas: part(100_000.0), megabytes: part(2000.0) })
    }
}

pub async fn run(binary: &Path, page: &mut Page) -> Result<()> {
    let scale = Scale::new()?;
    plans::run(scale, page).await?;
    // What comes next may fail, on a machine that is too small.
    page.save()?;
    resized::run(binary, scale, page).await
}
