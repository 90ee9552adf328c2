//! Messages of which not all can be written at once, or not be told of.

use super::messages::{read, values, write};
use super::{cluster, lines};
use crate::world::World;
use app::Settings;
use kafka::client::{Admin as _, NewTopic};
use kafka::simulated::Fault;
use model::Instance;
use serde_json::{Value, json};
use std::time::Duration;

/// A cluster of three and `orders` with one copy of each of three partitions; who leads
/// each of them.
async fn scattered(world: &World) -> (Instance, Vec<i32>) {
    let instance = cluster(world, "mouse-3").await;
    let servers = world.servers(instance.id).await;
    let at = world.app.reach().cluster(instance.id, &servers).await.unwrap();
    let topic = NewTopic { name: "orders".into(), partitions: 3, replicas: 1, settings: vec![] };
    world.kafka.create_topic(&at, &topic).await.unwrap();
    world.pass_time();
    let leaders = world.kafka.partitions().iter().map(|it| it.leader.unwrap()).collect();
    (instance, leaders)
}

/// One message to each of the three.
fn one_each() -> Value {
    let message = |number: i32| json!({"value": number.to_string(), "partition": number});
    json!({"messages": [message(0), message(1), message(2)]})
}

#[tokio::test]
async fn what_nobody_leads_is_written_once_somebody_does() {
    let world = World::new().await;
    let (instance, leaders) = scattered(&world).await;
    world.kafka.kill(leaders[1]);
    let before = world.kafka.calls();
    let comes_back = async {
        // The topic was looked for, a producer asked for and made, and what can be written
        // is written.
        while world.kafka.calls() < before + 4 {
            tokio::task::yield_now().await;
        }
        world.kafka.start(leaders[1]);
        world.pass_time();
    };
    let comes_back = tokio::time::timeout(Duration::from_secs(20), comes_back);
    let (written, back) = tokio::join!(write(&world, &instance, one_each()), comes_back);
    back.expect("nothing was written");
    assert_eq!(written.status, 201, "{}", written.text);
    let expected = [0, 1, 2].map(|number| json!({"partition": number, "offset": 0}));
    assert_eq!(written.json(), json!(expected));
    assert!(world.kafka.calls() >= before + 6, "it was written in two parts");
    for number in 0..3 {
        let query = format!("from=earliest&partition={number}");
        assert_eq!(values(&read(&world, &instance, &query).await), number.to_string());
    }
}

#[tokio::test]
async fn what_was_written_and_what_was_not_is_told_of_each() {
    // There has to be time for a second round, however busy the machine is.
    let patience = Duration::from_secs(3);
    let world = World::with(Settings { broker_patience: patience, ..Settings::default() }).await;
    let (instance, leaders) = scattered(&world).await;
    let away = leaders[1];
    world.kafka.kill(away);
    let before = world.kafka.calls();
    let refused = write(&world, &instance, one_each()).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(world.kafka.calls() >= before + 6, "it is tried again");
    let led = leaders.iter().filter(|leader| **leader != away).count();
    let told = format!(
        "Of 3 messages {led} were written, 0 may or may not have been written, and {} were not: ",
        3 - led
    );
    let body = refused.json();
    assert!(body["error"].as_str().unwrap().starts_with(&told), "{body}");
    for (number, leader) in leaders.iter().enumerate() {
        let piece = body["errors"][number][format!("messages[{number}]")].as_str().unwrap();
        if *leader == away {
            assert!(piece.starts_with("not written: "), "{piece}");
            assert!(piece.contains("Kafka refused Produce"), "{piece}");
        } else {
            assert_eq!(piece, format!("written to partition {number} at offset 0"));
            let query = format!("from=earliest&partition={number}");
            assert_eq!(values(&read(&world, &instance, &query).await), number.to_string());
        }
    }
    let audit = lines(&world, 1).await;
    assert!(audit[0].contains(&format!("outcome=\"partly ({}", &told[..20])), "{audit:?}");
}

#[tokio::test]
async fn what_is_sent_again_after_a_lost_answer_is_there_once() {
    let world = World::new().await;
    let instance = scattered(&world).await.0;
    // A producer is there since the first message. The first call of the next looks for the
    // topic, the second makes a producer, the third writes.
    assert_eq!(write(&world, &instance, json!({"value": "zero"})).await.status, 201);
    world.kafka.fail_after(2, Fault::LostReply);
    let several = json!({"messages": [{"value": "one"}, {"value": "two"}, {"value": "three"}]});
    let answer = write(&world, &instance, several).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    let there = read(&world, &instance, "from=earliest").await;
    let place = |it: &Value| (it["partition"].as_i64().unwrap(), it["offset"].as_i64().unwrap());
    let told: Vec<_> = answer.json().as_array().unwrap().iter().map(place).collect();
    let expected = ["one", "two", "three"].map(|value| {
        let found: Vec<_> = there.iter().filter(|it| it["value"] == value).map(place).collect();
        assert_eq!(found.len(), 1, "{value} in {there:?}");
        found[0]
    });
    assert_eq!(told, expected, "{there:?}");
}
