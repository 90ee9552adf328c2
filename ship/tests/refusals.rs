//! Destinations that say no, or nothing: what is told of them, what is given up for it, and what
//! is kept to be sent again.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixture;

use egress::Calls;
use fixture::intake::{Intake, Reply, Request};
use fixture::{
    PATIENCE, ago, all_at, calling, config, event, events, instance, logs, metrics, now, origin,
    point,
};
use model::agent::Outbound;
use model::{IntegrationKind, IntegrationSystem, LogEvent};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::Value;
use ship::{Endpoints, Outcome, Shipper, Verdict};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use test_support::receiver::Receiver;

const KEY: &str = "s3cret-k3y";

fn datadog(address: &str) -> Shipper {
    logs(IntegrationSystem::Datadog, &[("api_key", KEY)], all_at(address))
}

/// What is said, when to try again, and that nothing is done.
async fn trouble(shipper: &mut Shipper) -> (String, Verdict) {
    let outcome = shipper.send_logs(&origin(), &events(3), now(), PATIENCE).await;
    assert_eq!((outcome.done, outcome.dropped), (0, 0));
    let trouble = outcome.trouble.unwrap();
    let said = trouble.to_string();
    for secret in [KEY, "nobody may repeat", "elsewhere", "banana"] {
        assert!(!format!("{said} {trouble:?}").contains(secret), "{said}");
    }
    assert!(!said.ends_with('.'), "{said}");
    (said, trouble.verdict)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_told_and_says_when_to_try_again() {
    let retry = |seconds: Option<u64>| Verdict::Retry { after: seconds.map(Duration::from_secs) };
    for (fault, said, verdict) in [
        ("500", "answered 500: it is busy or broken", retry(None)),
        ("502", "answered 502: it is busy or broken", retry(None)),
        ("408", "answered 408: it is busy or broken", retry(None)),
        ("busy", "answered 429: it is busy or broken", retry(Some(7))),
        ("401", "answered 401: it does not accept the API key", Verdict::Refused),
        ("403", "answered 403: it does not accept the API key", Verdict::Refused),
        ("404", "answered 404: it takes nothing at that address", Verdict::Refused),
        ("redirect", "answered 302, and redirects are not followed", Verdict::Refused),
        ("reset", "broke off, or gave no answer in HTTP", retry(None)),
        ("hang up", "broke off, or gave no answer in HTTP", retry(None)),
        ("no http", "broke off, or gave no answer in HTTP", retry(None)),
        ("endless head", "broke off, or gave no answer in HTTP", retry(None)),
        ("endless refusal", "answered 500: it is busy or broken", retry(None)),
    ] {
        let receiver = Receiver::of_calls(&[("fault", fault)]);
        let mut shipper = datadog(&format!("http://127.0.0.1:{}", receiver.port));
        let expected = (format!("127.0.0.1 {said}"), verdict);
        assert_eq!(trouble(&mut shipper).await, expected, "{fault}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_without_an_end_is_an_answer_all_the_same() {
    let receiver = Receiver::of_calls(&[("fault", "endless body")]);
    let mut shipper = datadog(&format!("http://127.0.0.1:{}", receiver.port));
    let outcome = shipper.send_logs(&origin(), &events(3), now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 3, ..Outcome::default() });
}

#[tokio::test]
async fn an_unresponsive_destination_is_left() {
    // It takes the connection and says nothing, also not of TLS.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = silent.local_addr().unwrap();
    let [mut plain, mut secure] =
        ["http", "https"].map(|scheme| datadog(&format!("{scheme}://{place}")));
    let begun = Instant::now();
    let (plain, secure) = tokio::join!(trouble(&mut plain), trouble(&mut secure));
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    let said = "127.0.0.1 did not answer within 10 s".to_owned();
    let expected = (said, Verdict::Retry { after: None });
    assert_eq!((&plain, &secure), (&expected, &expected));
}

#[tokio::test]
async fn an_unreachable_destination_and_an_unknown_name_are_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", taken.local_addr().unwrap());
    drop(taken);
    let retry = Verdict::Retry { after: None };
    let said = trouble(&mut datadog(&nobody)).await;
    assert_eq!(said, ("127.0.0.1 can't be reached".into(), retry));
    let said = trouble(&mut datadog("https://nobody.invalid")).await;
    assert_eq!(said, ("nobody.invalid can't be found by its name".into(), retry));
}

#[tokio::test(flavor = "multi_thread")]
async fn certificates_are_checked() {
    let directory = tempfile::tempdir().unwrap();
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let write = |name: &str, text: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (file, key) = (write("cert", cert.pem()), write("key", signing_key.serialize_pem()));
    for trusted in [false, true] {
        let now_there = now().as_second().to_string();
        let receiver = Receiver::of_calls(&[
            ("as", "datadog_logs"),
            ("key", KEY),
            ("now", &now_there),
            ("cert", &file),
            ("tls-key", &key),
        ]);
        let calls = Calls { authority_pem: trusted.then(|| cert.pem()), ..Calls::default() };
        let endpoints = all_at(&format!("https://localhost:{}", receiver.port));
        let (kind, system) = (IntegrationKind::Logs, IntegrationSystem::Datadog);
        let settings = config(&[("api_key", KEY)]);
        let mut shipper =
            Shipper::new(calling(&calls), Arc::new(endpoints), kind, system, settings);
        let outcome = shipper.send_logs(&origin(), &events(3), now(), PATIENCE).await;
        let said = outcome.trouble.map(|trouble| trouble.to_string());
        let untrusted = "localhost can't be called: its certificate is not trusted";
        assert_eq!(said.as_deref(), (!trusted).then_some(untrusted));
        assert_eq!(receiver.rest().len(), usize::from(trusted));
    }
}

fn takes_all() -> Reply {
    Reply::new(202, "{}")
}

fn messages(requests: &[Request]) -> Vec<String> {
    let bodies = requests.iter().map(|request| serde_json::from_str(&request.body).unwrap());
    let events = bodies.flat_map(|body: Value| body.as_array().unwrap().clone());
    events.map(|event| event["message"].as_str().unwrap().to_owned()).collect()
}

fn numbered(number: usize) -> Vec<LogEvent> {
    (0..number).map(|at| event(ago(60), format!("event {at}"))).collect()
}

#[tokio::test]
async fn batches_before_one_that_fails_are_done() {
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let intake = Intake::run(move |_| {
        // The third call is hung up on.
        (seen.fetch_add(1, Ordering::SeqCst) != 2).then(takes_all)
    })
    .await;
    let mut shipper = datadog(&intake.address());
    let events = numbered(2500);
    let outcome = shipper.send_logs(&origin(), &events, now(), PATIENCE).await;
    assert_eq!((outcome.done, outcome.dropped), (2000, 0));
    let said = outcome.trouble.unwrap().to_string();
    assert_eq!(said, "127.0.0.1 broke off, or gave no answer in HTTP");
    let outcome = shipper.send_logs(&origin(), &events[2000..], now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 500, ..Outcome::default() });
    let came = messages(&intake.take());
    assert_eq!(came.len(), 3000, "what was hung up on came twice");
    let expected: Vec<_> = events.iter().map(|event| event.message.clone()).collect();
    assert_eq!(came[..2500], expected);
}

