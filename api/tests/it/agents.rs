//! The agent protocol: who gets a certificate, and what it opens.

use crate::call::Call;
use crate::documents;
use crate::world::{World, on_postgres};
use kafka::simulated::Fault;
use model::{Instance, Secret, Server, SignedDuration};
use pki::KeyPair;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::{Value, json};
use store::tickets::Purpose;
use store::{Token, hash_key, hash_public_key};

pub async fn server_of(world: &World, instance: &Instance) -> Server {
    let mut reader = world.app.store().reader();
    store::servers::list(&mut reader, instance.id).await.unwrap().remove(0).server
}

/// What the engine does before a server is made.
pub async fn give_token(world: &World, server: &Server) -> Secret {
    let token = world.app.entropy().key();
    let expires_at = world.app.now() + SignedDuration::from_mins(15);
    let mut work = world.app.store().begin().await.unwrap();
    let stored = Token { hash: hash_key(&token), expires_at };
    store::servers::set_token(&mut work, server.id, &stored).await.unwrap();
    work.commit().await.unwrap();
    token
}

pub fn enrolment(server: &Server, token: &Secret, key: &KeyPair) -> Value {
    let csr = pki::request(key, "I am somebody else").unwrap();
    json!({
        "server_id": server.id, "incarnation": server.incarnation,
        "token": token.expose(), "csr": csr,
    })
}

pub async fn enrol(world: &World, instance: &Instance) -> (Server, Vec<u8>) {
    let server = server_of(world, instance).await;
    let certificate = enrol_server(world, &server).await;
    (server, certificate)
}

pub async fn enrol_server(world: &World, server: &Server) -> Vec<u8> {
    let token = give_token(world, server).await;
    let body = enrolment(server, &token, &KeyPair::generate());
    let answer = Call::post("/agent/v1/enrol").json(&body).send(&world.agent).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    der(answer.json()["certificate"].as_str().unwrap())
}

pub fn der(pem: &str) -> Vec<u8> {
    CertificateDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec()
}

pub fn report(detail: &str) -> Value {
    json!({
        "incarnation": 1, "agent_version": "0.1.0", "revision": 1, "phase": "running",
        "detail": detail, "field_of_a_newer_agent": true,
    })
}

/// A desired state of the present store.
fn of_store(server: &Server, mut fields: Value) -> String {
    fields["store_epoch"] = json!(1);
    documents::desired(server, &fields)
}

pub async fn set_desired(world: &World, server: &Server, revision: i64, text: &str) {
    let mut work = world.app.store().begin().await.unwrap();
    store::servers::set_desired(&mut work, server.id, revision, text).await.unwrap();
    work.commit().await.unwrap();
}

#[tokio::test]
async fn a_token_lets_one_key_in_for_fifteen_minutes() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let server = server_of(&world, &instance).await;
    let neighbour = server_of(&world, &world.create("payments", &[]).await).await;
    let key = KeyPair::generate();
    let enrol =
        async |body: &Value| Call::post("/agent/v1/enrol").json(body).send(&world.agent).await;
    let refused = "The enrolment token is wrong or has expired; the control plane gives a new one";

    let no_token = enrolment(&server, &Secret::new(""), &key);
    enrol(&no_token).await.expect_error(401, refused);
    let token = give_token(&world, &server).await;
    enrol(&enrolment(&server, &Secret::new("wrong"), &key)).await.expect_error(401, refused);
    enrol(&enrolment(&neighbour, &token, &key)).await.expect_error(401, refused);
    let older = Server { incarnation: 0, ..server.clone() };
    enrol(&enrolment(&older, &token, &key)).await.expect_error(401, refused);
    let mut bad_csr = enrolment(&server, &token, &key);
    bad_csr["csr"] = json!("nonsense");
    assert_eq!(enrol(&bad_csr).await.status, 400);

    let good = enrolment(&server, &token, &key);
    let wakes = store::instances::wakes(&mut world.app.store().reader(), instance.id).await;
    assert_eq!(enrol(&good).await.status, 200);
    let record = store::servers::find(&mut world.app.store().reader(), server.id).await;
    let hash = hash_public_key(&key.public_key_der());
    assert_eq!(record.unwrap().unwrap().enrolled_key, Some(hash), "hashed as all keys are");
    let woken = store::instances::wakes(&mut world.app.store().reader(), instance.id).await;
    assert_eq!(woken.unwrap(), wakes.unwrap() + 1, "the engine hears of it");
    assert_eq!(enrol(&good).await.status, 200, "the same key may come again");
    let thief = enrolment(&server, &token, &KeyPair::generate());
    enrol(&thief).await.expect_error(401, "The enrolment token was used with another key already");

    world.clock.advance(SignedDuration::from_mins(15));
    enrol(&good).await.expect_error(401, refused);
}

