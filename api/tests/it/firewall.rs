//! Firewall rules: what may be asked, what is read, and when they are in effect.

use crate::call::{Answer, Call};
use crate::world::World;
use model::{Instance, Role};
use serde_json::{Value, json};

const FIREWALL: &str = "security/firewall";

struct Desk {
    world: World,
    instance: Instance,
}

impl Desk {
    async fn new() -> Self {
        let world = World::new().await;
        let instance = world.create("orders", &[]).await;
        Self { world, instance }
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/instances/{}/{FIREWALL}{rest}", self.instance.id)
    }

    async fn send(&self, method: &str, body: &Value) -> Answer {
        let call = Call::new(method, &self.path("")).key(&self.world.key).json(body);
        call.send(&self.world.customer).await
    }

    async fn get(&self, rest: &str) -> Answer {
        Call::get(&self.path(rest)).key(&self.world.key).send(&self.world.customer).await
    }

    async fn rules(&self) -> Value {
        let answer = self.get("").await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()
    }

    /// A change that is refused, and changes nothing.
    async fn refused(&self, body: &Value) -> Value {
        let before = self.rules().await;
        for method in ["POST", "PUT"] {
            let answer = self.send(method, body).await;
            assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        }
        assert_eq!(self.rules().await, before);
        self.send("PUT", body).await.json()
    }

    async fn subnet(&self) -> String {
        let mut reader = self.world.app.store().reader();
        let vpc = store::vpcs::find(&mut reader, self.instance.vpc_id).await.unwrap();
        vpc.unwrap().subnet.to_string()
    }
}

fn default_rule() -> Value {
    json!({"ip": "0.0.0.0/0", "services": ["SSL", "SASL_SSL"], "ports": [],
           "description": "Default", "enforced": false})
}

#[tokio::test]
async fn rules_are_replaced_and_read_as_they_were_sent() {
    let desk = Desk::new().await;
    assert_eq!(desk.rules().await, json!([default_rule()]));
    let subnet = desk.subnet().await;
    let rules = json!([
        {"ip": "203.0.113.0/24", "services": ["SASL_SSL", "AMQPS", "SSL"], "ports": [9093],
         "description": "Office ☃", "enforced": true, "colour": "red"},
        {"ip": subnet, "ports": [9092]},
    ]);
    let expected = json!([
        {"ip": "203.0.113.0/24", "services": ["SASL_SSL", "SSL"], "ports": [9093],
         "description": "Office ☃", "enforced": false},
        {"ip": subnet, "services": [], "ports": [9092], "description": "", "enforced": false},
    ]);
    let created = desk.send("POST", &rules).await;
    assert_eq!((created.status.as_u16(), created.json()), (201, expected.clone()));
    assert_eq!(desk.rules().await, expected);
    // What was read can be sent back.
    let updated = desk.send("PUT", &expected).await;
    assert_eq!((updated.status.as_u16(), updated.text.as_str()), (204, ""));
    assert_eq!(desk.rules().await, expected);
    let one = json!([{"ip": "198.51.100.7/32", "services": ["SSL"], "ports": null}]);
    assert_eq!(desk.send("PUT", &one).await.status, 204);
    assert_eq!(desk.rules().await.as_array().unwrap().len(), 1, "all are replaced");
    assert_eq!(desk.send("POST", &json!([])).await.json(), json!([default_rule()]));
    insta::assert_snapshot!(desk.world.audit().await.join("\n"));
}

/// Clients of the family reset a firewall by their own default rule.
#[tokio::test]
async fn the_default_of_other_products_is_the_default() {
    let desk = Desk::new().await;
    let office = json!([{"ip": "203.0.113.0/24", "services": ["SSL"]}]);
    let others = json!([{"ip": "0.0.0.0/0", "ports": [], "description": "Default",
        "services": ["AMQP", "AMQPS", "HTTPS", "MQTT", "MQTTS", "STOMP", "STOMPS", "STREAM",
                     "STREAM_SSL"]}]);
    for reset in [others, json!([])] {
        assert_eq!(desk.send("PUT", &office).await.status, 204);
        assert_eq!(desk.send("PUT", &reset).await.status, 204);
        assert_eq!(desk.rules().await, json!([default_rule()]));
    }
}

