//! What a program does that keeps an instance as a file says: it creates, reads, changes,
//! waits, reads again, and finds nothing left to change.

use super::{BEGUN, cluster, finish};
use crate::call::Call;
use crate::world::World;
use serde_json::{Value, json};

/// The values that such a program keeps, as it reads them.
async fn refreshed(world: &World, id: i64) -> Value {
    let path = format!("/api/instances/{id}");
    let read = Call::get(&path).key(&world.key).send(&world.customer).await.json();
    let nodes = Call::get(&format!("{path}/nodes")).key(&world.key).send(&world.customer).await;
    json!({
        "name": read["name"], "plan": read["plan"], "nodes": read["nodes"],
        "region": read["region"], "tags": read["tags"], "url": read["url"],
        "apikey": read["apikey"], "hostname": read["hostname_external"],
        "vpc_id": read["vpc_id"], "disk": nodes.json()[0]["additional_disk_size"],
    })
}

/// Sends the whole file, as such programs do.
async fn apply(world: &World, id: i64, file: &Value) -> Value {
    let path = format!("/api/instances/{id}");
    let answer = Call::put(&path).key(&world.key).json(file).send(&world.customer).await;
    assert_eq!(answer.status, 200, "{file}: {}", answer.text);
    answer.json()["message"].clone()
}

#[tokio::test]
async fn a_second_plan_finds_nothing_to_change() {
    let world = World::new().await;
    let instance = cluster(&world, "mouse-1", &[]).await;
    let id = instance.id.0;
    let first = refreshed(&world, id).await;
    let mut file = json!({"name": "orders", "plan": "mouse-1", "nodes": 1, "tags": ["prod"]});
    assert_eq!(apply(&world, id, &file).await, "Changes saved");
    assert_eq!(refreshed(&world, id).await, first);

    a_day(&world);
    // The plan's name says one; the number beside it wins.
    file["nodes"] = json!(3);
    assert_eq!(apply(&world, id, &file).await, BEGUN);
    let during = refreshed(&world, id).await;
    finish(&world, &instance).await;
    let grown = refreshed(&world, id).await;
    assert_eq!((&grown["plan"], &grown["nodes"]), (&json!("mouse-3"), &json!(3)));
    assert_eq!(during, grown, "what is read is the same from the answer on");
    for kept in ["name", "url", "apikey", "hostname", "vpc_id", "tags", "region"] {
        assert_eq!(grown[kept], first[kept], "{kept}");
    }
    file["plan"] = grown["plan"].clone();
    assert_eq!(apply(&world, id, &file).await, "Changes saved");
    assert_eq!(refreshed(&world, id).await, grown);

    a_day(&world);
    file["plan"] = json!("bat-3");
    assert_eq!(apply(&world, id, &file).await, BEGUN);
    world.make_ready(instance.id).await;
    let larger = refreshed(&world, id).await;
    assert_eq!(larger["plan"], "bat-3");
    assert_eq!(apply(&world, id, &file).await, "Changes saved");
    assert_eq!(refreshed(&world, id).await, larger);
    a_day(&world);
    let gone = Call::delete(&format!("/api/instances/{id}")).key(&world.key);
    assert_eq!(gone.send(&world.customer).await.status, 204);
    let period = Call::get("/api/invoices/period?year=2026&month=11").key(&world.key);
    let bill = period.send(&world.customer).await.json();
    let lines = bill["lines"].as_array().unwrap().iter();
    let lines: Vec<(&Value, &Value)> = lines.map(|it| (&it["plan"], &it["amount"])).collect();
    // A day of each, of a month of thirty.
    let expected = [("mouse-1", 3.3), ("mouse-3", 9.9), ("bat-3", 17.5)];
    let expected = expected.map(|(plan, amount)| (json!(plan), json!(amount)));
    assert_eq!(lines, expected.each_ref().map(|(plan, amount)| (plan, amount)));
}

fn a_day(world: &World) {
    world.clock.advance(model::SignedDuration::from_hours(24));
}
