//! What agents fetch of where logs go, and what they report of it.

use super::Desk;
use crate::agents::{enrol, enrol_server, report, set_desired};
use crate::call::Call;
use axum::Router;
use model::agent::Outbound;
use model::{Secret, Server, SignedDuration};
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
        self.fetch_from(&self.desk.world.agent).await
    }

    async fn fetch_from(&self, plane: &Router) -> Value {
        let call = Call::get("/agent/v1/integrations").certificate(&self.certificate);
        let answer = call.send(plane).await;
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

    async fn failures(&self) -> Vec<store::IntegrationFailure> {
        let mut reader = self.desk.world.app.store().reader();
        store::integrations::failures_of(&mut reader, self.server.id).await.unwrap()
    }

    async fn has_failures(&self) -> bool {
        let mut reader = self.desk.world.app.store().reader();
        store::servers::find_report(&mut reader, self.server.id).await.unwrap().has_failures
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
    let document = |server: &Server, instance: &str, revision: i64, integrations: Value| {
        json!({"revision": revision, "instance_id": server.instance_id, "instance_name": instance,
            "tags": [], "server_name": server.name,
            "hostname": server.listeners.sasl_scram.advertised_host,
            "integrations": integrations, "outbound": {"allow_private_addresses": false}})
    };
    assert_eq!(agent.fetch().await, document(&agent.server, "orders", 0, json!([])));
    desk.create("logs/loggly", json!({"token": "t0ken"})).await;
    desk.create("metrics/newrelic", json!({"license_key": "k3y"})).await;
    let mut loggly =
        json!([{"id": 1, "version": 1, "system": "loggly", "config": {"token": "t0ken"}}]);
    let expected = document(&agent.server, "orders", 1, loggly.clone());
    assert_eq!(agent.fetch().await, expected, "metrics are none of its affairs");
    // The same settings once more have it try again at once.
    let same = Some(json!({"token": "t0ken"}));
    assert_eq!(desk.send("PUT", "logs/1", same).await.status, 204);
    loggly[0]["version"] = json!(2);
    assert_eq!(agent.fetch().await, document(&agent.server, "orders", 2, loggly));

    let payments = desk.world.create("bills", &[]).await;
    let (neighbour, certificate) = enrol(&desk.world, &payments).await;
    let call = Call::get("/agent/v1/integrations").certificate(&certificate);
    let answer = call.send(&desk.world.agent).await;
    assert_eq!(answer.json(), document(&neighbour, "bills", 0, json!([])));
    // An agent whose certificate was revoked gets nothing.
    enrol_server(&desk.world, &neighbour).await;
    assert_eq!(call.send(&desk.world.agent).await.status, 401);
}

#[tokio::test]
async fn a_change_reaches_agents_at_once() {
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
async fn the_failure_that_an_agent_reports_is_the_error_until_it_works() {
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
    assert!(!stored.document.unwrap().contains("loggly"), "it is kept elsewhere");

    // A count that grows is written once a minute.
    let away = |dropped: i64| json!([{"id": 1, "error": "it is away", "dropped": dropped}]);
    let left_out =
        |count: i64| format!("it is away; {count} events of a server's logs were left out");
    desk.world.clock.advance(SignedDuration::from_secs(10));
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
    desk.world.clock.advance(SignedDuration::from_secs(10));
    agent.fails(1, refused.clone()).await;
    let change = Some(json!({"token": "better"}));
    assert_eq!(desk.send("PUT", "logs/1", change).await.status, 204);
    assert_eq!(error(&desk, 1).await, "");
    desk.world.clock.advance(SignedDuration::from_secs(10));
    agent.fails(1, refused.clone()).await;
    assert_eq!(error(&desk, 1).await, "");
    agent.fails(2, refused).await;
    assert_eq!(error(&desk, 1).await, "loggly refused the token");
}

#[tokio::test]
async fn what_an_agent_reports_is_bounded() {
    let desk = Desk::new().await;
    let agent = Agent::new(&desk).await;
    desk.create("logs/loggly", json!({"token": "t"})).await;
    let mut many: Vec<Value> =
        (2..500).map(|id| json!({"id": id, "error": "of none", "dropped": 1})).collect();
    many.insert(0, json!({"id": 1, "error": "é".repeat(5000)}));
    agent.fails(1, json!(many)).await;
    assert_eq!(error(&desk, 1).await, "é".repeat(300));
    assert_eq!(agent.failures().await.len(), 1);
}

#[tokio::test]
async fn reports_do_not_rewrite_an_error_each_time() {
    let desk = Desk::new().await;
    let agent = Agent::new(&desk).await;
    desk.create("logs/loggly", json!({"token": "t"})).await;
    let said = |error: &str| json!([{"id": 1, "error": error}, {"id": 9, "error": "of none"}]);
    assert!(!agent.has_failures().await, "a report without any looks nothing up");
    agent.fails(1, said("it is away")).await;
    assert!(agent.has_failures().await);
    let first = agent.failures().await;
    desk.world.clock.advance(SignedDuration::from_mins(5));
    agent.fails(1, said("it is away")).await;
    assert_eq!(agent.failures().await, first, "nothing was written");
    agent.fails(1, said("it is slow")).await;
    let second = agent.failures().await;
    assert_eq!(second[0].message, "it is slow");
    for (seconds, error) in [(1, "it is away"), (8, "it is slow again")] {
        desk.world.clock.advance(SignedDuration::from_secs(seconds));
        agent.fails(1, said(error)).await;
        assert_eq!(agent.failures().await, second, "within ten seconds");
    }
    desk.world.clock.advance(SignedDuration::from_secs(1));
    agent.fails(1, said("it is away")).await;
    assert_eq!(agent.failures().await[0].message, "it is away");
    agent.fails(1, json!([])).await;
    assert_eq!(agent.failures().await, [], "it clears at once");
}

#[tokio::test]
async fn what_fails_of_a_server_is_written_together_once_in_ten_seconds() {
    let desk = Desk::new().await;
    let agent = Agent::new(&desk).await;
    desk.create("logs/loggly", json!({"token": "t"})).await;
    desk.create("logs/loggly", json!({"token": "t"})).await;
    let failing = async |failures: Value| -> Vec<(i64, String)> {
        agent.fails(2, failures).await;
        let stored = agent.failures().await.into_iter();
        stored.map(|failure| (failure.id.0, failure.message)).collect()
    };
    let away = |id: i64| (id, "it is away".to_owned());
    let said = |id: i64, error: &str| json!({"id": id, "error": error});
    let (one, other) = (said(1, "it is away"), said(2, "it is away"));
    let pass = |seconds| desk.world.clock.advance(SignedDuration::from_secs(seconds));
    assert_eq!(failing(json!([one])).await, [away(1)]);
    assert_eq!(failing(json!([one, other])).await, [away(1)]);
    pass(9);
    assert_eq!(failing(json!([one, other])).await, [away(1)]);
    pass(1);
    assert_eq!(failing(json!([one, other])).await, [away(1), away(2)]);
    // What clears is written at once, and makes no room for what is new.
    assert_eq!(failing(json!([said(2, "it is slow")])).await, [away(2)]);
    assert_eq!(failing(json!([])).await, []);
    assert_eq!(failing(json!([one])).await, []);
    pass(10);
    assert_eq!(failing(json!([one])).await, [away(1)]);
}

#[tokio::test]
async fn rules_of_the_operator_reach_agents_that_send_logs_after_a_restart() {
    let desk = Desk::new().await;
    let agent = Agent::new(&desk).await;
    let proxy = |password: &str| Outbound {
        proxy: Some(Secret::new(format!("http://user:{password}@proxy.test:3128"))),
        endpoints: [("loggly".to_owned(), "https://gate.test/loggly".to_owned())].into(),
        ..Outbound::default()
    };
    let start = async |outbound: &Outbound| {
        let settings = app::Settings { outbound: outbound.clone(), ..app::Settings::default() };
        desk.world.agent_with(settings).await
    };
    let plane = start(&proxy("first")).await;
    assert_eq!(agent.report(None).await, 0, "it has nothing to do with them");
    let bare = agent.fetch_from(&plane).await;
    assert_eq!(bare["outbound"], json!({"allow_private_addresses": false}));

    desk.create("logs/loggly", json!({"token": "t"})).await;
    assert_eq!(agent.report(None).await, 1);
    let whole = agent.fetch_from(&plane).await;
    assert_eq!(whole["outbound"], json!(proxy("first")));
    let _plane = start(&proxy("first")).await;
    assert_eq!(agent.report(None).await, 1, "the rules are the same");
    let plane = start(&proxy("second")).await;
    assert_eq!(agent.report(None).await, 2);
    let whole = agent.fetch_from(&plane).await;
    assert_eq!((&whole["revision"], &whole["outbound"]), (&json!(2), &json!(proxy("second"))));

    assert_eq!(desk.send("DELETE", "logs/1", None).await.status, 204);
    let bare = agent.fetch_from(&plane).await;
    assert_eq!(bare["outbound"], json!({"allow_private_addresses": false}));
}