#[tokio::test]
async fn what_is_refused() {
    let desk = Desk::new().await;
    let subnet = desk.subnet().await;
    let mut refusals = Vec::new();
    for body in [
        json!([{}]),
        json!([{"ip": "203.0.113.0/24"}]),
        json!([{"ip": "203.0.113.0/24", "services": ["AMQPS"]}]),
        json!([{"ip": "0.0.0.0/0", "services": []}]),
        json!([{"ip": "0.0.0.0/0", "services": ["AMQPS"]}, {"ip": "0.0.0.0/0", "ports": [9094]}]),
        json!([{"ip": "203.0.113.7", "ports": [9094]}]),
        json!([{"ip": "203.0.113.7/24", "ports": [9094]}]),
        json!([{"ip": "2001:db8::/32", "ports": [9094]}]),
        json!([{"ip": 7, "services": "SSL", "ports": ["9094"], "description": {}}]),
        json!([{"ip": "203.0.113.0/24", "services": ["sasl_ssl"]}]),
        json!([{"ip": "203.0.113.0/24", "ports": [9091]}]),
        json!([{"ip": "203.0.113.0/24", "ports": [9094], "description": "x".repeat(129)}]),
        json!([{"ip": "203.0.113.0/24", "ports": [9094], "description": "a\nb"}]),
        json!([{"ip": "0.0.0.0/0", "services": ["PLAINTEXT"]}]),
        json!([{"ip": "203.0.113.0/24", "ports": [9094, 9092]}]),
        json!(["203.0.113.0/24"]),
        json!({"ip": "203.0.113.0/24", "ports": [9094]}),
        json!({"rules": "203.0.113.0/24"}),
        json!("203.0.113.0/24"),
        json!(vec![json!({"ip": "203.0.113.0/24", "ports": [9094]}); 101]),
    ] {
        let refused = desk.refused(&body).await.to_string();
        let body = body.to_string();
        let body: String = body.chars().take(120).collect();
        refusals.push(format!("{body}\n  {}", refused.replace(&subnet, "[subnet]")));
    }
    insta::assert_snapshot!(refusals.join("\n"));
    let unreadable = Call::put(&desk.path("")).key(&desk.world.key).body("application/json", "[{");
    let answer = unreadable.send(&desk.world.customer).await;
    assert_eq!(answer.status, 400);
    assert!(answer.text.contains("is not valid JSON"), "{}", answer.text);
}

#[tokio::test]
async fn json_is_a_list_and_a_form_has_it_in_a_field() {
    let desk = Desk::new().await;
    let rules = "[{\"ip\":\"203.0.113.0/24\",\"ports\":[9094]}]";
    let put = |query: &str| Call::put(&desk.path(query)).key(&desk.world.key);
    for call in [
        put("").body("application/json; charset=utf-8", rules),
        put("").body("application/json", format!(" \n{rules}")),
        put("").form(&format!("rules={rules}")),
        put("?rules=%5B%7B%22ip%22:%22203.0.113.0/24%22,%22ports%22:%5B9094%5D%7D%5D"),
    ] {
        desk.send("PUT", &json!([])).await;
        let answer = call.send(&desk.world.customer).await;
        assert_eq!(answer.status, 204, "{}", answer.text);
        assert_eq!(desk.rules().await[0]["ports"], json!([9094]));
    }
    for (call, expected) in [
        (put(""), "rules: Field is required"),
        (put("").body("application/json", ""), "rules: Field is required"),
        (put("").form("rules="), "rules: Field is required"),
        (put("").body("application/json", " "), "The body is not valid JSON: EOF while parsing"),
        (put("").json(&json!({"rules": []})), "The body must be a JSON list of rules"),
        (put("").json(&Value::Null), "The body must be a JSON list of rules"),
        (put("").bytes(rules), "JSON needs the header Content-Type: application/json"),
        (put("").form(&format!("rules={rules}&rules={rules}")), "rules: "),
    ] {
        let answer = call.send(&desk.world.customer).await;
        assert_eq!(answer.status, 400, "{}", answer.text);
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(desk.rules().await[0]["ports"], json!([9094]), "nothing is changed");
    }
}

