//! More servers.

use super::{BEGUN, change, cluster, finish, members, prices, put, read, resize, topic};
use crate::call::Call;
use crate::world::World;
use kafka::client::{Admin as _, Assignment, TopicPartition};
use kafka::simulated::SimNode;
use model::{ActionKind, DiskState, Membership, ServerState};
use serde_json::{Value, json};

#[tokio::test]
async fn everything_about_new_servers_is_saved_at_once() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-1", &[]).await;
    let after = change(&world, &before, &json!({"nodes": 3})).await;
    assert_eq!((after.plan.0.as_str(), after.nodes), ("mouse-3", 3));
    assert_eq!(after.generation, before.generation + 1);
    assert!(after.ready() && !after.configured());
    let joining = Membership::Joining;
    let expected = [(1, 1, Membership::Member), (2, 2, joining), (3, 3, joining)];
    assert_eq!(members(&world, &after).await, expected);
    let servers = world.servers(after.id).await;
    let disks = store::disks::list(&mut world.app.store().reader(), after.id).await.unwrap();
    for server in &servers[1..] {
        assert!(server.is_controller() && server.is_broker(), "{server:?}");
        assert_eq!(server.state, ServerState::Planned);
        assert_eq!(server.name, format!("{}-{:02}", after.username, server.number));
        let disk = disks.iter().find(|disk| disk.server_id == server.id).unwrap();
        let found = (disk.size_gb, disk.made_gb, disk.founding, disk.state);
        assert_eq!(found, (25, 25, false, DiskState::Planned));
    }
    let resize = resize(&world, &after).await.unwrap();
    let action = world.last_action(after.id).await;
    assert_eq!((action.kind, action.generation), (ActionKind::Resize, after.generation));
    assert_eq!((resize.action_id, resize.from, resize.to), (action.id, 1, 3));
    assert!(resize.raise_replication && !resize.accept_single_copy && !resize.undo);
    let line = world.audit().await.pop().unwrap();
    let expected = "instance.update customer-api 192.0.2.7 owner@example.test id=1; name=orders; \
                    plan=mouse-3, before mouse-1";
    assert_eq!(line, expected);
    let expected = [("mouse-1".to_owned(), 9900), ("mouse-3".to_owned(), 29_700)];
    assert_eq!(prices(&world, &after).await, expected);
}

#[tokio::test]
async fn servers_are_listed_where_they_are_of_use() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-1", &[]).await;
    let lengths = async || {
        let whole = read(&world, &before, "").await;
        let brokers = whole["brokers"].as_str().unwrap().split(',').count();
        let details = read(&world, &before, "/details").await["servers"].as_array().unwrap().len();
        let nodes = read(&world, &before, "/nodes").await;
        let nodes = nodes.as_array().unwrap();
        let configured = nodes.iter().filter(|node| node["configured"] == json!(true)).count();
        (whole["nodes"].as_u64().unwrap(), brokers, details, nodes.len(), configured)
    };
    assert_eq!(lengths().await, (1, 1, 1, 1, 1));
    let after = change(&world, &before, &json!({"plan": "mouse-3"})).await;
    assert_eq!(lengths().await, (3, 1, 1, 3, 0));
    finish(&world, &after).await;
    assert_eq!(lengths().await, (3, 3, 3, 3, 3));
}

/// What they hold is told before they are members.
#[tokio::test]
async fn new_servers_run_from_the_moment_their_brokers_answer() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-1", &[topic("orders", 1)]).await;
    let after = change(&world, &before, &json!({"nodes": 3})).await;
    let nodes = async |field: &str| -> Vec<Value> {
        let nodes = read(&world, &after, "/nodes").await;
        nodes.as_array().unwrap().iter().map(|node| node[field].clone()).collect()
    };
    assert_eq!(nodes("running").await, [true, false, false]);
    let servers = world.servers(after.id).await;
    for server in &servers[1..] {
        world.kafka.add_node(SimNode {
            id: server.node_id,
            roles: server.roles.clone(),
            internal: (&server.listeners.internal).into(),
            sasl: (&server.listeners.sasl_scram).into(),
        });
        world.kafka.start(server.node_id);
    }
    world.pass_time();
    assert_eq!(nodes("running").await, [true, true, true]);
    let cluster = world.app.reach().cluster(after.id, &servers).await.unwrap();
    let at = TopicPartition::new("orders", 0);
    let copied = [Assignment { at, replicas: vec![1, 2] }];
    world.kafka.placement().reassign(&cluster, &copied).await.unwrap();
    world.pass_time();
    world.kafka.fill("orders", 0, 3 << 30);
    assert_eq!(nodes("disk_used").await, [3, 3, 0]);
}

