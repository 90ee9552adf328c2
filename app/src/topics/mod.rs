//! Topics of a cluster.

mod create;
mod delete;
mod read;
mod update;

pub use create::{NewTopic, create};
pub use delete::delete;
pub use kafka::client::{Setting, SettingKind, Topic};
pub use read::{TopicDetails, list, read};
pub use update::{TopicUpdate, update};

use crate::{Problems, Result};

/// Partitions as Kafka counts them.
fn number<T: TryFrom<i64>>(problems: &mut Problems, field: &str, asked: Option<i64>) -> Option<T> {
    let checked = asked.map(|asked| match T::try_from(asked) {
        Ok(number) if asked >= 1 => Ok(number),
        _ => Err("must be a number from 1 on that Kafka can count to"),
    });
    problems.take(field, checked.transpose()).flatten()
}

/// What was asked about is not there: nobody tells a name that can't be from one
/// that is not.
fn there<T>(found: Option<T>) -> Result<T> {
    found.ok_or(crate::Error::NotFound)
}
