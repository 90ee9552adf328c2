//! How fast a file is written to the disk that brokers are on.

use anyhow::Result;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

const BLOCK: usize = 1 << 20;

/// Bytes a second, until all of it is on the disk.
pub fn write_rate(directory: &Path, megabytes: u32) -> Result<f64> {
    let path = directory.join("as-fast-as-it-can");
    let block: Vec<u8> = (0..BLOCK).map(|at| u8::try_from(at % 251).unwrap_or(0)).collect();
    let began = Instant::now();
    let mut file = File::create(&path)?;
    for _ in 0..megabytes {
        file.write_all(&block)?;
    }
    file.sync_all()?;
    let took = began.elapsed().as_secs_f64();
    fs::remove_file(&path)?;
    Ok(f64::from(megabytes) * f64::from(u32::try_from(BLOCK)?) / took)
}
