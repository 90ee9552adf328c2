//! Stock Kafka by hand on one address: format, then start, with the default
//! flags of its own scripts, no caches, plaintext.

use crate::producer;
use anyhow::{Context, Result, bail};
use host::Spawn;
use kafka::Endpoint;
use kafka::artifacts::{Artifacts, Distribution, default_cache_root};
use kafka::java::{self, Java};
use kafka::versions;
use model::{KafkaVersion, OsEntropy, kafka_uuid};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

const ADDRESS: &str = "127.61.0.1";
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

    /// Seconds from nothing to the first acknowledged write.
    pub async fn first_write(&self) -> Result<f64> {
        let directory = tempfile::tempdir()?;
        std::fs::write(directory.path().join("server.properties"), properties(directory.path()))?;
        let began = Instant::now();
        self.format(directory.path()).await?;
        let spawn = Spawn {
            program: self.java.program(),
            arguments: self.arguments(&["kafka.Kafka", "server.properties"]),
            environment: vec![],
            directory: directory.path().into(),
            output: directory.path().join("output"),
        };
        let (process, ended) = spawn.start()?;
        let ended = tokio::spawn(ended);
        producer::write_plain(&Endpoint::new(ADDRESS, 9092)).await.with_context(|| {
            format!("stock Kafka: {}", std::fs::read_to_string(&spawn.output).unwrap_or_default())
        })?;
        let took = began.elapsed().as_secs_f64();
        process.kill();
        ended.await?;
        Ok(took)
    }

    async fn format(&self, directory: &Path) -> Result<()> {
        let id = kafka_uuid(&OsEntropy);
        let tool = ["kafka.tools.StorageTool", "format", "--standalone", "-t", &id, "-c"];
        let mut arguments = self.arguments(&tool);
        arguments.push("server.properties".into());
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

/// What Kafka ships as `config/server.properties`, on our address.
fn properties(directory: &Path) -> String {
    let mut text = String::new();
    for (name, value) in [
        ("process.roles", "broker,controller".to_owned()),
        ("node.id", "1".to_owned()),
        ("controller.quorum.bootstrap.servers", format!("{ADDRESS}:9093")),
        ("listeners", format!("PLAINTEXT://{ADDRESS}:9092,CONTROLLER://{ADDRESS}:9093")),
        ("advertised.listeners", format!("PLAINTEXT://{ADDRESS}:9092,CONTROLLER://{ADDRESS}:9093")),
        ("controller.listener.names", "CONTROLLER".to_owned()),
        ("inter.broker.listener.name", "PLAINTEXT".to_owned()),
        ("log.dirs", directory.join("data").display().to_string()),
        ("offsets.topic.replication.factor", "1".to_owned()),
        ("transaction.state.log.replication.factor", "1".to_owned()),
        ("transaction.state.log.min.isr", "1".to_owned()),
    ] {
        writeln!(text, "{name}={value}").expect("writing to a string can't fail");
    }
    text
}
