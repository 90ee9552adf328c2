//! Why a cluster gave no answer, in words that people can act on.

use crate::Error;
use kafka::client::{Error as KafkaError, Remedy};
use std::time::Duration;

pub(super) struct Unanswered {
    /// What was heard last, if anything was.
    pub reason: Option<KafkaError>,
    /// A broker may have done what it was asked all the same.
    pub perhaps: bool,
}

impl Unanswered {
    /// For what changes nothing, or was surely not done. `or` is what else can be done
    /// where something is missing, as the end of a sentence.
    pub fn error(&self, patience: Duration, or: &str) -> Error {
        let sentence = match &self.reason {
            None => return nobody("", patience),
            Some(reason) if reason.lacks_brokers() => {
                format!("{reason}; servers are away, try again later")
            }
            Some(KafkaError::Leaderless { partitions, count }) => {
                let whose = if *count == 1 { "its" } else { "their" };
                format!(
                    "No server that answers leads {partitions} now; try again once {whose} \
                     servers run{or}"
                )
            }
            Some(reason @ KafkaError::Incomplete { .. }) => {
                format!("{reason}; try again later{or}")
            }
            Some(reason) if may_pass(reason) => match reason.answer() {
                Some(answer) => no(answer, patience),
                None => return nobody(&format!(": {reason}"), patience),
            },
            Some(reason) => return refused(reason),
        };
        Error::Refused(sentence)
    }
}

/// Whether it is a matter of moments: a server restarts, or the controller moves.
pub(super) fn may_pass(error: &KafkaError) -> bool {
    error.remedy() == Remedy::Retry || error.lacks_brokers()
}

/// In Kafka's own words.
pub(super) fn refused(error: &KafkaError) -> Error {
    Error::Refused(error.to_string())
}

/// For a change that may or may not have been made; `see` says how to find out and
/// what to do then.
pub(crate) fn unknown(see: &str, reason: Option<&KafkaError>) -> Error {
    let reason = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
    Error::Unknown(format!(
        "No broker confirmed the change in time{reason}, so it may have been made or not, or may \
         still be made within a minute: {see}"
    ))
}

/// Kafka did answer, again and again, and never with a yes.
fn no(reason: &KafkaError, patience: Duration) -> String {
    let seconds = patience.as_secs();
    match reason.lacks_in_sync() {
        Some(what) => format!(
            "Kafka refused the write for {seconds} s: {what} has fewer replicas in sync than its \
             min.insync.replicas asks for; try again once the servers of its other replicas run"
        ),
        None => format!("Kafka did not do it within {seconds} s: {reason}; try again later"),
    }
}

fn nobody(reason: &str, patience: Duration) -> Error {
    let seconds = patience.as_secs();
    Error::Refused(format!(
        "No broker of the cluster gave an answer within {seconds} s{reason}; try again later"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka::client::{Endpoint, TopicPartition};

    fn gone() -> KafkaError {
        let endpoint = Endpoint::new("127.64.0.2", 9091);
        KafkaError::Unreachable { endpoint, reason: "refused the connection".into() }
    }

    fn expired() -> KafkaError {
        let endpoint = Endpoint::new("127.64.0.2", 9091);
        KafkaError::Tls { endpoint, reason: "certificate expired".into() }
    }

    #[test]
    fn silence_is_told_with_its_reason() {
        let check = |reason: Option<KafkaError>, expected: &str| {
            let why = Unanswered { reason, perhaps: false };
            let error = why.error(Duration::from_secs(25), ", or wait").to_string();
            assert_eq!(error, expected);
        };
        check(None, "No broker of the cluster gave an answer within 25 s; try again later");
        check(
            Some(gone()),
            "No broker of the cluster gave an answer within 25 s: 127.64.0.2:9091 refused the connection; try again later",
        );
        check(
            Some(KafkaError::no_leader(&TopicPartition::new("orders", 1))),
            "No server that answers leads orders-1 now; try again once its servers run, or wait",
        );
        let all = [TopicPartition::new("orders", 1), TopicPartition::new("orders", 2)];
        check(
            Some(KafkaError::no_leaders(&all.each_ref())),
            "No server that answers leads orders-1, orders-2 now; try again once their servers run, or wait",
        );
        let what = "The list of groups without 127.64.0.2:9091".to_owned();
        check(
            Some(KafkaError::Incomplete { what: what.clone(), last: Box::new(gone()) }),
            "The list of groups without 127.64.0.2:9091 would be incomplete: 127.64.0.2:9091 refused the connection; try again later, or wait",
        );
        // Though it does not pass by itself.
        check(
            Some(KafkaError::Incomplete { what, last: Box::new(expired()) }),
            "The list of groups without 127.64.0.2:9091 would be incomplete: the TLS handshake with 127.64.0.2:9091 failed: certificate expired; try again later, or wait",
        );
        check(
            Some(expired()),
            "the TLS handshake with 127.64.0.2:9091 failed: certificate expired",
        );
    }

    #[test]
    fn a_change_that_nobody_confirmed_says_how_to_find_out() {
        let error = unknown("GET topics tells", None);
        assert!(matches!(error, Error::Unknown(_)));
        assert_eq!(
            error.to_string(),
            "No broker confirmed the change in time, so it may have been made or not, or may still be made within a minute: GET topics tells"
        );
    }
}
