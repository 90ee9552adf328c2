//! Groups, messages, quotas and certificates: what each verb sends, and what it prints
//! of the answer.

use super::Api;
use serde_json::{Value, json};

/// Answers of the API, by method and path.
pub fn answer(asked: &str) -> Option<(u16, Value)> {
    let (call, _) = asked.split_once('?').unwrap_or((asked, ""));
    let call = call.replacen(" /api/instances/7/", " ", 1);
    let answer = match call.as_str() {
        "GET groups" => (200, json!([group()])),
        "GET groups/billing" => (200, group()),
        "POST groups/billing/reset" => (200, moved()),
        "DELETE groups/billing" | "DELETE quotas" | "DELETE ca/certificates/4f1c" => {
            (204, Value::Null)
        }
        "GET topics/pay/messages" => (200, messages()),
        "POST topics/pay/messages" => (201, json!([{"partition": 2, "offset": 7}])),
        "GET quotas" => (200, json!([quota()])),
        "PUT quotas" => (200, quota()),
        "GET ca/certificates" => (200, certificates()),
        _ => return None,
    };
    Some(answer)
}

fn group() -> Value {
    let member = json!({"id": "m1", "client_id": "reports-1", "host": "192.0.2.9",
        "assignments": [{"topic": "orders", "partitions": [0]}]});
    let read = json!({"topic": "orders", "partition": 0, "offset": 3, "end": 10, "lag": 7});
    let unread = json!({"topic": "orders", "partition": 1, "offset": null, "end": null,
        "lag": null});
    json!({"name": "billing", "state": "Stable", "protocol_type": "consumer",
           "members": [member], "topics": ["orders", "pay"], "lag": null,
           "offsets": [read, unread]})
}

fn moved() -> Value {
    json!([{"topic": "orders", "partition": 0, "offset": 3, "new_offset": 10},
           {"topic": "orders", "partition": 1, "offset": null, "new_offset": 0}])
}

fn messages() -> Value {
    let message = |offset: i64, value: Value, encoding: &str, omitted: Value| {
        json!({"partition": 1, "offset": offset, "timestamp": "2026-11-15T12:00:00Z",
               "key": null, "key_encoding": "text", "value": value, "value_encoding": encoding,
               "headers": [], "omitted_bytes": omitted})
    };
    json!([
        message(5, json!("shipped"), "text", Value::Null),
        message(6, json!("/w=="), "base64", Value::Null),
        message(7, Value::Null, "text", json!(9000))
    ])
}

fn quota() -> Value {
    json!({"user": "ada", "client_id": null, "producer_byte_rate": 1_048_576,
           "consumer_byte_rate": null, "request_percentage": 12.5,
           "controller_mutation_rate": null})
}

fn certificates() -> Value {
    let times = |revoked: Value| {
        json!({"serial": "4f1c", "cn": "orders", "issued_at": "2026-11-15T12:00:00Z",
               "expires_at": "2027-12-17T12:00:00Z", "revoked_at": revoked})
    };
    json!([times(Value::Null), times(json!("2026-11-16T08:00:00Z"))])
}

impl Api {
    /// One call with this body, of which a person is shown these lines and a program
    /// this document.
    async fn shows(&self, line: &str, call: &str, body: Value, lines: &[&str], document: &Value) {
        let (method, path) = call.split_once(' ').unwrap();
        let call = format!("{method} /api/instances/7/{path}");
        let expected = vec![(call, body)];
        let (asked, error, printed) = self.run_and_keep(line).await;
        assert_eq!((asked, error), (expected.clone(), None), "{line}");
        // How wide columns are is nobody's business.
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown: Vec<String> = printed.lines().map(words).collect();
        assert_eq!(shown, lines, "{line}");
        let (asked, error, printed) = self.run_and_keep(&format!("{line} --json")).await;
        assert_eq!((asked, error), (expected, None), "{line} --json");
        assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), *document, "{line} --json");
    }
}

#[tokio::test]
async fn groups() {
    let api = Api::start().await;
    let none = Value::Null;
    let lines = ["NAME STATE MEMBERS LAG TOPICS", "billing Stable 1 - orders,pay"];
    api.shows("group list 7", "GET groups", none.clone(), &lines, &json!([group()])).await;
    let lines = [
        "TOPIC PARTITION OFFSET END LAG MEMBER",
        "orders 0 3 10 7 reports-1@192.0.2.9",
        "orders 1 - - - -",
    ];
    let line = "group get 7 billing";
    api.shows(line, "GET groups/billing", none.clone(), &lines, &group()).await;
    let lines = ["Group billing is deleted"];
    let deleted = json!({"group": "billing", "deleted": true});
    let line = "group delete 7 billing";
    api.shows(line, "DELETE groups/billing", none, &lines, &deleted).await;
}

