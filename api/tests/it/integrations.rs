//! Where logs and metrics are sent: what may be asked, and who sees what of it.

mod agents;

use crate::call::{Answer, Call};
use crate::world::World;
use model::{Instance, IntegrationKind, IntegrationSystem, MOST_INTEGRATIONS, Role, Secret};
use model::{MessageLimits, SignedDuration};
use serde_json::{Value, json};

pub struct Desk {
    pub world: World,
    pub instance: Instance,
}

impl Desk {
    pub async fn new() -> Self {
        Self::in_world(World::new().await).await
    }

    async fn in_world(world: World) -> Self {
        let instance = world.create("orders", &[]).await;
        Self { world, instance }
    }

    pub async fn send(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let path = format!("/api/instances/{}/integrations/{path}", self.instance.id);
        let call = Call::new(method, &path).key(&self.world.key);
        let call = body.map_or(call.clone(), |body| call.json(&body));
        call.send(&self.world.customer).await
    }

    pub async fn read(&self, path: &str) -> Value {
        let answer = self.send("GET", path, None).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(answer.header("cache-control"), "no-store");
        answer.json()
    }

    pub async fn create(&self, path: &str, body: Value) -> Value {
        let answer = self.send("POST", path, Some(body)).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        assert_eq!(answer.header("cache-control"), "no-store");
        answer.json()
    }

    async fn both(&self) -> (Value, Value) {
        (self.read("logs").await, self.read("metrics").await)
    }

    /// A change that is refused, and changes nothing.
    async fn refused(&self, method: &str, path: &str, body: Value) -> Value {
        let before = self.both().await;
        let answer = self.send(method, path, Some(body.clone())).await;
        assert_eq!(answer.status, 400, "{path} {body}: {}", answer.text);
        assert_eq!(self.both().await, before);
        answer.json()
    }
}

/// Settings that each system takes.
fn settings(system: IntegrationSystem) -> Value {
    let aws = json!({"region": "eu-west-1", "access_key_id": "AKIA", "secret_access_key": "s/e+t"});
    match system {
        IntegrationSystem::Papertrail => json!({"url": "logs.example.com:514"}),
        IntegrationSystem::Loggly | IntegrationSystem::Logentries => json!({"token": "t0ken"}),
        IntegrationSystem::Splunk => {
            json!({"token": "t0ken", "host_port": "splunk.example.com:8088", "sourcetype": "kafka"})
        }
        IntegrationSystem::Cloudwatchlog | IntegrationSystem::Cloudwatch => aws,
        IntegrationSystem::Librato => json!({"email": "ada@example.com", "api_key": "k3y"}),
        IntegrationSystem::Datadog => json!({"api_key": "k3y", "region": "eu"}),
        IntegrationSystem::Newrelic => json!({"license_key": "k3y"}),
        IntegrationSystem::Otlp => {
            json!({"endpoint": "https://otlp.example.com:4318/v1", "headers": "api-key=k3y"})
        }
    }
}

#[tokio::test]
async fn one_is_made_read_changed_and_deleted() {
    let desk = Desk::new().await;
    let made = desk.create("logs/splunk", settings(IntegrationSystem::Splunk)).await;
    let account = desk.instance.account_id.to_string();
    let expected = json!({"id": 1, "type": "splunk", "error": "", "account_id": account,
        "config": settings(IntegrationSystem::Splunk), "created_at": "2026-11-15T12:00:00Z"});
    assert_eq!(made, expected);
    assert_eq!(desk.read("logs/1").await, expected);
    assert_eq!(desk.read("logs").await, json!([expected]));
    assert_eq!(desk.read("metrics").await, json!([]));
    let metrics = desk.create("metrics/newrelic", json!({"license_key": "k3y"})).await;
    assert_eq!(metrics["id"], 2, "one count for both kinds");
    assert_eq!(desk.read("metrics").await, json!([metrics]));

    // All settings are replaced: what is not given is not there any more.
    let change = json!({"token": "other", "host_port": "splunk.example.com:8089"});
    let answer = desk.send("PUT", "logs/1", Some(change.clone())).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (204, ""));
    assert_eq!(desk.read("logs/1").await["config"], change);

    for (method, body) in [("GET", None), ("PUT", Some(change.clone())), ("DELETE", None)] {
        desk.send(method, "metrics/1", body).await.expect_error(404, "Not Found");
    }
    let gone = desk.send("DELETE", "logs/1", Some(json!({"any": "body"}))).await;
    assert_eq!((gone.status.as_u16(), gone.text.as_str()), (204, ""));
    let again =
        [("GET", "1", None), ("PUT", "1", Some(change)), ("DELETE", "1", None), ("GET", "x", None)];
    for (method, id, body) in again {
        desk.send(method, &format!("logs/{id}"), body).await.expect_error(404, "Not Found");
    }
    desk.send("POST", "logs/1/test", None).await.expect_error(404, "Not Found");
    let next = desk.create("logs/loggly", json!({"token": "t"})).await;
    assert_eq!(next["id"], 3, "no id is given again");
}

