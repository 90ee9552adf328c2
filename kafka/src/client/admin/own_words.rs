//! What a broker says of its own disks and settings: DescribeLogDirs and DescribeConfigs. It
//! must be asked itself.

use super::configs::{Of, select};
use super::log_dirs::DescribeLogDirs;
use crate::client::{Call, Connection, Error, LogDir, OwnWords, TopicPartition};
use crate::settings::CORDONED;
use crate::throttle::{FOLLOWER_RATE, LEADER_RATE};
use std::collections::BTreeMap;

/// Of the broker with this id, which must be the one that is asked.
pub struct AskItself {
    pub broker: i32,
}

/// A broker's words and the size of each log that it has.
#[derive(Debug)]
pub struct Itself {
    pub words: OwnWords,
    pub logs: BTreeMap<TopicPartition, u64>,
}

impl Call for AskItself {
    type Answer = Itself;

    async fn run(&self, connection: &mut Connection) -> Result<Itself, Error> {
        let dirs = DescribeLogDirs.run(connection).await?;
        let of = Of::Broker(self.broker);
        let settings = select(connection, &[of], &[LEADER_RATE, FOLLOWER_RATE, CORDONED]).await?;
        let own = settings.into_values().flatten().filter(|it| it.is_own);
        let own: BTreeMap<String, String> = own.map(|it| (it.name, it.value)).collect();
        let rates = [LEADER_RATE, FOLLOWER_RATE].map(|name| own.get(name)?.parse().ok());
        let mut words = disks(&dirs);
        words.throttle = rates.into_iter().flatten().min();
        words.is_cordoned = own.get(CORDONED).is_some_and(|dirs| !dirs.is_empty());
        Ok(Itself { words, logs: logs(&dirs) })
    }
}

fn disks(dirs: &[LogDir]) -> OwnWords {
    let working = || dirs.iter().filter(|dir| !dir.failed);
    let sum = |bytes: fn(&LogDir) -> Option<u64>| working().map(bytes).sum::<Option<u64>>();
    let sizes = working().flat_map(|dir| &dir.replicas).map(|log| bytes(log.bytes));
    OwnWords {
        log_bytes: sizes.sum(),
        total_bytes: sum(|dir| dir.total_bytes),
        usable_bytes: sum(|dir| dir.usable_bytes),
        ..OwnWords::default()
    }
}

fn logs(dirs: &[LogDir]) -> BTreeMap<TopicPartition, u64> {
    let logs = dirs.iter().flat_map(|dir| &dir.replicas).filter(|log| !log.future);
    logs.map(|log| (TopicPartition::new(&*log.topic, log.partition), bytes(log.bytes))).collect()
}

fn bytes(size: i64) -> u64 {
    u64::try_from(size).unwrap_or_default()
}
