//! `castellan instance shell-config`: Kafka's own tools as the super user, for
//! an hour.
//!
//! The file holds a key. It is made readable by its owner alone, and worth
//! nothing once the certificate in it has run out.

use super::break_glass::OperatorArgs;
use anyhow::{Context, Result, bail};
use clap::Args;
use kafka::client::Cluster;
use model::{Clock, InstanceId, SignedDuration, SystemClock, Timestamp};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const LIFE: SignedDuration = SignedDuration::from_hours(1);
/// How a file begins that we may replace.
const FIRST_LINE: &str = "# Castellan: the super user of instance";

#[derive(Args)]
pub struct ShellConfigArgs {
    /// Where to write it [default: castellan-<ID>.properties]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

pub async fn run(operator: &OperatorArgs, args: &ShellConfigArgs) -> Result<()> {
    let opened = operator.open().await?;
    let id = opened.instance.id;
    if opened.instance.deleted_at.is_some() {
        bail!("instance {id} was deleted and is being torn down");
    }
    let out = args.out.clone().unwrap_or_else(|| format!("castellan-{id}.properties").into());
    check_replaceable(&out)?;

    let now = SystemClock.now();
    let until = now + LIFE;
    let cluster = opened.cluster(now, LIFE)?;
    let text = properties(id, &cluster, until);
    // The line is there before the file: nobody gets in without a trace.
    opened.audit("instance.shell-config", &[("until", minute(until))]).await?;
    host::write_private(&out, text.as_bytes())
        .with_context(|| format!("{} can't be written", out.display()))?;
    opened.store.close().await;

    println!("{}", out.display());
    let brokers = bootstrap(&cluster);
    eprintln!(
        "It is the super user of instance {id} until {}; remove it after use. For example:\n  \
         kafka-topics.sh --bootstrap-server {brokers} --command-config {} --list",
        minute(until),
        out.display()
    );
    Ok(())
}

/// Ours is replaced by a fresh one; anything else is somebody's file.
fn check_replaceable(out: &Path) -> Result<()> {
    match fs::read(out) {
        Ok(found) if found.starts_with(FIRST_LINE.as_bytes()) => Ok(()),
        Ok(_) => bail!("{} is there already and not ours; choose another --out", out.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("{} can't be replaced", out.display())),
    }
}

fn properties(id: InstanceId, cluster: &Cluster, until: Timestamp) -> String {
    let lines = [
        format!("{FIRST_LINE} {id} until {}. Keep it private.", minute(until)),
        format!("bootstrap.servers={}", bootstrap(cluster)),
        "security.protocol=SSL".into(),
        "ssl.keystore.type=PEM".into(),
        format!(
            "ssl.keystore.certificate.chain={}",
            one_line(&cluster.identity.certificate_chain_pem)
        ),
        format!("ssl.keystore.key={}", one_line(cluster.identity.key_pem.expose())),
        "ssl.truststore.type=PEM".into(),
        format!("ssl.truststore.certificates={}", one_line(&cluster.trust_pem)),
    ];
    lines.join("\n") + "\n"
}

fn bootstrap(cluster: &Cluster) -> String {
    let brokers: Vec<String> = cluster.brokers.iter().map(ToString::to_string).collect();
    brokers.join(",")
}

/// PEM as the value of a Java property: line ends are written as `\n`.
fn one_line(pem: &str) -> String {
    pem.lines().map(str::trim_end).collect::<Vec<_>>().join("\\n")
}

fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka::client::{Broker, Endpoint, Identity};
    use model::Secret;

    #[test]
    fn a_pem_is_one_property_and_brokers_are_a_list() {
        let cluster = Cluster {
            instance: InstanceId(7),
            brokers: [1, 2]
                .map(|id| Broker::new(id, Endpoint::new(format!("127.64.0.{id}"), 9091)))
                .into(),
            trust_pem: "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n".into(),
            identity: Identity {
                certificate_chain_pem: "-----BEGIN CERTIFICATE-----\r\nBB==\r\n".into(),
                key_pem: Secret::new("-----BEGIN PRIVATE KEY-----\nCC==\n"),
            },
        };
        let until = "2026-11-15T07:00:30Z".parse().unwrap();
        assert_eq!(
            properties(InstanceId(7), &cluster, until),
            "# Castellan: the super user of instance 7 until 2026-11-15 07:00 UTC. Keep it private.\n\
             bootstrap.servers=127.64.0.1:9091,127.64.0.2:9091\n\
             security.protocol=SSL\n\
             ssl.keystore.type=PEM\n\
             ssl.keystore.certificate.chain=-----BEGIN CERTIFICATE-----\\nBB==\n\
             ssl.keystore.key=-----BEGIN PRIVATE KEY-----\\nCC==\n\
             ssl.truststore.type=PEM\n\
             ssl.truststore.certificates=-----BEGIN CERTIFICATE-----\\nAA==\\n-----END CERTIFICATE-----\n"
        );
    }

    #[test]
    fn only_our_own_file_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("client.properties");
        check_replaceable(&out).unwrap();
        fs::write(&out, format!("{FIRST_LINE} 7\n")).unwrap();
        check_replaceable(&out).unwrap();
        fs::write(&out, "bootstrap.servers=mine\n").unwrap();
        let refused = check_replaceable(&out).unwrap_err().to_string();
        assert!(refused.contains("--out"), "{refused}");
    }
}
