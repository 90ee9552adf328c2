//! Successes and errors of the Customer API, as clients see them.

use crate::call::Call;
use crate::world::World;
use model::{Role, Secret, SignedDuration};
use serde_json::json;

#[tokio::test]
async fn an_instance_from_order_to_delete() {
    let world = World::new().await;
    let new = json!({
        "name": "orders", "plan": "mouse-1", "region": "local::this-machine",
        "tags": ["prod", "eu"], "no_default_alarms": false, "rmq_version": "3.8",
    });
    let create = Call::post("/api/instances").key(&world.key).json(&new);
    let created = create.send(&world.customer).await;
    let instance = world.load(created.json()["id"].as_i64().unwrap()).await;
    assert_eq!(created.header("cache-control"), "no-store");
    insta::assert_snapshot!("create", created.shown(&[&instance]));

    let list = Call::get("/api/instances").key(&world.key).send(&world.customer).await;
    assert_eq!(list.header("x-total-count"), "1");
    assert_eq!(list.header("cache-control"), "no-cache");
    insta::assert_snapshot!("list", list.shown(&[&instance]));

    let path = format!("/api/instances/{}", instance.id);
    let read = Call::get(&path).key(&world.key).send(&world.customer).await;
    assert_eq!(read.header("cache-control"), "no-store");
    insta::assert_snapshot!("read", read.shown(&[&instance]));

    world.make_ready(instance.id).await;
    let read = Call::get(&path).key(&world.key).send(&world.customer).await;
    assert_eq!(read.json()["ready"], true);
    assert_eq!(read.json()["status"], "running");

    let changes = json!({"name": "orders-2", "tags": null, "plan": "mouse-1", "nodes": 1});
    let updated = Call::put(&path).key(&world.key).json(&changes).send(&world.customer).await;
    insta::assert_snapshot!("update", updated.shown(&[]));
    let read = Call::get(&path).key(&world.key).send(&world.customer).await.json();
    assert_eq!((&read["name"], &read["tags"]), (&json!("orders-2"), &json!([])));

    world.clock.advance(SignedDuration::from_secs(60));
    let deleted = Call::delete(&path).key(&world.key).send(&world.customer).await;
    assert_eq!((deleted.status.as_u16(), deleted.text.as_str()), (204, ""));
    for call in [Call::get(&path), Call::delete(&path), Call::put(&path).form("name=x")] {
        call.key(&world.key).send(&world.customer).await.expect_error(404, "Invalid ID");
    }
    let details = Call::get("/api/details").key(&instance.apikey).send(&world.instance).await;
    details.expect_error(401, "Not authorized");
    let list = Call::get("/api/instances").key(&world.key).send(&world.customer).await;
    assert_eq!(list.text, "[]");

    let lines = store::audit::list(&mut world.app.store().reader(), world.account).await.unwrap();
    let lines: Vec<String> = lines
        .iter()
        .map(|line| {
            format!("{} {} {} {} {}", line.at, line.event, line.source, line.user, line.extras)
        })
        .collect();
    insta::assert_snapshot!("audit", lines.join("\n"));
}

#[tokio::test]
async fn everything_about_a_new_instance_is_chosen_at_once() {
    let world = World::new().await;
    let first = world.create("a", &[]).await;
    let second = world.create("b", &[]).await;
    let mut reader = world.app.store().reader();
    let servers = store::servers::list(&mut reader, second.id).await.unwrap();
    let server = &servers[0].server;
    assert_eq!(server.name, format!("{}-01", second.username));
    assert_eq!((server.number, server.node_id, server.private_ip.as_str()), (1, 1, "127.64.0.2"));
    assert!(server.is_broker() && server.is_controller());
    let disks = store::disks::list(&mut reader, second.id).await.unwrap();
    assert_eq!((disks[0].size_gb, disks[0].state), (25, model::DiskState::Planned));
    for kind in store::AuthorityKind::ALL {
        assert!(store::authorities::find(&mut reader, second.id, kind).await.unwrap().is_some());
    }
    let vpcs = store::vpcs::list(&mut reader, world.account).await.unwrap();
    let subnets: Vec<String> = vpcs.iter().map(|vpc| vpc.subnet.to_string()).collect();
    assert_eq!(subnets, ["10.192.0.0/24", "10.192.1.0/24"]);
    assert_ne!(first.cluster_id, second.cluster_id);
    assert!(
        store::instances::due(&mut reader, second.created_at).await.unwrap().contains(&second.id)
    );
}