/// A first report with a request of this generation for each name, as JSON.
fn first_report(requests: &[(&str, i64, &str)]) -> Value {
    let request = |(name, generation, csr): &(&str, i64, &str)| json!({"name": name, "generation": generation, "csr": csr});
    let requests: Vec<Value> = requests.iter().map(request).collect();
    json!({
        "incarnation": 1, "agent_version": "0.1.0", "revision": 0, "phase": "preparing",
        "requests": requests,
    })
}

/// What the engine does with such a request.
fn issued(csr: &str) -> String {
    let entropy = model::SeededEntropy::new(4);
    let now = "2026-11-15T00:00:00Z".parse().unwrap();
    let authority = pki::Authority::create("an authority", now, &entropy).unwrap();
    let leaf = pki::Leaf {
        common_name: "broker-1".into(),
        hosts: vec![],
        usage: pki::Usage::Both,
        valid_for: SignedDuration::from_hours(24),
    };
    authority.issue(pki::Request::parse(csr).unwrap(), &leaf, now, &entropy).unwrap()
}

#[tokio::test]
async fn an_enrolment_with_a_report_is_answered_with_the_first_certificates() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let server = server_of(&world, &instance).await;
    let token = give_token(&world, &server).await;
    let csr = pki::request(&KeyPair::generate(), "internal").unwrap();
    let mut body = enrolment(&server, &token, &KeyPair::generate());
    // What the control plane does not know, or not of that generation, it passes over.
    body["report"] =
        first_report(&[("internal", 1, &csr), ("another", 1, &csr), ("internal", 7, &csr)]);
    let certificates = |certificate: Value| json!({"certificates": [{"name": "internal", "generation": 1, "certificate": certificate}]});
    let certificate = issued(&csr);
    let call = Call::post("/agent/v1/enrol").json(&body);
    let enrolling = call.send(&world.agent);
    let engine = async {
        let saved = async || {
            let mut reader = world.app.store().reader();
            store::servers::find(&mut reader, server.id).await.unwrap().unwrap()
        };
        while saved().await.report.is_none() {
            tokio::task::yield_now().await;
        }
        let record = saved().await;
        assert!(record.enrolled_key.is_some(), "the report is the agent's who was let in");
        assert_eq!(record.parse_report().unwrap().requests[0].csr, csr);
        // One without the certificate is not what it waits for.
        set_desired(&world, &server, 1, &of_store(&server, certificates(Value::Null))).await;
        set_desired(&world, &server, 2, &of_store(&server, certificates(json!(certificate)))).await;
    };
    let (answer, ()) = tokio::join!(enrolling, engine);
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.header("cache-control"), "no-store");
    let desired = &answer.json()["desired"];
    assert_eq!(desired["certificates"][0]["certificate"], json!(certificate), "{desired}");
    // The same key may come again. Whoever repeats the call has shown no key, so neither is a
    // report taken nor a document given.
    let mut again = body.clone();
    again["report"] = first_report(&[]);
    let again = Call::post("/agent/v1/enrol").json(&again).send(&world.agent).await;
    assert_eq!((again.status.as_u16(), &again.json()["desired"]), (200, &Value::Null));
    let record = store::servers::find(&mut world.app.store().reader(), server.id).await;
    assert_eq!(record.unwrap().unwrap().parse_report().unwrap().requests[0].csr, csr);

    // A thief's report is not taken.
    let mut thief = enrolment(&server, &token, &KeyPair::generate());
    thief["report"] = first_report(&[]);
    assert_eq!(Call::post("/agent/v1/enrol").json(&thief).send(&world.agent).await.status, 401);
    let record = store::servers::find(&mut world.app.store().reader(), server.id).await;
    assert_eq!(record.unwrap().unwrap().parse_report().unwrap().requests.len(), 3);
}

