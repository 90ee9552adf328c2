//! The verbs of Kafka's resources, against a server that only writes down what it
//! is asked: each sends exactly what it should.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod printed;

use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use clap::Parser;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// As the program that holds these commands declares itself.
#[derive(Debug, Parser)]
struct Program {
    #[command(subcommand)]
    command: cli::Command,
}

/// Everything that was asked, oldest first.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<(String, Value)>>>);

/// Answers of the API, by method and path.
fn answer(asked: &str) -> (u16, Value) {
    let rule = json!({"operation": "read", "resource": "topic", "resource_pattern": "orders",
                      "resource_pattern_type": "literal"});
    let mut acl = json!({"id": 3, "name": "bob", "created_at": "2026-11-15T12:00:00Z"});
    acl.as_object_mut().unwrap().extend(rule.as_object().unwrap().clone());
    let topic = json!({"name": "orders", "partitions": 3, "replicas": 3, "status": "ready",
                       "config": {"retention.ms": -1, "cleanup.policy": "compact"}});
    let mut details = topic.clone();
    details["details"] = json!([{"partition": 0, "leader": null, "replicas": [1, 2],
                                 "in_sync": [1], "size": 12}]);
    let instance = |id: i64, name: &str| {
        json!({"id": id, "name": name, "plan": "mouse-3", "region": "r", "tags": [],
               "providerid": "p"})
    };
    let message = json!({"message": "Done"});
    let node = json!({"name": "a-01", "hostname": "h", "hostname_internal": "i",
        "private_ip": "10.0.0.1", "running": true, "configured": true, "kafka_version": "4.3.1",
        "disk_size": 25, "additional_disk_size": 0, "disk_used": 1, "roles": ["broker"],
        "availability_zone": "z"});
    let running = json!({"id": 3, "kind": "restart", "servers": ["a-01"], "asked_by": "ada@x.test",
        "source": "cli", "asked_at": "2026-11-15T12:00:00Z", "ended_at": null,
        "state": "running", "status": "waiting: restarting server 1"});
    let alarm = json!({"id": 5, "type": "cpu", "enabled": true, "value_threshold": 90,
        "time_threshold": 600, "reminder_interval": null, "recipients": [1]});
    let lag = json!({"id": 6, "type": "consumer_lag", "enabled": true, "value_threshold": 60,
        "time_threshold": 30, "group": "billing", "reminder_interval": 600, "recipients": []});
    let recipient = |last_status: Value| {
        json!({"id": 2, "type": "webhook", "value": "https://x.test/", "name": "hook",
               "options": null, "last_status": last_status})
    };
    let at = "2026-11-15T12:00:00Z";
    let status = |ok: bool, message: &str| json!({"at": at, "ok": ok, "message": message});
    match asked {
        "GET /api/instances/7/alarms" => (200, json!([alarm, lag])),
        "POST /api/instances/7/alarms" => (201, alarm),
        "GET /api/instances/7/alarms/5" | "PUT /api/instances/7/alarms/5" => (200, alarm),
        "GET /api/instances/7/alarms/6" | "PUT /api/instances/7/alarms/6" => (200, lag),
        "GET /api/instances/7/alarms/recipients" => (200, json!([recipient(Value::Null)])),
        "POST /api/instances/7/alarms/recipients"
        | "PUT /api/instances/7/alarms/recipients/2"
        | "GET /api/instances/7/alarms/recipients/2"
        | "GET /api/instances/7/alarms/recipients/3" => (200, recipient(Value::Null)),
        "GET /api/instances/7/alarms/recipients/2 after a test" => {
            (200, recipient(status(true, "delivered")))
        }
        "GET /api/instances/7/alarms/recipients/3 after a test" => {
            (200, recipient(status(false, "x.test answered 500")))
        }
        "GET /api/instances/7/alarms/5/history" | "GET /api/instances/7/actions" => {
            (200, json!([]))
        }
        "GET /api/instances/8/actions" => (200, json!([running])),
        "GET /api/instances/8"
        | "GET /api/instances/9"
        | "GET /api/instances/8/actions/3"
        | "GET /api/instances/9/actions"
        | "POST /api/instances/9/actions/99/cancel" => (404, json!({"error": "Invalid ID"})),
        "GET /api/instances/7" => {
            let mut whole = instance(7, "orders");
            let rest = json!({"ca": "", "apikey": "", "brokers": "", "username": "",
                "password": "", "topic_prefix": "", "ready": true, "kafka_version": "4.3.1",
                "nodes": 3, "vpc": null, "vpc_id": null, "url": "", "backend": "kafka",
                "hostname_external": "", "hostname_internal": "", "created_at": at,
                "status": "running"});
            whole.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            (200, whole)
        }
        "POST /api/team/remove" => {
            let to_rotate = json!([{"id": 7, "name": "orders"}]);
            (200, json!({"message": "ada@x.test was deleted", "instances_to_rotate": to_rotate}))
        }
        "GET /api/apikeys" => {
            let key = json!({"id": "3f0c", "email": "ada@x.test", "comment": "ci", "role": "member",
                "tags": ["prod"], "created_at": at, "last_used_at": at,
                "last_used_from": "192.0.2.7", "expires_at": null});
            (200, json!([key]))
        }
        "GET /api/sessions" => {
            let session = json!({"id": "9d1f", "started_at": at, "last_seen_at": at, "ends_at": at,
                "address": null, "browser": "Firefox"});
            (200, json!([session]))
        }
        "DELETE /api/sessions" | "DELETE /api/sessions/9d1f" => (204, Value::Null),
        "POST /api/apikeys" => (200, json!({"id": "3f0c", "apikey": "n3w"})),
        "DELETE /api/apikeys/3f0c" => (204, Value::Null),
        "POST /api/instances/7/account/rotate-apikey" => (200, json!({"apikey": "n3w"})),
        "GET /api/instances" => {
            (200, json!([instance(7, "orders"), instance(8, "twice"), instance(9, "twice")]))
        }
        "GET /api/instances/7/topics" => (200, json!([topic])),
        "POST /api/instances/7/topics" => (201, topic),
        "GET /api/instances/7/topics/orders" => (200, details),
        "PUT /api/instances/7/topics/orders" => (200, topic),
        "DELETE /api/instances/7/topics/a%2Fb" => (404, json!({"error": "there is no topic a/b"})),
        "GET /api/instances/7/users" => (200, json!([{"name": "bob", "type": "sasl"}])),
        "POST /api/instances/7/users" => {
            (201, json!({"name": "bob", "type": "sasl", "password": "s3cret"}))
        }
        "GET /api/instances/7/acls" | "POST /api/instances/7/acls" => (200, json!([acl])),
        "GET /api/instances/7/config/kafka" => {
            (200, json!([{"name": "log.retention.ms", "value": 1}]))
        }
        "GET /api/instances/7/nodes" => (200, json!([node])),
        "POST /api/instances/7/actions/99/cancel" => (404, json!({"error": "Not Found"})),
        "POST /api/instances/7/actions/rebalance?dry_run=true"
        | "PUT /api/instances/7?dry_run=true" => planned(),
        "POST /api/instances/7/actions/restart" | "POST /api/instances/7/actions/rebalance" => {
            (200, json!({"message": "Done", "action": 4}))
        }
        "DELETE /api/instances/7" | "POST /api/instances/7/account/rotate-password" => {
            (204, Value::Null)
        }
        _ => others(asked).unwrap_or((200, message)),
    }
}