#[tokio::test]
async fn plans_and_regions_are_the_catalogues() {
    let world = World::new().await;
    let ask = async |path: &str| Call::get(path).key(&world.key).send(&world.customer).await;
    insta::assert_snapshot!("plans", ask("/api/plans").await.shown(&[]));
    insta::assert_snapshot!("regions", ask("/api/regions").await.shown(&[]));
    assert_eq!(ask("/api/plans?backend=kafka").await.json().as_array().unwrap().len(), 21);
    assert_eq!(ask("/api/plans?backend=Kafka").await.text, "[]");
    assert_eq!(ask("/api/regions?provider=local").await.json().as_array().unwrap().len(), 1);
    assert_eq!(ask("/api/regions?provider=Local").await.text, "[]");
    assert_eq!(ask("/api/regions?provider=").await.json().as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn lists_come_in_pages() {
    let world = World::new().await;
    for name in ["a", "b", "c"] {
        world.create(name, &[]).await;
    }
    let names = async |query: &str| {
        let path = format!("/api/instances{query}");
        let answer = Call::get(&path).key(&world.key).send(&world.customer).await;
        assert_eq!(answer.header("x-total-count"), "3");
        let entries = answer.json();
        entries.as_array().unwrap().iter().map(|e| e["name"].as_str().unwrap()).collect::<String>()
    };
    assert_eq!(names("").await, "abc");
    assert_eq!(names("?page=2&page_size=2").await, "c");
    assert_eq!(names("?page_size=2").await, "ab");
    assert_eq!(names("?page=9").await, "");
    for query in ["page=0", "page=x", "page_size=0", "page_size=1001", "page=1&page=2"] {
        let path = format!("/api/instances?{query}");
        let answer = Call::get(&path).key(&world.key).send(&world.customer).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
    }
}

#[tokio::test]
async fn tags_narrow_what_members_see() {
    let world = World::new().await;
    let prod = world.create("prod", &["prod"]).await;
    let test = world.create("test", &["test"]).await;
    let count = async |key: &Secret| {
        let answer = Call::get("/api/instances").key(key).send(&world.customer).await;
        answer.json().as_array().unwrap().len()
    };
    let tagged = world.member(Role::Member, &["prod", "x"]).await;
    assert_eq!(count(&tagged).await, 1);
    assert_eq!(count(&world.member(Role::Monitor, &["test"]).await).await, 1);
    assert_eq!(count(&world.member(Role::Member, &[]).await).await, 2);
    // Tags mean nothing on roles that see everything.
    assert_eq!(count(&world.member(Role::Devops, &["prod"]).await).await, 2);

    let visible = format!("/api/instances/{}", prod.id);
    let hidden = format!("/api/instances/{}", test.id);
    assert_eq!(Call::get(&visible).key(&tagged).send(&world.customer).await.status, 200);
    for call in [
        Call::get(&hidden),
        Call::put(&hidden).form("name=x"),
        Call::get(&format!("{hidden}/details")),
    ] {
        call.key(&tagged).send(&world.customer).await.expect_error(404, "Invalid ID");
    }
    // A member renames, but tags decide who sees what.
    let rename = Call::put(&visible).key(&tagged);
    assert_eq!(rename.clone().form("name=new").send(&world.customer).await.status, 200);
    let refused = rename.form("name=newer&tags=x").send(&world.customer).await;
    refused.expect_error(403, "This needs one of the roles admin or devops");
    assert_eq!(world.load(prod.id.0).await.name.as_str(), "new");
}

#[tokio::test]
async fn a_deleted_instances_network_stays_on_request() {
    let world = World::new().await;
    let instance = world.create("a", &[]).await;
    let path = format!("/api/instances/{}?keep_vpc=TRUE", instance.id);
    assert_eq!(Call::delete(&path).key(&world.key).send(&world.customer).await.status, 204);
    let vpc = store::vpcs::find(&mut world.app.store().reader(), instance.vpc_id).await.unwrap();
    let vpc = vpc.unwrap();
    assert_eq!((vpc.made_for, vpc.deleted_at), (None, None));
}
