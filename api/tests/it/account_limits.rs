//! How much one account may have, and that no two calls at once get past it.

use crate::call::{Answer, Call};
use crate::world::World;
use app::{Limits, Operator, Settings, apikeys, team};
use futures::future::join_all;
use model::{Catalogue, SignedDuration};
use serde_json::{Value, json};

async fn world(limits: Limits) -> World {
    World::with(Settings { limits, ..Settings::default() }).await
}

async fn post(world: &World, path: &str, body: &Value) -> Answer {
    Call::post(path).key(&world.key).json(body).send(&world.customer).await
}

fn order(plan: &str) -> Value {
    json!({"name": "orders", "plan": plan, "region": "local::this-machine"})
}

fn expect_limit(answer: &Answer, expected: &str) {
    assert_eq!(answer.status, 400, "{}", answer.text);
    let said = answer.json()["error"].as_str().unwrap_or_default().to_owned();
    assert!(said.starts_with(expected), "{said}");
    assert!(said.contains("ask the operator"), "{said}");
}

#[tokio::test]
async fn an_account_has_no_more_instances_servers_disk_and_networks_than_its_limit() {
    let check = async |limits: Limits, refused: Value, expected: &str| {
        let world = world(limits).await;
        assert_eq!(post(&world, "/api/instances", &order("mouse-3")).await.status, 200);
        expect_limit(&post(&world, "/api/instances", &refused).await, expected);
        let list = Call::get("/api/instances").key(&world.key).send(&world.customer).await;
        assert_eq!(list.header("x-total-count"), "1");
        let other = world.stranger().await;
        let others = Call::post("/api/instances").key(&other).json(&order("mouse-3"));
        assert_eq!(others.send(&world.customer).await.status, 200, "another account has its own");
    };
    let none = Limits::NONE;
    let at_most = "An account can have at most";
    let limits = Limits { instances: 1, ..none };
    check(limits, order("mouse-1"), &format!("{at_most} 1 instances; this one has 1")).await;
    let limits = Limits { servers: 5, ..none };
    check(limits, order("mouse-3"), &format!("{at_most} 5 servers; this one has 3")).await;
    let limits = Limits { disk_gb: 174, ..none };
    let large = json!({"name": "o", "plan": "mouse-1", "region": "local::this-machine",
                       "disk_size": 100});
    check(limits, large, &format!("{at_most} 174 GB of disk; this one has 75")).await;
    let limits = Limits { vpcs: 1, ..none };
    check(limits, order("mouse-1"), &format!("{at_most} 1 VPCs; this one has 1")).await;
}

#[tokio::test]
async fn networks_that_are_kept_count_like_others() {
    let world = world(Limits { vpcs: 2, ..Limits::NONE }).await;
    for _ in 0..2 {
        let made = world.create("orders", &[]).await;
        let path = format!("/api/instances/{}?keep_vpc=true", made.id);
        let gone = Call::delete(&path).key(&world.key).send(&world.customer).await;
        assert_eq!(gone.status, 204, "{}", gone.text);
    }
    let network = json!({"name": "n", "region": "local::this-machine", "subnet": "10.5.0.0/24"});
    expect_limit(&post(&world, "/api/vpcs", &network).await, "An account can have at most 2 VPCs");
}

#[tokio::test]
async fn an_instance_counts_until_nothing_is_left_of_it() {
    let world = world(Limits { servers: 1, ..Limits::NONE }).await;
    let first = world.create("orders", &[]).await;
    let path = format!("/api/instances/{}", first.id);
    let gone = Call::delete(&path).key(&world.key).send(&world.customer).await;
    assert_eq!(gone.status, 204, "{}", gone.text);
    let refused = post(&world, "/api/instances", &order("mouse-1")).await;
    expect_limit(&refused, "An account can have at most 1 servers");
    // What the engine does once nothing is left of it.
    let mut work = world.app.store().begin().await.unwrap();
    for disk in store::disks::list(&mut work, first.id).await.unwrap() {
        store::disks::remove(&mut work, disk.id).await.unwrap();
    }
    for server in store::servers::list(&mut work, first.id).await.unwrap() {
        store::servers::remove(&mut work, server.server.id).await.unwrap();
    }
    store::instances::remove(&mut work, first.id).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(post(&world, "/api/instances", &order("mouse-1")).await.status, 200);
}

#[tokio::test]
async fn creates_at_once_on_two_control_planes_don_t_pass_a_limit_together() {
    let world = world(Limits { instances: 3, ..Limits::NONE }).await;
    let planes = [world.customer.clone(), world.customer_with(Catalogue::built_in())];
    let call = Call::post("/api/instances").key(&world.key).json(&order("mouse-1"));
    let calls = (0..12).map(|n| call.send(&planes[n % 2]));
    let answers = join_all(calls).await;
    let made = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(made, 3, "{:?}", answers.iter().map(|it| it.text.clone()).collect::<Vec<_>>());
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        expect_limit(refused, "An account can have at most 3 instances; this one has 3");
    }
}

#[tokio::test]
async fn an_account_has_no_more_users_and_keys_than_its_limit() {
    // The owner, and two more.
    let world = world(Limits { users: 3, keys: 2, ..Limits::NONE }).await;
    let invite =
        async |email: &str| post(&world, "/api/team/invite", &json!({"email": email})).await;
    for email in ["a@x.test", "b@x.test", "b@x.test"] {
        assert_eq!(invite(email).await.status, 200, "to invite again is no further one");
    }
    let users = "An account can have at most 3 users and open invitations; this one has 3";
    expect_limit(&invite("c@x.test").await, users);
    let operator = Operator::of_opened_store();
    let new = team::NewUser { email: "c@x.test".into(), ..team::NewUser::default() };
    let refused = team::create_user(operator, &world.app, world.account, new).await.unwrap_err();
    assert!(refused.to_string().starts_with(users), "{refused}");
    // One that was not taken up in time counts no more.
    world.clock.advance(SignedDuration::from_hours(8 * 24));
    assert_eq!(invite("c@x.test").await.status, 200);

    let owner = &team::list_users(operator, &world.app, world.account).await.unwrap()[0];
    let key =
        async || apikeys::create(operator, &world.app, owner.id, apikeys::NewKey::default()).await;
    key().await.unwrap();
    let refused = key().await.unwrap_err().to_string();
    assert!(
        refused.starts_with("An account can have at most 2 API keys; this one has 2"),
        "{refused}"
    );
    // One in the place of another is no further one.
    let rotated = post(&world, "/api/apikeys/rotate-apikey", &json!({})).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text);
}
