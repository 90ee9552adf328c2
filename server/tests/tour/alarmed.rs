//! An alarm and everything on its way to people: a broker hangs, the control plane
//! dies between the alarm and its delivery, and a webhook that is none of our code
//! hears of it once, signed, and of its end.

use crate::installation::Installation;
use crate::witness::python;
use faults::Fault;
use host::Piped;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

const SECRET: &str = "7h15 15 n0 53cr37";
const PATIENCE: Duration = Duration::from_secs(90);
const VICTIM: usize = 1;

pub async fn of_a_broker_that_hangs(castellan: &mut Installation, instance: &Value) {
    let path = format!("/api/instances/{}/alarms", instance["id"]);
    let mut receiver = Receiver::start().await;
    let recipient = json!({"type": "webhook", "value": receiver.url, "name": "tour",
                           "options": {"secret": SECRET}});
    let (status, made) = castellan.post(&format!("{path}/recipients"), &recipient).await;
    assert_eq!(status, 201, "{made}");
    let recipient = format!("{path}/recipients/{}", made["id"]);
    let (status, said) = castellan.post(&format!("{recipient}/test"), &json!({})).await;
    assert_eq!(status, 200, "{said}");
    assert_eq!(receiver.hear().await["state"], "test");

    let alarm = json!({"type": "server_unreachable", "time_threshold": 5,
                       "recipients": [made["id"]]});
    let (status, alarm) = castellan.post(&path, &alarm).await;
    assert_eq!(status, 201, "{alarm}");
    receiver.refuse("triggered");
    let broker = castellan.processes()[VICTIM].broker.clone();
    let mut hangs = Fault::Pause(broker).inject().await.unwrap();
    let began = Instant::now();
    let first = receiver.hear().await;
    eprintln!("an alarm was told of after {:?}: {}", began.elapsed(), first["message"]);
    let (_, nodes) = castellan.get(&format!("/api/instances/{}/nodes", instance["id"])).await;
    assert_eq!(first["state"], "triggered", "{first}");
    assert_eq!(first["alarm_id"], alarm["id"], "{first}");
    assert_eq!(first["server"], nodes[VICTIM]["name"], "the right one: {first}");

    // It was not taken; whoever would try again is gone.
    castellan.kill_control_plane().await;
    receiver.refuse("");
    castellan.serve().await;
    assert_eq!(receiver.hear().await, first, "the same again");
    hangs.undo().await.unwrap();
    let last = receiver.hear().await;
    assert_eq!((&last["state"], &last["server"]), (&json!("resolved"), &first["server"]));
    assert_eq!(last["triggered_at"], first["triggered_at"], "{last}");

    let (_, history) = castellan.get(&format!("{path}/{}/history", alarm["id"])).await;
    assert_eq!(history.as_array().unwrap().len(), 1, "{history}");
    let (_, told) = castellan.get(&recipient).await;
    assert_eq!(told["last_status"]["ok"], true, "{told}");
    assert_eq!(castellan.delete(&format!("{path}/{}", alarm["id"])).await, 204);
    assert_eq!(castellan.delete(&recipient).await, 204);
}

/// A web server in Python.
struct Receiver {
    running: Piped,
    directory: tempfile::TempDir,
    url: String,
}

impl Receiver {
    async fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let fails = directory.path().join("fails");
        std::fs::write(&fails, "").unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tour/receiver.py");
        let arguments = [script.to_str().unwrap(), SECRET, fails.to_str().unwrap()];
        let arguments = arguments.map(str::to_owned);
        let errors = directory.path().join("errors");
        let mut running = Piped::start(&python(), &arguments, &errors).unwrap();
        let port = tokio::time::timeout(PATIENCE, running.hear()).await.expect("it listens");
        let port = port.unwrap().unwrap();
        Self { running, directory, url: format!("http://127.0.0.1:{port}/castellan") }
    }

    /// Notifications of these states are answered 503 from now on.
    fn refuse(&self, states: &str) {
        std::fs::write(self.directory.path().join("fails"), states).unwrap();
    }

    /// The next that comes: what it says.
    async fn hear(&mut self) -> Value {
        let heard = tokio::time::timeout(PATIENCE, self.running.hear()).await;
        let heard = heard.expect("it is told in time").unwrap().expect("it runs");
        let mut heard: Value = serde_json::from_str(&heard).unwrap();
        assert_eq!(heard["signed"], true, "{heard}");
        assert_eq!(heard["type"], "application/json", "{heard}");
        heard["body"].take()
    }
}