#[tokio::test]
async fn an_attempt_ends_by_itself_with_what_was_done() {
    let count = AtomicUsize::new(0);
    let intake = Intake::run(move |_| {
        let is_third = count.fetch_add(1, Ordering::SeqCst) == 2;
        Some(if is_third { Reply::new(0, "") } else { takes_all() })
    })
    .await;
    let mut shipper = datadog(&intake.address());
    let (events, patience) = (numbered(4000), Duration::from_secs(5));
    let outcome = shipper.send_logs(&origin(), &events, now(), patience).await;
    let trouble = outcome.trouble.unwrap();
    assert_eq!((outcome.done, outcome.dropped), (2000, 0));
    assert_eq!(trouble.to_string(), "127.0.0.1 did not take all of it within 5 s");
    assert_eq!(trouble.verdict, Verdict::Retry { after: None });
    let none = shipper.send_logs(&origin(), &events, now(), Duration::ZERO).await;
    assert_eq!((none.done, intake.take().len()), (0, 3), "no call is begun");
}

#[tokio::test]
async fn a_connection_serves_several_calls() {
    let intake = Intake::run(|_| Some(takes_all())).await;
    let mut shipper = datadog(&intake.address());
    for _ in 0..5 {
        let outcome = shipper.send_logs(&origin(), &numbered(3), now(), PATIENCE).await;
        assert_eq!(outcome.trouble, None);
    }
    assert_eq!(intake.connections.load(Ordering::SeqCst), 1);
    assert_eq!(intake.take().len(), 5);
}

