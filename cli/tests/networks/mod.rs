//! Firewalls and networks: what each verb sends, and what it prints of the answer.

use super::Api;
use serde_json::{Value, json};

const FIREWALL: &str = "/api/instances/7/security/firewall";

/// Answers of the API, by method and path.
pub fn answer(asked: &str) -> Option<(u16, Value)> {
    let answer = match asked {
        "GET /api/instances/7/security/firewall" => (200, rules()),
        "POST /api/instances/7/security/firewall" => (201, rules()),
        "GET /api/instances/7/security/firewall/configured" => (200, json!({"configured": true})),
        "GET /api/instances/7/security/firewall/configured at first" => {
            let sentence = "The firewall rules are not in effect yet";
            (400, json!({"error": sentence, "message": sentence, "error_code": 40001}))
        }
        "GET /api/instances/8/security/firewall" => (200, json!([office()])),
        "GET /api/vpcs" => (200, json!([vpc(3, "net"), vpc(4, "twice"), vpc(5, "twice")])),
        "GET /api/vpcs/3" => (200, vpc(3, "net")),
        "POST /api/vpcs" => (200, json!({"id": 3, "message": "The VPC is there", "apikey": ""})),
        "PUT /api/vpcs/3" => (200, json!({"message": "Changes saved"})),
        "DELETE /api/vpcs/3" | "DELETE /api/instances/7?keep_vpc=true" => (204, Value::Null),
        "DELETE /api/vpcs/4" => {
            (400, json!({"error": "The VPC is in use by instance 7; delete that first"}))
        }
        _ => return None,
    };
    Some(answer)
}

fn office() -> Value {
    json!({"ip": "203.0.113.0/24", "services": ["SASL_SSL"], "ports": [9093],
           "description": "Office"})
}

fn rules() -> Value {
    let inside = json!({"ip": "10.56.72.0/24", "services": [], "ports": [9092],
                        "description": "", "enforced": false});
    json!([office(), inside])
}

fn vpc(id: i64, name: &str) -> Value {
    json!({"id": id, "name": name, "plan": "vpc", "subnet": "10.56.72.0/24", "region": "r",
           "tags": ["prod"], "providerid": "p", "instances": [7, 9]})
}

/// How wide columns are is nobody's business.
fn lines(printed: &str) -> Vec<String> {
    printed.lines().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

const TABLE: [&str; 3] = [
    "RANGE OPEN ENFORCED DESCRIPTION",
    "203.0.113.0/24 SASL_SSL,9093 yes Office",
    "10.56.72.0/24 9092 no",
];

#[tokio::test]
async fn rules_are_listed_and_replaced() {
    let api = Api::start().await;
    let get = (format!("GET {FIREWALL}"), Value::Null);
    let post = |rules: Value| (format!("POST {FIREWALL}"), rules);
    let rule = |ip: &str, services: Value, ports: Value, description: &str| json!({"ip": ip, "services": services, "ports": ports, "description": description});
    let (asked, error, printed) = api.run_and_keep("firewall list 7").await;
    assert_eq!((asked, error), (vec![get.clone()], None));
    assert_eq!(lines(&printed), TABLE);
    let (_, _, printed) = api.run_and_keep("firewall list 7 --json").await;
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), rules());

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rules.json");
    std::fs::write(&file, printed).unwrap();
    let home = rule("198.51.100.7/32", json!(["SSL"]), json!([9094]), "");
    let named = |description| rule("198.51.100.7/32", json!(["SSL"]), json!([]), description);
    let as_read = rules().as_array().unwrap().clone();
    let and = |new: Value| Value::from([as_read.clone(), vec![new]].concat());
    for (line, calls) in [
        ("firewall set 7 198.51.100.7/32=SSL,9094".to_owned(), vec![post(json!([home]))]),
        (format!("firewall set 7 --file {}", file.display()), vec![post(rules())]),
        (
            "firewall add 7 198.51.100.7/32=SSL --description Home".to_owned(),
            vec![get.clone(), post(and(named("Home")))],
        ),
        ("firewall remove 7 10.56.72.0/24".to_owned(), vec![get.clone(), post(json!([office()]))]),
        ("firewall reset 7".to_owned(), vec![post(json!([]))]),
    ] {
        let (asked, error, printed) = api.run_and_keep(&line).await;
        assert_eq!((asked, error), (calls, None), "{line}");
        assert_eq!(lines(&printed), TABLE, "{line}");
    }
}

