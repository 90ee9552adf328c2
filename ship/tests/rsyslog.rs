//! Syslog to rsyslog, with TLS and without: what it writes is what was sent, message by message.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixture;

use egress::Calls;
use fixture::{PATIENCE, calling, config, events, now, origin};
use model::{IntegrationKind, IntegrationSystem, LogEvent};
use rcgen::generate_simple_self_signed;
use serde_json::Value;
use ship::{Outcome, Shipper};
use std::sync::Arc;
use test_support::receiver::Receiver;

fn shipper(calls: &Calls, url: &str) -> Shipper {
    let (kind, system) = (IntegrationKind::Logs, IntegrationSystem::Papertrail);
    Shipper::new(calling(calls), Arc::default(), kind, system, config(&[("url", url)]))
}

/// Texts that rsyslog is not told to change, and that it has room for.
fn plain_events(number: usize) -> Vec<LogEvent> {
    let mut events = events(number);
    events.retain(|event| {
        let shown = |c: char| c.is_control() && !"\t\n".contains(c);
        !event.message.contains(shown) && event.message.len() < 50_000
    });
    events
}

fn texts(came: &[Value]) -> Vec<&str> {
    came.iter().map(|message| message["message"].as_str().unwrap()).collect()
}

fn sent(events: &[LogEvent]) -> Vec<&str> {
    events.iter().map(|event| event.message.as_str()).collect()
}

async fn all_done(shipper: &mut Shipper, events: &[LogEvent]) {
    let outcome = shipper.send_logs(&origin(), events, now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: events.len(), ..Outcome::default() });
}

async fn comes_as_it_was_sent(calls: &Calls, options: &[(&str, &str)], scheme: &str) {
    let receiver = Receiver::of_syslog(options);
    let mut shipper = shipper(calls, &format!("{scheme}://localhost:{}", receiver.port));
    let events = plain_events(3000);
    for part in events.chunks(1000) {
        all_done(&mut shipper, part).await;
    }
    drop(shipper);
    let came = receiver.rest();
    assert_eq!(texts(&came), sent(&events));
    let one = &came[1];
    assert_eq!(one["severity"], "debug");
    assert_eq!(one["facility"], "local0");
    assert_eq!(one["program"], "kafka-output");
    assert_eq!(one["host"], "mouse-01.prod.example.com");
    assert_eq!(one["at"], "2026-11-19T09:55:01.000Z");
    let data = "[castellan@32473 instance=\"prod <öst>, \\\"1\\\"\" instance-id=\"7\" \
                server=\"mouse-01\" logger=\"kafka.log.Log\"]";
    assert_eq!(one["data"], data);
}

#[tokio::test]
async fn without_tls() {
    comes_as_it_was_sent(&Calls::default(), &[], "tcp").await;
}

#[tokio::test]
async fn with_tls() {
    let cert = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let file = write("cert", cert.cert.pem());
    let key = write("key", cert.signing_key.serialize_pem());
    let calls = Calls { authority_pem: Some(cert.cert.pem()), ..Calls::default() };
    comes_as_it_was_sent(&calls, &[("cert", &file), ("tls-key", &key)], "tls").await;
}

#[tokio::test]
async fn one_that_was_away_misses_nothing() {
    let receiver = Receiver::of_syslog(&[]);
    let port = receiver.port.to_string();
    let mut shipper = shipper(&Calls::default(), &format!("tcp://127.0.0.1:{port}"));
    let events = plain_events(2000);
    let (before, after) = events.split_at(events.len() / 2);
    all_done(&mut shipper, before).await;
    let mut came = receiver.rest();
    let outcome = shipper.send_logs(&origin(), after, now(), PATIENCE).await;
    assert_eq!(outcome.done, 0);
    let said = outcome.trouble.unwrap().to_string();
    assert_eq!(said, format!("127.0.0.1:{port} can't be reached"));
    let receiver = Receiver::of_syslog(&[("port", &port)]);
    all_done(&mut shipper, after).await;
    drop(shipper);
    came.extend(receiver.rest());
    let (texts, sent) = (texts(&came), sent(&events));
    // What was on its way when it went comes again, and is the end of what was before.
    let twice = texts.len() - sent.len();
    assert_eq!(texts[..before.len()], sent[..before.len()]);
    assert_eq!(texts[before.len()..before.len() + twice], sent[before.len() - twice..before.len()]);
    assert_eq!(texts[before.len() + twice..], sent[before.len()..]);
}
