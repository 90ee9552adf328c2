//! Every operation of the OpenAPI documents, called by everybody who may not and
//! in every way that it must not be called. A new operation fails here until
//! its row says who may call it.

use crate::call::{Answer, Call, certificates_named};
use crate::openapi::{document, filled, operation, operations};
use crate::world::World;
use api::routes::{self, Guard, Route};
use axum::Router;
use kafka::client::NewTopic;
use model::{
    ActionId, AlarmSpec, AlarmType, Certificate, InstanceId, IntegrationKind, IntegrationSystem,
    KeyId, RecipientOptions, RecipientType, Role, Secret, Serial, SessionId, UserId, UserName,
};
use serde_json::Value;
use std::collections::BTreeSet;

const EVERYBODY: [Role; 5] = Role::ALL;
const SEE: [Role; 4] = [Role::Admin, Role::Devops, Role::Member, Role::Monitor];
const CHANGE: [Role; 3] = [Role::Admin, Role::Devops, Role::Member];
const MANAGE: [Role; 1] = [Role::Admin];
const CREATE: [Role; 2] = [Role::Admin, Role::Devops];
const BILLING: [Role; 2] = [Role::Admin, Role::BillingManager];

/// Who may call each operation of the Customer API that asks for a key.
const ROWS: &[(&str, &[Role])] = &[
    ("GET /api/instances", &SEE),
    ("POST /api/instances", &CREATE),
    ("GET /api/instances/{id}", &SEE),
    ("PUT /api/instances/{id}", &CHANGE),
    ("DELETE /api/instances/{id}", &CREATE),
    ("PUT /api/instances/{id}/disk", &CHANGE),
    ("GET /api/instances/{id}/actions", &SEE),
    ("GET /api/instances/{id}/actions/{action_id}", &SEE),
    ("POST /api/instances/{id}/actions/{action_id}/cancel", &CHANGE),
    ("POST /api/instances/{id}/actions/restart", &CHANGE),
    ("POST /api/instances/{id}/actions/reboot", &CHANGE),
    ("POST /api/instances/{id}/actions/stop", &CHANGE),
    ("POST /api/instances/{id}/actions/start", &CHANGE),
    ("POST /api/instances/{id}/actions/cluster-restart", &CHANGE),
    ("POST /api/instances/{id}/actions/cluster-stop", &CHANGE),
    ("POST /api/instances/{id}/actions/cluster-start", &CHANGE),
    ("POST /api/instances/{id}/actions/rebalance", &CHANGE),
    ("POST /api/instances/{id}/account/rotate-apikey", &CHANGE),
    ("POST /api/instances/{id}/account/rotate-password", &CHANGE),
    ("GET /api/instances/{id}/details", &SEE),
    ("GET /api/instances/{id}/ca/ca_cert.pem", &SEE),
    ("POST /api/instances/{id}/ca/sign", &CHANGE),
    ("GET /api/instances/{id}/ca/certificates", &SEE),
    ("DELETE /api/instances/{id}/ca/certificates/{serial}", &CHANGE),
    ("GET /api/instances/{id}/cluster/status", &SEE),
    ("POST /api/instances/{id}/cluster/restart", &CHANGE),
    ("GET /api/instances/{id}/topics/{name}/messages", &CHANGE),
    ("POST /api/instances/{id}/topics/{name}/messages", &CHANGE),
    ("GET /api/instances/{id}/groups", &SEE),
    ("GET /api/instances/{id}/groups/{name}", &SEE),
    ("POST /api/instances/{id}/groups/{name}/reset", &CHANGE),
    ("DELETE /api/instances/{id}/groups/{name}", &CHANGE),
    ("GET /api/instances/{id}/quotas", &SEE),
    ("PUT /api/instances/{id}/quotas", &CHANGE),
    ("DELETE /api/instances/{id}/quotas", &CHANGE),
    ("GET /api/instances/{id}/topics", &SEE),
    ("POST /api/instances/{id}/topics", &CHANGE),
    ("GET /api/instances/{id}/topics/{name}", &SEE),
    ("PUT /api/instances/{id}/topics/{name}", &CHANGE),
    ("DELETE /api/instances/{id}/topics/{name}", &CHANGE),
    ("GET /api/instances/{id}/users", &SEE),
    ("POST /api/instances/{id}/users", &CHANGE),
    ("DELETE /api/instances/{id}/users/{name}", &CHANGE),
    ("GET /api/instances/{id}/acls", &SEE),
    ("POST /api/instances/{id}/acls", &CHANGE),
    ("DELETE /api/instances/{id}/acls/{acl_id}", &CHANGE),
    ("GET /api/instances/{id}/config/kafka", &SEE),
    ("POST /api/instances/{id}/config/kafka", &CHANGE),
    ("GET /api/instances/{id}/metrics", &SEE),
    ("GET /api/instances/{id}/metrics/prometheus", &SEE),
    ("GET /api/instances/{id}/nodes", &SEE),
    ("GET /api/instances/{id}/alarms", &SEE),
    ("POST /api/instances/{id}/alarms", &CHANGE),
    ("GET /api/instances/{id}/alarms/{alarm_id}", &SEE),
    ("PUT /api/instances/{id}/alarms/{alarm_id}", &CHANGE),
    ("GET /api/instances/{id}/alarms/{alarm_id}/history", &SEE),
    ("DELETE /api/instances/{id}/alarms/{alarm_id}", &CHANGE),
    ("GET /api/instances/{id}/alarms/recipients", &SEE),
    ("POST /api/instances/{id}/alarms/recipients", &CHANGE),
    ("GET /api/instances/{id}/alarms/recipients/{recipient_id}", &SEE),
    ("PUT /api/instances/{id}/alarms/recipients/{recipient_id}", &CHANGE),
    ("POST /api/instances/{id}/alarms/recipients/{recipient_id}/test", &CHANGE),
    ("DELETE /api/instances/{id}/alarms/recipients/{recipient_id}", &CHANGE),
    ("GET /api/instances/{id}/integrations/logs", &SEE),
    ("GET /api/instances/{id}/integrations/logs/{integration_id}", &SEE),
    ("PUT /api/instances/{id}/integrations/logs/{integration_id}", &CHANGE),
    ("DELETE /api/instances/{id}/integrations/logs/{integration_id}", &CHANGE),
    ("POST /api/instances/{id}/integrations/logs/{integration_id}/test", &CHANGE),
    ("POST /api/instances/{id}/integrations/logs/papertrail", &CHANGE),
    ("POST /api/instances/{id}/integrations/logs/loggly", &CHANGE),
    ("POST /api/instances/{id}/integrations/logs/logentries", &CHANGE),
    ("POST /api/instances/{id}/integrations/logs/splunk", &CHANGE),
    ("POST /api/instances/{id}/integrations/logs/cloudwatchlog", &CHANGE),
    ("POST /api/instances/{id}/integrations/logs/datadog", &CHANGE),
    ("POST /api/instances/{id}/integrations/logs/otlp", &CHANGE),
    ("GET /api/instances/{id}/integrations/metrics", &SEE),
    ("GET /api/instances/{id}/integrations/metrics/{integration_id}", &SEE),
    ("PUT /api/instances/{id}/integrations/metrics/{integration_id}", &CHANGE),
    ("DELETE /api/instances/{id}/integrations/metrics/{integration_id}", &CHANGE),
    ("POST /api/instances/{id}/integrations/metrics/{integration_id}/test", &CHANGE),
    ("POST /api/instances/{id}/integrations/metrics/cloudwatch", &CHANGE),
    ("POST /api/instances/{id}/integrations/metrics/librato", &CHANGE),
    ("POST /api/instances/{id}/integrations/metrics/datadog", &CHANGE),
    ("POST /api/instances/{id}/integrations/metrics/newrelic", &CHANGE),
    ("POST /api/instances/{id}/integrations/metrics/otlp", &CHANGE),
    ("GET /api/vpcs", &SEE),
    ("POST /api/vpcs", &CREATE),
    ("GET /api/vpcs/{vpc_id}", &SEE),
    ("PUT /api/vpcs/{vpc_id}", &CREATE),
    ("DELETE /api/vpcs/{vpc_id}", &CREATE),
    ("GET /api/invoices", &BILLING),
    ("GET /api/invoices/period", &BILLING),
    ("GET /api/invoices/{invoice_id}", &BILLING),
    ("GET /api/auditlog/csv", &CREATE),
    ("GET /api/team", &MANAGE),
    ("POST /api/team/invite", &MANAGE),
    ("POST /api/team/remove", &MANAGE),
    ("PUT /api/team/{user_id}", &MANAGE),
    ("GET /api/apikeys", &EVERYBODY),
    ("POST /api/apikeys", &EVERYBODY),
    ("DELETE /api/apikeys/{key_id}", &EVERYBODY),
    ("POST /api/apikeys/rotate-apikey", &EVERYBODY),
    ("GET /api/sessions", &EVERYBODY),
    ("DELETE /api/sessions", &EVERYBODY),
    ("DELETE /api/sessions/{session_id}", &EVERYBODY),
    ("GET /api/account", &BILLING),
    ("PUT /api/account", &BILLING),
    ("GET /api/plans", &EVERYBODY),
    ("GET /api/regions", &EVERYBODY),
];

