//! Sending messages until each is in its log, is refused for good, or time is up.
//!
//! Only what Kafka surely did not take is sent again. What it may have taken is
//! not, or it could be there twice.

use super::fate::{Fate, told};
use crate::Result;
use crate::resources::Cluster;
use kafka::client::messages::{WriteMessages, Written};
use kafka::client::{Admin, Error as KafkaError};
use std::sync::{Mutex, MutexGuard};
use tokio::time::Instant;

type Answer<T> = std::result::Result<T, KafkaError>;

/// Partition and offset of each message, in the order they came. It goes on until the
/// deadline, but for as long as the messages are to have at least.
pub(super) async fn send(cluster: &Cluster<'_>, what: &WriteMessages) -> Result<Vec<(i32, i64)>> {
    let sending = &Sending::new(what, cluster.deadline());
    let asked = cluster.ask(|admin, at| sending.round(admin, at)).await;
    told(asked, &sending.fates())
}

struct Sending<'a> {
    what: &'a WriteMessages,
    until: Instant,
    fates: Mutex<Vec<Fate>>,
}

impl<'a> Sending<'a> {
    fn new(what: &'a WriteMessages, deadline: Instant) -> Self {
        let fates = Mutex::new(vec![Fate::New; what.messages.len()]);
        Self { what, until: deadline.max(Instant::now() + what.within), fates }
    }

    fn fates(&self) -> MutexGuard<'_, Vec<Fate>> {
        self.fates.lock().expect("no holder of this lock panics")
    }

    /// Sends what may be sent. An error that passes means that some of it may be
    /// sent once more.
    async fn round(&self, admin: &dyn Admin, at: &kafka::client::Cluster) -> Answer<()> {
        let open = self.begin();
        let WriteMessages { topic, messages, at: time, turn, .. } = self.what;
        let what = WriteMessages {
            topic: topic.clone(),
            messages: open.iter().map(|number| messages[*number].clone()).collect(),
            at: *time,
            turn: *turn,
            within: self.until.saturating_duration_since(Instant::now()),
        };
        let written = admin.messages().write_messages(at, &what).await;
        self.end(&open, written)
    }

    /// The numbers of those that are sent now.
    fn begin(&self) -> Vec<usize> {
        let mut open = Vec::new();
        for (number, fate) in self.fates().iter_mut().enumerate() {
            if fate.may_be_sent() {
                *fate = Fate::Sent;
                open.push(number);
            }
        }
        open
    }

    fn end(&self, open: &[usize], written: Answer<Option<Written>>) -> Answer<()> {
        let found: Vec<Fate> = match &written {
            Err(error) => vec![Fate::Not(error.clone()); open.len()],
            Ok(None) => vec![Fate::Gone; open.len()],
            Ok(Some(written)) => written.places.iter().map(Fate::of).collect(),
        };
        let again = found.iter().find_map(Fate::passing).cloned();
        let mut fates = self.fates();
        for (number, fate) in open.iter().zip(found) {
            fates[*number] = fate;
        }
        written?;
        again.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use kafka::client::messages::{NewMessage, Unwritten};
    use kafka::client::{Endpoint, TopicPartition};
    use model::Timestamp;
    use std::time::Duration;

    fn messages(count: usize) -> WriteMessages {
        WriteMessages {
            topic: "orders".into(),
            messages: vec![NewMessage::default(); count],
            at: Timestamp::UNIX_EPOCH,
            turn: 0,
            within: Duration::from_secs(1),
        }
    }

    fn away() -> KafkaError {
        KafkaError::no_leader(&TopicPartition::new("orders", 1))
    }

    fn lost() -> KafkaError {
        let endpoint = Endpoint::new("b2", 9091);
        let (call, reason) = ("Produce".to_owned(), "closed the connection".to_owned());
        KafkaError::Broken { endpoint, call, reason }
    }

    fn not(error: KafkaError, perhaps: bool) -> std::result::Result<(i32, i64), Unwritten> {
        Err(Unwritten { error, perhaps })
    }

    #[test]
    fn only_what_is_surely_not_there_is_sent_again() {
        let what = messages(4);
        let sending = Sending::new(&what, Instant::now());
        assert_eq!(sending.begin(), [0, 1, 2, 3]);
        let places = vec![Ok((0, 5)), not(away(), false), not(lost(), true), Ok((0, 6))];
        assert_eq!(sending.end(&[0, 1, 2, 3], Ok(Some(Written { places }))), Err(away()));
        assert_eq!(sending.begin(), [1]);
        assert_eq!(sending.end(&[1], Err(away())), Err(away()));
        assert_eq!(sending.begin(), [1]);
        let places = vec![Ok((1, 9))];
        assert_eq!(sending.end(&[1], Ok(Some(Written { places }))), Ok(()));
        assert_eq!(sending.begin(), [0; 0]);

        let Err(Error::Partly { summary, pieces }) = told(Ok(()), &sending.fates()) else {
            panic!("one of them is not known to be there");
        };
        let expected = "Of 4 messages 3 were written, 1 may or may not have been written, and 0 \
                        were not: b2:9091 closed the connection during Produce; `errors` tells \
                        what became of each";
        assert_eq!(summary, expected);
        let pieces: Vec<_> = pieces.iter().map(|it| (&*it.field, &*it.what)).collect();
        let lost = "may or may not have been written: b2:9091 closed the connection during Produce";
        let expected = [
            ("messages[0]", "written to partition 0 at offset 5"),
            ("messages[1]", "written to partition 1 at offset 9"),
            ("messages[2]", lost),
            ("messages[3]", "written to partition 0 at offset 6"),
        ];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn what_was_on_its_way_when_time_was_up_may_be_there() {
        let what = messages(1);
        let sending = Sending::new(&what, Instant::now());
        sending.begin();
        let late = Err(Error::Refused("No broker gave an answer".into()));
        let error = told(late, &sending.fates()).unwrap_err().to_string();
        let expected = "The message may or may not have been written: no answer came in time; \
                        look for it before you write it again";
        assert_eq!(error, expected);
    }

    #[test]
    fn where_nothing_is_written_the_reason_is_told_alone() {
        let what = messages(2);
        let sending = Sending::new(&what, Instant::now());
        let open = sending.begin();
        assert_eq!(sending.end(&open, Err(away())), Err(away()));
        let late = || Err(Error::Refused("No broker gave an answer".into()));
        let error = told(late(), &sending.fates()).unwrap_err().to_string();
        assert_eq!(error, "No broker gave an answer");
        let open = sending.begin();
        assert_eq!(sending.end(&open, Ok(None)), Ok(()));
        assert!(matches!(told(Ok(()), &sending.fates()), Err(Error::NotFound)));
    }
}
