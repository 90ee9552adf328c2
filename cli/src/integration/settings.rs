//! What `castellan integration create` and `update` take.

use crate::complete;
use anyhow::{Context as _, anyhow, bail};
use clap_complete::ArgValueCompleter;
use model::{IntegrationConfig, IntegrationSystem, Secret};
use std::fs;
use std::io;

/// Stands for what is read from stdin.
const STDIN: &str = "-";

#[derive(Debug, clap::Args)]
pub struct Settings {
    /// Such as token=@FILE to read it from a file, token=- from stdin, or url=logs.example.com:514.
    /// A key that is written here itself is in the list of processes
    #[arg(value_name = "NAME=VALUE", add = ArgValueCompleter::new(complete::integration_settings))]
    settings: Vec<String>,
}

impl Settings {
    /// Those before with these. One that is set to nothing is taken away.
    pub fn config(
        &self,
        system: IntegrationSystem,
        before: &IntegrationConfig,
    ) -> anyhow::Result<IntegrationConfig> {
        let mut written = before.clone();
        for (name, value) in self.named(system)? {
            written.insert(name.to_owned(), value_of(name, value)?);
        }
        let written = written.iter().map(|(name, value)| (name.as_str(), value.expose()));
        system.config(written).map_err(|(name, wrong)| anyhow!("{name}: {wrong}"))
    }

    /// As they are written. No error repeats a value, nor a name that the system does not have:
    /// a key may have been pasted there.
    fn named(&self, system: IntegrationSystem) -> anyhow::Result<Vec<(&'static str, &str)>> {
        let names: Vec<&'static str> = system.fields().iter().map(|field| field.name).collect();
        let mut settings: Vec<(&'static str, &str)> = Vec::new();
        for (position, setting) in (1..).zip(&self.settings) {
            let Some((name, value)) = setting.split_once('=') else {
                bail!("setting {position} has no =; write NAME=VALUE, NAME=@FILE or NAME=-");
            };
            let Some(name) = names.iter().find(|known| **known == name) else {
                let names = names.join(", ");
                bail!("setting {position} is none of {system}, whose settings are {names}");
            };
            if settings.iter().any(|(earlier, _)| earlier == name) {
                bail!("{name} is given twice");
            }
            let earlier = settings.iter().find(|(_, earlier)| value == STDIN && *earlier == STDIN);
            if let Some((earlier, _)) = earlier {
                bail!("{earlier} and {name} are both to be read from stdin; write {name}=@FILE");
            }
            settings.push((*name, value));
        }
        Ok(settings)
    }
}

/// Without the line feed that files and terminals end with.
fn value_of(name: &str, value: &str) -> anyhow::Result<Secret> {
    let text = match value.strip_prefix('@') {
        _ if value == STDIN => {
            let text = io::read_to_string(io::stdin());
            text.with_context(|| format!("{name}: stdin can't be read"))?
        }
        Some(file) => {
            let text = fs::read_to_string(file);
            text.with_context(|| format!("{name}: the file after @ can't be read"))?
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
        refused(&["token=t", "token=u"], "token is given twice");
        refused(&["token=@/no/such/file"], "token: the file after @ can't be read");
    }

    #[test]
    fn no_error_repeats_what_may_be_a_key() {
        const KEYS: [&str; 4] = ["s3cret", "s3cret==", "s3cret=x", "token=@s3cret"];
        for key in KEYS {
            let error = read(&["host_port=s.test:8088", key], &[]).unwrap_err();
            assert!(!error.contains("s3cret"), "{error}");
            assert!(error.starts_with("setting 2 ") || error.starts_with("token: "), "{error}");
        }
        let wrong = read(&["token=s3 cret", "host_port=s.test:8088"], &[]).unwrap_err();
        assert!(wrong.starts_with("token: ") && !wrong.contains("cret"), "{wrong}");
        let error = read(&["s3cret"], &[]).unwrap_err();
        let expected = "setting 1 has no =; write NAME=VALUE, NAME=@FILE or NAME=-";
        assert_eq!(error, expected);
        let error = read(&["token=t", "tag=x"], &[]).unwrap_err();
        let expected =
            "setting 2 is none of splunk, whose settings are token, host_port, sourcetype";
        assert_eq!(error, expected);
    }

    #[test]
    fn stdin_is_read_once() {
        let error = read(&["host_port=-", "token=-"], &[]).unwrap_err();
        let expected = "host_port and token are both to be read from stdin; write token=@FILE";
        assert_eq!(error, expected);
    }
}
