//! A copy of an agent's key and certificate: how long it opens anything, and what ends it.

use crate::agents::{der, enrol, enrolment, give_token, report, server_of, set_desired};
use crate::call::Call;
use crate::world::World;
use app::Operator;
use app::agents::re_enrol;
use model::{Secret, Server, SignedDuration};
use pki::{Authority, Facts, KeyPair, Leaf, Request, Usage};
use serde_json::json;
use std::time::Duration;

/// Every call that needs a certificate.
fn calls(certificate: &[u8]) -> Vec<Call> {
    let csr = pki::request(&KeyPair::generate(), "x").unwrap();
    let calls = vec![
        Call::get("/agent/v1/desired?after=0"),
        Call::post("/agent/v1/report").json(&report("x")),
        Call::post("/agent/v1/claim").json(&json!({"revision": 1})),
        Call::post("/agent/v1/metrics").json(&json!({"incarnation": 1, "samples": []})),
        Call::post("/agent/v1/renew").json(&json!({ "csr": csr })),
    ];
    calls.into_iter().map(|call| call.certificate(certificate)).collect()
}

async fn is_refused(world: &World, certificate: &[u8]) {
    for call in calls(certificate) {
        let answer = call.send(&world.agent).await;
        assert_eq!(answer.status, 401, "{}", answer.text);
    }
}

async fn is_let_in(world: &World, certificate: &[u8]) {
    let call = Call::post("/agent/v1/report").json(&report("x")).certificate(certificate);
    let answer = call.send(&world.agent).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// A certificate for this key, renewed with a present one.
async fn renew(world: &World, present: &[u8], key: &KeyPair) -> String {
    let body = json!({ "csr": pki::request(key, "x").unwrap() });
    let call = Call::post("/agent/v1/renew").json(&body).certificate(present);
    let answer = call.send(&world.agent).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["certificate"].as_str().unwrap().to_owned()
}

async fn enrol_with(world: &World, server: &Server, token: &Secret) -> Vec<u8> {
    let body = enrolment(server, token, &KeyPair::generate());
    let answer = Call::post("/agent/v1/enrol").json(&body).send(&world.agent).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    der(answer.json()["certificate"].as_str().unwrap())
}

#[tokio::test]
async fn a_copy_is_refused_once_its_agent_has_renewed() {
    let world = World::new().await;
    let (server, copied) = enrol(&world, &world.create("orders", &[]).await).await;
    set_desired(&world, &server, 1, "{}").await;
    is_let_in(&world, &copied).await;
    let renewed = der(&renew(&world, &copied, &KeyPair::generate()).await);
    is_refused(&world, &copied).await;
    is_let_in(&world, &renewed).await;
}

/// Then its agent is refused, and the token that the engine puts into the server's own
/// directory decides who is the agent.
#[tokio::test]
async fn a_thief_who_renews_first_is_out_once_the_agent_has_enrolled_anew() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let server = server_of(&world, &instance).await;
    let first_token = give_token(&world, &server).await;
    let agents_own = enrol_with(&world, &server, &first_token).await;
    let thiefs = der(&renew(&world, &agents_own, &KeyPair::generate()).await);
    is_let_in(&world, &thiefs).await;

    let wakes = async || {
        store::instances::wakes(&mut world.app.store().reader(), instance.id).await.unwrap()
    };
    let before = wakes().await;
    is_refused(&world, &agents_own).await;
    assert_eq!(wakes().await, before + 1, "the engine gives a token, and hears of it once");
    // The token from before was copied along.
    let again = enrolment(&server, &first_token, &KeyPair::generate());
    let answer = Call::post("/agent/v1/enrol").json(&again).send(&world.agent).await;
    assert_eq!(answer.status, 401, "{}", answer.text);
    is_let_in(&world, &thiefs).await;

    let token = give_token(&world, &server).await;
    let enrolled = enrol_with(&world, &server, &token).await;
    is_let_in(&world, &enrolled).await;
    is_refused(&world, &thiefs).await;
    is_refused(&world, &agents_own).await;
    is_let_in(&world, &enrolled).await;
}

#[tokio::test]
async fn only_the_enrolled_key_can_renew() {
    let world = World::new().await;
    let (server, certificate) = enrol(&world, &world.create("orders", &[]).await).await;
    let installation = world.app.installation();
    let fleet = Authority {
        certificate: installation.fleet_ca.clone(),
        key: installation.fleet_ca_key.clone(),
    };
    let request = pki::request(&KeyPair::generate(), "x").unwrap();
    let leaf = Leaf {
        common_name: format!("server-{}.{}", server.id, server.incarnation),
        hosts: Vec::new(),
        usage: Usage::Client,
        valid_for: SignedDuration::from_hours(1),
    };
    let request = Request::parse(&request).unwrap();
    let other = fleet.issue(request, &leaf, world.app.now(), world.app.entropy()).unwrap();
    is_refused(&world, &der(&other)).await;
    is_let_in(&world, &certificate).await;
    // What is no request changes nothing.
    let broken = json!({ "csr": "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n" });
    let call = Call::post("/agent/v1/renew").json(&broken).certificate(&certificate);
    assert_eq!(call.send(&world.agent).await.status, 400);
    is_let_in(&world, &certificate).await;
}