/// What stands for the placeholders of paths: things of the world's account
/// that every operation can be tried on.
pub struct Things {
    pub instance: model::Instance,
    action: ActionId,
    serial: Serial,
    vpc: i64,
    invoice: i64,
    member: UserId,
    /// A customer key of the caller's own.
    key: KeyId,
    /// Theirs as well.
    session: SessionId,
}

/// The first invoice of all.
const INVOICE: i64 = 1;
/// Of the recipients besides the default one.
pub const WEBHOOK: &str = "https://hooks.example.com/orders";
pub const WEBHOOK_SECRET: &str = "s3cret";
/// Where logs and metrics are sent.
pub const LOG_TOKEN: &str = "a-log-t0ken";
pub const METRICS_KEY: &str = "a-metrics-k3y";

impl Things {
    pub async fn make(world: &World) -> Self {
        let instance = world.create("orders", &["prod"]).await;
        world.make_ready(instance.id).await;
        let action = restart_under_way(world, &instance).await;
        let serial = certificate(world, instance.id).await;
        alarm(world, instance.id).await;
        integrations(world, instance.id).await;
        let vpc = world.create_vpc("orders-net", "10.201.0.0/24").await;
        let (member, _) = world.user("ada@example.com", Role::Member, &["prod"]).await;
        world.issue_month().await;
        world.run_kafka(&instance, &[orders()]).await;
        world.admit(&instance, "ada").await;
        world.use_cluster(&instance).await;
        let key = world.second_key().await;
        let session = world.session_of(&world.key).await;
        Self { instance, action, serial, vpc, invoice: INVOICE, member, key, session }
    }

