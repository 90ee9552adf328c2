//! Asking again while no broker has an answer.

use super::unanswered::{Unanswered, may_pass};
use kafka::client::Error as KafkaError;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout_at};

/// Between two rounds in which no broker gave an answer.
const PAUSE: Duration = Duration::from_millis(250);

/// The first answer, or the first refusal that will stay one. Partitions without a leader
/// are waited for at most so long, from when that was heard first.
pub(super) async fn repeat<T, F>(
    until: Instant,
    for_leaders: Duration,
    call: impl Fn() -> F,
) -> Result<T, Unanswered>
where
    F: Future<Output = Result<T, KafkaError>>,
{
    let mut leaderless_since = None;
    let (mut reason, mut perhaps) = (None, false);
    loop {
        let Ok(answer) = timeout_at(until, call()).await else {
            // The broker that was being asked may go on with it.
            perhaps = true;
            break;
        };
        let error = match answer {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        perhaps |= error.may_have_done_it();
        let passes = may_pass(&error);
        let end = if matches!(error, KafkaError::Leaderless { .. }) {
            let since = *leaderless_since.get_or_insert_with(Instant::now);
            until.min(since + for_leaders)
        } else {
            leaderless_since = None;
            until
        };
        reason = Some(error);
        if !passes || Instant::now() + PAUSE >= end {
            break;
        }
        sleep(PAUSE).await;
    }
    Err(Unanswered { reason, perhaps })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka::client::{Endpoint, TopicPartition};
    use std::sync::Mutex;

    const LONG: Duration = Duration::from_mins(1);

    fn gone() -> KafkaError {
        let endpoint = Endpoint::new("b1", 9091);
        KafkaError::Unreachable { endpoint, reason: "refused the connection".into() }
    }

    fn lost() -> KafkaError {
        let endpoint = Endpoint::new("b1", 9091);
        let (call, reason) = ("Call".to_owned(), "closed the connection".to_owned());
        KafkaError::Broken { endpoint, call, reason }
    }

    fn leaderless() -> KafkaError {
        KafkaError::no_leader(&TopicPartition::new("orders", 1))
    }

    /// A refusal that stays one.
    fn refusal() -> KafkaError {
        let endpoint = Endpoint::new("b1", 9091);
        KafkaError::Tls { endpoint, reason: "certificate expired".into() }
    }

    /// What comes of these answers, one after another, of which the last is 7.
    async fn asked(for_leaders: Duration, errors: Vec<KafkaError>) -> Result<i32, Unanswered> {
        let errors = Mutex::new(errors.into_iter());
        let until = Instant::now() + LONG;
        repeat(until, for_leaders, || async { errors.lock().unwrap().next().map_or(Ok(7), Err) })
            .await
    }

    #[tokio::test]
    async fn leaders_are_waited_for_from_when_they_are_missed() {
        // By then more time has passed than leaders have.
        let errors = vec![gone(), gone(), gone(), gone(), leaderless(), leaderless()];
        assert_eq!(asked(4 * PAUSE, errors).await.ok(), Some(7));
    }

    #[tokio::test]
    async fn leaders_are_not_waited_for_longer_than_was_said() {
        let why = asked(PAUSE, vec![leaderless()]).await.unwrap_err();
        assert_eq!((why.reason, why.perhaps), (Some(leaderless()), false));
        assert_eq!(asked(PAUSE, vec![gone()]).await.ok(), Some(7), "others are");
    }

    #[tokio::test]
    async fn a_refusal_does_not_hide_what_may_have_been_done_before() {
        let why = asked(LONG, vec![lost(), refusal()]).await.unwrap_err();
        assert_eq!((why.reason, why.perhaps), (Some(refusal()), true));
        let why = asked(LONG, vec![gone(), refusal()]).await.unwrap_err();
        assert_eq!((why.reason, why.perhaps), (Some(refusal()), false));
    }
}