#[tokio::test]
async fn form_and_json_query_and_flags() {
    let world = World::new().await;
    for body in ["nodes=3&raise_replication=0", "plan=mouse-1&nodes=3&raise_replication=FALSE"] {
        let world = World::new().await;
        let before = cluster(&world, "mouse-1", &[]).await;
        let path = format!("/api/instances/{}", before.id);
        let answer = Call::put(&path).key(&world.key).form(body).send(&world.customer).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (200, json!({"message": BEGUN})));
        assert!(!resize(&world, &before).await.unwrap().raise_replication);
        assert_eq!(world.load(before.id.0).await.nodes, 3);
    }
    // Without a body the query speaks.
    let before = cluster(&world, "mouse-1", &[]).await;
    let path = format!("/api/instances/{}?nodes=3&raise_replication=true", before.id);
    let answer = Call::put(&path).key(&world.key).send(&world.customer).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(resize(&world, &before).await.unwrap().raise_replication);
}

#[tokio::test]
async fn the_same_again_changes_nothing_and_something_else_waits() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-1", &[]).await;
    let after = change(&world, &before, &json!({"nodes": 3})).await;
    for same in
        [json!({"nodes": 3}), json!({"plan": "mouse-3"}), json!({"plan": "mouse-1", "nodes": 3})]
    {
        let answer = put(&world, &after, &same).await;
        assert_eq!(answer.json(), json!({"message": "Changes saved"}), "{same}");
    }
    assert_eq!(world.load(after.id.0).await, after);
    let refused = put(&world, &after, &json!({"nodes": 5})).await;
    assert_eq!(refused.status, 400);
    let action = world.last_action(after.id).await;
    let words = format!(
        "The cluster follows another change: action {} (change of the number of servers, asked \
         for by owner@example.test at ",
        action.id
    );
    assert!(refused.text.contains(&words), "{}", refused.text);
    let remedy = format!("or cancel it (POST /api/instances/1/actions/{}/cancel)", action.id);
    assert!(refused.text.contains(&remedy), "{}", refused.text);
    for other in [json!({"plan": "bat-3"}), json!({"name": "bills", "nodes": 1})] {
        assert_eq!(put(&world, &after, &other).await.status, 400, "{other}");
    }
    assert_eq!(world.load(after.id.0).await, after, "nothing changed on a 400");
    // What no server follows is saved meanwhile.
    assert_eq!(put(&world, &after, &json!({"name": "bills"})).await.status, 200);
    assert_eq!(world.load(after.id.0).await.name.as_str(), "bills");
}

/// Of two that ask at the same moment one is refused, and no address is given twice.
#[tokio::test]
async fn of_two_at_once_one_is_accepted() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-1", &[]).await;
    let path = format!("/api/instances/{}", before.id);
    let calls = [3, 5, 7, 3].map(|nodes| {
        let call = Call::put(&path).key(&world.key).json(&json!({"nodes": nodes}));
        let router = world.customer.clone();
        tokio::spawn(async move { call.send(&router).await })
    });
    let mut accepted = 0;
    for call in calls {
        let answer = call.await.unwrap();
        accepted += usize::from(answer.status == 200 && answer.text.contains(BEGUN));
    }
    assert_eq!(accepted, 1);
    let after = world.load(before.id.0).await;
    assert_eq!(world.servers(after.id).await.len(), after.nodes as usize);
    assert_eq!(resize(&world, &after).await.unwrap().to, after.nodes);
}

/// Names are the first ones that are free; a node id is given once.
#[tokio::test]
async fn a_cluster_that_grows_again_has_the_same_names_and_new_ids() {
    let world = World::new().await;
    let before = cluster(&world, "mouse-3", &[]).await;
    let single = json!({"nodes": 1, "accept_single_copy": true});
    let small = change(&world, &before, &single).await;
    finish(&world, &small).await;
    let member = Membership::Member;
    assert_eq!(members(&world, &small).await, [(1, 1, member)]);
    let large = change(&world, &small, &json!({"nodes": 5})).await;
    let numbers: Vec<(u32, i32)> =
        members(&world, &large).await.iter().map(|(number, id, _)| (*number, *id)).collect();
    assert_eq!(numbers, [(1, 1), (2, 4), (3, 5), (4, 6), (5, 7)]);
    let controllers = world.servers(large.id).await.iter().filter(|it| it.is_controller()).count();
    assert_eq!(controllers, 3);
}