    /// The same, for the document's example of this operation. Whether a broker can
    /// be stopped is asked of the others, and none runs here: it is stopped already.
    /// Whose name has a password is asked of one that runs.
    pub async fn make_for(world: &World, route: &Route) -> Self {
        let things = Self::make(world).await;
        if route.path.ends_with("/actions/stop") {
            world.set_stopped(&things.instance, &[1]).await;
        }
        things
    }

    /// A document's example with the names of these things in it.
    pub fn example(&self, documented: &Value) -> Value {
        let text = documented.to_string().replace("u7k2m9qa", &self.instance.username);
        serde_json::from_str(&text).unwrap()
    }

    /// The path with these things in it.
    pub fn path(&self, template: &str) -> String {
        let path = template
            .replace("{id}", &self.instance.id.to_string())
            .replace("{action_id}", &self.action.to_string())
            .replace("{serial}", self.serial.as_str())
            .replace("{vpc_id}", &self.vpc.to_string())
            .replace("{invoice_id}", &self.invoice.to_string())
            .replace("{user_id}", &self.member.to_string())
            .replace("{key_id}", &self.key.to_string())
            .replace("{session_id}", &self.session.to_string())
            .replace("/topics/{name}", "/topics/orders")
            .replace("/users/{name}", "/users/ada")
            .replace("/groups/{name}", "/groups/billing")
            .replace("{acl_id}", "1")
            .replace("{alarm_id}", "6")
            .replace("{recipient_id}", "3")
            .replace("/logs/{integration_id}", "/logs/1")
            .replace("/metrics/{integration_id}", "/metrics/2");
        assert!(!path.contains('{'), "say what stands for the placeholder of {path}");
        path
    }
}