fn others(asked: &str) -> Option<(u16, Value)> {
    let at = "2026-11-15T12:00:00Z";
    let splunk = json!({"id": 3, "type": "splunk", "error": "", "account_id": "", "created_at": at,
        "config": {"token": "old", "host_port": "s.test:8088", "sourcetype": "kafka"}});
    let tested = |ok: bool, message: &str| json!({"ok": ok, "message": message});
    let answer = match asked {
        "GET /api/instances/7/integrations/logs" => (200, json!([splunk])),
        "GET /api/instances/7/integrations/metrics" => (200, json!([])),
        "GET /api/instances/7/integrations/logs/3" => (200, splunk),
        "POST /api/instances/7/integrations/logs/splunk" => (201, splunk),
        "PUT /api/instances/7/integrations/logs/3"
        | "DELETE /api/instances/7/integrations/logs/3" => (204, Value::Null),
        "POST /api/instances/7/integrations/logs/3/test" => (200, tested(true, "It took it")),
        "POST /api/instances/7/integrations/metrics/4/test" => {
            (200, tested(false, "it refused the key"))
        }
        _ => return printed::answer(asked),
    };
    Some(answer)
}

fn planned() -> (u16, Value) {
    let moved = json!({"topic": "orders", "partition": 3, "from": ["a-01"], "to": ["a-02"],
        "bytes": 2_000_000});
    let planned = json!({"joining": ["a-02"], "leaving": [], "restarting": [], "disk_size": 25,
        "bytes": 2_000_000, "partitions": 3, "moves": [moved], "leaders": 0, "not_raised": []});
    (200, json!({"message": "Nothing was changed", "action": null, "planned": planned}))
}

