//! What a create and an update refuse, and the Instance API's own answers.

use crate::call::Call;
use crate::world::World;
use app::Settings;
use model::Catalogue;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

fn merged(base: &Value, change: &Value) -> Value {
    let mut merged = base.clone();
    for (field, value) in change.as_object().unwrap() {
        merged[field] = value.clone();
    }
    merged
}

#[tokio::test]
async fn what_a_create_refuses() {
    let world = World::new().await;
    let vpc_subnet = "10.200.0.0/24";
    let good = json!({
        "name": "orders", "plan": "mouse-1", "region": "local::this-machine",
        "vpc_subnet": vpc_subnet,
    });
    let create = Call::post("/api/instances").key(&world.key);
    assert_eq!(create.clone().json(&good).send(&world.customer).await.status, 200);

    let mut shown = Vec::new();
    for change in [
        json!({"name": null}),
        json!({"name": "", "plan": null, "region": 7}),
        json!({"name": "a\nb"}),
        json!({"name": "x".repeat(65)}),
        json!({"plan": "elephant-1"}),
        json!({"plan": "ducky", "vpc_subnet": null}),
        json!({"plan": "mouse-3"}),
        json!({"nodes": 3}),
        json!({"nodes": 2}),
        json!({"nodes": "1"}),
        json!({"region": "amazon-web-services::moon"}),
        json!({"kafka_version": "2.8.0"}),
        json!({"kafka_version": "newest"}),
        json!({"vpc_subnet": "10.200.0.0/16"}),
        json!({"vpc_subnet": "172.17.3.0/24"}),
        json!({"vpc_subnet": "10.200.1.1/24"}),
        json!({"vpc_subnet": "8.8.8.0/24"}),
        json!({"vpc_id": 99}),
        json!({"vpc_id": "1"}),
        json!({"plan": "ducky"}),
        json!({"plan": "ducky", "vpc_id": 1}),
        json!({"disk_size": 1_000_001}),
        json!({"tags": (0..21).map(|n| n.to_string()).collect::<Vec<_>>()}),
        json!({"copy_settings": {"subscription_id": 1}}),
        json!({"disk_size": -1}),
        json!({"tags": ["a,b"]}),
        json!({"tags": "a"}),
        json!({"no_default_alarms": "yes"}),
        json!({"name": 1, "plan": "x", "region": "y", "kafka_version": "z", "nodes": 1.5}),
    ] {
        let answer = create.clone().json(&merged(&good, &change)).send(&world.customer).await;
        assert_eq!(answer.status, 400, "{change}: {}", answer.text);
        shown.push(format!("{change}\n  {}", answer.text));
    }
    insta::assert_snapshot!("refused_creates", shown.join("\n"));
    let list = Call::get("/api/instances").key(&world.key).send(&world.customer).await;
    assert_eq!(list.header("x-total-count"), "1", "a refused create leaves nothing");
}

#[tokio::test]
async fn what_clients_send_without_meaning_it_is_not_given() {
    let world = World::new().await;
    let body = json!({
        "name": "orders", "plan": "mouse-3", "nodes": 1, "region": "local::this-machine",
        "vpc_subnet": "", "vpc_id": null, "kafka_version": "", "tags": null, "disk_size": 0,
        "copy_settings": {}, "unknown": {"deep": [1]},
    });
    let answer = Call::post("/api/instances").key(&world.key).json(&body);
    let answer = answer.send(&world.customer).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let instance = world.load(answer.json()["id"].as_i64().unwrap()).await;
    assert_eq!((instance.plan.0.as_str(), instance.nodes), ("mouse-1", 1));
    assert_eq!(instance.kafka_version.to_string(), "4.3.1");
    assert_eq!(instance.disk_size, None);
}

