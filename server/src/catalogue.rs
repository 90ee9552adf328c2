//! `castellan catalogue`: what this Castellan offers, as a file to start one's own
//! from, and a check of such a file before it is used.

use anyhow::{Context, Result};
use clap::Subcommand;
use model::{Catalogue, KafkaVersion, Supported};
use std::fs;
use std::path::{Path, PathBuf};

/// The cloud's name that the built-in catalogue binds its regions to.
pub const LOCAL_CLOUD: &str = "local";
/// Every cloud that `clouds` opens.
const CLOUDS: [&str; 1] = [LOCAL_CLOUD];

#[derive(Subcommand)]
pub enum CatalogueCommand {
    /// Print the built-in file of plans, regions and Kafka versions
    Print,
    /// Say whether a file could replace it
    Check {
        /// A file such as `castellan catalogue print` prints
        file: PathBuf,
    },
}

pub fn run(command: &CatalogueCommand) -> Result<()> {
    match command {
        CatalogueCommand::Print => print!("{}", Catalogue::BUILT_IN),
        CatalogueCommand::Check { file } => {
            let catalogue = load(file)?;
            println!(
                "{} can be used: {} plans, {} regions, Kafka up to {}",
                file.display(),
                catalogue.plans().len(),
                catalogue.regions().len(),
                catalogue.newest_kafka()
            );
        }
    }
    Ok(())
}

/// The file as this program can offer it, or which line is wrong and why.
pub fn load(path: &Path) -> Result<Catalogue> {
    let text = fs::read_to_string(path)
        .with_context(|| format!("the catalogue {} can't be read", path.display()))?;
    let kafka_versions: Vec<KafkaVersion> =
        kafka::versions::all().iter().map(|release| release.version).collect();
    let supported = Supported { clouds: &CLOUDS, kafka_versions: &kafka_versions };
    Catalogue::parse(&text, Some(&supported))
        .with_context(|| format!("the catalogue {} can't be used", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_file_can_be_used_and_a_spoilt_one_is_refused_by_line() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("catalogue.toml");
        fs::write(&file, Catalogue::BUILT_IN).unwrap();
        assert_eq!(load(&file).unwrap().plans().len(), 21);
        let (before, _) = Catalogue::BUILT_IN.split_once("node_price = 99").unwrap();
        let line = before.lines().count() + 1;
        let spoilt = Catalogue::BUILT_IN.replacen("node_price = 99", "node_price = \"99\"", 1);
        fs::write(&file, spoilt).unwrap();
        let refused = crate::in_one_line(&load(&file).unwrap_err());
        let expected = format!("the catalogue {} can't be used: line {line}: ", file.display());
        assert!(refused.starts_with(&expected), "{refused}");
    }
}
