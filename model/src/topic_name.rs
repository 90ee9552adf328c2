//! Names of topics that customers choose.

use crate::words::checked_text;
use serde::{Deserialize, Serialize};

/// Kafka's own limit: names become directories.
const LENGTH: usize = 249;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTopicName {
    #[error("must be 1 to 249 letters, digits, dots, underscores and hyphens")]
    Letters,
    #[error("must not be . or ..")]
    Dots,
    #[error("must not begin with __, as the names of Kafka's own topics do")]
    Internal,
}

/// 1–249 of `A-Z a-z 0-9 . _ -`, not `.` or `..`, and not one of Kafka's own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TopicName(String);

impl TopicName {
    pub fn parse(text: impl Into<String>) -> Result<Self, NoTopicName> {
        let text = text.into();
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
        if text.is_empty() || text.len() > LENGTH || !plain {
            return Err(NoTopicName::Letters);
        }
        if text == "." || text == ".." {
            return Err(NoTopicName::Dots);
        }
        if text.starts_with("__") {
            return Err(NoTopicName::Internal);
        }
        Ok(Self(text))
    }
}

checked_text!(TopicName, NoTopicName);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_topic_name() {
        let check = |text: &str, expected: Result<(), NoTopicName>| {
            assert_eq!(TopicName::parse(text).map(drop), expected, "{text:?}");
        };
        for good in ["a", "orders", "Orders.eu-1_x", "_x", "...", &"x".repeat(249)] {
            check(good, Ok(()));
        }
        for bad in ["", "a b", "a/b", "a\n", "a\0", "é", "*", &"x".repeat(250)] {
            check(bad, Err(NoTopicName::Letters));
        }
        check(".", Err(NoTopicName::Dots));
        check("..", Err(NoTopicName::Dots));
        check("__consumer_offsets", Err(NoTopicName::Internal));
    }
}
