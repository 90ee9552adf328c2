//! The command line.

use anyhow::{Context, Result, bail};
use checker::{Access, Auth, Client, Kind, LoadSpec, Mode};
use clap::{Parser, ValueEnum};
use kafka::client::Mechanism;
use model::{Entropy, OsEntropy, Secret};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// No password in argv: everyone on a host can read it there.
const PASSWORD: &str = "CASTELLAN_CHECK_PASSWORD";

/// Writes numbered records to a Kafka cluster through real clients, reads every
/// replica back, and tells whether the cluster kept its word.
///
/// Do to the cluster what you want to try while it runs. It looks for records
/// that were acknowledged and are lost, duplicated, reordered, visible though
/// aborted or invisible though committed, for replicas that differ, and for the
/// worst time from send to ack.
///
/// Exit code: 0 clean, 1 something is wrong, 2 it could not be checked.
#[derive(Parser, Debug)]
#[command(name = "castellan-check", version, max_term_width = 100)]
pub struct Arguments {
    /// Where the cluster is: host:port, and a comma between two
    #[arg(long, value_name = "LIST", required_unless_present = "config")]
    brokers: Option<String>,
    /// A client.properties as Kafka's own tools take it (PEM, SCRAM or plaintext)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ca", "username", "password_file"])]
    config: Option<PathBuf>,
    /// The certificate authority of the brokers, in PEM; without it nothing is encrypted
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Log in as this user; the password is in --password-file or CASTELLAN_CHECK_PASSWORD
    #[arg(long, value_name = "NAME")]
    username: Option<String>,
    /// The file with the user's password
    #[arg(long, value_name = "FILE", requires = "username")]
    password_file: Option<PathBuf>,
    /// How to log in
    #[arg(long, value_enum, default_value = "scram-sha-512")]
    mechanism: Sasl,

    /// How long to write
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub seconds: u64,
    /// Records a second, of all clients together
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,
    /// Bytes of a record
    #[arg(long, value_name = "N", default_value_t = 100)]
    bytes: usize,
    /// Whose clients write
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "librdkafka,java"
    )]
    clients: Vec<Library>,
    /// How they write
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "LIST",
        default_value = "idempotent,transactional"
    )]
    modes: Vec<Way>,
    /// Seconds after which a client gives a record up
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u64).range(2..))]
    give_up: u64,

    /// The topic; one that is there is used as it is and stays [default: a new one, removed if all is clean]
    #[arg(long, value_name = "NAME")]
    topic: Option<String>,
    /// Partitions of a new topic
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(i32).range(1..))]
    partitions: i32,
    /// Replicas of a new topic
    #[arg(long, value_name = "N", default_value_t = 3)]
    replicas: i16,
    /// How many replicas must be in sync for a write
    #[arg(long, value_name = "N", default_value_t = 2)]
    min_in_sync: i16,
    /// Keep the topic also when all is clean
    #[arg(long)]
    keep_topic: bool,

    /// Write down here what happens, while it happens
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Write nothing; judge this history of an earlier run
    #[arg(long, value_name = "FILE", conflicts_with = "history")]
    pub again: Option<PathBuf>,
    /// The report as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sasl {
    #[value(name = "scram-sha-256")]
    Sha256,
    #[value(name = "scram-sha-512")]
    Sha512,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Library {
    Librdkafka,
    Java,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Way {
    Idempotent,
    Transactional,
}

impl Arguments {
    pub fn access(&self) -> Result<Access> {
        let mut access = match &self.config {
            Some(file) => Access::from_properties(&read(file)?)
                .with_context(|| format!("{} can't be used", file.display()))?,
            None => Access { brokers: Vec::new(), auth: self.auth()? },
        };
        if let Some(brokers) = &self.brokers {
            access.brokers = Access::parse_brokers(brokers)?;
        }
        if access.brokers.is_empty() {
            bail!(checker::PropertiesError::NoBrokers);
        }
        Ok(access)
    }

    fn auth(&self) -> Result<Auth> {
        let ca_pem = self.ca.as_ref().map(read).transpose()?;
        Ok(match (&self.username, ca_pem) {
            (None, None) => Auth::Plaintext,
            (None, Some(ca_pem)) => Auth::Tls { ca_pem, identity: None },
            (Some(username), ca_pem) => Auth::Scram {
                ca_pem,
                username: username.clone(),
                password: self.password()?,
                mechanism: match self.mechanism {
                    Sasl::Sha256 => Mechanism::ScramSha256,
                    Sasl::Sha512 => Mechanism::ScramSha512,
                },
            },
        })
    }

    fn password(&self) -> Result<Secret> {
        match &self.password_file {
            Some(file) => Ok(Secret::new(read(file)?.trim_end_matches(['\r', '\n']))),
            None => std::env::var(PASSWORD).map(Secret::new).map_err(|_| {
                anyhow::anyhow!("the password is missing: give --password-file or set {PASSWORD}")
            }),
        }
    }

    /// Only a topic that we made for this run goes away with it.
    pub fn removes_topic(&self) -> bool {
        self.topic.is_none() && self.again.is_none() && !self.keep_topic
    }

    pub fn spec(&self, access: &Access) -> LoadSpec {
        let kind = |library: &Library| match library {
            Library::Librdkafka => Kind::Librdkafka,
            Library::Java => Kind::Java,
        };
        let mode = |way: &Way| match way {
            Way::Idempotent => Mode::Idempotent,
            Way::Transactional => Mode::Transactional,
        };
        let modes: Vec<Mode> = self.modes.iter().map(mode).collect();
        let with_modes = |kind| modes.iter().map(move |mode| Client { kind, mode: *mode });
        let topic = self.topic.clone();
        LoadSpec {
            brokers: access.brokers.clone(),
            auth: access.auth.clone(),
            topic: topic.unwrap_or_else(|| format!("castellan-check-{}", OsEntropy.username())),
            partitions: self.partitions,
            replicas: self.replicas,
            min_in_sync: self.min_in_sync,
            clients: self.clients.iter().map(kind).flat_map(with_modes).collect(),
            rate_per_second: self.rate,
            bytes: self.bytes,
            delivery_timeout: Duration::from_secs(self.give_up),
            history: self.history.clone(),
            ..LoadSpec::default()
        }
    }
}

fn read(file: &PathBuf) -> Result<String> {
    fs::read_to_string(file).with_context(|| format!("{} can't be read", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn every_client_in_every_mode_by_default() {
        let arguments = Arguments::parse_from(["castellan-check", "--brokers", "a:1,b:2"]);
        let access = arguments.access().unwrap();
        assert_eq!((access.brokers.len(), &access.auth), (2, &Auth::Plaintext));
        let spec = arguments.spec(&access);
        assert_eq!(spec.clients, Client::ALL);
        assert!(arguments.removes_topic());
    }

    #[test]
    fn a_password_comes_from_a_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "secret\n").unwrap();
        let path = file.path().to_str().unwrap();
        let line = ["castellan-check", "--brokers", "a:1", "--username", "ada", "--password-file"];
        let arguments = Arguments::parse_from(line.into_iter().chain([path]));
        let Auth::Scram { password, ca_pem, .. } = arguments.access().unwrap().auth else {
            panic!("it logs in")
        };
        assert_eq!((password.expose(), ca_pem), ("secret", None));
    }
}