/// Refuses every call that holds one of these, with this status for the first, this for the next.
async fn intake_that_refuses(bad: Vec<String>, statuses: [u16; 2]) -> Intake {
    Intake::run(move |request| {
        let first = bad.iter().position(|text| request.body.contains(&format!("\"{text}\"")));
        Some(first.map_or_else(takes_all, |at| Reply::new(statuses[at % 2], "banana")))
    })
    .await
}

#[tokio::test]
async fn events_that_are_refused_stop_no_other() {
    for (bad, statuses) in [
        (vec![0, 700, 900], [400, 400]),
        (vec![0, 700, 900], [413, 413]),
        (vec![0, 1], [400, 400]),
        (vec![700, 701], [400, 413]),
        (vec![700, 701, 702], [413, 400]),
        (vec![0, 1, 500, 501, 502, 503], [400, 400]),
        ((700..731).collect(), [400, 413]),
    ] {
        let texts: Vec<_> = bad.iter().map(|at| format!("event {at}")).collect();
        let intake = intake_that_refuses(texts.clone(), statuses).await;
        let events = numbered(1500);
        let outcome =
            datadog(&intake.address()).send_logs(&origin(), &events, now(), PATIENCE).await;
        let expected = Outcome { done: 1500, dropped: bad.len(), trouble: None };
        assert_eq!(outcome, expected, "{bad:?}");
        let requests = intake.take();
        assert!(requests.len() < 90 + bad.len(), "{bad:?}: {} calls", requests.len());
        let is_bad =
            |it: &Request| texts.iter().any(|text| it.body.contains(&format!("\"{text}\"")));
        let taken: Vec<_> = requests.into_iter().filter(|request| !is_bad(request)).collect();
        let good = events.iter().map(|event| event.message.clone());
        let good: Vec<_> = good.filter(|text| !texts.contains(text)).collect();
        assert_eq!(messages(&taken), good);
    }
}

#[tokio::test]
async fn refused_events_at_the_end_wait_for_one_that_is_taken() {
    let bad = ["event 0".to_owned(), "event 1".to_owned()];
    let intake = intake_that_refuses(bad.into(), [400, 400]).await;
    let mut events = numbered(4);
    // Datadog refuses its age, so it is never sent.
    events[2].at = ago(19 * 3600);
    let mut shipper = datadog(&intake.address());
    let outcome = shipper.send_logs(&origin(), &events[..3], now(), PATIENCE).await;
    assert_eq!((outcome.done, outcome.dropped), (0, 0));
    assert_eq!(outcome.trouble.unwrap().verdict, Verdict::Refused);
    let outcome = shipper.send_logs(&origin(), &events, now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 4, dropped: 3, trouble: None });
}

#[tokio::test]
async fn refused_ones_at_the_end_are_given_up_if_others_were_taken() {
    let bad = ["event 8", "event 9"].map(String::from);
    let intake = intake_that_refuses(bad.into(), [400, 413]).await;
    let mut events = numbered(11);
    events[10].at = ago(19 * 3600);
    let mut shipper = datadog(&intake.address());
    let outcome = shipper.send_logs(&origin(), &events, now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 11, dropped: 3, trouble: None });
    // What was taken in another attempt proves nothing.
    let outcome = shipper.send_logs(&origin(), &events[8..], now(), PATIENCE).await;
    assert_eq!((outcome.done, outcome.dropped), (0, 0));
    assert_eq!(outcome.trouble.unwrap().verdict, Verdict::Refused);
}