/// A topic that is there.
fn orders() -> NewTopic {
    let settings = vec![("retention.ms".into(), "60000".into())];
    NewTopic { name: "orders".into(), partitions: 1, replicas: 1, settings }
}

/// One that was signed for a client, and is good.
async fn certificate(world: &World, instance: InstanceId) -> Serial {
    let issued_at = world.app.now();
    let certificate = Certificate {
        serial: "4f1c22d0a3b94e5f8a6d7c0b1e2f3a4b".parse().unwrap(),
        cn: UserName::parse("orders").unwrap(),
        issued_at,
        expires_at: issued_at + model::SignedDuration::from_hours(24 * 397),
        revoked_at: None,
    };
    let mut work = world.app.store().begin().await.unwrap();
    store::certificates::insert(&mut work, instance, &certificate).await.unwrap();
    work.commit().await.unwrap();
    certificate.serial
}

/// Alarms beside the default ones, and whom to tell.
async fn alarm(world: &World, instance: InstanceId) {
    let recipient = store::NewRecipient {
        kind: RecipientType::Webhook,
        value: Secret::new(WEBHOOK),
        name: "Orders".into(),
        options: RecipientOptions { secret: Some(Secret::new(WEBHOOK_SECRET)), ..<_>::default() },
    };
    let mut work = world.app.store().begin().await.unwrap();
    // More of them than another instance has after a create.
    for _ in 0..2 {
        let id = store::recipients::insert(&mut work, instance, &recipient).await.unwrap();
        let first = AlarmSpec::first(AlarmType::Cpu, Some(75), Some(60));
        let what = AlarmSpec { recipients: vec![id], ..first };
        store::alarms::insert(&mut work, instance, what).await.unwrap();
    }
    // The address of the documents' examples is not of the team, and may be mailed.
    let (token, now) = (Secret::new("of a link"), world.app.now());
    let ops = "ops@example.com";
    store::mail_consents::ask(&mut work, world.account, ops, &token, now).await.unwrap();
    let consent = store::mail_consents::find(&mut work, &token).await.unwrap().unwrap();
    store::mail_consents::confirm(&mut work, &consent, now).await.unwrap();
    work.commit().await.unwrap();
}

/// One of each kind, of the systems of the documents' examples.
async fn integrations(world: &World, instance: InstanceId) {
    let splunk = [("token", LOG_TOKEN), ("host_port", "splunk.example.com:8088")];
    let datadog = [("api_key", METRICS_KEY)];
    let all: [(_, _, &[_]); 2] = [
        (IntegrationKind::Logs, IntegrationSystem::Splunk, &splunk),
        (IntegrationKind::Metrics, IntegrationSystem::Datadog, &datadog),
    ];
    let mut work = world.app.store().begin().await.unwrap();
    for (kind, system, settings) in all {
        let config = system.config(settings.iter().copied()).unwrap();
        let new = store::NewIntegration { kind, system, config };
        let now = world.app.now();
        store::integrations::insert(&mut work, instance, &new, now).await.unwrap().unwrap();
    }
    work.commit().await.unwrap();
}