async fn serve(State(asked): State<Asked>, request: Request) -> Response {
    let what = format!("{} {}", request.method(), request.uri());
    // ":k3y" in base64: the key is the password of nobody.
    assert_eq!(request.headers()["authorization"], "Basic OmszeQ==");
    let body: Bytes = to_bytes(request.into_body(), 1 << 20).await.unwrap();
    let body = if body.is_empty() { Value::Null } else { serde_json::from_slice(&body).unwrap() };
    let tested = asked.0.lock().unwrap().iter().any(|(call, _)| call.ends_with("/test"));
    let (status, said) =
        answer(&if tested { format!("{what} after a test") } else { what.clone() });
    asked.0.lock().unwrap().push((what, body));
    let status = StatusCode::from_u16(status).unwrap();
    if said.is_null() { status.into_response() } else { (status, axum::Json(said)).into_response() }
}

struct Api {
    url: String,
    asked: Asked,
}

impl Api {
    async fn start() -> Self {
        let asked = Asked::default();
        let router = axum::Router::new().fallback(serve).with_state(asked.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        Self { url, asked }
    }

    /// What a line asks of the API, and the sentence it fails with.
    async fn run(&self, line: &str) -> (Vec<(String, Value)>, Option<String>) {
        let (asked, error, _) = self.run_and_keep(line).await;
        (asked, error)
    }

    /// The same, and what it prints.
    async fn run_and_keep(&self, line: &str) -> (Vec<(String, Value)>, Option<String>, String) {
        let api = ["--url", &self.url, "--apikey", "k3y"];
        let words = ["castellan"].into_iter().chain(line.split_whitespace()).chain(api);
        let command = Program::try_parse_from(words).unwrap().command;
        let (ended, printed) = cli::run_and_keep(command, Path::new("/nowhere")).await;
        let asked = std::mem::take(&mut *self.asked.0.lock().unwrap());
        let printed = String::from_utf8(printed).unwrap();
        (asked, ended.err().map(|error| error.to_string()), printed)
    }

    /// One call under the instance, with this body.
    async fn check(&self, line: &str, call: &str, body: Value) {
        let (method, path) = call.split_once(' ').unwrap();
        let call = format!("{method} /api/instances/7/{path}");
        for line in [line.to_owned(), format!("{line} --json")] {
            assert_eq!(self.run(&line).await, (vec![(call.clone(), body.clone())], None), "{line}");
        }
    }
}

#[tokio::test]
async fn each_verb_is_one_call() {
    let api = Api::start().await;
    let none = Value::Null;
    api.check("topic list 7", "GET topics", none.clone()).await;
    api.check("topic get 7 orders", "GET topics/orders", none.clone()).await;
    api.check("topic create 7 orders", "POST topics", json!({"name": "orders"})).await;
    api.check(
        "topic create 7 orders --partitions 3 --replicas 3 --config retention.ms=60000 \
         --config cleanup.policy=compact",
        "POST topics",
        json!({"name": "orders", "partitions": 3, "replicas": 3,
               "config": {"retention.ms": 60000, "cleanup.policy": "compact"}}),
    )
    .await;
    let grown = json!({"partitions": 6});
    api.check("topic update 7 orders --partitions 6", "PUT topics/orders", grown).await;
    api.check("topic delete 7 orders", "DELETE topics/orders", none.clone()).await;
    api.check("kafka-user list 7", "GET users", none.clone()).await;
    let bob = |kind| json!({"name": "bob", "type": kind});
    api.check("kafka-user create 7 bob", "POST users", bob("sasl")).await;
    api.check("kafka-user create 7 bob --type ssl", "POST users", bob("ssl")).await;
    api.check("kafka-user delete 7 b%b", "DELETE users/b%25b", none.clone()).await;
    api.check("acl list 7 --user bob", "GET acls", none.clone()).await;
    api.check("acl delete 7 3", "DELETE acls/3", none.clone()).await;
    api.check("config list 7", "GET config/kafka", none.clone()).await;
    api.check(
        "config set 7 log.retention.ms=86400000 auto.create.topics.enable=False",
        "POST config/kafka",
        json!({"log.retention.ms": 86_400_000, "auto.create.topics.enable": false}),
    )
    .await;
    api.check("instance rebalance 7", "POST actions/rebalance", none.clone()).await;
    api.check(
        "instance rebalance 7 --dry-run",
        "POST actions/rebalance?dry_run=true",
        none.clone(),
    )
    .await;
    api.check("node list 7", "GET nodes", none.clone()).await;
    api.check("instance rotate-password 7", "POST account/rotate-password", none).await;
}

/// What goes on before the call tells which action comes of it.
#[tokio::test]
async fn servers_are_changed_by_one_call() {
    let api = Api::start().await;
    let check = async |line: &str, path: &str, body: Value| {
        let actions = ("GET /api/instances/7/actions".to_owned(), Value::Null);
        let change = (format!("PUT /api/instances/7{path}"), body);
        assert_eq!(api.run(line).await, (vec![actions, change], None), "{line}");
    };
    check("instance update 7 --nodes 5", "", json!({"nodes": 5})).await;
    let plan = "instance update 7 --name bills --plan bat-3 --disk-size 600 --keep-replication";
    let body = json!({"name": "bills", "plan": "bat-3", "disk_size": 600,
                      "raise_replication": false});
    check(plan, "", body).await;
    let single = json!({"nodes": 1, "accept_single_copy": true});
    check("instance update 7 --nodes 1 --accept-single-copy", "", single).await;
    check("instance disk 7 --extra 100", "/disk", json!({"extra_disk_size": 100})).await;
}

#[tokio::test]
async fn a_dry_run_shows_what_would_be_done() {
    let api = Api::start().await;
    let (asked, error, printed) = api.run_and_keep("instance update 7 --nodes 3 --dry-run").await;
    let call = ("PUT /api/instances/7?dry_run=true".to_owned(), json!({"nodes": 3}));
    assert_eq!((asked, error), (vec![call], None));
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "Nothing was changed",
            "added: a-02",
            "disk of each server: 25 GB",
            "copied: 2.0 MB of 3 partitions",
        ]
    );
    assert!(lines[5].contains("orders-3") && lines[5].contains("2.0 MB"), "{printed}");
    assert_eq!(lines.last(), Some(&"and 2 partitions more"));
}

