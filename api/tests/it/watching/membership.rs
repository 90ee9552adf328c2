//! Alarms of servers that join their cluster or leave it: like those of all others for as long
//! as they should run, and none from the moment they shall not.

use super::{Post, cpu};
use crate::call::Call;
use crate::world::World;
use model::{Membership, NotificationState, Series, SignedDuration};
use serde_json::json;
use store::servers;

/// The one server joins, or leaves.
async fn with(membership: Membership) -> Post {
    let post = Post::with(cpu()).await;
    let mut work = post.world.app.store().begin().await.unwrap();
    servers::set_membership(&mut work, post.server.id, membership).await.unwrap();
    work.commit().await.unwrap();
    post
}

async fn burns(post: &Post) {
    let mut watch = post.watch();
    for _ in 0..8 {
        post.sees(&mut watch, Series::Cpu, 99.0).await;
    }
}

#[tokio::test]
async fn a_server_that_joins_or_leaves_is_watched_while_it_should_run() {
    for membership in [Membership::Joining, Membership::Leaving] {
        let post = with(membership).await;
        burns(&post).await;
        let triggered = [post.of_server(NotificationState::Triggered)];
        assert_eq!(post.told().await, triggered, "{membership:?}");
    }
}

#[tokio::test]
async fn nothing_is_told_of_a_server_that_leaves_once_it_shall_not_run() {
    let post = with(Membership::Leaving).await;
    burns(&post).await;
    assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)]);
    let mut work = post.world.app.store().begin().await.unwrap();
    let stopped = post.server.wanted.stop().unwrap();
    servers::set_wanted(&mut work, post.server.id, stopped).await.unwrap();
    work.commit().await.unwrap();
    post.watch().silence().await.unwrap();
    assert_eq!(post.told().await, [post.of_server(NotificationState::Resolved)]);
    burns(&post).await;
    assert_eq!(post.told().await, []);
}

/// Minutes after which a server is told of as unreachable, by name. No agent runs here.
async fn silent_after(post: &Post) -> Vec<(String, i64)> {
    let mut watch = post.watch();
    let mut found = Vec::new();
    for seconds in (0..15 * 60).step_by(10) {
        post.world.clock.advance(SignedDuration::from_secs(10));
        watch.silence().await.unwrap();
        let told = post.told().await.into_iter().filter_map(|(.., server)| server);
        found.extend(told.map(|server| (server, seconds / 60)));
    }
    found
}

#[tokio::test]
async fn a_server_that_joins_and_does_not_come_up_is_told_of() {
    let world = World::new().await;
    let instance = world.create_of("mouse-1", "orders", &[]).await;
    world.make_ready(instance.id).await;
    world.run_kafka(&instance, &[]).await;
    let server = world.servers(instance.id).await.remove(0);
    let post = Post { instance: world.load(instance.id.0).await, world, server };
    for id in 1..=4 {
        assert_eq!(post.call("DELETE", &format!("alarms/{id}"), None).await, 204);
    }
    let alarm = json!({"type": "server_unreachable"});
    assert_eq!(post.call("POST", "alarms", Some(alarm)).await, 201);
    let path = format!("/api/instances/{}", post.instance.id);
    let more = Call::put(&path).key(&post.world.key).json(&json!({"nodes": 3}));
    let answer = more.send(&post.world.customer).await;
    assert_eq!(answer.status, 200, "{}", answer.text);

    let names: Vec<String> = {
        let servers = post.world.servers(post.instance.id).await;
        servers.into_iter().map(|server| server.name).collect()
    };
    let expected = [(&names[0], 5), (&names[1], 10), (&names[2], 10)];
    let expected = expected.map(|(name, minutes)| (name.clone(), minutes));
    assert_eq!(silent_after(&post).await, expected, "new ones have time to be made");
}

/// Nothing is made for it any more.
#[tokio::test]
async fn a_server_that_leaves_before_it_came_up_is_not_told_of() {
    let post = with(Membership::Leaving).await;
    assert_eq!(post.call("DELETE", "alarms/5", None).await, 204);
    let alarm = json!({"type": "server_unreachable"});
    assert_eq!(post.call("POST", "alarms", Some(alarm)).await, 201);
    assert_eq!(silent_after(&post).await, []);
    let mut work = post.world.app.store().begin().await.unwrap();
    let seen = [(post.server.id, post.world.app.now())];
    servers::set_last_seen(&mut work, &seen).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(silent_after(&post).await.len(), 1, "it was there, and is stuck");
}
