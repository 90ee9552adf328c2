//! What each call sends, field by field. A new call belongs in [`calls::all`], and what a
//! broker replies to it in [`replies::correct_reply`].

mod calls;
mod replies;

use super::fake::{Asked, Reply, serve, speaks};
use super::{Connection, Endpoint, Limits};
use calls::all;
use kafka_protocol::messages::{ApiKey, RequestKind};
use replies::correct_reply;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A connection to a broker that speaks everything and replies like this.
async fn connect(mut reply: impl FnMut(&Asked) -> Reply + Send + 'static) -> Connection {
    let everything: Vec<(ApiKey, i16, i16)> =
        (0..=127).filter_map(|key| Some((ApiKey::try_from(key).ok()?, 0, i16::MAX))).collect();
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    tokio::spawn(serve(theirs, move |asked| {
        let first = asked.key == ApiKey::ApiVersions as i16;
        if first { speaks(asked, &everything) } else { reply(asked) }
    }));
    let limits = Limits {
        call: Duration::from_mins(1),
        readable: Duration::from_millis(50),
        ..Limits::default()
    };
    Connection::negotiate(Box::new(ours), Endpoint::new("b1", 9091), limits).await.unwrap()
}

/// Every different request that a call makes, with all of its fields.
#[tokio::test]
async fn requests_are_as_they_were() {
    for (name, run) in all() {
        let sent: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&sent);
        let connection = connect(move |asked| {
            let key = ApiKey::try_from(asked.key).unwrap();
            let request = RequestKind::decode(key, &mut asked.body.clone(), asked.version).unwrap();
            let text = format!("version {}: {request:#?}", asked.version);
            let mut noted = noted.lock().unwrap();
            if !noted.contains(&text) {
                noted.push(text);
            }
            correct_reply(asked)
        });
        // Whether a write shows on this broker does not matter here.
        let _ = run(connection.await).await;
        let sent = sent.lock().unwrap().join("\n");
        insta::assert_snapshot!(format!("request_{name}"), without_tags(&sent));
    }
}

/// One that is not listed would have no snapshot.
#[test]
fn no_call_is_left_out() {
    let listed = include_str!("request_snapshots/calls.rs");
    let words: BTreeSet<&str> = listed.split(|c: char| !c.is_alphanumeric()).collect();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/client/admin")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for call in text.lines().filter_map(|line| line.strip_prefix("impl Call for ")) {
                let name = call.split(['<', ' ']).next().unwrap();
                // What is private is part of another.
                if text.contains(&format!("pub struct {name}")) {
                    seen += 1;
                    assert!(words.contains(name), "{name} of {} is not listed", path.display());
                }
            }
        }
    }
    assert!(seen > 30, "{seen}");
}

/// No request of ours has tagged fields.
fn without_tags(text: &str) -> String {
    let mut kept = String::new();
    for line in text.lines().filter(|line| !line.contains("unknown_tagged_fields: {}")) {
        writeln!(kept, "{line}").unwrap();
    }
    kept
}
