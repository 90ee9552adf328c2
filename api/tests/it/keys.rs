//! Replacing the key in use, and knowing when keys were used.

use crate::call::Call;
use crate::world::World;
use model::{Role, Secret, SignedDuration};
use tokio::task::JoinSet;

fn rotate(key: &Secret) -> Call {
    Call::post("/api/apikeys/rotate-apikey").key(key)
}

#[tokio::test]
async fn a_rotated_key_has_what_the_old_one_had() {
    let world = World::new().await;
    world.create("prod", &["prod"]).await;
    world.create("test", &["test"]).await;
    let (user, old) = world.user("ada@example.test", Role::Member, &["prod"]).await;
    let answer = rotate(&old).send(&world.customer).await;
    let new = Secret::new(answer.json()["apikey"].as_str().unwrap());
    assert_eq!(new.expose().len(), 43);
    assert_eq!(answer.header("cache-control"), "no-store");
    insta::assert_snapshot!("rotate", answer.shown(&[]).replace(new.expose(), "[apikey]"));

    let refused = rotate(&old).send(&world.customer).await;
    refused.expect_error(401, "Not authorized");
    assert_eq!(refused.header("www-authenticate"), "Basic realm=\"Customer API\"");
    let seen = Call::get("/api/instances").key(&new).send(&world.customer).await;
    assert_eq!(seen.header("x-total-count"), "1", "the tags are the same");
    let keys = store::apikeys::list(&mut world.app.store().reader(), user).await.unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!((keys[0].role, keys[0].comment.as_str()), (Role::Member, "of a test"));
    assert_eq!(
        world.audit().await.last().unwrap(),
        "apikey.rotate customer-api 192.0.2.7 ada@example.test role=member; comment=of a test"
    );
}

/// Every role may, also one that may nothing else with instances.
#[tokio::test]
async fn every_role_rotates_its_own_key_and_no_other_stops() {
    let world = World::new().await;
    for role in Role::ALL {
        let (mine, other) = (world.member(role, &[]).await, world.member(role, &[]).await);
        assert_eq!(rotate(&mine).send(&world.customer).await.status, 200, "{role}");
        let plans = Call::get("/api/plans").key(&other).send(&world.customer).await;
        assert_eq!(plans.status, 200, "{role}");
    }
}

async fn of_fifty_rotations_one_wins(world: World) {
    let key = world.member(Role::Devops, &[]).await;
    let mut calls = JoinSet::new();
    for _ in 0..50 {
        let (call, router) = (rotate(&key), world.customer.clone());
        calls.spawn(async move { call.send(&router).await });
    }
    let answers = calls.join_all().await;
    let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(won.len(), 1);
    for lost in answers.iter().filter(|answer| answer.status != 200) {
        lost.expect_error(401, "Not authorized");
    }
    let new = Secret::new(won[0].json()["apikey"].as_str().unwrap());
    let works = Call::get("/api/plans").key(&new).send(&world.customer).await;
    assert_eq!(works.status, 200);
    let rotations = world.audit().await;
    let rotations = rotations.iter().filter(|line| line.starts_with("apikey.rotate")).count();
    assert_eq!(rotations, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_rotations_one_wins_on_sqlite() {
    of_fifty_rotations_one_wins(World::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_rotations_one_wins_on_postgresql() {
    of_fifty_rotations_one_wins(World::on_postgres().await).await;
}

#[tokio::test]
async fn the_last_use_is_written_once_a_minute_and_never_in_the_way() {
    let world = World::new().await;
    let (ada, key) = world.user("ada@example.test", Role::Member, &[]).await;
    let call = Call::get("/api/plans").key(&key);
    let used = async || {
        let keys = store::apikeys::list(&mut world.app.store().reader(), ada).await.unwrap();
        keys[0].last_used_at
    };
    let start = world.app.now();
    call.send(&world.customer).await;
    assert_eq!(used().await, None, "a request writes nothing");
    app::apikeys::flush_last_used(&world.app).await.unwrap();
    assert_eq!(used().await, Some(start));

    world.clock.advance(SignedDuration::from_secs(59));
    call.send(&world.customer).await;
    app::apikeys::flush_last_used(&world.app).await.unwrap();
    assert_eq!(used().await, Some(start), "not again within the minute");
    world.clock.advance(SignedDuration::from_secs(1));
    call.send(&world.customer).await;
    // A key that is gone by then is no fault.
    let removed = world.member(Role::Member, &[]).await;
    rotate(&removed).send(&world.customer).await;
    app::apikeys::flush_last_used(&world.app).await.unwrap();
    assert_eq!(used().await, Some(start + SignedDuration::from_secs(60)));
}