#[tokio::test]
async fn rights_are_asked_for_together() {
    let api = Api::start().await;
    let rule = |operation, resource, pattern, kind| {
        json!({"operation": operation, "resource": resource, "resource_pattern": pattern,
               "resource_pattern_type": kind})
    };
    let rules = [
        rule("read", "topic", "orders", "prefixed"),
        rule("Describe", "topic", "orders", "prefixed"),
    ];
    api.check(
        "acl create 7 --user bob --operation read --operation Describe --resource topic \
         --pattern orders --prefixed",
        "POST acls",
        json!({"user": "bob", "rules": rules}),
    )
    .await;
    api.check(
        "acl create 7 --user bob --operation alter --resource cluster",
        "POST acls",
        json!({"user": "bob", "rules": [rule("alter", "cluster", "kafka-cluster", "literal")]}),
    )
    .await;
    let (asked, error) = api.run("acl create 7 --user bob --operation read --resource topic").await;
    assert_eq!(asked, []);
    assert!(error.unwrap().contains("--pattern"));
}

#[tokio::test]
async fn a_setting_of_a_topic_changes_alone() {
    let api = Api::start().await;
    let line = "topic update 7 orders --config segment.ms=5 --unset cleanup.policy";
    let (asked, error) = api.run(line).await;
    assert_eq!(error, None);
    let put = json!({"config": {"retention.ms": -1, "segment.ms": 5}});
    let expected = [
        ("GET /api/instances/7/topics/orders".to_owned(), Value::Null),
        ("PUT /api/instances/7/topics/orders".to_owned(), put),
    ];
    assert_eq!(asked, expected);
    for (line, wrong) in [
        ("topic update 7 orders", "nothing to change"),
        ("topic update 7 orders --config a=1 --unset a", "both"),
        ("topic update 7 orders --unset segment.ms", "not set"),
        ("topic create 7 orders --config a=1 --config a=2", "twice"),
    ] {
        let (asked, error) = api.run(line).await;
        assert!(error.unwrap().contains(wrong), "{line}");
        assert!(asked.iter().all(|(call, _)| call.starts_with("GET ")), "{asked:?}");
    }
}

