//! What agents are told of where logs go, and what they say of it.

use super::Desk;
use crate::agents::{enrol, enrol_server, report, set_desired};
use crate::call::Call;
use model::{Server, SignedDuration};
use serde_json::{Value, json};

struct Agent<'a> {
    desk: &'a Desk,
    server: Server,
    certificate: Vec<u8>,
}

impl<'a> Agent<'a> {
    async fn new(desk: &'a Desk) -> Self {
        let (server, certificate) = enrol(&desk.world, &desk.instance).await;
        Self { desk, server, certificate }
    }

    async fn fetch(&self) -> Value {
        let call = Call::get("/agent/v1/integrations").certificate(&self.certificate);
        let answer = call.send(&self.desk.world.agent).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.header("cache-control"), "no-store");
        answer.json()
    }

    /// Reports, and returns the revision that is answered.
    async fn report(&self, integrations: Option<Value>) -> i64 {
        let mut body = report("running");
        if let Some(integrations) = integrations {
            body["integrations"] = integrations;
        }
        let call = Call::post("/agent/v1/report").json(&body).certificate(&self.certificate);
        let answer = call.send(&self.desk.world.agent).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["integrations_revision"].as_i64().unwrap()
    }

    async fn fails(&self, revision: i64, failures: Value) {
        self.report(Some(json!({"revision": revision, "failures": failures}))).await;
    }

    async fn wakes(&self) -> i64 {
        let mut reader = self.desk.world.app.store().reader();
        store::instances::wakes(&mut reader, self.desk.instance.id).await.unwrap()
    }
}

async fn error(desk: &Desk, id: i64) -> String {
    desk.read(&format!("logs/{id}")).await["error"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_agent_fetches_the_logs_of_its_own_instance_alone() {
    let desk = Desk::new().await;
    let agent = Agent::new(&desk).await;
    let server = &agent.server.name;
    let nothing = json!({"revision": 0, "instance_name": "orders", "server_name": server,
        "integrations": []});
    assert_eq!(agent.fetch().await, nothing);
    desk.create("logs/loggly", json!({"token": "t0ken"})).await;
    desk.create("metrics/newrelic", json!({"license_key": "k3y"})).await;
    let expected = json!({"revision": 1, "instance_name": "orders", "server_name": server,
        "integrations": [{"id": 1, "system": "loggly", "config": {"token": "t0ken"}}]});
    assert_eq!(agent.fetch().await, expected, "metrics are none of its affairs");

    let payments = desk.world.create("bills", &[]).await;
    let (neighbour, certificate) = enrol(&desk.world, &payments).await;
    let call = Call::get("/agent/v1/integrations").certificate(&certificate);
    let answer = call.send(&desk.world.agent).await;
    let nothing = json!({"revision": 0, "instance_name": "bills", "server_name": neighbour.name,
        "integrations": []});
    assert_eq!(answer.json(), nothing);
    // Whoever is no agent any more gets nothing.
    enrol_server(&desk.world, &neighbour).await;
    assert_eq!(call.send(&desk.world.agent).await.status, 401);
}

#[tokio::test]
async fn a_change_is_heard_of_at_once() {
    let desk = Desk::new().await;
    let agent = Agent::new(&desk).await;
    set_desired(&desk.world, &agent.server, 1, "{}").await;
    assert_eq!(agent.report(None).await, 0);
    let poll = async |known: i64| {
        let path = format!("/agent/v1/desired?after=1&epoch=0&integrations={known}");
        let call = Call::get(&path).certificate(&agent.certificate);
        let answer = call.send(&desk.world.agent).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (204, ""));
        answer.header("castellan-integrations-revision").to_owned()
    };
    let create = desk.create("logs/loggly", json!({"token": "t"}));
    let (heard, _) = tokio::join!(poll(0), create);
    assert_eq!(heard, "1");
    assert_eq!(agent.report(None).await, 1);
    assert_eq!(poll(0).await, "1", "as long as it does not know");
    let name = format!("/api/instances/{}", desk.instance.id);
    let renamed = Call::put(&name).key(&desk.world.key).form("name=bills");
    assert_eq!(renamed.send(&desk.world.customer).await.status, 200);
    assert_eq!(poll(1).await, "2");
    assert_eq!(agent.fetch().await["instance_name"], "bills");
}

#[tokio::test]
async fn what_an_agent_says_of_a_delivery_is_the_error_until_it_works() {
    let desk = Desk::new().await;
    let agent = Agent::new(&desk).await;
    desk.create("logs/loggly", json!({"token": "t"})).await;
    desk.create("metrics/newrelic", json!({"license_key": "k"})).await;
    agent.report(None).await;
    let wakes = agent.wakes().await;
    let refused = json!([
        {"id": 1, "error": "loggly refused the token\n", "dropped": 0},
        {"id": 2, "error": "not its affair"},
        {"id": 9, "error": "of none"},
    ]);
    agent.fails(1, refused.clone()).await;
    assert_eq!(error(&desk, 1).await, "loggly refused the token");
    assert_eq!(desk.read("metrics/2").await["error"], "");
    assert_eq!(agent.wakes().await, wakes, "the engine has nothing to do with it");
    let mut reader = desk.world.app.store().reader();
    let stored = store::servers::find_report(&mut reader, agent.server.id).await.unwrap();
    assert!(!stored.unwrap().contains("loggly"), "it is kept elsewhere");

    // A count that grows is written once a minute.
    let away = |dropped: i64| json!([{"id": 1, "error": "it is away", "dropped": dropped}]);
    let left_out =
        |count: i64| format!("it is away; {count} events of a server's logs were left out");
    agent.fails(1, away(7)).await;
    assert_eq!(error(&desk, 1).await, left_out(7));
    agent.fails(1, away(8)).await;
    assert_eq!(error(&desk, 1).await, left_out(7));
    desk.world.clock.advance(SignedDuration::from_mins(1));
    agent.fails(1, away(9)).await;
    assert_eq!(error(&desk, 1).await, left_out(9));
    // An agent that says nothing takes nothing back.
    agent.report(None).await;
    assert_eq!(error(&desk, 1).await, left_out(9));
    agent.fails(1, json!([])).await;
    assert_eq!(error(&desk, 1).await, "");

    // Of settings that are others by now it has nothing to say.
    agent.fails(1, refused.clone()).await;
    let change = Some(json!({"token": "better"}));
    assert_eq!(desk.send("PUT", "logs/1", change).await.status, 204);
    assert_eq!(error(&desk, 1).await, "");
    agent.fails(1, refused.clone()).await;
    assert_eq!(error(&desk, 1).await, "");
    agent.fails(2, refused).await;
    assert_eq!(error(&desk, 1).await, "loggly refused the token");
}

#[tokio::test]
async fn what_an_agent_says_is_bounded() {
    let desk = Desk::new().await;
    let agent = Agent::new(&desk).await;
    desk.create("logs/loggly", json!({"token": "t"})).await;
    let mut many: Vec<Value> =
        (2..500).map(|id| json!({"id": id, "error": "of none", "dropped": 1})).collect();
    many.insert(0, json!({"id": 1, "error": "é".repeat(5000)}));
    agent.fails(1, json!(many)).await;
    assert_eq!(error(&desk, 1).await, "é".repeat(300));
    let mut reader = desk.world.app.store().reader();
    let kept = store::integrations::failures_of(&mut reader, agent.server.id).await.unwrap();
    assert_eq!(kept.len(), 1);
}