#[tokio::test]
async fn re_enrolment_revokes_certificate_and_token_at_once() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let server = server_of(&world, &instance).await;
    let token = give_token(&world, &server).await;
    let stolen = enrol_with(&world, &server, &token).await;
    set_desired(&world, &server, 1, "{}").await;
    let poll = Call::get("/agent/v1/desired?after=1").certificate(&stolen);
    let operator = Operator::of_opened_store();
    let raised = async { re_enrol(operator, &world.app, instance.id, "1").await.unwrap() };
    let (held, _) = tokio::join!(poll.send(&world.agent), raised);
    assert_eq!(held.status, 401, "a call that is held ends: {}", held.text);
    is_refused(&world, &stolen).await;

    let present = server_of(&world, &instance).await;
    assert_eq!(present.incarnation, server.incarnation + 1);
    assert_eq!(present.certificate_generation, server.certificate_generation + 1);
    for (incarnation, why) in [(1, "the incarnation is revoked"), (2, "the token is void")] {
        let claimed = Server { incarnation, ..server.clone() };
        let body = enrolment(&claimed, &token, &KeyPair::generate());
        let answer = Call::post("/agent/v1/enrol").json(&body).send(&world.agent).await;
        assert_eq!(answer.status, 401, "{why}: {}", answer.text);
    }
    let token = give_token(&world, &present).await;
    let enrolled = enrol_with(&world, &present, &token).await;
    is_let_in(&world, &enrolled).await;
    is_refused(&world, &stolen).await;
    let lines = world.audit().await;
    let line = format!(
        "server.re-enrol cli operator@localhost id={}; server={}",
        instance.id, server.name
    );
    assert!(lines.iter().any(|it| it.contains(&line)), "{lines:?}");
}

#[tokio::test]
async fn re_enrolment_names_a_server_that_is_there() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let server = server_of(&world, &instance).await;
    let operator = Operator::of_opened_store();
    let refused = async |id, server: &str| {
        let refused = re_enrol(operator, &world.app, id, server).await;
        refused.unwrap_err().to_string()
    };
    let (id, name) = (instance.id, &server.name);
    let expected = format!("Instance {id} has no server 2; there are {name}");
    assert_eq!(refused(id, "2").await, expected);
    assert_eq!(refused(model::InstanceId(99), "1").await, "There is no instance 99");
    let by_name = re_enrol(operator, &world.app, instance.id, name).await.unwrap();
    assert_eq!(by_name.id, server.id);
}

/// TLS looks at dates when a connection begins, and a connection may last.
#[tokio::test]
async fn a_certificate_that_has_run_out_is_refused_on_an_open_connection() {
    let world = World::new().await;
    let (_, certificate) = enrol(&world, &world.create("orders", &[]).await).await;
    world.clock.advance(SignedDuration::from_hours(24 * 30));
    is_let_in(&world, &certificate).await;
    world.clock.advance(SignedDuration::from_secs(1));
    is_refused(&world, &certificate).await;
}

#[tokio::test]
async fn an_agent_that_renews_at_two_thirds_is_let_in_on_each_of_a_hundred_days() {
    for life in ["397d", "2d"] {
        let settings = app::Settings { certificate_life: life.parse().unwrap(), ..<_>::default() };
        let world = World::with(settings).await;
        let (_, mut present) = enrol(&world, &world.create("orders", &[]).await).await;
        let begun = world.app.now();
        let first = renew(&world, &present, &KeyPair::generate()).await;
        let mut facts = Facts::read(&first).unwrap();
        present = der(&first);
        let mut renewals = 0;
        while world.app.now() < begun + SignedDuration::from_hours(24 * 100) {
            world.clock.advance(SignedDuration::from_hours(8));
            is_let_in(&world, &present).await;
            if world.app.now() >= facts.renew_at() {
                let renewed = renew(&world, &present, &KeyPair::generate()).await;
                facts = Facts::read(&renewed).unwrap();
                present = der(&renewed);
                renewals += 1;
            }
        }
        let life = facts.not_after.duration_since(world.app.now());
        assert!(life <= SignedDuration::from_hours(24 * 30), "{life:?}");
        assert!(renewals >= 4, "{renewals} renewals");
    }
}

/// Two agents that renew with the same key at the same moment: one alone gets in.
#[tokio::test]
async fn of_two_who_renew_at_once_one_is_let_in() {
    let world = World::new().await;
    let (_, certificate) = enrol(&world, &world.create("orders", &[]).await).await;
    let bodies =
        [(); 2].map(|()| json!({ "csr": pki::request(&KeyPair::generate(), "x").unwrap() }));
    let call = |body| Call::post("/agent/v1/renew").json(body).certificate(&certificate);
    let (one, two) = (call(&bodies[0]), call(&bodies[1]));
    let both = async { tokio::join!(one.send(&world.agent), two.send(&world.agent)) };
    let (one, two) = tokio::time::timeout(Duration::from_secs(10), both).await.unwrap();
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401]);
}