#[tokio::test]
async fn what_would_open_or_change_nothing_is_not_sent() {
    let api = Api::start().await;
    let directory = tempfile::tempdir().unwrap();
    let (none, text) = (directory.path().join("none.json"), directory.path().join("text"));
    std::fs::write(&none, "[]").unwrap();
    std::fs::write(&text, "203.0.113.0/24").unwrap();
    for (line, expected) in [
        ("firewall set 7 203.0.113.0/24".to_owned(), "203.0.113.0/24 is no rule"),
        (format!("firewall set 7 --file {}", none.display()), "no rules mean the default"),
        (format!("firewall set 7 --file {}", text.display()), "text holds no rules"),
        ("firewall remove 7 192.0.2.0/24".to_owned(), "no rule is for 192.0.2.0/24"),
        // The last one: nothing left would be open from anywhere.
        ("firewall remove 8 203.0.113.0/24".to_owned(), "no rule would be left"),
    ] {
        let (asked, error) = api.run(&line).await;
        let error = error.unwrap();
        assert!(error.contains(expected), "{line}: {error}");
        assert!(asked.iter().all(|(call, _)| call.starts_with("GET ")), "{line}: {asked:?}");
    }
}

#[tokio::test]
async fn a_change_can_be_waited_for() {
    let api = Api::start().await;
    let (asked, error, printed) = api.run_and_keep("firewall reset 7 --wait").await;
    let asked: Vec<&str> = asked.iter().map(|(call, _)| call.as_str()).collect();
    let look = "GET /api/instances/7/security/firewall/configured";
    assert_eq!(asked, ["POST /api/instances/7/security/firewall", look, look]);
    assert_eq!(error, None);
    assert_eq!(lines(&printed), TABLE);
}

#[tokio::test]
async fn networks() {
    let api = Api::start().await;
    let none = Value::Null;
    let row = "3 net r 10.56.72.0/24 7,9 prod";
    let headings = "ID NAME REGION SUBNET INSTANCES TAGS";
    let get = ("GET /api/vpcs/3".to_owned(), none.clone());
    let list = ("GET /api/vpcs".to_owned(), none.clone());
    let new = json!({"name": "net", "region": "r", "subnet": "10.56.72.0/24", "tags": ["prod"]});
    let create = ("POST /api/vpcs".to_owned(), new);
    let put = |changes: Value| ("PUT /api/vpcs/3".to_owned(), changes);
    let delete = ("DELETE /api/vpcs/3".to_owned(), none.clone());
    for (line, calls, shown) in [
        ("vpc get 3", vec![get.clone()], vec![headings, row]),
        ("vpc get net", vec![list.clone(), get.clone()], vec![headings, row]),
        (
            "vpc create --name net --region r --subnet 10.56.72.0/24 --tag prod",
            vec![create, get],
            vec![headings, row],
        ),
        ("vpc update 3 --name new", vec![put(json!({"name": "new"}))], vec!["Changes saved"]),
        ("vpc update 3 --no-tags", vec![put(json!({"tags": []}))], vec!["Changes saved"]),
        ("vpc delete net", vec![list, delete], vec!["Network 3 is deleted"]),
    ] {
        let (asked, error, printed) = api.run_and_keep(line).await;
        assert_eq!((asked, error), (calls, None), "{line}");
        assert_eq!(lines(&printed), shown, "{line}");
    }
    let (_, _, printed) = api.run_and_keep("vpc list").await;
    assert_eq!(lines(&printed).len(), 4);
    let (_, _, printed) = api.run_and_keep("vpc get 3 --json").await;
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), vpc(3, "net"));
    for (line, expected) in [
        ("vpc update 3", "nothing to change; give --name, --tag or --no-tags"),
        ("vpc delete twice", "several networks are called twice; give an id: 4, 5"),
        ("vpc delete nobody", "there is no network nobody; `castellan vpc list` shows yours"),
        ("vpc delete 4", "The VPC is in use by instance 7; delete that first"),
    ] {
        let (_, error) = api.run(line).await;
        assert_eq!(error.as_deref(), Some(expected), "{line}");
    }
    let (asked, error) = api.run("instance delete 7 --keep-vpc").await;
    assert_eq!(asked, [("DELETE /api/instances/7?keep_vpc=true".to_owned(), none)]);
    assert_eq!(error, None);
}