#[tokio::test]
async fn a_refused_point_at_the_end_of_a_minute_holds_up_none_after_it() {
    let intake = Intake::run(|request| {
        let is_bad = request.body.contains("\"value\":9.5");
        Some(if is_bad { Reply::new(400, "banana") } else { takes_all() })
    })
    .await;
    let key = [("license_key", KEY), ("region", "us")];
    let mut shipper = metrics(IntegrationSystem::Newrelic, &key, all_at(&intake.address()));
    let points = fixture::points(10);
    let outcome = shipper.send_points(&instance(), &points, now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 10, dropped: 1, trouble: None });
}

#[tokio::test]
async fn splunk_gets_nothing_twice_for_an_event_that_it_refuses() {
    let bad = ["event 0", "event 20", "event 21", "event 40"];
    let indexed = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&indexed);
    let intake = Intake::run(move |request| {
        let events = serde_json::Deserializer::from_str(&request.body).into_iter::<Value>();
        for (number, event) in events.enumerate() {
            let text = event.unwrap()["event"].as_str().unwrap().to_owned();
            if bad.contains(&text.as_str()) {
                let body =
                    format!(r#"{{"text":"banana","code":6,"invalid-event-number":{number}}}"#);
                return Some(Reply::new(400, body));
            }
            kept.lock().unwrap().push(text);
        }
        Some(Reply::new(200, r#"{"text":"Success","code":0}"#))
    })
    .await;
    let address = intake.address();
    let settings = [("token", KEY), ("host_port", address.as_str())];
    let mut shipper = logs(IntegrationSystem::Splunk, &settings, Endpoints::default());
    let events = numbered(50);
    let outcome = shipper.send_logs(&origin(), &events, now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 50, dropped: 4, trouble: None });
    let good = events.iter().map(|event| event.message.clone());
    let good: Vec<_> = good.filter(|text| !bad.contains(&text.as_str())).collect();
    assert_eq!(*indexed.lock().unwrap(), good);
}

#[tokio::test]
async fn a_destination_that_takes_nothing_costs_nothing() {
    let intake = Intake::run(|_| Some(Reply::new(400, "banana"))).await;
    let outcome =
        datadog(&intake.address()).send_logs(&origin(), &numbered(1000), now(), PATIENCE).await;
    let trouble = outcome.trouble.unwrap();
    assert_eq!((outcome.done, outcome.dropped, trouble.verdict), (0, 0, Verdict::Refused));
    let said = "127.0.0.1 answered 400: it makes nothing of what it is sent";
    assert_eq!(trouble.to_string(), said);
    // Halves of it, and then one by one.
    assert!(intake.take().len() <= 10 + 32);
    // One alone proves nothing either.
    let outcome =
        datadog(&intake.address()).send_logs(&origin(), &numbered(1), now(), PATIENCE).await;
    assert_eq!((outcome.done, outcome.dropped), (0, 0));
    assert_eq!(outcome.trouble.unwrap().verdict, Verdict::Refused);
}

#[tokio::test]
async fn a_batch_that_is_too_large_is_halved() {
    let intake = Intake::run(|request| {
        let events: Value = serde_json::from_str(&request.body).unwrap();
        let fits = events.as_array().unwrap().len() <= 100;
        Some(if fits { takes_all() } else { Reply::new(413, "") })
    })
    .await;
    let outcome =
        datadog(&intake.address()).send_logs(&origin(), &numbered(500), now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 500, ..Outcome::default() });
}