#[tokio::test]
async fn a_reset_says_where_to_and_of_what() {
    let api = Api::start().await;
    let check = async |options: &str, body: Value| {
        let lines = ["TOPIC PARTITION OFFSET NEW OFFSET", "orders 0 3 10", "orders 1 - 0"];
        let line = format!("group reset 7 billing {options}");
        api.shows(&line, "POST groups/billing/reset", body, &lines, &moved()).await;
    };
    check("--to-latest", json!({"strategy": "to-latest", "dry_run": false})).await;
    check("--to-earliest --dry-run", json!({"strategy": "to-earliest", "dry_run": true})).await;
    let back = json!({"strategy": "shift-by", "shift_by": -5, "dry_run": false});
    check("--shift-by -5", back).await;
    check(
        "--to-datetime 2026-11-15T12:00:00Z --topic orders --topic pay:1",
        json!({"strategy": "to-datetime", "datetime": "2026-11-15T12:00:00Z",
               "topics": ["orders", "pay:1"], "dry_run": false}),
    )
    .await;
}

#[tokio::test]
async fn messages_are_read_from_where_it_is_said() {
    let api = Api::start().await;
    let lines = [
        "PARTITION OFFSET TIME KEY VALUE",
        "1 5 2026-11-15T12:00:00.000Z - shipped",
        "1 6 2026-11-15T12:00:00.000Z - base64:/w==",
        "1 7 2026-11-15T12:00:00.000Z - (9000 bytes, too large to be shown)",
    ];
    for (options, query) in [
        ("", ""),
        ("--from earliest --limit 3", "?from=earliest&limit=3"),
        ("--partition 1 --offset 5", "?partition=1&offset=5"),
        ("--from 2026-11-15T12:00:00Z", "?from=2026-11-15T12%3A00%3A00Z"),
    ] {
        let line = format!("message read 7 pay {options}");
        let call = format!("GET topics/pay/messages{query}");
        api.shows(&line, &call, Value::Null, &lines, &messages()).await;
    }
}

#[tokio::test]
async fn a_message_is_sent_whole() {
    let api = Api::start().await;
    let check = async |options: &str, body: Value| {
        let written = json!([{"partition": 2, "offset": 7}]);
        let line = format!("message write 7 pay {options}");
        let lines = ["PARTITION OFFSET", "2 7"];
        api.shows(&line, "POST topics/pay/messages", body, &lines, &written).await;
    };
    check("--value x", json!({"value": "x"})).await;
    check("--key k", json!({"key": "k"})).await;
    check(
        "--value -1 --key k --header trace=4b=f9 --partition 2",
        json!({"value": "-1", "key": "k", "partition": 2,
               "headers": [{"name": "trace", "value": "4b=f9", "encoding": ""}]}),
    )
    .await;
}

#[tokio::test]
async fn quotas() {
    let api = Api::start().await;
    let lines = [
        "USER CLIENT ID PRODUCE B/S CONSUME B/S REQUESTS % PARTITIONS/S",
        "ada - 1048576 - 12.5 -",
    ];
    api.shows("quota list 7", "GET quotas", Value::Null, &lines, &json!([quota()])).await;
    let body = json!({"user": "ada", "producer_byte_rate": 1_048_576.0,
                      "consumer_byte_rate": null, "request_percentage": 12.5});
    let line = "quota set 7 --user ada --producer-byte-rate 1048576 --consumer-byte-rate none \
                --request-percentage 12.5";
    api.shows(line, "PUT quotas", body, &lines, &json!([quota()])).await;
    // A limit that is no number must not become none.
    for limit in ["nan", "inf", "1e999", "much"] {
        let line = format!("quota set 7 --user ada --producer-byte-rate {limit}");
        let refused = format!("{limit} is neither a number nor none");
        assert_eq!(api.run(&line).await, (vec![], Some(refused)), "{line}");
    }

    let removed =
        |user: Value, client: Value| json!({"user": user, "client_id": client, "removed": true});
    let lines = ["The limits of user ada are removed"];
    let document = removed(json!("ada"), Value::Null);
    let line = "quota remove 7 --user ada";
    api.shows(line, "DELETE quotas?user=ada", Value::Null, &lines, &document).await;
    let lines = ["The limits of user ada and client id reports are removed"];
    let document = removed(json!("ada"), json!("reports"));
    let line = "quota remove 7 --user ada --client-id reports";
    let call = "DELETE quotas?user=ada&client_id=reports";
    api.shows(line, call, Value::Null, &lines, &document).await;
}

#[tokio::test]
async fn certificates_are_listed_and_revoked() {
    let api = Api::start().await;
    let lines = [
        "SERIAL CN ISSUED EXPIRES REVOKED",
        "4f1c orders 2026-11-15T12:00:00Z 2027-12-17T12:00:00Z",
        "4f1c orders 2026-11-15T12:00:00Z 2027-12-17T12:00:00Z 2026-11-16T08:00:00Z",
    ];
    let (line, call) = ("certificate list 7", "GET ca/certificates");
    api.shows(line, call, Value::Null, &lines, &certificates()).await;
    let lines = ["Certificate 4f1c is revoked; brokers refuse it within seconds"];
    let (line, call) = ("certificate revoke 7 4f1c", "DELETE ca/certificates/4f1c");
    let document = json!({"serial": "4f1c", "revoked": true});
    api.shows(line, call, Value::Null, &lines, &document).await;
}