#[tokio::test]
async fn a_watch_ends_with_its_instance() {
    let api = Api::start().await;
    let (asked, error) = api.run("instance watch 8").await;
    let asked: Vec<&str> = asked.iter().map(|(call, _)| call.as_str()).collect();
    let (list, one) = ("GET /api/instances/8/actions", "GET /api/instances/8/actions/3");
    // It was deleted between the list and the look at what is in it.
    let deleted = "the instance was deleted before what went on had ended";
    assert_eq!((asked, error.as_deref()), (vec![list, list, one], Some(deleted)));
    // One that was never there is an error.
    let (_, error) = api.run("instance watch 9").await;
    assert_eq!(error.as_deref(), Some("Invalid ID"));
}

#[tokio::test]
async fn an_action_that_is_not_there_is_named() {
    let api = Api::start().await;
    let (_, error) = api.run("instance cancel 7 99").await;
    let expected = "instance 7 has no action 99; \
                    `castellan instance actions 7` shows what was asked of it";
    assert_eq!(error.as_deref(), Some(expected));
    let (_, error) = api.run("instance cancel 9 99").await;
    assert_eq!(error.as_deref(), Some("Invalid ID"), "it is the instance that is not there");
}

#[tokio::test]
async fn a_server_goes_by_its_number_too() {
    let api = Api::start().await;
    let (asked, error) = api.run("instance restart 7 --server 1").await;
    let (list, restart) = ("GET /api/instances/7/nodes", "POST /api/instances/7/actions/restart");
    let named = (restart.to_owned(), json!({"nodes": ["a-01"]}));
    assert_eq!((asked, error), (vec![(list.to_owned(), Value::Null), named], None));
}