/// One that can be cancelled, though the instance can be restarted as well: the
/// moment between the end of the one and the engine's note of it.
async fn restart_under_way(world: &World, instance: &model::Instance) -> ActionId {
    let mut work = world.app.store().begin().await.unwrap();
    let action = store::NewAction {
        instance_id: instance.id,
        kind: model::ActionKind::Restart,
        servers: &[1],
        asked_by: "ada@example.com",
        source: "customer-api 192.0.2.7".into(),
        generation: instance.generation,
    };
    let id = store::actions::insert(&mut work, &action, world.app.now()).await.unwrap();
    let text = format!("{}-01 is being restarted", instance.username);
    let conditions = vec![model::Reason::Sentence { text }.into()];
    let note = model::condition::Note::Conditions { conditions };
    store::actions::note_on(&mut work, id, &note, world.app.now()).await.unwrap();
    work.commit().await.unwrap();
    id
}

fn name(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

fn roles(route: &Route) -> &'static [Role] {
    let name = name(route);
    let row = ROWS.iter().find(|(operation, _)| *operation == name);
    row.unwrap_or_else(|| panic!("add a row that says who may call {name}")).1
}

fn call(route: &Route, things: &Things) -> Call {
    Call::new(route.method.as_str(), &things.path(&route.path))
}

/// The guarded routes of the Customer API.
fn guarded() -> Vec<Route> {
    routes::customer().into_iter().filter(|route| route.guard != Guard::Open).collect()
}

fn wrong() -> Secret {
    Secret::new("x".repeat(43))
}

/// The example that the document gives of the body, if it has one.
fn example<'a>(document: &'a Value, route: &Route) -> Option<&'a Value> {
    let content = &operation(document, route)["requestBody"]["content"];
    let example = &content["application/json"]["example"];
    example.is_object().then_some(example)
}

/// The same body as a form.
fn form(example: &Value) -> String {
    let mut pairs = Vec::new();
    for (name, value) in example.as_object().unwrap() {
        match value {
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let items = items.iter().map(|item| item.as_str().unwrap());
                pairs.extend(items.map(|item| format!("{name}[]={item}")));
            }
            Value::String(text) => pairs.push(format!("{name}={text}")),
            other => pairs.push(format!("{name}={other}")),
        }
    }
    pairs.join("&").replace('+', "%2B").replace(' ', "+")
}

fn expect_401(answer: &Answer, realm: &str, route: &Route) {
    assert_eq!(answer.text, r#"{"error":"Not authorized"}"#, "{}", name(route));
    assert_eq!(answer.status, 401);
    assert_eq!(answer.header("www-authenticate"), format!("Basic realm=\"{realm}\""));
}

/// Every method that the table does not have for this path.
async fn expect_405_and_404(route: &Route, path: &str, table: &[Route], router: &Router) {
    let taken: BTreeSet<&str> = table
        .iter()
        .filter(|other| other.path == route.path)
        .map(|other| other.method.as_str())
        .collect();
    let methods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "NONSENSE"];
    for method in methods.into_iter().filter(|method| !taken.contains(method)) {
        let answer = Call::new(method, path).send(router).await;
        assert_eq!(answer.status, 405, "{method} {path}");
        assert!(answer.header("allow").contains(route.method.as_str()), "{method} {path}");
        assert!(answer.json()["error"].is_string());
    }
    let missing =
        Call::new(route.method.as_str(), &format!("{path}/nothing/here")).send(router).await;
    missing.expect_error(404, "Not Found");
}

#[tokio::test]
async fn every_documented_operation_is_a_route_that_is_covered() {
    let world = World::new().await;
    let documented: BTreeSet<String> = operations(&document(&world.customer).await);
    let routed: BTreeSet<String> = routes::customer().iter().map(name).collect();
    assert_eq!(documented, routed);
    let rows: BTreeSet<String> = ROWS.iter().map(|(row, _)| (*row).to_owned()).collect();
    let guarded: BTreeSet<String> = guarded().iter().map(name).collect();
    assert_eq!(rows, guarded, "one row for each operation that asks for a key, and no other");
}