#[tokio::test]
async fn what_an_update_refuses_changes_nothing() {
    let world = World::new().await;
    let instance = world.create("orders", &["prod"]).await;
    let path = format!("/api/instances/{}", instance.id);
    let mut shown = Vec::new();
    for change in [
        json!({}),
        json!({"unknown": 1, "name": ""}),
        json!({"name": "new", "plan": "mouse-3"}),
        json!({"name": "new", "nodes": 3}),
        json!({"name": "new", "nodes": 4}),
        json!({"name": "new", "plan": "elephant-1"}),
        json!({"name": "new", "plan": "ducky"}),
        json!({"name": "new", "plan": "bat-1"}),
        json!({"name": "new", "plan": "mouse"}),
        json!({"name": "new", "nodes": 0}),
        json!({"name": "new", "disk_size": -5}),
        json!({"name": "new", "disk_size": 1_000_001}),
        json!({"name": "new", "kafka_version": "4.2.1"}),
        json!({"name": "new", "kafka_version": "1"}),
        json!({"name": "new", "region": "azure-arm::westeurope"}),
        json!({"name": "new", "region": "moon"}),
        json!({"name": "new", "vpc_id": instance.vpc_id.0 + 1}),
        json!({"name": "new", "vpc_subnet": "10.200.0.0/24"}),
        json!({"name": "new", "vpc_subnet": "10.192.0.1/24"}),
        json!({"name": "new", "vpc_id": "1", "vpc_subnet": 7}),
        json!({"name": "new", "tags": ["a", ""]}),
        json!({"name": "\u{7}", "tags": [1]}),
    ] {
        let answer = Call::put(&path).key(&world.key).json(&change).send(&world.customer).await;
        assert_eq!(answer.status, 400, "{change}: {}", answer.text);
        shown.push(format!("{change}\n  {}", answer.text));
    }
    insta::assert_snapshot!("refused_updates", shown.join("\n"));
    assert_eq!(world.load(instance.id.0).await, instance);

    for change in [
        json!({"plan": "mouse-1"}),
        json!({"plan": "mouse-3", "nodes": 1}),
        json!({"disk_size": 25}),
        json!({"kafka_version": "4.3.1", "region": "local::this-machine"}),
        json!({"vpc_id": instance.vpc_id.0, "vpc_subnet": "10.192.0.0/24"}),
        json!({"name": "orders", "vpc_id": null, "vpc_subnet": "", "region": null}),
        json!({"name": "orders", "tags": ["prod", "prod"]}),
    ] {
        let answer = Call::put(&path).key(&world.key).json(&change).send(&world.customer).await;
        assert_eq!(answer.status, 200, "{change}: {}", answer.text);
    }
    assert_eq!(world.load(instance.id.0).await, instance);
}

#[tokio::test]
async fn a_disk_larger_than_what_is_offered_by_now_stays() {
    let world = World::new().await;
    let body = json!({"name": "orders", "plan": "mouse-1", "region": "local::this-machine",
                      "disk_size": 5000});
    let created = Call::post("/api/instances").key(&world.key).json(&body);
    let created = created.send(&world.customer).await;
    let path = format!("/api/instances/{}", created.json()["id"]);
    let smaller = Catalogue::BUILT_IN.replacen("max_disk_gb = 16000", "max_disk_gb = 4000", 1);
    let router = world.customer_with(Catalogue::parse(&smaller, None).unwrap());
    let change = async |disk_size: i64| {
        let body = json!({"disk_size": disk_size});
        Call::put(&path).key(&world.key).json(&body).send(&router).await
    };
    let same = change(5000).await;
    assert_eq!(same.status, 200, "{}", same.text);
    let more = "disk_size: must be gigabytes between 1 and 4000";
    change(5001).await.expect_error(400, more);
}

