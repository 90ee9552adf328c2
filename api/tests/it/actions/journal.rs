//! The journal of what was asked, as it is read.

use super::{actions, cluster, path, post};
use crate::call::{Answer, Call};
use crate::world::World;
use model::condition::Note;
use model::{Instance, Reason, Role, SignedDuration};
use serde_json::json;

async fn get(world: &World, instance: &Instance, rest: &str) -> Answer {
    Call::get(&path(instance, rest)).key(&world.key).send(&world.customer).await
}

async fn note(world: &World, instance: &Instance, text: &str) {
    world.clock.advance(SignedDuration::from_secs(1));
    let action = world.last_action(instance.id).await.id;
    let mut work = world.app.store().begin().await.unwrap();
    let conditions = vec![Reason::Sentence { text: text.into() }.into()];
    let note = Note::Conditions { conditions };
    store::actions::note_on(&mut work, action, &note, world.app.now()).await.unwrap();
    work.commit().await.unwrap();
}

#[tokio::test]
async fn a_restart_from_asking_to_its_end() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let asked = post(&world, &instance, "actions/cluster-restart").await.json();
    note(&world, &instance, "server 2 is being stopped").await;
    note(&world, &instance, "waiting: orders-3 has 2 of 3 replicas in sync on server 2").await;
    let running = get(&world, &instance, "actions").await;
    insta::assert_snapshot!("actions_running", running.shown(&[&instance]));
    world.clock.advance(SignedDuration::from_secs(9));
    world.make_ready(instance.id).await;
    let read = get(&world, &instance, &format!("actions/{}", asked["action"])).await;
    insta::assert_snapshot!("action_done", read.shown(&[&instance]));
    assert_eq!(read.header("cache-control"), "no-cache");
}

#[tokio::test]
async fn whatever_servers_follow_is_in_it_once() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let kinds = async || {
        let list = get(&world, &instance, "actions").await.json();
        let kinds = list.as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap());
        kinds.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(kinds().await, ["create"]);
    let create = world.last_action(instance.id).await;
    assert_eq!((create.generation, create.ended_at), (instance.generation, None));
    let already = "The cluster is started already, or is being started";
    let start = post(&world, &instance, "actions/cluster-start").await;
    assert_eq!(start.json(), json!({"message": already, "action": null}));
    assert_eq!(kinds().await, ["create"], "nothing was asked for");

    for (rest, generation) in [("cluster-stop", 2), ("cluster-start", 3)] {
        let rest = format!("actions/{rest}");
        let asked = post(&world, &instance, &rest).await;
        assert_eq!(asked.status, 200, "{}", asked.text);
        let action = world.last_action(instance.id).await;
        assert_eq!(asked.json()["action"], action.id.0);
        let intent = world.load(instance.id.0).await.generation;
        assert_eq!((action.generation, intent), (generation, generation));
        let lines = world.audit().await.len();
        assert_eq!(post(&world, &instance, &rest).await.json()["action"], json!(null));
        assert_eq!(world.audit().await.len(), lines, "asking again leaves no line");
    }
    assert_eq!(kinds().await, ["cluster-start", "cluster-stop", "create"]);

    // A name that no server follows is not in it.
    let rename = Call::put(&format!("/api/instances/{}", instance.id)).key(&world.key);
    assert_eq!(rename.form("name=new").send(&world.customer).await.status, 200);
    assert_eq!(actions(&world, &instance).await, 3);
}

#[tokio::test]
async fn actions_are_seen_by_who_sees_their_instance() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let neighbour = cluster(&world).await;
    let action = world.last_action(instance.id).await.id;
    let own = format!("actions/{action}");
    assert_eq!(get(&world, &instance, &own).await.status, 200);
    get(&world, &neighbour, &own).await.expect_error(404, "Not Found");
    post(&world, &neighbour, &format!("{own}/cancel")).await.expect_error(404, "Not Found");
    for nonsense in ["0", "-1", "x", "1.0", "01", "99999999999999999999", "999", "%00", "'"] {
        let rest = format!("actions/{nonsense}");
        get(&world, &instance, &rest).await.expect_error(404, "Not Found");
        post(&world, &instance, &format!("{rest}/cancel")).await.expect_error(404, "Not Found");
    }
    assert_eq!(get(&world, &instance, "actions/%FF").await.status, 404);
    for (role, tags, status) in
        [(Role::Monitor, "prod", 200), (Role::Monitor, "test", 404), (Role::Member, "test", 404)]
    {
        let key = world.member(role, &[tags]).await;
        for rest in ["actions", &own] {
            let call = Call::get(&path(&instance, rest)).key(&key);
            assert_eq!(call.send(&world.customer).await.status, status, "{role} {tags} {rest}");
        }
    }
    // Its own key opens none of it, on neither listener.
    for router in [&world.customer, &world.instance] {
        let call = Call::get(&path(&instance, "actions")).key(&instance.apikey);
        let status = call.send(router).await.status.as_u16();
        assert!([401, 404].contains(&status), "{status}");
    }
    let call = Call::post("/api/actions/cluster-stop").key(&instance.apikey);
    call.send(&world.instance).await.expect_error(404, "Not Found");
}

/// The answer names every action that there is, whoever asks.
#[tokio::test]
async fn an_action_that_does_not_exist_names_those_that_do() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let before = actions(&world, &instance).await;
    for name in ["explode", "Restart", "cluster_stop", "0", "%FF", "%00"] {
        let answer = post(&world, &instance, &format!("actions/{name}")).await;
        assert_eq!(answer.status, 404, "{name}");
        let error = answer.json()["error"].as_str().unwrap().to_owned();
        for route in api::routes::customer() {
            let action = route.path.strip_prefix("/api/instances/{id}/").unwrap_or_default();
            if route.method == "POST" && action.starts_with("actions/") {
                let action = action.replace("{action_id}", "<id>");
                assert!(error.contains(&action), "{action} is missing: {error}");
            }
        }
    }
    // What one action is can't be changed that way.
    for (method, rest) in [("POST", "actions/1"), ("PUT", "actions/explode")] {
        let call = Call::new(method, &path(&instance, rest)).key(&world.key);
        let answer = call.send(&world.customer).await;
        assert_eq!(answer.status, 405, "{method} {rest}");
        assert!(answer.header("allow").contains("GET"), "{method} {rest}");
    }
    assert_eq!(actions(&world, &instance).await, before);
}

#[tokio::test]
async fn a_deleted_instance_takes_its_journal_along() {
    let world = World::new().await;
    let instance = cluster(&world).await;
    let delete = Call::delete(&format!("/api/instances/{}", instance.id)).key(&world.key);
    assert_eq!(delete.send(&world.customer).await.status, 204);
    get(&world, &instance, "actions").await.expect_error(404, "Invalid ID");
    for rest in ["actions/1/cancel", "actions/restart", "cluster/restart", "actions/stop"] {
        post(&world, &instance, rest).await.expect_error(404, "Invalid ID");
    }
}
