//! The database goes away under the server, and comes back.

use crate::call::{Answer, Call};
use crate::world::World;
use app::Settings;
use serde_json::json;
use sqlx::{Connection as _, Executor as _, SqliteConnection};
use std::time::{Duration, Instant};
use store::Location;
use test_support::postgres::Server;

const PATIENCE: Duration = Duration::from_secs(30);

fn calls(world: &World) -> [Call; 4] {
    let order = json!({"name": "a", "plan": "mouse-1", "region": "local::this-machine"});
    [
        Call::get("/readyz"),
        Call::get("/api/plans").key(&world.key),
        Call::get("/api/vpcs").key(&world.key),
        Call::post("/api/instances").key(&world.key).json(&order),
    ]
}

fn expect_away(answer: &Answer) {
    let sentence = "The service can't answer right now; try again in a few seconds";
    answer.expect_error(503, sentence);
    assert_eq!(answer.header("retry-after"), "5");
}

/// Tries until it is answered with 200.
async fn until_answered(call: &Call, world: &World) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = call.send(&world.customer).await;
        if answer.status == 200 {
            return;
        }
        assert!(Instant::now() < deadline, "still {}: {}", answer.status, answer.text);
        expect_away(&answer);
    }
}

#[tokio::test]
async fn a_postgres_that_goes_away_is_a_503_and_work_goes_on_when_it_is_back() {
    let server = Server::run();
    let at = Location::Postgres(server.database().await);
    let world = World::at(&at, tempfile::tempdir().unwrap(), Settings::default()).await;
    for call in calls(&world) {
        assert_eq!(call.send(&world.customer).await.status, 200);
    }
    for _ in 0..2 {
        server.stop();
        for call in calls(&world) {
            expect_away(&call.send(&world.customer).await);
        }
        let health = Call::get("/healthz").send(&world.customer).await;
        assert_eq!(health.status, 200);
        server.start();
        for call in calls(&world) {
            until_answered(&call, &world).await;
        }
    }
    // What was refused has left nothing.
    let list = Call::get("/api/instances").key(&world.key).send(&world.customer).await;
    assert_eq!(list.header("x-total-count"), "3");
}

#[tokio::test]
async fn a_sqlite_file_that_another_holds_is_a_503_for_who_writes() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("store.db");
    let world = World::at(&Location::Sqlite(path.clone()), data, Settings::default()).await;
    let url = format!("sqlite://{}", path.display());
    let mut other = SqliteConnection::connect(&url).await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let [ready, plans, vpcs, order] = calls(&world);
    let held = order.send(&world.customer).await;
    expect_away(&held);
    for call in [ready, plans, vpcs] {
        assert_eq!(call.send(&world.customer).await.status, 200, "who reads does not wait");
    }
    other.execute("ROLLBACK").await.unwrap();
    until_answered(&order, &world).await;
}