#[tokio::test]
async fn an_instance_goes_by_its_name_too() {
    let api = Api::start().await;
    let (asked, error) = api.run("topic list orders").await;
    assert_eq!(error, None);
    assert_eq!(asked[1].0, "GET /api/instances/7/topics");
    for (line, call) in [
        ("group list orders", "GET groups"),
        ("group get orders billing", "GET groups/billing"),
        ("group reset orders billing --to-latest", "POST groups/billing/reset"),
        ("group delete orders billing", "DELETE groups/billing"),
        ("message read orders pay", "GET topics/pay/messages"),
        ("message write orders pay --value x", "POST topics/pay/messages"),
        ("quota list orders", "GET quotas"),
        ("quota set orders --user ada --producer-byte-rate 5", "PUT quotas"),
        ("quota remove orders --user ada", "DELETE quotas?user=ada"),
        ("certificate list orders", "GET ca/certificates"),
        ("certificate revoke orders 4f1c", "DELETE ca/certificates/4f1c"),
        ("instance actions orders", "GET actions"),
        ("instance watch orders", "GET actions"),
        ("instance cancel orders 12", "POST actions/12/cancel"),
        ("instance restart orders", "POST actions/cluster-restart"),
        ("instance stop orders --server a-01", "POST actions/stop"),
        ("instance start orders", "POST actions/cluster-start"),
    ] {
        let (asked, error) = api.run(line).await;
        // What this server says of instances is of another kind; that it is asked is enough.
        assert!(error.is_none() || line.starts_with("instance "), "{line}: {error:?}");
        let (method, path) = call.split_once(' ').unwrap();
        let asked: Vec<&str> = asked.iter().map(|(call, _)| call.as_str()).collect();
        let call = format!("{method} /api/instances/7/{path}");
        assert_eq!(asked, ["GET /api/instances", &call], "{line}");
    }
    let (_, error) = api.run("topic list twice").await;
    assert!(error.unwrap().ends_with("give an id: 8, 9"));
    let (_, error) = api.run("topic list nobody").await;
    assert!(error.unwrap().contains("no instance nobody"));
}

#[tokio::test]
async fn an_instance_is_shown_and_deleted_by_its_name() {
    let api = Api::start().await;
    for (verb, method) in [("get", "GET"), ("delete", "DELETE")] {
        let (asked, error) = api.run(&format!("instance {verb} orders")).await;
        let asked: Vec<&str> = asked.iter().map(|(call, _)| call.as_str()).collect();
        assert_eq!(asked, ["GET /api/instances", &format!("{method} /api/instances/7")]);
        assert_eq!(error, None, "{verb}");
    }
}

#[tokio::test]
async fn a_list_of_instances_has_state_servers_and_version() {
    let api = Api::start().await;
    let (_, error, printed) = api.run_and_keep("instance list").await;
    assert_eq!(error, None);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = printed.lines().map(words).collect();
    let expected =
        ["ID NAME PLAN REGION SERVERS VERSION STATE TAGS", "7 orders mouse-3 r 3 4.3.1 running"];
    assert_eq!(lines, expected, "two were deleted meanwhile");
}

#[tokio::test]
async fn what_a_removed_member_could_read_is_printed_with_the_commands_that_rotate_it() {
    let api = Api::start().await;
    let (asked, error, printed) = api.run_and_keep("team remove ada@x.test").await;
    assert_eq!(asked, [("POST /api/team/remove".into(), json!({"email": "ada@x.test"}))]);
    assert_eq!(error, None);
    assert!(printed.contains("castellan instance rotate-apikey 7"), "{printed}");
    let (asked, error, printed) = api.run_and_keep("instance rotate-apikey 7").await;
    assert_eq!(asked[0].0, "POST /api/instances/7/account/rotate-apikey");
    assert_eq!((error, printed.contains("n3w")), (None, true));
}

