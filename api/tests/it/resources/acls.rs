//! ACLs and their numbers.

use super::{cluster, get, send};
use crate::world::World;
use kafka::client::{
    Acl, Admin as _, Operation, PatternType, Permission, ResourceType, Users as _,
};
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
    let number = json!({"operation": 5, "resource": "topic", "resource_pattern": "a"});
    for (asked, says) in [
        (json!({}), "user, rules"),
        (json!({"user": "ada", "rules": []}), "rules: Field is required"),
        (json!({"user": "ada", "rules": good}), "must be a list of objects"),
        (json!({"user": "ada", "rules": ["read"]}), "must be a list of objects"),
        (json!({"user": "castellan", "rules": [good]}), "is reserved"),
        (json!({"user": "a b", "rules": [good]}), "letters, digits"),
        (json!({"user": "..", "rules": [good]}), "must not be . or .."),
        (json!({"user": "ada", "rules": [good, {"operation": "fly"}]}), "rules[1].operation"),
        (json!({"user": "ada", "rules": [number]}), "\"rules[0].operation: must be a string\""),
        (json!({"user": "ada", "rules": [rule("read", "")]}), "resource_pattern"),
        (json!({"user": "ada", "rules": vec![good.clone(); 101]}), "at most 100"),
    ] {
        let refused = send(&world, "POST", &instance, "acls", &asked).await;
        assert!(refused.status == 400 && refused.text.contains(says), "{asked} {}", refused.text);
    }
    assert_eq!(get(&world, &instance, "acls").await, before);
}

fn on(resource: &str, pattern: &str) -> Value {
    json!({"operation": "all", "resource": resource, "resource_pattern": pattern})
}

/// Of several rules Kafka gives those that are good, and refuses the others.
#[tokio::test]
async fn one_rule_that_is_refused_and_none_is_given() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let before = get(&world, &instance, "acls").await;
    for (bad, says) in [
        (on("cluster", "foo"), "resource_pattern: must be kafka-cluster"),
        (on("Cluster", "*"), "resource_pattern: must be kafka-cluster"),
        (on("group", "a\u{1b}[2J"), "resource_pattern: must not contain control characters"),
        (on("topic", &"x".repeat(2001)), "resource_pattern: must be at most 2000 bytes"),
    ] {
        let asked = json!({"user": "ada", "rules": [rule("read", "a"), bad]});
        let refused = send(&world, "POST", &instance, "acls", &asked).await;
        assert!(refused.status == 400 && refused.text.contains(says), "{asked} {}", refused.text);
        assert_eq!(get(&world, &instance, "acls").await, before, "{asked}");
    }
    // What Kafka takes though it means nothing is given.
    let odd = json!({"operation": "createtokens", "resource": "group", "resource_pattern": "g"});
    let asked = json!({"user": "ada", "rules": [on("cluster", ""), odd]});
    let made = send(&world, "POST", &instance, "acls", &asked).await;
    assert_eq!(made.status, 201, "{}", made.text);
    assert_eq!(made.json()[0]["resource_pattern"], "kafka-cluster");
}

#[tokio::test]
async fn they_are_told_in_the_order_of_the_request() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let first = json!({"user": "ada", "rules": [rule("Read", "a")]});
    let first = send(&world, "POST", &instance, "acls", &first).await.json();
    let both = json!({"user": "ada", "rules": [rule("Write", "a"), rule("Read", "a")]});
    let made = send(&world, "POST", &instance, "acls", &both).await.json();
    assert_eq!((&made[0]["operation"], &made[1]), (&json!("Write"), &first[0]));
    let list = get(&world, &instance, "acls").await;
    let ids: Vec<i64> =
        list.as_array().unwrap().iter().map(|acl| acl["id"].as_i64().unwrap()).collect();
    assert!(ids.is_sorted(), "{ids:?}");
}

#[tokio::test]
async fn a_user_who_is_made_again_gets_other_numbers() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    // One whose name begins alike keeps what it has.
    for name in ["bob", "bob.2"] {
        send(&world, "POST", &instance, "users", &json!({"name": name})).await;
    }
    let give = async |user: &str| {
        let asked = json!({"user": user, "rules": [rule("read", "a"), rule("write", "a")]});
        let made = send(&world, "POST", &instance, "acls", &asked).await;
        assert_eq!(made.status, 201, "{}", made.text);
        made.json()
    };
    let (before, others) = (give("bob").await, give("bob.2").await);
    assert_eq!(send(&world, "DELETE", &instance, "users/bob", &Value::Null).await.status, 200);
    world.pass_time();
    send(&world, "POST", &instance, "users", &json!({"name": "bob"})).await;
    let after = give("bob").await;
    let id = |acl: &Value| acl["id"].as_i64().unwrap();
    assert!(id(&after[0]) > id(&others[1]), "{before} {after}");
    assert_ne!(after[0]["created_at"], before[0]["created_at"]);
    assert_eq!(give("bob.2").await, others);
}

#[tokio::test]
async fn what_the_default_user_has_anyway_is_not_given() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let own = json!({"operation": "All", "resource": "topic", "resource_pattern": "*"});
    let asked = json!({"user": instance.username, "rules": [rule("read", "a"), own]});
    let before = get(&world, &instance, "acls").await;
    send(&world, "POST", &instance, "acls", &asked).await.expect_error(
        400,
        "rules: must not have All on topic *, which the default user always has; leave it out",
    );
    assert_eq!(get(&world, &instance, "acls").await, before);
    // Anybody else may have it, and the default user whatever else.
    let another = json!({"user": "ada", "rules": [asked["rules"][1]]});
    assert_eq!(send(&world, "POST", &instance, "acls", &another).await.status, 201);
    let another = json!({"user": instance.username, "rules": [rule("read", "a")]});
    let made = send(&world, "POST", &instance, "acls", &another).await.json();
    assert!(get(&world, &instance, "acls").await.as_array().unwrap().contains(&made[0]));
}

/// Whoever may alter ACLs can make as many through Kafka's own protocol as they like.
#[tokio::test]
async fn numbers_of_acls_are_bounded() {
    const MOST: usize = 5000;
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1").await;
    let servers = world.servers(instance.id).await;
    let at = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    let acl = |n: usize| Acl {
        resource_type: ResourceType::Topic,
        pattern: format!("t{n}"),
        pattern_type: PatternType::Literal,
        principal: "User:eve".into(),
        operation: Operation::Read,
        permission: Permission::Allow,
    };
    let acls: Vec<Acl> = (0..MOST + 100).map(acl).collect();
    world.kafka.add_acls(&at, &acls[..MOST + 50]).await.unwrap();
    world.pass_time();
    let listed = async || get(&world, &instance, "acls").await.as_array().unwrap().len();
    assert_eq!(listed().await, MOST, "the others are too many");
    let asked = json!({"user": "ada", "rules": [rule("read", "new")]});
    let refused = send(&world, "POST", &instance, "acls", &asked).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("at most 5000 ACLs"), "{}", refused.text);
    // Numbers of those that are gone are there for others.
    for acl in &acls[..60] {
        world.kafka.remove_acl(&at, acl).await.unwrap();
    }
    world.kafka.add_acls(&at, &acls[MOST + 50..]).await.unwrap();
    world.pass_time();
    let count = listed().await;
    assert!(count >= MOST - 1, "{count}: one number is kept, so that none is given again");
    let mut reader = world.app.store().reader();
    let rows = store::acls::list(&mut reader, instance.id).await.unwrap().len();
    assert!(rows <= MOST + 1, "{rows}: with the highest number that was given");
}