#[tokio::test]
async fn disks_only_grow_and_versions_only_rise() {
    let world = World::new().await;
    let body = json!({
        "name": "orders", "plan": "bat-1", "region": "local::this-machine",
        "disk_size": 600, "kafka_version": "4.1.2", "no_default_alarms": true,
    });
    let created = Call::post("/api/instances").key(&world.key).json(&body);
    let created = created.send(&world.customer).await;
    let instance = world.load(created.json()["id"].as_i64().unwrap()).await;
    assert!(instance.no_default_alarms);
    let path = format!("/api/instances/{}", instance.id);
    let check = async |change: Value, status: u16, error: &str| {
        let answer = Call::put(&path).key(&world.key).json(&change).send(&world.customer).await;
        assert_eq!(answer.status, status, "{change}: {}", answer.text);
        assert_eq!(answer.json()["error"].as_str().unwrap_or_default(), error, "{change}");
    };
    let smaller = "disk_size: must be at least 600, the gigabytes each server has now";
    check(json!({"disk_size": 599}), 400, smaller).await;
    check(json!({"disk_size": 1}), 400, smaller).await;
    check(json!({"disk_size": 600}), 200, "").await;
    check(json!({"plan": "mouse-1", "disk_size": 30}), 400, smaller).await;
    let lower = "kafka_version: can't go below 4.1.2, which it runs";
    check(json!({"kafka_version": "4.0.2"}), 400, lower).await;
    check(json!({"kafka_version": "4.1.2"}), 200, "").await;
    check(json!({"kafka_version": "4.3.1"}), 400, "Changing kafka_version is not available yet")
        .await;
    assert_eq!(world.load(instance.id.0).await, instance);
    check(json!({"disk_size": 601}), 200, "").await;
    assert_eq!(world.load(instance.id.0).await.disk_size, Some(601));
}

#[tokio::test]
async fn what_left_the_catalogue_may_be_sent_along_but_not_changed() {
    let world = World::new().await;
    let body = json!({
        "name": "orders", "plan": "bat-1", "region": "local::this-machine",
        "disk_size": 600, "kafka_version": "4.1.2",
    });
    let created = Call::post("/api/instances").key(&world.key).json(&body);
    let id = created.send(&world.customer).await.json()["id"].as_i64().unwrap();
    let without = Catalogue::BUILT_IN.replace("\"bat\"", "\"owl\"").replace("\"4.1.2\", ", "");
    let customer = world.customer_with(Catalogue::parse(&without, None).unwrap());
    let path = format!("/api/instances/{id}");
    let check = async |change: Value, status: u16, error: &str| {
        let answer = Call::put(&path).key(&world.key).json(&change).send(&customer).await;
        assert_eq!(answer.status, status, "{change}: {}", answer.text);
        assert_eq!(answer.json()["error"].as_str().unwrap_or_default(), error, "{change}");
    };
    let all = json!({
        "name": "bills", "plan": "bat-1", "nodes": 1, "kafka_version": "4.1.2", "disk_size": 600,
    });
    check(all, 200, "").await;
    assert_eq!(world.load(id).await.name.as_str(), "bills");
    check(json!({"nodes": 1}), 200, "").await;
    let kept = "disk_size: can't be changed: the plan bat-1 is no longer offered";
    check(json!({"disk_size": 601}), 400, kept).await;
    check(json!({"plan": "bat-1", "disk_size": 599}), 400, kept).await;
    let alone = "nodes: needs a plan beside it: the present one is no longer offered";
    check(json!({"nodes": 3}), 400, alone).await;
    let lower = "kafka_version: can't go below 4.1.2, which it runs";
    check(json!({"kafka_version": "4.0.2"}), 400, lower).await;
}