#[tokio::test]
async fn every_system_takes_what_it_can_as_json_and_as_a_form() {
    let desk = Desk::new().await;
    for kind in IntegrationKind::ALL {
        for system in IntegrationSystem::ALL {
            let path = format!("{kind}/{system}");
            let settings = settings(system);
            let answer = desk.send("POST", &path, Some(settings.clone())).await;
            if !system.takes(kind) {
                answer.expect_error(404, "Not Found");
                continue;
            }
            assert_eq!(answer.status, 201, "{path}: {}", answer.text);
            let made = answer.json();
            assert_eq!((&made["type"], &made["config"]), (&json!(system.as_str()), &settings));
            let pairs = settings.as_object().unwrap().iter();
            let pairs = pairs.map(|(name, value)| format!("{name}={}", value.as_str().unwrap()));
            let form = pairs.collect::<Vec<_>>().join("&").replace('+', "%2B");
            // Fields that it does not have say nothing, nor those of other systems.
            let form = format!("{form}&tags=a&tags=b");
            let other = if system == IntegrationSystem::Papertrail { "token" } else { "url" };
            let form = format!("{form}&{other}=a&{other}[b]=c");
            let call = Call::post(&format!("/api/integrations/{path}"));
            let call = call.key(&desk.instance.apikey).form(&form);
            let answer = call.send(&desk.world.instance).await;
            assert_eq!(answer.status, 201, "{path}: {}", answer.text);
            assert_eq!(answer.json()["config"], settings, "{path}");
        }
    }
    for nowhere in ["logs/syslog", "metrics/splunk", "logs/Splunk", "logs/x%00", "traces/otlp"] {
        let answer = desk.send("POST", nowhere, Some(json!({"token": "t"}))).await;
        answer.expect_error(404, "Not Found");
    }
}

