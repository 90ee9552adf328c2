//! An alarm and everything on its way to people: a broker hangs, the control plane
//! dies between the alarm and its delivery, and between the delivery and its record, and
//! a webhook that is none of our code hears of it, signed, and of its end. It is sure of an
//! end only after a while, so other steps go on meanwhile.

use crate::SERVERS;
use faults::Fault;
use serde_json::{Value, json};
use std::time::Instant;
use test_support::installation::Installation;
use test_support::webhook::Webhook;

const VICTIM: usize = 1;

/// An alarm that was told of. Its end is not, yet.
pub struct Told {
    alarm: String,
    recipient: String,
    first: Value,
    receiver: Webhook,
}

pub async fn of_a_broker_that_hangs(castellan: &mut Installation, instance: &Value) -> Told {
    let path = format!("/api/instances/{}/alarms", instance["id"]);
    let mut receiver = Webhook::start().await;
    let (status, made) = castellan.post(&format!("{path}/recipients"), &receiver.recipient()).await;
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
    receiver.hold("triggered");
    castellan.serve().await;
    assert_eq!(receiver.hear().await, first, "the same again");
    // It was taken, and whoever would note that is gone.
    castellan.kill_control_plane().await;
    receiver.hold("");
    castellan.serve().await;
    assert_eq!(receiver.hear().await, first, "nobody knew that it had come");
    hangs.undo().await.unwrap();
    let topic = format!("/api/instances/{}/topics/tour", instance["id"]);
    let is_back = async || {
        let (_, topic) = castellan.get(&topic).await;
        let in_sync = topic["details"][0]["in_sync"].as_array().map_or(0, Vec::len);
        if in_sync == SERVERS { Ok(()) } else { Err(topic) }
    };
    castellan.until("the broker is back", is_back).await;
    Told { alarm: format!("{path}/{}", alarm["id"]), recipient, first, receiver }
}

impl Told {
    pub async fn ends(mut self, castellan: &Installation) {
        let last = self.receiver.hear().await;
        let server = &self.first["server"];
        assert_eq!((&last["state"], &last["server"]), (&json!("resolved"), server));
        assert_eq!(last["triggered_at"], self.first["triggered_at"], "{last}");

        let (_, history) = castellan.get(&format!("{}/history", self.alarm)).await;
        assert_eq!(history.as_array().unwrap().len(), 1, "{history}");
        let (_, told) = castellan.get(&self.recipient).await;
        assert_eq!(told["last_status"]["ok"], true, "{told}");
        assert_eq!(castellan.delete(&self.alarm).await, 204);
        assert_eq!(castellan.delete(&self.recipient).await, 204);
    }
}