#[tokio::test]
async fn a_new_instance_key_ends_the_old_one_at_that_moment() {
    let world = World::new().await;
    let instance = world.create("orders", &["prod"]).await;
    let path = format!("/api/instances/{}/account/rotate-apikey", instance.id);
    let opens = async |key: &model::Secret| {
        Call::get("/api/details").key(key).send(&world.instance).await.status.as_u16()
    };
    let answer = Call::post(&path).key(&world.key).send(&world.customer).await;
    assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (200, "no-store"));
    let new = model::Secret::new(answer.json()["apikey"].as_str().unwrap());
    assert_eq!(answer.json().as_object().unwrap().len(), 1);
    assert_eq!((opens(&instance.apikey).await, opens(&new).await), (401, 200));
    let read = Call::get(&format!("/api/instances/{}", instance.id)).key(&world.key);
    assert_eq!(read.send(&world.customer).await.json()["apikey"], new.expose());
    let line = world.audit().await.pop().unwrap();
    let expected = "instance.rotate_apikey customer-api 192.0.2.7 owner@example.test id=1; \
                    name=orders";
    assert_eq!(line, expected);

    // Of many at the same moment, one key is left, and it is one of the answers.
    let calls = (0..10).map(|_| {
        let (call, router) = (Call::post(&path).key(&world.key), world.customer.clone());
        tokio::spawn(async move { call.send(&router).await.json()["apikey"].clone() })
    });
    let mut keys = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        keys.push(model::Secret::new(call.await.unwrap().as_str().unwrap()));
    }
    let mut left = 0;
    for key in &keys {
        left += u16::from(opens(key).await == 200);
    }
    assert_eq!((left, opens(&new).await), (1, 401));

    let tagged = world.member(model::Role::Member, &["test"]).await;
    let hidden = Call::post(&path).key(&tagged).send(&world.customer).await;
    hidden.expect_error(404, "Invalid ID");
}

#[tokio::test]
async fn both_listeners_give_the_same_documents() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    for (own, mirrored) in [
        ("/api/details", "details"),
        ("/api/ca/ca_cert.pem", "ca/ca_cert.pem"),
        ("/api/api/cluster/status", "cluster/status"),
    ] {
        let own_answer = Call::get(own).key(&instance.apikey).send(&world.instance).await;
        assert_eq!(own_answer.status, 200, "{own}");
        let path = format!("/api/instances/{}/{mirrored}", instance.id);
        let mirrored = Call::get(&path).key(&world.key).send(&world.customer).await;
        assert_eq!(own_answer.text, mirrored.text, "{own}");
        assert_eq!(own_answer.header("content-type"), mirrored.header("content-type"));
        insta::assert_snapshot!(own.replace('/', "_"), own_answer.shown(&[&instance]));
    }
    world.make_ready(instance.id).await;
    let status = Call::get("/api/api/cluster/status").key(&instance.apikey);
    let status = status.send(&world.instance).await.json();
    assert_eq!(status, json!({"name": "orders", "ready": true, "configured": true}));
}

#[tokio::test]
async fn details_have_an_empty_plaintext_where_servers_don_t_listen_there() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    for server in world.servers(instance.id).await {
        let listeners = model::Listeners { plaintext: None, ..server.listeners.clone() };
        let mut work = world.app.store().begin().await.unwrap();
        store::servers::set_listeners(&mut work, &server, &listeners).await.unwrap();
        work.commit().await.unwrap();
    }
    let details = Call::get("/api/details").key(&instance.apikey).send(&world.instance).await;
    let connections = &details.json()["connections"];
    assert_eq!(connections["plaintext"], json!({}), "{connections}");
    assert!(connections["ssl"]["port"].is_u64(), "{connections}");
}

#[tokio::test]
async fn addresses_that_were_taken_meanwhile_are_chosen_again() {
    let world = World::new().await;
    world.create("first", &[]).await;
    world.places.stale.store(2, Ordering::SeqCst);
    let second = world.create("second", &[]).await;
    assert_eq!(second.hostname, "127.64.0.2");

    world.places.stale.store(u32::MAX, Ordering::SeqCst);
    let create = Call::post("/api/instances").key(&world.key);
    let create = create.form("name=third&plan=mouse-1&region=local::this-machine");
    let refused = create.send(&world.customer).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    let list = Call::get("/api/instances").key(&world.key).send(&world.customer).await;
    assert_eq!(list.header("x-total-count"), "2");
    let vpcs = store::vpcs::list(&mut world.app.store().reader(), world.account).await.unwrap();
    assert_eq!(vpcs.len(), 2, "nothing is left of a create that failed");
}

