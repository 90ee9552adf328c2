use super::*;
use crate::Error;
use kafka::client::Endpoint;
use kafka::client::messages::Unwritten;
use model::Timestamp;

fn messages(count: usize) -> WriteMessages {
    WriteMessages {
        topic: "orders".into(),
        messages: vec![NewMessage::default(); count],
        at: Timestamp::UNIX_EPOCH,
        turn: 0,
        within: Duration::from_secs(1),
        producer: None,
    }
}

const OURS: Producer = Producer { id: 7, epoch: 0 };

fn away() -> KafkaError {
    KafkaError::no_leader(&TopicPartition::new("orders", 1))
}

fn lost() -> KafkaError {
    let endpoint = Endpoint::new("b2", 9091);
    let (call, reason) = ("Produce".to_owned(), "closed the connection".to_owned());
    KafkaError::Broken { endpoint, call, reason }
}

fn not(error: KafkaError, perhaps: bool) -> std::result::Result<i64, Unwritten> {
    Err(Unwritten { error, perhaps })
}

fn new(numbers: &[usize]) -> Vec<Open> {
    numbers.iter().map(|number| Open { number: *number, again: None }).collect()
}

#[test]
fn without_a_producer_only_what_is_surely_not_there_is_sent_again() {
    let what = messages(4);
    let sending = Sending::new(&what, Instant::now());
    let begin = || sending.begin().remove(&None).unwrap_or_default();
    let all = begin();
    assert_eq!(all, new(&[0, 1, 2, 3]));
    let places = vec![(0, Ok(5)), (1, not(away(), false)), (2, not(lost(), true)), (0, Ok(6))];
    assert_eq!(sending.end(None, &all, Ok(Some(Written { places }))), Err(away()));
    assert_eq!(begin(), new(&[1]));
    assert_eq!(sending.end(None, &new(&[1]), Err(away())), Err(away()));
    assert_eq!(begin(), new(&[1]));
    let places = vec![(1, Ok(9))];
    assert_eq!(sending.end(None, &new(&[1]), Ok(Some(Written { places }))), Ok(()));
    assert_eq!(begin(), []);

    let Err(Error::Partly { summary, pieces }) = outcome(Ok(()), &sending.fates()) else {
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
fn what_may_be_there_is_sent_again_as_it_was() {
    let what = messages(3);
    let sending = Sending::new(&what, Instant::now());
    let all = sending.begin().remove(&None).unwrap();
    let places = vec![(0, not(lost(), true)), (1, not(away(), false)), (0, not(lost(), true))];
    assert_eq!(sending.end(Some(OURS), &all, Ok(Some(Written { places }))), Err(lost()));

    let mut parts = sending.begin();
    let again = Some(Again { producer: OURS, partition: 0 });
    let unsure = [0, 2].map(|number| Open { number, again });
    assert_eq!(parts.remove(&Some(OURS)).unwrap(), unsure);
    assert_eq!(parts.remove(&None).unwrap(), new(&[1]), "in the name of another");
    assert!(parts.is_empty());
    let part = sending.part(Some(OURS), &unsure);
    assert_eq!(part.producer, Some(OURS));
    let partitions: Vec<_> = part.messages.iter().map(|it| it.partition).collect();
    assert_eq!(partitions, [Some(0); 2]);

    // That it was not taken now does not mean that it was not before.
    assert_eq!(sending.end(Some(OURS), &unsure, Err(away())), Err(away()));
    assert_eq!(sending.fates()[0], Fate::Perhaps(away(), again));
    assert_eq!(sending.begin().remove(&Some(OURS)).unwrap(), unsure);
    let places = vec![(0, not(away(), false)); 2];
    let ended = sending.end(Some(OURS), &unsure, Ok(Some(Written { places })));
    assert_eq!(ended, Err(away()));
    assert_eq!(sending.fates()[2], Fate::Perhaps(away(), again));
    sending.begin();
    let nowhere = KafkaError::no_leader(&TopicPartition::new("orders", 0));
    assert_eq!(sending.end(Some(OURS), &unsure, Ok(None)), Err(nowhere.clone()));
    assert_eq!(sending.fates()[0], Fate::Perhaps(nowhere, again));
    sending.begin();
    let places = vec![(0, Ok(5)), (0, Ok(6))];
    assert_eq!(sending.end(Some(OURS), &unsure, Ok(Some(Written { places }))), Ok(()));
    assert_eq!(sending.fates()[2], Fate::Written(0, 6));
}

#[test]
fn what_was_on_its_way_when_time_was_up_may_be_there() {
    let what = messages(1);
    let sending = Sending::new(&what, Instant::now());
    sending.begin();
    let late = Err(Error::Refused("No broker gave an answer".into()));
    let error = outcome(late, &sending.fates()).unwrap_err().to_string();
    let expected = "The message may or may not have been written: no answer came in time; \
                    look for it before you write it again";
    assert_eq!(error, expected);
}

#[test]
fn where_nothing_is_written_the_reason_is_told_alone() {
    let what = messages(2);
    let sending = Sending::new(&what, Instant::now());
    sending.begin();
    assert_eq!(sending.end(None, &new(&[0, 1]), Err(away())), Err(away()));
    let late = || Err(Error::Refused("No broker gave an answer".into()));
    let error = outcome(late(), &sending.fates()).unwrap_err().to_string();
    assert_eq!(error, "No broker gave an answer");
    sending.begin();
    assert_eq!(sending.end(None, &new(&[0, 1]), Ok(None)), Ok(()));
    assert!(matches!(outcome(Ok(()), &sending.fates()), Err(Error::NotFound)));
}
