//! `castellan instance support-bundle`: what somebody who helps needs to see,
//! and nothing that lets them in.

use super::archive::{self, Piece};
use super::break_glass::{BrokenGlass, OperatorArgs};
use super::evidence::{self, piece};
use super::redact::Redactor;
use crate::host_facts::HostFacts;
use crate::preflight;
use anyhow::{Context, Result};
use clap::Args;
use kafka::client::admin::quorum::DescribeQuorum;
use kafka::client::{Admin, Cluster, DirectDial, Error, Limits, ProtocolAdmin};
use model::{Clock, OsEntropy, SignedDuration, SystemClock, Timestamp};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The certificate is used at once and never written.
const LIFE: SignedDuration = SignedDuration::from_mins(5);
/// A cluster in trouble must not keep its bundle from being made.
const PATIENCE: Limits = Limits {
    connect: Duration::from_secs(2),
    call: Duration::from_secs(5),
    readable: Duration::from_secs(5),
    frame_bytes: 8 << 20,
};

#[derive(Args)]
pub struct SupportBundleArgs {
    /// Where to write it [default: castellan-<ID>-support-<TIME>.tar.gz]
    #[arg(long, value_name = "FILE.tar.gz")]
    pub out: Option<PathBuf>,
}

pub async fn run(operator: &OperatorArgs, args: &SupportBundleArgs) -> Result<()> {
    let opened = operator.open().await?;
    let now = SystemClock.now();
    let name =
        format!("castellan-{}-support-{}", opened.instance.id, now.strftime("%Y%m%dT%H%M%SZ"));
    let out = args.out.clone().unwrap_or_else(|| format!("{name}.tar.gz").into());

    let pieces = gather(&opened, now).await?;
    let packed = archive::pack(&name, &pieces, now).context("the bundle can't be packed")?;
    host::write_private(&out, &packed)
        .with_context(|| format!("{} can't be written; choose another --out", out.display()))?;
    opened.audit("instance.support-bundle", &[("files", pieces.len().to_string())]).await?;
    opened.store.close().await;

    println!("{}", out.display());
    eprintln!(
        "{} files, {} KiB. Passwords, keys and tokens are taken out; names of topics and \
         addresses of clients may be in the logs.",
        pieces.len(),
        packed.len().div_ceil(1024)
    );
    Ok(())
}

/// All pieces, cleaned.
async fn gather(opened: &BrokenGlass, now: Timestamp) -> Result<Vec<Piece>> {
    let redactor = Redactor::new(opened.secrets());
    let mut pieces = vec![piece("about.json", &about(opened, now), &redactor)];
    pieces.extend(evidence::collect(opened, &redactor).await?);
    let cluster = opened.cluster(now, LIFE)?;
    for (path, document) in live(&cluster).await {
        pieces.push(piece(path, &document, &redactor));
    }
    Ok(pieces)
}

fn about(opened: &BrokenGlass, now: Timestamp) -> Value {
    let facts = HostFacts::read(&opened.data.host());
    let findings = preflight::findings(&facts).into_iter().map(|found| found.sentence);
    json!({
        "castellan": env!("CARGO_PKG_VERSION"),
        "made_at": now,
        "instance": opened.instance.id,
        "status": opened.instance.progress.status(),
        "host_id": opened.host_id,
        "control_plane_runs": host::holder(opened.data.path()).is_some(),
        "low_on_this_host": findings.collect::<Vec<_>>(),
        "host": facts,
    })
}

/// What the cluster itself says. No answer is an answer, too.
async fn live(cluster: &Cluster) -> [(&'static str, Value); 2] {
    let admin = ProtocolAdmin::new(Arc::new(DirectDial), Arc::new(OsEntropy)).with_limits(PATIENCE);
    let (quorum, view) =
        tokio::join!(admin.ask(cluster, &DescribeQuorum), admin.describe_cluster(cluster));
    [
        ("quorum.json", reply_document(quorum, evidence::quorum)),
        ("cluster.json", reply_document(view, evidence::cluster)),
    ]
}

fn reply_document<T>(answer: Result<T, Error>, document: fn(&T) -> Value) -> Value {
    match answer {
        Ok(seen) => document(&seen),
        Err(error) => json!({ "no_answer": error.to_string() }),
    }
}

#[cfg(test)]
#[path = "support_bundle_tests.rs"]
mod tests;
