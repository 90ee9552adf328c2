//! What `castellan integration create` and `update` take.

use crate::complete;
use anyhow::{Context as _, anyhow, bail};
use clap_complete::ArgValueCompleter;
use model::{IntegrationConfig, IntegrationSystem, Secret};
use std::fs;
use std::io::{self, Read as _};

#[derive(Debug, clap::Args)]
pub struct Settings {
    /// Such as token=@FILE to read it from a file, token=- from stdin, or url=logs.example.com:514.
    /// A key that is written here itself is in the list of processes
    #[arg(value_name = "NAME=VALUE", add = ArgValueCompleter::new(complete::integration_settings))]
    settings: Vec<String>,
}

impl Settings {
    /// Those before with these, as far as the system has them. One that is set to nothing is
    /// taken away.
    pub fn config(
        &self,
        system: IntegrationSystem,
        before: &IntegrationConfig,
    ) -> anyhow::Result<IntegrationConfig> {
        let mut written = before.clone();
        for setting in &self.settings {
            let Some((name, value)) = setting.split_once('=') else {
                bail!("{setting} is no setting; write NAME=VALUE, NAME=@FILE or NAME=-");
            };
            written.insert(name.to_owned(), value_of(name, value)?);
        }
        let written = written.iter().map(|(name, value)| (name.as_str(), value.expose()));
        system.config(written).map_err(|(name, wrong)| anyhow!("{name}: {wrong}"))
    }
}

/// Without the line feed that files and terminals end with.
fn value_of(name: &str, value: &str) -> anyhow::Result<Secret> {
    let text = match value.strip_prefix('@') {
        _ if value == "-" => {
            let mut text = String::new();
            io::stdin().read_to_string(&mut text).context("stdin can't be read")?;
            text
        }
        Some(file) => {
            fs::read_to_string(file).with_context(|| format!("{name}: {file} can't be read"))?
        }
        None => return Ok(Secret::new(value)),
    };
    Ok(Secret::new(text.trim_end()))
}

/// The names of a system's settings that are keys; of an unknown one every setting may be.
pub fn secrets(system: &str) -> Vec<&'static str> {
    let known = system.parse::<IntegrationSystem>().ok();
    let all = IntegrationSystem::ALL.into_iter();
    let fields =
        all.filter(|it| known.is_none_or(|known| known == *it)).flat_map(IntegrationSystem::fields);
    fields.filter(|field| known.is_none() || field.secret).map(|field| field.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str], before: &[(&str, &str)]) -> Result<String, String> {
        let settings = Settings { settings: words.iter().map(ToString::to_string).collect() };
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), Secret::new(*value));
        let before = before.iter().map(pair).collect();
        let config = settings.config(IntegrationSystem::Splunk, &before);
        let config = config.map_err(|error| error.to_string())?;
        let shown = config.iter().map(|(name, value)| format!("{name}={}", value.expose()));
        Ok(shown.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn settings_are_written_read_from_files_and_taken_away() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("token");
        std::fs::write(&file, "s3cret\n").unwrap();
        let of_file = format!("token=@{}", file.display());
        let both = "host_port=s.test:8088 token=s3cret";
        assert_eq!(read(&[&of_file, "host_port=s.test:8088"], &[]).as_deref(), Ok(both));
        let before = [("host_port", "s.test:8088"), ("token", "old"), ("sourcetype", "kafka")];
        assert_eq!(read(&[&of_file, "sourcetype="], &before).as_deref(), Ok(both));
        let refused = |words: &[&str], expected: &str| {
            let error = read(words, &[]).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        };
        refused(&["token=t"], "host_port: Field is required");
        refused(&["token=t", "host_port=s.test:8088", "tag=x"], "tag: splunk takes no such field");
        refused(&["token"], "token is no setting; write NAME=VALUE");
        refused(&["token=@/no/such/file"], "token: /no/such/file can't be read");
    }
}
