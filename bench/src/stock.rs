//! Stock Kafka by hand: format, then start, with the default flags of its own
//! scripts, no caches, plaintext.

use crate::producer::{self, Write};
use crate::stock_cluster::{Cluster, OUTPUT, PROPERTIES};
use anyhow::{Context, Result, bail};
use host::{Exit, ProcessId, Spawn};
use kafka::artifacts::{Artifacts, Distribution, default_cache_root};
use kafka::java::{self, Java};
use kafka::versions;
use model::KafkaVersion;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;
use tokio::task::JoinHandle;

/// What Kafka's own start script gives a broker.
const DEFAULT_FLAGS: [&str; 8] = [
    "-Xmx1G",
    "-Xms1G",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
];

/// Seconds until a write is acknowledged: from nothing, and of the stopped servers started
/// once more.
pub struct ByHand {
    pub first: f64,
    pub again: f64,
}

pub struct Stock {
    pub version: KafkaVersion,
    pub java: Java,
    distribution: Distribution,
}

impl Stock {
    pub async fn prepare() -> Result<Self> {
        let release = versions::all().last().context("there is a release")?;
        let artifacts = Artifacts::new(default_cache_root(), BTreeMap::new());
        Ok(Self {
            version: release.version,
            java: java::find(release.java(), None).await?,
            distribution: artifacts.ensure(release.version, &|step| eprintln!("{step}")).await?,
        })
    }

    /// One format after the other, as a person would, then every server at once.
    pub async fn first_write(&self, servers: u8) -> Result<ByHand> {
        let cluster = Cluster::lay_out(servers)?;
        let began = Instant::now();
        for directory in cluster.directories() {
            self.format(&cluster, &directory).await?;
        }
        let running = self.start(&cluster)?;
        let (brokers, replicas) = (cluster.brokers(), servers.into());
        let written = producer::write_plain(&brokers, Write { topic: "first", replicas }).await;
        let first = began.elapsed().as_secs_f64();
        end(running, ProcessId::terminate).await?;
        written.with_context(|| format!("stock Kafka: {}", cluster.output()))?;

        let began = Instant::now();
        let running = self.start(&cluster)?;
        let written = producer::write_plain(&brokers, Write { topic: "again", replicas }).await;
        let again = began.elapsed().as_secs_f64();
        end(running, ProcessId::kill).await?;
        written.with_context(|| format!("stock Kafka, again: {}", cluster.output()))?;
        Ok(ByHand { first, again })
    }

    fn start(&self, cluster: &Cluster) -> Result<Vec<Running>> {
        let directories = cluster.directories().into_iter();
        let start = |directory: PathBuf| {
            let (process, ended) = self.broker(&directory).start()?;
            Ok((process, tokio::spawn(ended)))
        };
        directories.map(start).collect()
    }

    fn broker(&self, directory: &Path) -> Spawn {
        Spawn {
            program: self.java.program(),
            arguments: self.arguments(&["kafka.Kafka", PROPERTIES]),
            environment: vec![],
            directory: directory.into(),
            output: directory.join(OUTPUT),
        }
    }

    async fn format(&self, cluster: &Cluster, directory: &Path) -> Result<()> {
        let tool = ["kafka.tools.StorageTool", "format", "-t", &cluster.id, "-c", PROPERTIES];
        let mut arguments = self.arguments(&tool);
        arguments.extend(["--initial-controllers".to_owned(), cluster.controllers()]);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = host::run_output(&self.java.program(), &arguments, Some(directory)).await?;
        if !output.status.success() {
            bail!("format failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    }

    fn arguments(&self, program: &[&str]) -> Vec<String> {
        let mut arguments: Vec<String> = DEFAULT_FLAGS.map(String::from).into();
        arguments.extend(["-cp".to_owned(), self.distribution.class_path_text()]);
        arguments.extend(program.iter().map(ToString::to_string));
        arguments
    }
}

type Running = (ProcessId, JoinHandle<Exit>);

async fn end(running: Vec<Running>, by: fn(&ProcessId) -> bool) -> Result<()> {
    for (process, _) in &running {
        by(process);
    }
    for (_, ended) in running {
        ended.await?;
    }
    Ok(())
}
