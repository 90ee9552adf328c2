//! A roll that is held: it says why, and nobody is touched until that is over.

use crate::rolled::{PARTITIONS, PATIENCE, TOPIC, brokers};
use checker::Load;
use host::ProcessId;
use serde_json::{Value, json};
use std::time::Duration;
use test_support::installation::Installation;
use test_support::left_over;

const BETWEEN_OTHERS: Duration = Duration::from_secs(5);
/// A coordinator of transactions gives up what it has written itself after so long; see
/// [`others_write`], who can't help it.
const STANDING: Duration = Duration::from_mins(1);

/// A server without room on its disk holds the roll. Agent, status and journal
/// say why, the others stay as they are, and clients go on.
pub async fn holds_while_full(castellan: &Installation, id: i64, victim: usize, load: &Load) {
    let words = format!("server {} is held: the disk is full: ", victim + 1);
    let status = castellan
        .until("the roll is held", async || {
            let (_, instance) = castellan.get(&format!("/api/instances/{id}")).await;
            let status = instance["status"].as_str().unwrap_or_default().to_owned();
            let reports = left_over::reports(castellan).await;
            let running = reports.iter().filter(|(report, _)| report["phase"] == "running").count();
            // Whoever was away when it happened is back.
            let is_held = status.starts_with(&words) && running + 1 == reports.len();
            if is_held { Ok(status) } else { Err(status) }
        })
        .await;
    eprintln!("{status}");
    let report = left_over::reports(castellan).await.swap_remove(victim).0;
    assert_eq!(report["phase"], "failed", "{report}");
    assert!(status.contains(report["disk_fault"].as_str().unwrap()), "{report}");
    let (_, actions) = castellan.get(&format!("/api/instances/{id}/actions")).await;
    let (_, action) =
        castellan.get(&format!("/api/instances/{id}/actions/{}", actions[0]["id"])).await;
    assert!(action["steps"].to_string().contains(&words), "{action}");

    let held = brokers(castellan);
    tokio::select! {
        gone_on = load.goes_on(200, PATIENCE + STANDING) => gone_on.unwrap(),
        () = others_write(castellan, id) => {}
    }
    assert_eq!(held, brokers(castellan), "nobody else is touched");
    let alive: Vec<bool> = held.iter().map(ProcessId::is_alive).collect();
    let expected: Vec<bool> = (0..held.len()).map(|server| server != victim).collect();
    assert_eq!(alive, expected, "it alone is away");
}

/// A broker that starts on a full disk may end after it has caught up and before it is in
/// sync. A leader that waits for it looks again only when something is written, and every
/// client may be waiting for the leader by then, until its time is over. Where clusters
/// have more than a few clients, one more comes along.
async fn others_write(castellan: &Installation, id: i64) {
    let path = format!("/api/instances/{id}/topics/{TOPIC}/messages");
    let all: Value = (0..PARTITIONS).map(|it| json!({"partition": it, "value": "hello"})).collect();
    let mut now = tokio::time::interval(BETWEEN_OTHERS);
    loop {
        now.tick().await;
        castellan.post(&path, &json!({"messages": all})).await;
    }
}

/// A server that stands still holds the roll, which says why. The others are those of
/// `before`, but for the one whose turn it was: none where nobody's had come, and the
/// first may have been let stop in the same moment.
pub async fn nobody_else_is_touched(
    castellan: &Installation,
    id: i64,
    paused: usize,
    before: &[ProcessId],
    turn: Option<usize>,
) {
    let title = format!("server {}", paused + 1);
    castellan
        .until("the roll is held", async || {
            let (_, instance) = castellan.get(&format!("/api/instances/{id}")).await;
            let status = instance["status"].as_str().unwrap_or_default();
            let says = ["does not answer", " lags", "replicas in sync", "controllers would"];
            let held = says.iter().any(|words| status.contains(words));
            let now = brokers(castellan);
            let is_new = |server: &usize| *server != paused && now[*server] != before[*server];
            let touched: Vec<usize> = (0..now.len()).filter(is_new).collect();
            let by_turn =
                turn.map_or(touched.len() <= 1, |turn| touched.iter().all(|it| *it == turn));
            assert!(by_turn, "{title} stands still, and {touched:?} were touched: {status}");
            if held && now.iter().all(ProcessId::is_alive) {
                Ok(())
            } else {
                Err(format!("{title} stands still, and {status}"))
            }
        })
        .await;
}