#[tokio::test]
async fn keys_and_sessions_are_listed_and_ended() {
    let api = Api::start().await;
    let check = async |line: &str, call: &str, body: Value, expected: &str| {
        let (asked, error, printed) = api.run_and_keep(line).await;
        assert_eq!((asked, error), (vec![(call.to_owned(), body)], None), "{line}");
        assert!(printed.contains(expected), "{line}: {printed}");
    };
    check("key list", "GET /api/apikeys", Value::Null, "192.0.2.7").await;
    check("key list --json", "GET /api/apikeys", Value::Null, "last_used_from").await;
    check("key create", "POST /api/apikeys", json!({}), "shown only now): n3w").await;
    let body = json!({"comment": "ci", "role": "monitor", "tags": ["a", "b"],
                      "expires_at": "2030-01-01T00:00:00Z"});
    let line = "key create --comment ci --role monitor --tag a --tag b \
                --expires-at 2030-01-01T00:00:00Z --json";
    check(line, "POST /api/apikeys", body, "\"apikey\": \"n3w\"").await;
    check("key delete 3f0c", "DELETE /api/apikeys/3f0c", Value::Null, "").await;
    check("session list", "GET /api/sessions", Value::Null, "Firefox").await;
    check("session end 9d1f", "DELETE /api/sessions/9d1f", Value::Null, "").await;
    check("session end --all", "DELETE /api/sessions", Value::Null, "").await;
}

#[tokio::test]
async fn names_reach_no_other_path_and_refusals_are_told() {
    let api = Api::start().await;
    let (asked, error) = api.run("topic delete 7 ..").await;
    assert_eq!(asked, []);
    assert!(error.unwrap().contains("\"..\""));
    let (asked, error) = api.run("topic delete 7 a/b").await;
    assert_eq!(asked[0].0, "DELETE /api/instances/7/topics/a%2Fb");
    assert_eq!(error.unwrap(), "there is no topic a/b");
}

#[tokio::test]
async fn alarms_are_made_changed_and_read() {
    let api = Api::start().await;
    let none = Value::Null;
    api.check("alarm list 7", "GET alarms", none.clone()).await;
    api.check("alarm create 7 notice", "POST alarms", json!({"type": "notice"})).await;
    api.check(
        "alarm create 7 consumer_lag --value 60 --time 30 --group billing --recipients 1,2 \
         --remind 600 --disabled",
        "POST alarms",
        json!({"type": "consumer_lag", "value_threshold": 60, "time_threshold": 30,
               "group": "billing", "recipients": [1, 2], "reminder_interval": 600,
               "enabled": false}),
    )
    .await;
    api.check("alarm history 7 5", "GET alarms/5/history", none.clone()).await;
    api.check("alarm delete 7 5", "DELETE alarms/5", none).await;

    // Thresholds that are not named are sent as they were, the rest not at all.
    let cpu = |value: i64, time: i64| json!({"value_threshold": value, "time_threshold": time});
    let with = |mut body: Value, name: &str, value: Value| {
        body[name] = value;
        body
    };
    for (alarm, options, body) in [
        (5, "--value 95", cpu(95, 600)),
        (5, "--time 30 --enabled false", with(cpu(90, 30), "enabled", json!(false))),
        (5, "--remind 0", with(cpu(90, 600), "reminder_interval", json!(0))),
        (5, "--recipients 2,3", with(cpu(90, 600), "recipients", json!([2, 3]))),
        (5, "--everybody", with(cpu(90, 600), "recipients", json!([]))),
        (6, "--time 60", with(cpu(60, 60), "group", json!("billing"))),
    ] {
        let path = format!("/api/instances/7/alarms/{alarm}");
        let expected = vec![(format!("GET {path}"), Value::Null), (format!("PUT {path}"), body)];
        let asked = api.run(&format!("alarm update 7 {alarm} {options}")).await;
        assert_eq!(asked, (expected, None), "{options}");
    }
}

