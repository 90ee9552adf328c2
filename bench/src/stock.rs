//! Stock Kafka by hand: format, then start, with the default flags of its own
//! scripts, no caches, plaintext.

use crate::producer::{self, Write};
use crate::stock_cluster::{Cluster, OUTPUT, PROPERTIES};
use anyhow::{Context, Result, bail};
use host::Spawn;
use kafka::artifacts::{Artifacts, Distribution, default_cache_root};
use kafka::java::{self, Java};
use kafka::versions;
use model::KafkaVersion;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

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

    /// Seconds from nothing to the first acknowledged write: one format after
    /// the other, as a person would, then every server at once.
    pub async fn first_write(&self, servers: u8) -> Result<f64> {
        let cluster = Cluster::lay_out(servers)?;
        let began = Instant::now();
        for directory in cluster.directories() {
            self.format(&cluster, &directory).await?;
        }
        let mut running = Vec::new();
        for directory in cluster.directories() {
            let (process, ended) = self.broker(&directory).start()?;
            running.push((process, tokio::spawn(ended)));
        }
        let write = Write { topic: "first", replicas: servers.into() };
        let written = producer::write_plain(&cluster.brokers(), write).await;
        let took = began.elapsed().as_secs_f64();
        for (process, ended) in running {
            process.kill();
            ended.await?;
        }
        written.with_context(|| format!("stock Kafka: {}", cluster.output()))?;
        Ok(took)
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