#[tokio::test]
async fn what_is_refused_for_ever_is_counted() {
    let reply = r#"{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"banana"}}"#;
    let intake = Intake::run(move |_| Some(Reply::new(200, reply))).await;
    let address = intake.address();
    let system = IntegrationSystem::Otlp;
    let mut shipper = logs(system, &[("endpoint", &address)], Endpoints::default());
    let outcome = shipper.send_logs(&origin(), &numbered(9), now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 9, dropped: 2, trouble: None });

    let reply = r#"{"partialSuccess":{"rejectedDataPoints":400}}"#;
    let intake = Intake::run(move |_| Some(Reply::new(200, reply))).await;
    let address = intake.address();
    let mut shipper = metrics(system, &[("endpoint", &address)], Endpoints::default());
    let outcome = shipper.send_points(&instance(), &[point(now(), 1.0)], now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 1, dropped: 1, trouble: None }, "no more than there were");

    let reply = r#"{"nextSequenceToken":"x","rejectedLogEventsInfo":
        {"tooOldLogEventEndIndex":2,"expiredLogEventEndIndex":1,"tooNewLogEventStartIndex":8}}"#;
    let intake = Intake::run(move |_| Some(Reply::new(200, reply))).await;
    let settings = [("region", "eu-west-1"), ("access_key_id", "id"), ("secret_access_key", KEY)];
    let system = IntegrationSystem::Cloudwatchlog;
    let mut shipper = logs(system, &settings, all_at(&intake.address()));
    let outcome = shipper.send_logs(&origin(), &numbered(9), now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 9, dropped: 3, trouble: None });
    let request = intake.take().remove(0);
    let authorization = request.header("authorization").unwrap();
    let scope = "AWS4-HMAC-SHA256 Credential=id/20261119/eu-west-1/logs/aws4_request, \
                 SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=";
    assert!(authorization.starts_with(scope), "{authorization}");
    assert_eq!(request.header("x-amz-target"), Some("Logs_20140328.PutLogEvents"));
}

/// What Amazon says to calls that make a log group and a stream, and to events for them.
async fn amazon(make: (u16, &'static str), put: (u16, &'static str)) -> (Outcome, usize) {
    let intake = Intake::run(move |request| {
        let is_put = request.header("x-amz-target") == Some("Logs_20140328.PutLogEvents");
        let (status, kind) = if is_put { put } else { make };
        Some(Reply::new(status, format!(r#"{{"__type":"{kind}","message":"banana"}}"#)))
    })
    .await;
    let settings = [("region", "eu-west-1"), ("access_key_id", "id"), ("secret_access_key", KEY)];
    let system = IntegrationSystem::Cloudwatchlog;
    let mut shipper = logs(system, &settings, all_at(&intake.address()));
    let outcome = shipper.send_logs(&origin(), &numbered(9), now(), PATIENCE).await;
    (outcome, intake.take().len())
}

#[tokio::test]
async fn a_log_group_that_cannot_be_made_is_told() {
    let missing = (400, "ResourceNotFoundException");
    let exists = (400, "ResourceAlreadyExistsException");
    let retry = Verdict::Retry { after: None };
    for (make, said, verdict, calls) in [
        (
            (400, "AccessDeniedException"),
            "answered 400: it knows the access key, and the key has no permission for this",
            Verdict::Refused,
            2,
        ),
        ((500, "InternalFailure"), "answered 500: it is busy or broken", retry, 2),
        // It says yes and has nothing yet.
        ((200, ""), "answered 400: it does not have yet what was made there", retry, 4),
        (exists, "answered 400: it does not have yet what was made there", retry, 4),
    ] {
        let (outcome, called) = amazon(make, missing).await;
        let trouble = outcome.trouble.unwrap();
        assert_eq!((outcome.done, called), (0, calls), "{make:?}");
        assert_eq!((trouble.to_string(), trouble.verdict), (format!("127.0.0.1 {said}"), verdict));
    }
}

#[tokio::test]
async fn what_is_too_old_is_not_sent() {
    let intake = Intake::run(|_| Some(takes_all())).await;
    let mut events = numbered(3);
    events[0].at = ago(19 * 3600);
    events[2].at = ago(-3 * 3600);
    let outcome = datadog(&intake.address()).send_logs(&origin(), &events, now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 3, dropped: 2, trouble: None });
    assert_eq!(messages(&intake.take()), ["event 1"]);
    // Nothing is left to be sent.
    let outcome =
        datadog(&intake.address()).send_logs(&origin(), &events[..1], now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 1, dropped: 1, trouble: None });
    let settings = [("license_key", KEY)];
    let mut shipper = metrics(IntegrationSystem::Newrelic, &settings, all_at(&intake.address()));
    let points = [point(ago(49 * 3600), 1.0), point(ago(47 * 3600), 2.0)];
    let outcome = shipper.send_points(&instance(), &points, now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: 2, dropped: 1, trouble: None });
}

