//! The files of a stock cluster: a directory for each server, with what Kafka
//! ships as `config/server.properties` on an address of its own. Gone when
//! dropped.

use anyhow::Result;
use kafka::Endpoint;
use model::{OsEntropy, kafka_uuid};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

pub const PROPERTIES: &str = "server.properties";
pub const OUTPUT: &str = "output";
const BROKER: u16 = 9092;
const CONTROLLER: u16 = 9093;

pub struct Cluster {
    pub id: String,
    root: TempDir,
    /// One for each server: its disk's id.
    disks: Vec<String>,
}

impl Cluster {
    pub fn lay_out(servers: u8) -> Result<Self> {
        let disks = (0..servers).map(|_| kafka_uuid(&OsEntropy)).collect();
        let cluster = Self { id: kafka_uuid(&OsEntropy), root: tempfile::tempdir()?, disks };
        for (directory, node) in cluster.directories().into_iter().zip(1..) {
            fs::create_dir(&directory)?;
            fs::write(directory.join(PROPERTIES), cluster.properties(node))?;
        }
        Ok(cluster)
    }

    fn nodes(&self) -> impl Iterator<Item = usize> {
        1..=self.disks.len()
    }

    pub fn directories(&self) -> Vec<PathBuf> {
        self.nodes().map(|node| self.root.path().join(node.to_string())).collect()
    }

    pub fn brokers(&self) -> Vec<Endpoint> {
        self.nodes().map(|node| Endpoint::new(address(node), BROKER)).collect()
    }

    /// What `--initial-controllers` takes.
    pub fn controllers(&self) -> String {
        let voters = self
            .nodes()
            .zip(&self.disks)
            .map(|(node, disk)| format!("{node}@{}:{CONTROLLER}:{disk}", address(node)));
        voters.collect::<Vec<_>>().join(",")
    }

    /// What every server said, for when it goes wrong.
    pub fn output(&self) -> String {
        let outputs = self.directories().into_iter().map(|directory| directory.join(OUTPUT));
        outputs.filter_map(|output| fs::read_to_string(output).ok()).collect()
    }

    fn properties(&self, node: usize) -> String {
        let (host, replicas) = (address(node), self.disks.len().min(3));
        let in_sync = replicas.div_ceil(2);
        let listeners = format!("PLAINTEXT://{host}:{BROKER},CONTROLLER://{host}:{CONTROLLER}");
        let quorum: Vec<_> =
            self.nodes().map(|node| format!("{}:{CONTROLLER}", address(node))).collect();
        let mut text = String::new();
        for (name, value) in [
            ("process.roles", "broker,controller".to_owned()),
            ("node.id", node.to_string()),
            ("controller.quorum.bootstrap.servers", quorum.join(",")),
            ("listeners", listeners.clone()),
            ("advertised.listeners", listeners),
            ("controller.listener.names", "CONTROLLER".to_owned()),
            ("inter.broker.listener.name", "PLAINTEXT".to_owned()),
            ("log.dirs", "data".to_owned()),
            ("min.insync.replicas", in_sync.to_string()),
            ("offsets.topic.replication.factor", replicas.to_string()),
            ("transaction.state.log.replication.factor", replicas.to_string()),
            ("transaction.state.log.min.isr", in_sync.to_string()),
        ] {
            writeln!(text, "{name}={value}").expect("writing to a string can't fail");
        }
        text
    }
}

fn address(node: usize) -> String {
    format!("127.61.0.{node}")
}
