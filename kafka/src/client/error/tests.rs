//! What an error says, and what is done about it.

use super::*;

fn refusal(code: i16, message: &str) -> Error {
    check("CreateAcls", "User:ada", code, Some(&StrBytes::from_string(message.to_owned())))
        .unwrap_err()
}

#[test]
fn kafka_s_reason_is_in_the_sentence() {
    assert_eq!(
        refusal(31, "Request is not authorized.").to_string(),
        "Kafka refused CreateAcls for User:ada: ClusterAuthorizationFailed (Request is not authorized.)"
    );
    assert_eq!(refusal(41, "").to_string(), "Kafka refused CreateAcls for User:ada: NotController");
}

#[test]
fn what_nobody_leads_is_named_as_far_as_it_is_few() {
    let all: Vec<TopicPartition> = (0..10).map(|it| TopicPartition::new("t", it)).collect();
    let check = |count: usize, expected: &str| {
        let some: Vec<&TopicPartition> = all.iter().take(count).collect();
        let error = Error::no_leaders(&some);
        assert_eq!(error.to_string(), format!("no server that answers leads {expected} now"));
        assert_eq!(error.remedy(), Remedy::Retry);
    };
    check(1, "t-0");
    check(2, "t-0, t-1");
    check(10, "t-0, t-1, t-2, t-3, t-4, and 5 more");
}

/// Callers are told that nobody knows, however many brokers were asked.
#[test]
fn an_effect_is_not_forgotten_behind_others() {
    let endpoint = Endpoint::new("127.64.0.2", 9091);
    let late = Error::Deadline {
        endpoint: endpoint.clone(),
        call: "CreateAcls".into(),
        after: Duration::from_secs(10),
    };
    let all = Error::AllFailed { asked: 3, last: Box::new(late) };
    assert!(all.may_have_done_it());
    let gone = Error::Unreachable { endpoint, reason: "refused the connection".into() };
    assert!(!Error::AllFailed { asked: 3, last: Box::new(gone) }.may_have_done_it());
}

#[test]
fn remedies() {
    let endpoint = Endpoint::new("127.64.0.2", 9091);
    let gone =
        Error::Unreachable { endpoint: endpoint.clone(), reason: "refused the connection".into() };
    assert_eq!(gone.remedy(), Remedy::Retry);
    let all = Error::AllFailed { asked: 3, last: Box::new(gone) };
    assert_eq!(all.remedy(), Remedy::Retry);
    assert_eq!(
        all.to_string(),
        "none of 3 brokers answered; the last error: 127.64.0.2:9091 refused the connection"
    );
    assert_eq!(refusal(41, "").remedy(), Remedy::Retry, "the controller moves");
    assert_eq!(refusal(31, "").remedy(), Remedy::Refused);
    let tls = Error::Tls { endpoint, reason: "certificate expired".into() };
    assert_eq!(tls.remedy(), Remedy::Refused);
    assert!(tls.is_about_one_broker());
}

#[test]
fn a_no_is_an_answer() {
    let endpoint = Endpoint::new("127.64.0.2", 9091);
    let gone = Error::Unreachable { endpoint, reason: "refused the connection".into() };
    let all = |last: Error| Error::AllFailed { asked: 3, last: Box::new(last) };
    assert_eq!((gone.answer(), gone.lacks_in_sync()), (None, None));
    assert_eq!(all(gone).answer(), None);
    let moving = refusal(41, "");
    assert_eq!((moving.answer(), moving.lacks_in_sync()), (Some(&moving), None));
    assert_eq!(all(moving.clone()).answer(), Some(&moving));
    assert_eq!(refusal(8, "nobody told").answer(), None);
    let few = refusal(19, "");
    assert_eq!((few.answer(), few.lacks_in_sync()), (Some(&few), Some("User:ada")));
    assert_eq!(all(few).lacks_in_sync(), Some("User:ada"));
}

/// Neither another broker nor the caller writes it once more.
#[test]
fn a_write_that_kafka_confirmed_is_made() {
    let endpoint = Endpoint::new("127.64.0.2", 9091);
    let unread = Error::NotReadableYet {
        endpoint: endpoint.clone(),
        what: "user ada".into(),
        after: Duration::from_secs(10),
    };
    assert!(!unread.is_about_one_broker());
    assert_eq!(made::<()>(Err(unread)), Ok(None));
    assert_eq!(made(Ok(7)), Ok(Some(7)));
    let stale = Error::Stale { endpoint, what: "user ada".into() };
    assert!(stale.is_about_one_broker() && !stale.may_have_done_it());
    assert_eq!(made::<()>(Err(stale.clone())), Err(stale));
}
