//! Consumer groups: read, reset, deleted.

use super::{cluster, get, lines, path, send};
use crate::call::Call;
use crate::world::World;
use kafka::client::groups::{Assignment, Groups as _, Member};
use kafka::client::messages::{Messages as _, NewMessage, WriteMessages};
use kafka::client::{Admin as _, NewTopic, TopicPartition};
use model::{Instance, Role};
use serde_json::{Value, json};
use std::time::Duration;

/// A cluster of three with ten messages in each of two partitions of `orders`,
/// and a group that has committed the first three of one.
async fn scene(world: &World) -> Instance {
    let instance = cluster(world, "mouse-3").await;
    let servers = world.servers(instance.id).await;
    let at = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    let topic = NewTopic { name: "orders".into(), partitions: 2, replicas: 1, settings: vec![] };
    world.kafka.create_topic(&at, &topic).await.unwrap();
    world.pass_time();
    for number in 0..20 {
        let partition = Some(number % 2);
        let value = Some(number.to_string().into());
        let messages = vec![NewMessage { value, partition, ..NewMessage::default() }];
        let what = WriteMessages {
            topic: "orders".into(),
            messages,
            at: world.app.now(),
            turn: 0,
            within: Duration::from_secs(1),
            producer: None,
        };
        world.kafka.write_messages(&at, &what).await.unwrap().unwrap();
        world.clock.advance(model::SignedDuration::from_secs(60));
    }
    commit(world, &instance, "billing", 0, 3).await;
    instance
}

async fn commit(world: &World, instance: &Instance, group: &str, partition: i32, offset: i64) {
    let servers = world.servers(instance.id).await;
    let at = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    let offsets = [(TopicPartition::new("orders", partition), offset)].into();
    world.kafka.commit_offsets(&at, group, &offsets).await.unwrap();
}

fn consumer() -> Member {
    Member {
        id: "reports-1-6c1f".into(),
        client_id: "reports-1".into(),
        host: "192.0.2.9".into(),
        assignments: vec![Assignment::new("orders", vec![1, 0])],
    }
}

#[tokio::test]
async fn groups_are_told_with_members_and_lag() {
    let world = World::new().await;
    let instance = scene(&world).await;
    commit(&world, &instance, "audit/päckchen", 1, 10).await;
    let list = get(&world, &instance, "groups").await;
    insta::assert_json_snapshot!("groups", list);
    world.kafka.join_group("billing", consumer());
    let group = get(&world, &instance, "groups/billing").await;
    insta::assert_json_snapshot!("group", group);
    let list = get(&world, &instance, "groups").await;
    assert_eq!(list[1], group, "the list tells the same");
    // A name is one segment, whatever is in it.
    let other = get(&world, &instance, "groups/audit%2Fp%C3%A4ckchen").await;
    assert_eq!((&other["name"], &other["lag"]), (&json!("audit/päckchen"), &json!(0)));
}

#[tokio::test]
async fn a_partition_that_nobody_leads_has_no_lag_and_breaks_nothing() {
    let world = World::new().await;
    let instance = scene(&world).await;
    let leader = world.kafka.partitions().into_iter().find(|it| it.topic == "orders").unwrap();
    world.kafka.kill(leader.leader.unwrap());
    world.pass_time();
    let list = get(&world, &instance, "groups").await;
    assert_eq!(list[0]["lag"], Value::Null, "{list}");
    let group = get(&world, &instance, "groups/billing").await;
    assert_eq!(group["offsets"][0]["end"], Value::Null, "{group}");
}

#[tokio::test]
async fn resets_are_foreseen_and_made() {
    let world = World::new().await;
    let instance = scene(&world).await;
    let reset = async |body: Value| {
        let answer = send(&world, "POST", &instance, "groups/billing/reset", &body).await;
        assert_eq!(answer.status, 200, "{body}: {}", answer.text);
        answer.json()
    };
    let row = |partition: i64, offset: Value, to: i64| json!({"topic": "orders", "partition": partition, "offset": offset, "new_offset": to});
    let check = async |body: Value, expected: Value| {
        let mut dry = body.clone();
        dry["dry_run"] = true.into();
        assert_eq!(reset(dry).await, expected, "{body}");
        assert_eq!(reset(body.clone()).await, expected, "{body}");
    };
    check(json!({"strategy": "to-latest"}), json!([row(0, json!(3), 10)])).await;
    check(json!({"strategy": "shift-by", "shift_by": -4}), json!([row(0, json!(10), 6)])).await;
    check(json!({"strategy": "shift-by", "shift_by": 99}), json!([row(0, json!(6), 10)])).await;
    check(json!({"strategy": "shift-by", "shift_by": -99}), json!([row(0, json!(10), 0)])).await;
    let later = json!({"strategy": "to-datetime", "datetime": "2030-01-01T00:00:00Z"});
    check(later, json!([row(0, json!(0), 10)])).await;
    let all = json!({"strategy": "to-earliest", "topics": ["orders"]});
    check(all, json!([row(0, json!(10), 0), row(1, Value::Null, 0)])).await;
    let one = json!({"strategy": "to-latest", "topics": ["orders:1"]});
    check(one, json!([row(1, json!(0), 10)])).await;
    // Those that were only foreseen are not in the log.
    let audit = lines(&world, 14).await;
    assert_eq!(
        audit[0],
        "group.update group=billing; strategy=to-latest; partitions=1; outcome=attempted"
    );
    assert_eq!(
        audit[1],
        "group.update group=billing; strategy=to-latest; partitions=1; outcome=done"
    );
    assert!(audit.iter().all(|line| line.starts_with("group.update")), "{audit:?}");
    assert!(!lines(&world, 15).await[0].starts_with("group.update"));
}