#[tokio::test]
async fn an_enrolment_is_answered_without_what_takes_too_long() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let server = server_of(&world, &instance).await;
    let csr = pki::request(&KeyPair::generate(), "internal").unwrap();
    let report = serde_json::from_value(first_report(&[("internal", 1, &csr)])).unwrap();
    let enrolment = |report| app::agents::Enrolment {
        server_id: server.id,
        incarnation: server.incarnation,
        token: Secret::new(""),
        csr: String::new(),
        report,
    };
    let wait = std::time::Duration::from_millis(20);
    let first =
        async |report| app::agents::first_document(&world.app, &enrolment(report), wait).await;
    assert_eq!(first(Some(report)).await.unwrap(), None, "nothing is on record");
    let told = of_store(&server, json!({}));
    set_desired(&world, &server, 1, &told).await;
    assert_eq!(first(None).await.unwrap(), None, "an agent of the release before sends no report");
    let nothing_asked = serde_json::from_value(first_report(&[])).unwrap();
    assert_eq!(first(Some(nothing_asked)).await.unwrap(), Some(told));
}

#[tokio::test]
async fn an_agent_reaches_its_own_server_alone() {
    let world = World::new().await;
    let (mine, my_certificate) = enrol(&world, &world.create("orders", &[]).await).await;
    let (other, other_certificate) = enrol(&world, &world.create("payments", &[]).await).await;
    set_desired(&world, &mine, 1, r#"{"for":"orders"}"#).await;
    set_desired(&world, &other, 1, r#"{"for":"payments"}"#).await;

    // Nothing in a request says which server it speaks of: the certificate does.
    let path = format!("/agent/v1/desired?after=0&server_id={}", other.id);
    let answer = Call::get(&path).certificate(&my_certificate).send(&world.agent).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, r#"{"for":"orders"}"#));
    assert_eq!(answer.header("cache-control"), "no-store");
    let answer = Call::get(&path).certificate(&other_certificate).send(&world.agent).await;
    assert_eq!(answer.text, r#"{"for":"payments"}"#);

    let mut body = report("mine");
    body["server_id"] = json!(other.id);
    let call = Call::post("/agent/v1/report").json(&body).certificate(&my_certificate);
    assert_eq!(call.send(&world.agent).await.status, 200);
    let mut reader = world.app.store().reader();
    let stored = store::servers::find(&mut reader, mine.id).await.unwrap().unwrap();
    assert_eq!(stored.report.as_deref(), Some(body.to_string().as_str()), "kept as sent");
    assert_eq!(store::servers::find(&mut reader, other.id).await.unwrap().unwrap().report, None);
}

#[tokio::test]
async fn a_report_that_repeats_is_only_a_sign_of_life() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let (server, certificate) = enrol(&world, &instance).await;
    let send = async |detail: &str| {
        let call = Call::post("/agent/v1/report").json(&report(detail)).certificate(&certificate);
        assert_eq!(call.send(&world.agent).await.status, 200);
        store::instances::wakes(&mut world.app.store().reader(), instance.id).await.unwrap()
    };
    let last_seen = async || {
        let mut reader = world.app.store().reader();
        store::servers::find(&mut reader, server.id).await.unwrap().unwrap().server.last_seen
    };
    let first = send("starting").await;
    let at_first = last_seen().await;
    world.clock.advance(SignedDuration::from_secs(10));
    assert_eq!(send("starting").await, first, "nothing new wakes nobody");
    assert_eq!(last_seen().await, at_first);
    app::agents::flush_last_seen(&world.app).await.unwrap();
    assert_eq!(last_seen().await, Some(world.app.now()));
    assert_eq!(send("running").await, first + 1);

    let broken = Call::post("/agent/v1/report").json(&json!({"x": 1})).certificate(&certificate);
    assert_eq!(broken.send(&world.agent).await.status, 400);
}

#[tokio::test]
async fn a_long_poll_ends_with_the_change() {
    let world = World::new().await;
    let (server, certificate) = enrol(&world, &world.create("orders", &[]).await).await;
    set_desired(&world, &server, 1, "{}").await;
    let poll = Call::get("/agent/v1/desired?after=1").certificate(&certificate);
    let held = poll.send(&world.agent);
    let change = set_desired(&world, &server, 2, r#"{"revision":2}"#);
    let (answer, ()) = tokio::join!(held, change);
    assert_eq!(answer.text, r#"{"revision":2}"#);
}

#[tokio::test]
async fn a_long_poll_without_a_change_ends_by_itself() {
    let world = World::new().await;
    let (server, certificate) = enrol(&world, &world.create("orders", &[]).await).await;
    set_desired(&world, &server, 1, "{}").await;
    let agent = app::agents::authenticate(&world.app, &certificate).await.unwrap();
    let wait = std::time::Duration::from_millis(20);
    let document = Some(app::agents::Held { revision: 1, store_epoch: None });
    let known = app::agents::Known { document, integrations: None };
    let since = world.app.now();
    let waiting = app::agents::desired(&agent, &world.app, known, wait);
    let passing = async { world.clock.advance(SignedDuration::from_mins(1)) };
    let (answer, ()) = tokio::join!(waiting, passing);
    assert_eq!(answer.unwrap(), None);
    app::agents::flush_last_seen(&world.app).await.unwrap();
    let found = store::servers::find_bare(&mut world.app.store().reader(), server.id).await;
    assert_eq!(found.unwrap().unwrap().last_seen, Some(since), "an agent that hangs waits, too");
}

#[tokio::test]
async fn a_restored_store_may_come_to_the_same_revision_again() {
    let world = World::new().await;
    let (server, certificate) = enrol(&world, &world.create("orders", &[]).await).await;
    let restored = documents::desired(&server, &json!({"revision": 6, "store_epoch": 2}));
    set_desired(&world, &server, 6, &restored).await;
    let poll = async |query: &str| {
        let path = format!("/agent/v1/desired?{query}");
        let call = Call::get(&path).certificate(&certificate);
        let held = call.send(&world.agent);
        let answer = tokio::time::timeout(std::time::Duration::from_millis(200), held).await;
        answer.ok().map(|answer| answer.text)
    };
    assert_eq!(poll("after=6&epoch=1").await.as_deref(), Some(&*restored));
    assert_eq!(poll("after=5&epoch=2").await.as_deref(), Some(&*restored));
    assert_eq!(poll("after=0&epoch=0").await.as_deref(), Some(&*restored));
    assert_eq!(poll("after=6&epoch=2").await, None, "held");
    assert_eq!(poll("after=6").await, None, "held for an agent of the release before");
}

#[tokio::test]
async fn a_removed_or_replaced_server_has_no_agent() {
    let world = World::new().await;
    let (server, certificate) = enrol(&world, &world.create("orders", &[]).await).await;
    let renew = json!({"csr": pki::request(&KeyPair::generate(), "x").unwrap()});
    let call = Call::post("/agent/v1/renew").json(&renew).certificate(&certificate);
    let renewed = call.send(&world.agent).await;
    assert_eq!(renewed.status, 200, "{}", renewed.text);
    let renewed = der(renewed.json()["certificate"].as_str().unwrap());
    let poll = Call::get("/agent/v1/desired").certificate(&renewed);
    set_desired(&world, &server, 1, "{}").await;
    assert_eq!(poll.send(&world.agent).await.status, 200);

    let mut work = world.app.store().begin().await.unwrap();
    let disk = store::disks::list(&mut work, server.instance_id).await.unwrap().remove(0);
    store::disks::remove(&mut work, disk.id).await.unwrap();
    store::servers::remove(&mut work, server.id).await.unwrap();
    work.commit().await.unwrap();
    for call in
        [poll, call, Call::post("/agent/v1/report").json(&report("x")).certificate(&certificate)]
    {
        assert_eq!(call.send(&world.agent).await.status, 401);
    }
}

#[tokio::test]
async fn metrics_are_for_neighbours() {
    let world = World::new().await;
    let recorder = metrics_exporter_prometheus::PrometheusBuilder::new().build_recorder();
    let options = web::Options {
        metrics: Some(recorder.handle()),
        metrics_from: vec!["10.0.0.0/8".parse().unwrap()],
        ..web::Options::default()
    };
    let router = api::agent_router(world.app.clone(), options);
    let status = async |peer: &str, forwarded: Option<&str>| {
        let call = Call::get("/metrics").peer(peer);
        let call = forwarded.map_or(call.clone(), |from| call.header("x-forwarded-for", from));
        call.send(&router).await.status.as_u16()
    };
    assert_eq!(status("127.0.0.1:1", None).await, 200);
    assert_eq!(status("10.1.2.3:1", None).await, 200);
    assert_eq!(status("192.0.2.1:1", None).await, 403);
    assert_eq!(status("127.0.0.1:1", Some("192.0.2.1")).await, 403);
}

async fn open_ticket(world: &World, instance: &Instance, server: Option<model::ServerId>) {
    let (now, life) = (world.app.now(), SignedDuration::from_mins(1));
    let mut work = world.app.store().begin().await.unwrap();
    let taken = store::leases::take(&mut work, instance.id, "a worker", now, life).await.unwrap();
    store::tickets::close(&mut work, instance.id).await.unwrap();
    store::tickets::open(&mut work, &taken.unwrap(), server, Purpose::Restart, now).await.unwrap();
    work.commit().await.unwrap();
}

/// The server's broker runs, alone, and leads itself.
#[tokio::test]
async fn leave_to_stop_is_looked_at_anew_with_every_claim() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let (server, certificate) = enrol(&world, &instance).await;
    set_desired(&world, &server, 4, &of_store(&server, json!({"revision": 4}))).await;
    let claim = async |revision: i64| {
        let body = json!({"revision": revision, "store_epoch": 1});
        let call = Call::post("/agent/v1/claim").json(&body).certificate(&certificate);
        let answer = call.send(&world.agent).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    };
    let yes = json!({"go": true, "reason": "", "passing": false});
    let no = |reason: &str| json!({"go": false, "reason": reason, "passing": false});
    let not_yet = |reason: &str| json!({"go": false, "reason": reason, "passing": true});
    assert_eq!(claim(4).await, not_yet("its turn has not come yet"));
    open_ticket(&world, &instance, None).await;
    assert_eq!(claim(4).await, no("the cluster shall run"));

    let stop = format!("/api/instances/{}/actions/cluster-stop", instance.id);
    assert_eq!(Call::post(&stop).key(&world.key).send(&world.customer).await.status, 200);
    assert_eq!(claim(3).await, no("something else is desired by now"));
    for _ in 0..2 {
        assert_eq!(claim(4).await, yes);
    }
    world.clock.advance(SignedDuration::from_secs(10));
    // PostgreSQL goes by its own clock, which no test can move.
    if !on_postgres() {
        assert_eq!(claim(4).await, not_yet("the other servers are looked at anew"));
    }

    // One server alone: the others are asked whether they can do without it.
    open_ticket(&world, &instance, Some(server.id)).await;
    let nobody = claim(4).await;
    let reason = nobody["reason"].as_str().unwrap();
    assert!(reason.starts_with("no broker tells how the cluster is"), "{nobody}");
    world.run_kafka(&instance, &[]).await;
    open_ticket(&world, &instance, Some(server.id)).await;
    assert_eq!(claim(4).await, yes, "it is to come back");
    let mut work = world.app.store().begin().await.unwrap();
    let wanted = server.wanted.stop().unwrap();
    store::servers::set_wanted(&mut work, server.id, wanted).await.unwrap();
    work.commit().await.unwrap();
    let alone = "0 of 1 controllers would be left with all metadata, 1 are needed";
    assert_eq!(claim(4).await, no(alone), "it is to stay away");
    let broken = Call::post("/agent/v1/claim").json(&json!({})).certificate(&certificate);
    assert_eq!(broken.send(&world.agent).await.status, 400);
}

/// Its own agent and we find it silent: whoever waits for it loses nothing by its end.
#[tokio::test]
async fn a_broker_that_hangs_may_be_started_anew_and_not_be_stopped() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let (server, certificate) = enrol(&world, &instance).await;
    set_desired(&world, &server, 4, &of_store(&server, json!({"revision": 4}))).await;
    world.run_kafka(&instance, &[]).await;
    open_ticket(&world, &instance, Some(server.id)).await;
    let may = async |silent: bool| {
        let body = json!({"revision": 4, "store_epoch": 1, "silent": silent});
        let call = Call::post("/agent/v1/claim").json(&body).certificate(&certificate);
        let answer = call.send(&world.agent).await;
        answer.json()["go"].as_bool().unwrap_or_else(|| panic!("{}", answer.text))
    };
    world.kafka.freeze(server.node_id);
    assert!(!may(false).await, "its agent hears it, so we may be who is cut off");
    assert!(may(true).await);
    let mut work = world.app.store().begin().await.unwrap();
    let wanted = server.wanted.stop().unwrap();
    store::servers::set_wanted(&mut work, server.id, wanted).await.unwrap();
    work.commit().await.unwrap();
    assert!(!may(true).await, "it would stay away, and nobody says that it can");
}

/// Whoever works on the instance may open a ticket on a look from before the cancel.
#[tokio::test]
async fn a_restart_that_was_cancelled_gets_no_leave() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    world.make_ready(instance.id).await;
    world.run_kafka(&instance, &[]).await;
    let (server, certificate) = enrol(&world, &instance).await;
    let ask = async |what: &str| {
        let path = format!("/api/instances/{}/actions/{what}", instance.id);
        let answer = Call::post(&path).key(&world.key).send(&world.customer).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    };
    let claim = async |revision: i64| {
        open_ticket(&world, &instance, Some(server.id)).await;
        let body = json!({"revision": revision, "store_epoch": 1});
        let call = Call::post("/agent/v1/claim").json(&body).certificate(&certificate);
        call.send(&world.agent).await.json()
    };
    ask("cluster-restart").await;
    set_desired(&world, &server, 4, &of_store(&server, json!({"revision": 4, "launch": 1}))).await;
    let runs = Call::post("/agent/v1/report").json(&report("runs")).certificate(&certificate);
    assert_eq!(runs.send(&world.agent).await.status, 200);
    ask(&format!("{}/cancel", world.last_action(instance.id).await.id)).await;
    let reason = "something else is desired by now";
    assert_eq!(claim(4).await, json!({"go": false, "reason": reason, "passing": false}));

    // Asked for anew it is let go.
    world.make_ready(instance.id).await;
    ask("cluster-restart").await;
    set_desired(&world, &server, 5, &of_store(&server, json!({"revision": 5, "launch": 2}))).await;
    assert_eq!(claim(5).await, json!({"go": true, "reason": "", "passing": false}));
}

/// An agent's word is not enough: what it asks its broker for is metrics alone.
#[tokio::test]
async fn a_broker_that_only_its_agent_finds_silent_is_not_ended_while_it_is_needed() {
    let world = World::new().await;
    let instance = world.create_of("mouse-3", "orders", &[]).await;
    let (server, certificate) = enrol(&world, &instance).await;
    set_desired(&world, &server, 4, &of_store(&server, json!({"revision": 4}))).await;
    world.run_kafka(&instance, &[]).await;
    open_ticket(&world, &instance, Some(server.id)).await;
    let claim = async || {
        let body = json!({"revision": 4, "store_epoch": 1, "silent": true});
        let call = Call::post("/agent/v1/claim").json(&body).certificate(&certificate);
        call.send(&world.agent).await.json()
    };
    let servers = world.servers(instance.id).await;
    let active = world.kafka.active_controller();
    let is_other = |other: &&Server| other.id != server.id && Some(other.node_id) != active;
    let other = servers.iter().find(is_other).unwrap();
    world.kafka.fail_next(Fault::Refused, servers.len());
    assert_eq!(claim().await["go"], false, "one that refuses us does not hang");
    world.kafka.freeze(other.node_id);
    let refused = claim().await;
    assert_eq!(refused["go"], false, "{refused}");
    let reason = refused["reason"].as_str().unwrap();
    assert!(reason.ends_with(&format!("server {} does not answer", other.number)), "{reason}");
    world.kafka.freeze(server.node_id);
    assert_eq!(claim().await["go"], true, "we find it silent, too");
}
