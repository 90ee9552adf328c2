//! ACLs and their numbers.

use super::{cluster, get, send};
use crate::world::World;
use serde_json::{Value, json};

fn rule(operation: &str, pattern: &str) -> Value {
    json!({"operation": operation, "resource": "Topic", "resource_pattern": pattern,
        "resource_pattern_type": "PREFIXED"})
}

#[tokio::test]
async fn a_number_stays_with_its_acl_and_goes_to_no_other() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let asked = json!({"user": "ada", "rules": [rule("Write", "a"), rule("Read", "a")]});
    let made = send(&world, "POST", &instance, "acls", &asked).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let list = get(&world, &instance, "acls").await;
    // The one that was made through Kafka's protocol is listed too.
    assert_eq!(list.as_array().unwrap().len(), 3);
    let ours = made.json();
    for acl in ours.as_array().unwrap() {
        assert!(list.as_array().unwrap().contains(acl), "{acl} in {list}");
        assert_eq!(
            (&acl["resource"], &acl["resource_pattern_type"]),
            (&json!("Topic"), &json!("PREFIXED"))
        );
        assert_eq!(acl["name"], "ada");
    }
    let again = send(&world, "POST", &instance, "acls", &asked).await;
    assert_eq!((again.status.as_u16(), again.json()), (201, ours.clone()), "the same ids");

    let highest =
        list.as_array().unwrap().iter().map(|acl| acl["id"].as_i64().unwrap()).max().unwrap();
    let rest = format!("acls/{highest}");
    assert_eq!(send(&world, "DELETE", &instance, &rest, &Value::Null).await.status, 200);
    send(&world, "DELETE", &instance, &rest, &Value::Null).await.expect_error(404, "Not Found");
    let new = json!({"user": "ada", "rules": [rule("Describe", "z")]});
    let made = send(&world, "POST", &instance, "acls", &new).await;
    assert_eq!(made.json()[0]["id"], highest + 1, "a number is not given again");
    for nonsense in ["0", "x", "-1", "99"] {
        let rest = format!("acls/{nonsense}");
        send(&world, "DELETE", &instance, &rest, &Value::Null).await.expect_error(404, "Not Found");
    }
}

#[tokio::test]
async fn rules_that_say_nothing_are_refused() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let before = get(&world, &instance, "acls").await;
    let good = rule("read", "a");
    for (asked, says) in [
        (json!({}), "user, rules"),
        (json!({"user": "ada", "rules": []}), "rules: Field is required"),
        (json!({"user": "ada", "rules": good}), "must be a list of objects"),
        (json!({"user": "ada", "rules": ["read"]}), "must be a list of objects"),
        (json!({"user": "castellan", "rules": [good]}), "is reserved"),
        (json!({"user": "a b", "rules": [good]}), "letters, digits"),
        (json!({"user": "ada", "rules": [good, {"operation": "fly"}]}), "operation"),
        (json!({"user": "ada", "rules": [rule("read", "")]}), "resource_pattern"),
        (json!({"user": "ada", "rules": vec![good.clone(); 101]}), "at most 100"),
    ] {
        let refused = send(&world, "POST", &instance, "acls", &asked).await;
        assert!(refused.status == 400 && refused.text.contains(says), "{asked} {}", refused.text);
    }
    assert_eq!(get(&world, &instance, "acls").await, before);
}
