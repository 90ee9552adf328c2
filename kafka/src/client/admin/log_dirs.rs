//! What is on a broker's disks: DescribeLogDirs.
//!
//! The answer is the asked broker's alone. A broker that still recovers its
//! logs does not answer at all; how far it is, its own metrics and log tell.

use crate::client::error::check;
use crate::client::{Call, Connection, Error};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::DescribeLogDirsRequest;
use kafka_protocol::messages::describe_log_dirs_response::{
    DescribeLogDirsResult, DescribeLogDirsTopic,
};

const CALL: &str = "DescribeLogDirs";

/// A directory that a broker keeps partitions in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogDir {
    pub path: String,
    /// The broker could not read or write it and has given it up.
    pub failed: bool,
    /// Of the file system, where the release tells.
    pub total_bytes: Option<u64>,
    pub usable_bytes: Option<u64>,
    pub replicas: Vec<LogReplica>,
}

/// A partition's copy in a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogReplica {
    pub topic: String,
    pub partition: i32,
    pub bytes: i64,
    /// It is being moved here and does not serve yet.
    pub future: bool,
}

/// The directories of the broker that is asked.
pub struct DescribeLogDirs;

impl Call for DescribeLogDirs {
    type Answer = Vec<LogDir>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<LogDir>, Error> {
        let request = DescribeLogDirsRequest::default().with_topics(None);
        let answer = connection.call(&request).await?;
        check(CALL, "every directory", answer.error_code, None)?;
        answer.results.iter().map(directory).collect()
    }
}

fn directory(result: &DescribeLogDirsResult) -> Result<LogDir, Error> {
    let failed = result.error_code == ResponseError::KafkaStorageError.code();
    if !failed {
        check(CALL, &result.log_dir, result.error_code, None)?;
    }
    Ok(LogDir {
        path: result.log_dir.to_string(),
        failed,
        total_bytes: u64::try_from(result.total_bytes).ok(),
        usable_bytes: u64::try_from(result.usable_bytes).ok(),
        replicas: result.topics.iter().flat_map(replicas).collect(),
    })
}

fn replicas(topic: &DescribeLogDirsTopic) -> Vec<LogReplica> {
    let name = topic.name.0.to_string();
    let copies = topic.partitions.iter();
    copies
        .map(|copy| LogReplica {
            topic: name.clone(),
            partition: copy.partition_index,
            bytes: copy.partition_size,
            future: copy.is_future_key,
        })
        .collect()
}