#[tokio::test]
async fn integrations_are_made_changed_and_tested() {
    let api = Api::start().await;
    let none = Value::Null;
    let path = "/api/instances/7/integrations";
    let asked = |calls: &[(&str, &Value)]| {
        let call = |(what, body): &(&str, &Value)| {
            let (method, rest) = what.split_once(' ').unwrap();
            (format!("{method} {path}/{rest}"), Value::clone(body))
        };
        calls.iter().map(call).collect::<Vec<_>>()
    };
    let (listed, _) = api.run("integration list 7").await;
    assert_eq!(listed, asked(&[("GET logs", &none), ("GET metrics", &none)]));
    api.check("integration list 7 --kind metrics", "GET integrations/metrics", none.clone()).await;
    api.check("integration show 7 logs 3", "GET integrations/logs/3", none.clone()).await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("token");
    std::fs::write(&file, "s3cret\n").unwrap();
    let token = format!("token=@{}", file.display());
    api.check(
        &format!("integration create 7 logs splunk host_port=s.test:8088 {token}"),
        "POST integrations/logs/splunk",
        json!({"host_port": "s.test:8088", "token": "s3cret"}),
    )
    .await;
    // What is not named is sent as it was.
    let (updated, error) =
        api.run(&format!("integration update 7 logs 3 {token} sourcetype=")).await;
    let body = json!({"host_port": "s.test:8088", "token": "s3cret"});
    let read = ("GET logs/3", &none);
    assert_eq!((updated, error), (asked(&[read, ("PUT logs/3", &body), read]), None));
    let refused = [
        ("create 7 logs splunk token=t", "host_port: Field is required"),
        ("create 7 metrics splunk token=t", "splunk takes no metrics; what does: "),
    ];
    for (line, expected) in refused {
        let (asked, error) = api.run(&format!("integration {line}")).await;
        assert_eq!(asked, []);
        assert!(error.unwrap().starts_with(expected));
    }
    api.check("integration test 7 logs 3", "POST integrations/logs/3/test", none.clone()).await;
    let (_, error) = api.run("integration test 7 metrics 4").await;
    assert_eq!(error.as_deref(), Some("the test failed: it refused the key"));
    api.check("integration delete 7 logs 3", "DELETE integrations/logs/3", none).await;
}

#[tokio::test]
async fn recipients_are_made_changed_and_tested() {
    let api = Api::start().await;
    let none = Value::Null;
    let (all, one) = ("POST alarms/recipients", "PUT alarms/recipients/2");
    api.check("recipient list 7", "GET alarms/recipients", none.clone()).await;
    let ada = json!({"type": "email", "value": "ada@x.test", "name": "Ada"});
    api.check("recipient create 7 email ada@x.test --name Ada", all, ada).await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("secret");
    std::fs::write(&file, "s3cret\n").unwrap();
    let line =
        format!("recipient create 7 webhook https://x.test/ --secret-file {}", file.display());
    let options = json!({"secret": "s3cret"});
    let hook = json!({"type": "webhook", "value": "https://x.test/", "options": options});
    api.check(&line, all, hook).await;
    let called =
        json!([{"type": "team", "name": "Ops"}, {"type": "user", "username": "ada@x.test"}]);
    for (words, kind, options) in [
        ("pagerduty k3y --dedupkey all", "pagerduty", json!({"dedupkey": "all"})),
        ("victorops k3y --rk ops", "victorops", json!({"rk": "ops"})),
        (
            "opsgenie-eu k3y --responder team:Ops --responder user:ada@x.test",
            "opsgenie-eu",
            json!({"responders": called}),
        ),
    ] {
        let body = json!({"type": kind, "value": "k3y", "options": options});
        api.check(&format!("recipient update 7 2 {words}"), one, body).await;
    }
    let (asked, error) = api.run("recipient create 7 opsgenie k3y --responder Ops").await;
    assert_eq!(asked, []);
    assert!(error.unwrap().starts_with("Ops is no responder"));
    api.check("recipient delete 7 2", "DELETE alarms/recipients/2", none.clone()).await;

    let failed = "the test is not delivered: x.test answered 500";
    for (recipient, expected) in [(2, None), (3, Some(failed))] {
        let path = format!("/api/instances/7/alarms/recipients/{recipient}");
        let look = (format!("GET {path}"), none.clone());
        let test = (format!("POST {path}/test"), none.clone());
        let (asked, error) = api.run(&format!("recipient test 7 {recipient}")).await;
        assert_eq!(asked, [look.clone(), test, look]);
        assert_eq!(error.as_deref(), expected);
    }
}