#[tokio::test]
async fn what_splunk_says_of_its_tokens() {
    for (status, code, said, verdict) in [
        (403, 4, ": it does not accept the token", Verdict::Refused),
        (400, 7, ": the token may not write to the index that it is set to", Verdict::Refused),
        (
            400,
            10,
            ": the token asks for acknowledgements; switch them off for it",
            Verdict::Refused,
        ),
        (503, 9, ": it is busy or broken", Verdict::Retry { after: None }),
    ] {
        let body = format!(r#"{{"text":"banana","code":{code}}}"#);
        let intake = Intake::run(move |_| Some(Reply::new(status, body.clone()))).await;
        let address = intake.address();
        let settings = [("token", KEY), ("host_port", address.as_str())];
        let mut shipper = logs(IntegrationSystem::Splunk, &settings, Endpoints::default());
        let expected = (format!("127.0.0.1 answered {status}{said}"), verdict);
        assert_eq!(trouble(&mut shipper).await, expected);
    }
}

#[tokio::test]
async fn settings_that_do_not_fit_are_told() {
    let said = "the settings are not those that otlp needs for logs; save them again";
    let otlp = IntegrationSystem::Otlp;
    for settings in [
        &[][..],
        &[("endpoint", "x")],
        &[("endpoint", "http://x"), ("headers", "x")],
        &[("endpoint", "http://x"), ("headers", "Transfer-Encoding=x")],
        &[("endpoint", "http://user:pass@x")],
    ] {
        let mut shipper = logs(otlp, settings, Endpoints::default());
        assert_eq!(trouble(&mut shipper).await, (said.into(), Verdict::Refused));
    }
    // It takes no logs.
    let mut shipper =
        logs(IntegrationSystem::Newrelic, &[("license_key", KEY)], Endpoints::default());
    let (said, _) = trouble(&mut shipper).await;
    assert_eq!(said, "the settings are not those that newrelic needs for logs; save them again");
}

#[tokio::test]
async fn this_machine_is_not_called_without_leave() {
    let intake = Intake::run(|_| Some(takes_all())).await;
    let careful = egress::Caller::new(&Outbound::default(), Duration::ZERO).unwrap();
    let reason = "its address is private, and those are called only where the operator has set \
                  [outbound] allow_private_addresses = true";
    for host in ["127.0.0.1", "localhost", "[::ffff:7f00:1]"] {
        let endpoints = all_at(&format!("http://{host}:{}", intake.port));
        let place = format!("{host}:{}", intake.port);
        for (system, settings, name) in [
            (IntegrationSystem::Datadog, config(&[("api_key", KEY)]), host.to_owned()),
            (IntegrationSystem::Papertrail, config(&[("url", &place)]), place.clone()),
        ] {
            let (kind, endpoints) = (IntegrationKind::Logs, Arc::new(endpoints.clone()));
            let mut shipper = Shipper::new(careful.clone(), endpoints, kind, system, settings);
            let (said, verdict) = trouble(&mut shipper).await;
            let expected = format!("{name} can't be called: {reason}");
            assert_eq!((said, verdict), (expected, Verdict::Refused), "{system}");
        }
    }
    assert_eq!(intake.connections.load(Ordering::SeqCst), 0, "nothing came");
}

/// What a batch costs in time does not depend on what is in it.
#[tokio::test]
async fn ten_thousand_events_are_sent_at_once() {
    let intake = Intake::run(|_| Some(takes_all())).await;
    let events = numbered(10_000);
    let begun = Instant::now();
    let mut shipper = datadog(&intake.address());
    let outcome = shipper.send_logs(&origin(), &events, now(), PATIENCE).await;
    assert_eq!(outcome.done, events.len());
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    let requests = intake.take();
    assert!(requests.iter().all(|request| request.bytes * 5 < request.body.len()), "compressed");
}