#[tokio::test]
async fn customer_routes_turn_away_everybody_who_may_not() {
    let world = World::new().await;
    let things = Things::make(&world).await;
    let table = routes::customer();
    for route in &table {
        // One for each, because one of the calls replaces its key.
        let stranger = world.stranger().await;
        let path = things.path(&route.path);
        expect_405_and_404(route, &path, &table, &world.customer).await;
        let call = call(route, &things);
        if route.guard == Guard::Open {
            assert_eq!(call.send(&world.customer).await.status, 200, "{}", route.path);
            continue;
        }
        assert_eq!(route.guard, Guard::CustomerKey, "{}", route.path);
        let nobody = [
            call.clone(),
            call.clone().key(&wrong()),
            call.clone().key(&things.instance.apikey),
            call.clone().header("authorization", "Bearer x"),
        ];
        for call in nobody {
            expect_401(&call.send(&world.customer).await, "Customer API", route);
        }
        let other = call.clone().key(&stranger).send(&world.customer).await;
        assert!(!other.text.contains("orders"), "{}: {}", route.path, other.text);
        let missing = if route.path.contains("{id}") { "Invalid ID" } else { "Not Found" };
        if path == route.path {
            continue;
        }
        other.expect_error(404, missing);
        for nonsense in ["x", "0", "-1", "99999999999999999999", "1%00", "%FF", "1.0", "00001"] {
            let (before, rest) = route.path.split_once('{').unwrap();
            let (_, after) = rest.split_once('}').unwrap();
            let call = Call::new(route.method.as_str(), &format!("{before}{nonsense}{after}"));
            call.key(&world.key).send(&world.customer).await.expect_error(404, missing);
        }
    }
}

#[tokio::test]
async fn customer_routes_know_every_role() {
    let world = World::new().await;
    world.create("orders", &[]).await;
    world.issue_month().await;
    for (at, route) in guarded().iter().enumerate() {
        for (number, role) in Role::ALL.into_iter().enumerate() {
            let instance = world.create("orders", &[]).await;
            let subnet = format!("10.20{number}.{at}.0/24");
            let vpc = world.create_vpc("net", &subnet).await;
            let email = format!("{at}-{number}@example.com");
            let (member, _) = world.user(&email, Role::Member, &[]).await;
            let action = world.last_action(instance.id).await.id;
            let serial = certificate(&world, instance.id).await;
            alarm(&world, instance.id).await;
            integrations(&world, instance.id).await;
            let apikey = world.member(role, &[]).await;
            let key = world.key_id(&apikey).await;
            let session = world.session_of(&apikey).await;
            let invoice = INVOICE;
            let things = Things { instance, action, serial, vpc, invoice, member, key, session };
            let call = call(route, &things).key(&apikey);
            let answer = call.send(&world.customer).await;
            let allowed = roles(route).contains(&role);
            // A create or an update without fields is past the check of roles.
            let expected: &[u16] = if allowed { &[200, 204, 400] } else { &[403] };
            let status = answer.status.as_u16();
            assert!(expected.contains(&status), "{role}: {} gave {status}", name(route));
            if !allowed {
                let error = answer.json()["error"].to_string();
                assert!(error.contains("admin"), "the needed role is named: {error}");
                // The role is checked before the body is looked at, and before the id.
                let broken = call.body("application/json", "{").send(&world.customer).await;
                assert_eq!(broken.status, 403);
            }
        }
    }
}

#[tokio::test]
async fn json_needs_its_header_wherever_a_body_is_read() {
    let world = World::new().await;
    let document = document(&world.customer).await;
    let things = Things::make(&world).await;
    let mut bodies = 0;
    for route in guarded() {
        let Some(example) = example(&document, &route) else { continue };
        bodies += 1;
        let call = call(&route, &things).key(&world.key);
        for kind in [None, Some("text/plain"), Some("application/x-www-form-urlencoded")] {
            let call = match kind {
                Some(kind) => call.clone().body(kind, example.to_string()),
                None => call.clone().bytes(example.to_string()),
            };
            let answer = call.send(&world.customer).await;
            answer.expect_error(400, "JSON needs the header Content-Type: application/json");
        }
    }
    assert!(bodies > 3);
}