#[tokio::test]
async fn a_region_without_room_tells_nothing_of_its_host() {
    let world = World::new().await;
    let create = async |region: &str| {
        let text = format!("name=a&plan=mouse-1&region={region}");
        Call::post("/api/instances").key(&world.key).form(&text).send(&world.customer).await
    };
    let full = create("google-compute-engine::us-central1").await;
    full.expect_error(
        400,
        "This region has no room for that plan now; choose a smaller plan or disk, delete an \
         instance, or ask the operator",
    );
    let broken = create("azure-arm::westeurope").await;
    broken.expect_error(500, "Something went wrong on our side; try again later");
    assert_eq!(broken.header("x-request-id").len(), 36);
}

#[tokio::test]
async fn with_a_domain_clusters_have_names() {
    let domain = Some("kafka.example.test".to_owned());
    let world = World::with(Settings { domain, ..Settings::default() }).await;
    let instance = world.create("orders", &[]).await;
    assert_eq!(instance.hostname, format!("{}.kafka.example.test", instance.username));
    let path = format!("/api/instances/{}", instance.id);
    let read = Call::get(&path).key(&world.key).send(&world.customer).await.json();
    let url = read["url"].as_str().unwrap();
    assert!(url.ends_with(&format!("@{}:9094/", instance.hostname)), "{url}");
    assert_eq!(read["hostname_internal"], "127.64.0.1");
}

#[tokio::test]
async fn hostile_names_and_tags_are_kept_as_sent_and_do_nothing() {
    let world = World::new().await;
    for (number, hostile) in [
        "'; DROP TABLE instances; --",
        "<script>alert(1)</script>",
        "=HYPERLINK(\"http://x\")",
        "%s%n %00 ${jndi:ldap://x} {{7*7}}",
        "\\\" \\u0000 \\\\",
        "../../etc/passwd",
        "\u{202e}gnp.exe\u{200b}\u{feff}",
        "\u{1f9ff}\u{301}\u{fffd}\u{10ffff}",
        "null",
        "true",
        " ",
        "k=v; user=root",
    ]
    .into_iter()
    .enumerate()
    {
        let vpc = json!({
            "name": hostile, "region": "local::this-machine", "tags": [hostile],
            "subnet": format!("10.7.{number}.0/24"),
        });
        let made = Call::post("/api/vpcs").key(&world.key).json(&vpc).send(&world.customer).await;
        assert_eq!(made.status, 200, "{hostile}: {}", made.text);
        let vpc_id = made.json()["id"].clone();
        let order = json!({
            "name": hostile, "plan": "mouse-1", "region": "local::this-machine",
            "tags": [hostile, "x"], "vpc_id": vpc_id,
        });
        let key = format!("'; DROP TABLE idempotency; -- {number}");
        let made = Call::post("/api/instances").key(&world.key).json(&order);
        let made = made.header("idempotency-key", &key).header("user-agent", "() { :; }; echo x");
        let made = made.send(&world.customer).await;
        assert_eq!(made.status, 200, "{hostile}: {}", made.text);
        let path = format!("/api/instances/{}", made.json()["id"]);
        for (path, tags) in
            [(path, json!([hostile, "x"])), (format!("/api/vpcs/{vpc_id}"), json!([hostile]))]
        {
            let read = Call::get(&path).key(&world.key).send(&world.customer).await.json();
            assert_eq!((&read["name"], &read["tags"]), (&json!(hostile), &tags));
        }
    }
    // What decides who sees what is compared, never interpreted.
    let member = world.member(model::Role::Member, &["'; DROP TABLE instances; --"]).await;
    let list = Call::get("/api/instances").key(&member).send(&world.customer).await;
    assert_eq!(list.header("x-total-count"), "1");
    let list = Call::get("/api/instances").key(&world.key).send(&world.customer).await;
    assert_eq!(list.header("x-total-count"), "12");
}