#[tokio::test]
async fn what_can_not_be_reset_is_refused_with_the_reason() {
    let world = World::new().await;
    let instance = scene(&world).await;
    let check = async |body: Value, expected: &str| {
        let answer = send(&world, "POST", &instance, "groups/billing/reset", &body).await;
        answer.expect_error(400, expected);
    };
    check(json!({}), "strategy: Field is required").await;
    let strategies = "strategy: must be to-earliest, to-latest, to-datetime or shift-by";
    check(json!({"strategy": "sideways"}), strategies).await;
    check(json!({"strategy": "to-datetime"}), "datetime: Field is required").await;
    let time = "datetime: must be a time such as 2026-11-15T12:00:00Z";
    check(json!({"strategy": "to-datetime", "datetime": "noon"}), time).await;
    check(json!({"strategy": "shift-by"}), "shift_by: Field is required").await;
    let named = |topic: &str| json!({"strategy": "to-latest", "topics": [topic]});
    check(named("absent"), "topics: there is no topic absent").await;
    check(named("orders:9"), "topics: there is no partition 9 of topic orders").await;
    let choice = "topics: must name topics, as orders, or partitions, as orders:0";
    check(named("orders:x"), choice).await;
    let nothing = "The group has committed no offset there; name topics and reset it to-earliest, to-latest or to-datetime";
    check(json!({"strategy": "shift-by", "shift_by": 1, "topics": ["orders:1"]}), nothing).await;
    world.kafka.join_group("billing", consumer());
    let members = "Group billing has 1 member, and offsets can be reset only while it has none; stop its consumers first";
    check(json!({"strategy": "to-latest", "dry_run": true}), members).await;
    // What is wrong with a body is told of what is there.
    for body in [json!({"strategy": "to-latest"}), json!({}), json!([])] {
        let absent = send(&world, "POST", &instance, "groups/absent/reset", &body).await;
        absent.expect_error(404, "Not Found");
    }
}

#[tokio::test]
async fn a_group_is_deleted_once_it_has_no_members() {
    let world = World::new().await;
    let instance = scene(&world).await;
    world.kafka.join_group("billing", consumer());
    let refused = send(&world, "DELETE", &instance, "groups/billing", &Value::Null).await;
    refused.expect_error(
        400,
        "Kafka refused DeleteGroups for billing: NonEmptyGroup (it has members; stop them first)",
    );
    world.kafka.leave_group("billing");
    let deleted = send(&world, "DELETE", &instance, "groups/billing", &Value::Null).await;
    assert_eq!((deleted.status.as_u16(), deleted.text.as_str()), (204, ""));
    let again = send(&world, "DELETE", &instance, "groups/billing", &Value::Null).await;
    again.expect_error(404, "Not Found");
    let outcomes = lines(&world, 4).await;
    assert_eq!(outcomes[0], "group.delete group=billing; outcome=attempted");
    assert!(outcomes[1].contains("refused (Kafka refused"), "{outcomes:?}");
    assert_eq!(outcomes[3], "group.delete group=billing; outcome=done");
}

/// Topics of such names are Kafka's own; groups of any name are the customer's.
#[tokio::test]
async fn a_group_may_have_a_name_that_is_internal_for_topics() {
    let world = World::new().await;
    let instance = scene(&world).await;
    commit(&world, &instance, "__reports", 1, 10).await;
    let list = get(&world, &instance, "groups").await;
    assert_eq!((&list[0]["name"], &list[1]["name"]), (&json!("__reports"), &json!("billing")));
    assert_eq!(get(&world, &instance, "groups/__reports").await, list[0]);
    let deleted = send(&world, "DELETE", &instance, "groups/__reports", &Value::Null).await;
    assert_eq!(deleted.status, 204, "{}", deleted.text);
    assert_eq!(get(&world, &instance, "groups").await.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn names_that_no_group_has_are_not_found() {
    let world = World::new().await;
    let instance = scene(&world).await;
    let monitor = world.member(Role::Monitor, &[]).await;
    for name in ["absent", "__internal", "%00", "a%2Fb", "%2e%2e", "%F0%9F%8C%A9"] {
        let path = path(&instance, &format!("groups/{name}"));
        let answer = Call::get(&path).key(&monitor).send(&world.customer).await;
        answer.expect_error(404, "Not Found");
    }
}