/// Two worlds made alike, one called with JSON and one with a form, answer and
/// change alike. Keys and ids are made from the same seed.
#[tokio::test]
async fn form_and_json_give_the_same_result() {
    let spare = World::new().await;
    let document = document(&spare.customer).await;
    for route in guarded() {
        let Some(example) = example(&document, &route) else { continue };
        let result = async |as_form: bool| {
            let world = World::new().await;
            let things = Things::make_for(&world, &route).await;
            let (call, example) = (call(&route, &things).key(&world.key), things.example(example));
            let call = if as_form { call.form(&form(&example)) } else { call.json(&example) };
            let answer = call.send(&world.customer).await;
            // Keys of authorities come from no seed.
            (answer.status.as_u16(), certificates_named(&answer.text), world.audit().await)
        };
        let as_json = result(false).await;
        assert!(as_json.0 < 300, "{}: the example is one that works: {}", name(&route), as_json.1);
        assert_eq!(as_json, result(true).await, "{}", name(&route));
    }
}

#[tokio::test]
async fn instance_routes_open_to_the_instances_own_key_alone() {
    let world = World::new().await;
    let things = Things::make(&world).await;
    let neighbour = world.create("payments", &[]).await;
    let table = routes::instance();
    let document = document(&world.instance).await;
    assert_eq!(operations(&document), table.iter().map(name).collect());
    for route in &table {
        let path = things.path(&route.path);
        expect_405_and_404(route, &path, &table, &world.instance).await;
        let call = call(route, &things);
        if route.guard == Guard::Open {
            assert_eq!(call.send(&world.instance).await.status, 200, "{}", route.path);
            continue;
        }
        assert_eq!(route.guard, Guard::InstanceKey, "{}", route.path);
        let path = filled(route, operation(&document, route), &things);
        let call = Call::new(route.method.as_str(), &path);
        let call = match example(&document, route) {
            Some(example) => call.json(&things.example(example)),
            None => call,
        };
        for call in [call.clone(), call.clone().key(&wrong()), call.clone().key(&world.key)] {
            expect_401(&call.send(&world.instance).await, "Instance API", route);
        }
        let own = call.clone().key(&things.instance.apikey).send(&world.instance).await;
        let other = call.clone().key(&neighbour.apikey).send(&world.instance).await;
        assert!(own.status.is_success(), "{}: {}", route.path, own.text);
        // The neighbour is not made yet: what asks its servers is refused, and it has
        // none of the certificates, alarms and integrations.
        let refused = other.status == 400 && other.text.contains("is being created");
        let lacks = ["{serial}", "{alarm_id}", "{recipient_id}", "{integration_id}"];
        let lacks = lacks.iter().any(|thing| route.path.contains(thing));
        let refused = refused || other.status == 404 && lacks;
        assert!(refused || other.status.is_success(), "{}: {}", route.path, other.text);
        assert!(!other.text.contains("orders"), "{}", other.text);
        assert_ne!(own.text, other.text, "{}", route.path);
    }
}

#[tokio::test]
async fn agent_routes_ask_for_what_they_say() {
    let world = World::new().await;
    let things = Things::make(&world).await;
    let table = routes::agent();
    for route in &table {
        expect_405_and_404(route, &things.path(&route.path), &table, &world.agent).await;
        let call = call(route, &things);
        let keys = [None, Some(&world.key), Some(&things.instance.apikey)];
        for key in keys {
            let call = key.map_or(call.clone(), |key| call.clone().key(key));
            let answer = call.json(&serde_json::json!({})).send(&world.agent).await;
            let expected = match route.guard {
                Guard::Open => 200,
                Guard::AgentCertificate => 401,
                // The token is in the document, which is empty here.
                Guard::AgentToken => 400,
                Guard::Neighbour => 403,
                guard => panic!("{guard:?} does not belong on the agents' listener"),
            };
            assert_eq!(answer.status, expected, "{} {}", route.method, route.path);
            assert_eq!(answer.header("www-authenticate"), "");
        }
    }
}