#[tokio::test]
async fn clients_wait_until_rules_are_in_effect() {
    let desk = Desk::new().await;
    let not_yet = format!(
        "The firewall rules are not in effect yet at {}-01; try again in a few seconds",
        desk.instance.username
    );
    let waits = async |desk: &Desk| {
        let answer = desk.get("/configured").await;
        answer.expect_error(400, &not_yet);
        assert_eq!(answer.json()["error_code"], 40_001);
        assert_eq!(answer.json()["message"], not_yet);
    };
    waits(&desk).await;
    desk.world.apply_firewall(desk.instance.id, true).await;
    let configured = desk.get("/configured").await;
    assert_eq!((configured.status.as_u16(), configured.json()), (200, json!({"configured": true})));
    assert_eq!(desk.rules().await[0].get("enforced"), None, "they are enforced");

    let office = json!([{"ip": "203.0.113.0/24", "services": ["SSL"]}]);
    assert_eq!(desk.send("POST", &office).await.status, 201);
    waits(&desk).await;
    // Others can be asked for before they are, and the same again makes nobody wait anew.
    let home = json!([{"ip": "198.51.100.7/32", "services": ["SSL"]}]);
    assert_eq!(desk.send("PUT", &home).await.status, 204);
    desk.world.apply_firewall(desk.instance.id, true).await;
    assert_eq!(desk.send("PUT", &home).await.status, 204);
    assert_eq!(desk.get("/configured").await.status, 200);
    let empty = desk.refused(&json!([{"ip": "203.0.113.0/24"}])).await;
    assert_eq!(empty["error_code"], 40_002);
    assert_eq!(empty["message"], empty["error"]);
}

/// A stopped cluster has no servers that could have rules; they get them when they are started.
#[tokio::test]
async fn nobody_waits_for_servers_that_are_stopped_with_their_cluster() {
    let desk = Desk::new().await;
    desk.world.apply_firewall(desk.instance.id, true).await;
    let mut work = desk.world.app.store().begin().await.unwrap();
    for server in store::servers::list_bare(&mut work, desk.instance.id).await.unwrap() {
        store::servers::set_made(&mut work, server.id).await.unwrap();
        store::servers::set_hibernated(&mut work, server.id).await.unwrap();
    }
    work.commit().await.unwrap();
    let office = json!([{"ip": "203.0.113.0/24", "services": ["SSL"]}]);
    let replaced = desk.send("POST", &office).await;
    assert_eq!(replaced.json()[0].get("enforced"), None, "they will be");
    assert_eq!(desk.get("/configured").await.status, 200);
}

#[tokio::test]
async fn shared_plans_have_none() {
    let desk = Desk::new().await;
    let shared = desk.world.share(&desk.instance).await;
    let desk = Desk { instance: shared, ..desk };
    let body = json!([{"ip": "203.0.113.0/24", "ports": [9094]}]);
    for answer in [
        desk.get("").await,
        desk.get("/configured").await,
        desk.send("POST", &body).await,
        desk.send("PUT", &body).await,
    ] {
        answer.expect_error(400, "Not available on shared plans");
    }
}

#[tokio::test]
async fn a_key_of_the_instance_does_not_reach_its_firewall() {
    let desk = Desk::new().await;
    for path in [format!("/api/{FIREWALL}"), format!("/api/{FIREWALL}/configured")] {
        let call = Call::get(&path).key(&desk.instance.apikey);
        call.send(&desk.world.instance).await.expect_error(404, "Not Found");
    }
}

#[tokio::test]
async fn tags_narrow_whose_firewalls_a_member_changes() {
    let world = World::new().await;
    let instance = world.create("orders", &["prod"]).await;
    let desk = Desk { world, instance };
    let body = json!([{"ip": "203.0.113.0/24", "ports": [9094]}]);
    for (tags, status) in [(["prod"], 204), (["test"], 404)] {
        let member = desk.world.member(Role::Member, &tags).await;
        let call = Call::put(&desk.path("")).key(&member).json(&body);
        assert_eq!(call.send(&desk.world.customer).await.status, status, "{tags:?}");
    }
}