#[tokio::test]
async fn what_is_missing_or_wrong_is_named() {
    let desk = Desk::new().await;
    let required = |fields: &[&str]| {
        fields.iter().map(|field| json!({*field: "Field is required"})).collect::<Value>()
    };
    for (path, fields) in [
        ("logs/papertrail", &["url"][..]),
        ("logs/loggly", &["token"]),
        ("logs/logentries", &["token"]),
        ("logs/splunk", &["token", "host_port"]),
        ("logs/cloudwatchlog", &["region", "access_key_id", "secret_access_key"]),
        ("logs/datadog", &["api_key"]),
        ("logs/otlp", &["endpoint"]),
        ("metrics/cloudwatch", &["region", "access_key_id", "secret_access_key"]),
        ("metrics/librato", &["email", "api_key"]),
        ("metrics/datadog", &["api_key"]),
        ("metrics/newrelic", &["license_key"]),
        ("metrics/otlp", &["endpoint"]),
    ] {
        let answer = desk.refused("POST", path, json!({"region": ""})).await;
        assert_eq!(answer["errors"], required(fields), "{path}");
    }
    for (path, body, field, sentence) in [
        ("logs/papertrail", json!({"url": "logs.example.com"}), "url", "must be host:port"),
        ("logs/papertrail", json!({"url": 514}), "url", "must be a string"),
        ("logs/loggly", json!({"token": "a b"}), "token", "no space"),
        ("logs/loggly", json!({"token": ["t"]}), "token", "must be a string"),
        (
            "logs/splunk",
            json!({"token": "t", "host_port": "s.example.com:0"}),
            "host_port",
            "must be host:port",
        ),
        ("logs/papertrail", json!({"url": "udp://logs.example.com:514"}), "url", "with tcp://"),
        ("metrics/datadog", json!({"api_key": "k", "region": "mars"}), "region", "one of us, us1"),
        (
            "metrics/cloudwatch",
            json!({"region": "evil.test/", "access_key_id": "a", "secret_access_key": "s"}),
            "region",
            "must be a region",
        ),
        ("metrics/librato", json!({"email": "x", "api_key": "k"}), "email", "an e-mail address"),
        ("metrics/otlp", json!({"endpoint": "file:///etc/passwd"}), "endpoint", "begins with"),
        (
            "metrics/otlp",
            json!({"endpoint": "https://otlp.example.com", "headers": "x"}),
            "headers",
            "name=value",
        ),
        // Where they lead is looked at, too.
        ("logs/papertrail", json!({"url": "127.0.0.1:514"}), "url", "leads to 127.0.0.1"),
        (
            "logs/splunk",
            json!({"token": "t", "host_port": "127.1:8088"}),
            "host_port",
            "leads to 127.0.0.1",
        ),
        ("logs/otlp", json!({"endpoint": "http://127.0.0.1/"}), "endpoint", "leads to 127.0.0.1"),
    ] {
        let answer = desk.refused("POST", path, body).await;
        let said = answer["errors"][0][field].as_str().unwrap_or_default();
        assert!(said.contains(sentence), "{path} {field}: {answer}");
        assert_eq!(answer["errors"].as_array().unwrap().len(), 1, "{answer}");
    }
    desk.create("logs/splunk", settings(IntegrationSystem::Splunk)).await;
    let answer = desk.refused("PUT", "logs/1", json!({"token": "t"})).await;
    assert_eq!(answer["errors"], required(&["host_port"]));
    let body = json!({"token": "t", "host_port": "127.0.0.1:8088"});
    let answer = desk.refused("PUT", "logs/1", body).await;
    assert_eq!(answer["errors"], json!([{"host_port": "leads to 127.0.0.1"}]));
    // Settings of other systems say nothing.
    let body = json!({"token": "t", "host_port": "splunk.example.com:1", "region": "mars"});
    assert_eq!(desk.send("PUT", "logs/1", Some(body)).await.status, 204);
    assert_eq!(desk.read("logs/1").await["config"].as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn an_instance_has_a_hundred_of_both_kinds() {
    let desk = Desk::new().await;
    for number in 0..MOST_INTEGRATIONS {
        let (path, body) = match number % 2 {
            0 => ("logs/loggly", json!({"token": "t"})),
            _ => ("metrics/newrelic", json!({"license_key": "k"})),
        };
        desk.create(path, body).await;
    }
    let answer = desk.refused("POST", "logs/loggly", json!({"token": "t"})).await;
    let sentence = "This instance has 100 integrations, and can't have more; delete one";
    assert_eq!(answer["error"], sentence);
    assert_eq!(desk.send("DELETE", "metrics/2", None).await.status, 204);
    assert_eq!(desk.create("logs/loggly", json!({"token": "t"})).await["id"], 101);
}

#[tokio::test]
async fn shared_plans_have_none() {
    let desk = Desk::new().await;
    let shared = desk.world.share(&desk.instance).await;
    let desk = Desk { instance: shared, ..desk };
    let body = || Some(json!({"token": "t"}));
    for kind in ["logs", "metrics"] {
        for (method, path, body) in [
            ("GET", "", None),
            ("GET", "/1", None),
            ("PUT", "/1", body()),
            ("DELETE", "/1", None),
            ("POST", "/1/test", None),
            ("POST", "/datadog", body()),
        ] {
            let answer = desk.send(method, &format!("{kind}{path}"), body).await;
            answer.expect_error(400, "Not available on shared plans");
        }
    }
}

#[tokio::test]
async fn a_role_sees_and_changes_what_it_may() {
    let desk = Desk::new().await;
    desk.create("logs/splunk", settings(IntegrationSystem::Splunk)).await;
    desk.create("logs/cloudwatchlog", settings(IntegrationSystem::Cloudwatchlog)).await;
    desk.create("logs/otlp", settings(IntegrationSystem::Otlp)).await;
    let of = |role: Role, tags: &'static [&'static str]| desk.world.member(role, tags);
    let path = format!("/api/instances/{}/integrations/logs", desk.instance.id);
    let read =
        async |key: &Secret, path: &str| Call::get(path).key(key).send(&desk.world.customer).await;
    let whole = desk.read("logs").await;
    for role in [Role::Devops, Role::Member] {
        assert_eq!(read(&of(role, &[]).await, &path).await.json(), whole, "{role}");
    }
    let monitor = of(Role::Monitor, &[]).await;
    let expected = json!([
        {"token": "", "host_port": "splunk.example.com:8088", "sourcetype": "kafka"},
        {"region": "eu-west-1", "access_key_id": "", "secret_access_key": ""},
        {"endpoint": "https://otlp.example.com:4318/v1", "headers": ""},
    ]);
    let masked = read(&monitor, &path).await;
    assert_eq!(masked.header("cache-control"), "no-store");
    let configs: Vec<Value> =
        masked.json().as_array().unwrap().iter().map(|it| it["config"].clone()).collect();
    assert_eq!(json!(configs), expected);
    let one = read(&monitor, &format!("{path}/2")).await;
    assert_eq!(one.json()["config"], expected[1]);
    // Without the tag there is no such instance.
    for role in [Role::Member, Role::Monitor] {
        read(&of(role, &["other"]).await, &path).await.expect_error(404, "Invalid ID");
    }
    let biller = of(Role::BillingManager, &[]).await;
    assert_eq!(read(&biller, &path).await.status, 403);
    for (method, rest) in
        [("POST", "/loggly"), ("PUT", "/1"), ("DELETE", "/1"), ("POST", "/1/test")]
    {
        let call = Call::new(method, &format!("{path}{rest}")).key(&monitor);
        let answer = call.json(&json!({"token": "t"})).send(&desk.world.customer).await;
        assert_eq!(answer.status, 403, "{method} {rest}");
    }
}

#[tokio::test]
async fn the_audit_log_has_every_change_and_no_key() {
    let desk = Desk::new().await;
    let begun = desk.world.audit().await.len();
    desk.create("logs/splunk", settings(IntegrationSystem::Splunk)).await;
    for _ in 0..2 {
        let body = json!({"token": "n3w", "host_port": "splunk.example.com:1"});
        assert_eq!(desk.send("PUT", "logs/1", Some(body)).await.status, 204);
    }
    assert_eq!(desk.send("POST", "logs/1/test", None).await.status, 200);
    assert_eq!(desk.send("DELETE", "logs/1", None).await.status, 204);
    let lines = desk.world.audit().await.split_off(begun);
    let events = ["create", "update", "test", "delete"];
    let id = desk.instance.id;
    let expected = events.map(|event| {
        format!(
            "integration.{event} customer-api 192.0.2.7 owner@example.test id={id}; name=orders; \
             integration=1; kind=logs; type=splunk"
        )
    });
    assert_eq!(lines, expected, "the second update changed nothing");
}

#[tokio::test]
async fn a_test_says_what_came_of_it() {
    let messages = MessageLimits {
        tests_per_account_per_hour: 4,
        tests_per_destination_per_hour: 2,
        ..MessageLimits::OFF
    };
    let settings = app::Settings { messages, ..app::Settings::default() };
    let desk = Desk::in_world(World::with(settings).await).await;
    desk.create("logs/loggly", json!({"token": "t"})).await;
    desk.create("metrics/newrelic", json!({"license_key": "refused"})).await;
    desk.create("logs/loggly", json!({"token": "t"})).await;
    let test = async |path: &str| desk.send("POST", &format!("{path}/test"), None).await;
    let took = test("logs/1").await;
    let expected = json!({"ok": true, "message": "loggly took logs of orders"});
    assert_eq!((took.status.as_u16(), took.json()), (200, expected));
    let refused = test("metrics/2").await;
    let expected = json!({"ok": false, "message": "newrelic refused the key"});
    assert_eq!((refused.status.as_u16(), refused.json()), (200, expected));
    assert_eq!(test("logs/3").await.status, 200);
    let much = test("logs/1").await;
    assert_eq!(much.status, 429, "two an hour to one destination");
    assert_eq!(much.header("retry-after"), "3601");
    assert_eq!(test("metrics/2").await.status, 200);
    desk.create("logs/loggly", json!({"token": "another"})).await;
    assert_eq!(test("logs/4").await.status, 429, "four an hour of an account");
    desk.world.clock.advance(SignedDuration::from_hours(1));
    assert_eq!(test("logs/4").await.status, 200);
}

#[tokio::test]
async fn settings_that_can_not_be_read_can_be_put_right() {
    let desk = Desk::new().await;
    desk.create("logs/loggly", json!({"token": "t"})).await;
    let mut work = desk.world.app.store().begin().await.unwrap();
    let (id, empty) = (model::IntegrationId(1), model::IntegrationConfig::new());
    let now = desk.world.app.now();
    store::integrations::set_config(&mut work, desk.instance.id, id, &empty, now).await.unwrap();
    work.commit().await.unwrap();
    let found = desk.read("logs/1").await;
    assert_eq!(found["config"], json!({}));
    assert_eq!(found["error"], "Its settings can't be read and nothing is sent; set them again");
    assert_eq!(desk.send("POST", "logs/1/test", None).await.status, 400);
    assert_eq!(desk.send("PUT", "logs/1", Some(json!({"token": "t"}))).await.status, 204);
    assert_eq!(desk.read("logs/1").await["error"], "");
}

#[tokio::test]
async fn nonsense_is_refused_on_every_path() {
    let desk = Desk::new().await;
    desk.create("logs/loggly", json!({"token": "t"})).await;
    let before = desk.both().await;
    for (method, path) in [("POST", "logs/loggly"), ("PUT", "logs/1")] {
        let path = format!("/api/instances/{}/integrations/{path}", desk.instance.id);
        let call = || Call::new(method, &path).key(&desk.world.key);
        for call in [
            call().body("application/json", "{"),
            call().body("application/json", "[]"),
            call().body("application/json", r#"{"token":"a","token":"b"}"#),
            call().body("application/json", r#"{"token":"a\u0000b"}"#),
            call().body("application/pdf", "%PDF"),
            call().form("token[a]=b"),
            call().form("token=%FF"),
            call(),
        ] {
            let answer = call.send(&desk.world.customer).await;
            assert_eq!(answer.status, 400, "{method} {path}: {}", answer.text);
        }
    }
    assert_eq!(desk.both().await, before);
}
