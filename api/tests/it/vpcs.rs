//! Networks: their rules, who lives in them, and when they go.

use crate::call::{Answer, Call};
use crate::world::World;
use model::{Role, VpcId};
use serde_json::{Value, json};

fn order(name: &str) -> Value {
    json!({"name": name, "plan": "mouse-1", "region": "local::this-machine"})
}

async fn create(world: &World, change: &Value) -> Answer {
    let mut body = order("orders");
    for (field, value) in change.as_object().unwrap() {
        body[field] = value.clone();
    }
    Call::post("/api/instances").key(&world.key).json(&body).send(&world.customer).await
}

async fn get(world: &World, path: &str) -> Answer {
    Call::get(path).key(&world.key).send(&world.customer).await
}

async fn delete(world: &World, path: &str) -> Answer {
    Call::delete(path).key(&world.key).send(&world.customer).await
}

/// A body with what was made at random named instead.
fn shown(answer: &Answer) -> String {
    let body = answer.json();
    let mut text = serde_json::to_string_pretty(&body).unwrap();
    for vpc in body.as_array().into_iter().flatten().chain([&body]) {
        if let Some(id) = vpc["providerid"].as_str() {
            text = text.replace(id, "[providerid]");
        }
    }
    format!("{}\n{text}", answer.status)
}

#[tokio::test]
async fn a_network_from_make_to_delete() {
    let world = World::new().await;
    let new = json!({
        "name": "net", "region": "local::this-machine", "subnet": "10.56.72.0/24",
        "tags": ["prod", "prod", "eu"],
    });
    let created = Call::post("/api/vpcs").key(&world.key).json(&new).send(&world.customer).await;
    insta::assert_snapshot!("vpc_create", shown(&created));
    let id = created.json()["id"].as_i64().unwrap();
    let path = format!("/api/vpcs/{id}");
    let instance = create(&world, &json!({"vpc_id": id})).await.json()["id"].clone();
    insta::assert_snapshot!("vpc_read", shown(&get(&world, &path).await));
    insta::assert_snapshot!("vpc_list", shown(&get(&world, "/api/vpcs").await));

    let update = Call::put(&path).key(&world.key);
    let changes = json!({
        "name": "net-2", "tags": [], "region": "local::this-machine", "subnet": "10.56.72.0/24",
    });
    let updated = update.clone().json(&changes).send(&world.customer).await;
    insta::assert_snapshot!("vpc_update", shown(&updated));
    let read = get(&world, &path).await.json();
    assert_eq!((&read["name"], &read["tags"]), (&json!("net-2"), &json!([])));

    let refused = delete(&world, &path).await;
    refused.expect_error(400, "The VPC is in use by instance 1; delete that first");
    assert_eq!(delete(&world, &format!("/api/instances/{instance}")).await.status, 204);
    assert_eq!(get(&world, &path).await.json()["instances"], json!([]));
    let deleted = delete(&world, &path).await;
    assert_eq!((deleted.status.as_u16(), deleted.text.as_str()), (204, ""));
    for call in [Call::get(&path), Call::delete(&path), Call::put(&path).form("name=x")] {
        call.key(&world.key).send(&world.customer).await.expect_error(404, "Not Found");
    }
    assert_eq!(get(&world, "/api/vpcs").await.text, "[]");
    insta::assert_snapshot!("vpc_audit", world.audit().await.join("\n"));
}

#[tokio::test]
async fn what_a_network_refuses() {
    let world = World::new().await;
    let id = world.create_vpc("net", "10.56.72.0/24").await;
    let good = json!({"name": "b", "region": "local::this-machine", "subnet": "10.56.73.0/24"});
    let mut refusals = Vec::new();
    for change in [
        json!({"name": null, "region": "", "subnet": null}),
        json!({"name": 1, "region": "moon", "subnet": "x"}),
        json!({"name": "x".repeat(65)}),
        json!({"subnet": "10.56.0.0/16"}),
        json!({"subnet": "10.56.72.16/28"}),
        json!({"subnet": "10.0.0.0/15"}),
        json!({"subnet": "10.56.73.1/24"}),
        json!({"subnet": "192.0.2.0/24"}),
        json!({"subnet": "172.17.0.0/24"}),
        json!({"tags": ["a", "b,c"]}),
    ] {
        let mut body = good.clone();
        for (field, value) in change.as_object().unwrap() {
            body[field] = value.clone();
        }
        let answer = Call::post("/api/vpcs").key(&world.key).json(&body);
        let answer = answer.send(&world.customer).await;
        assert_eq!(answer.status, 400, "{change}: {}", answer.text);
        refusals.push(format!("POST {change}\n  {}", answer.text));
    }
    for change in [
        json!({}),
        json!({"name": "", "tags": null}),
        json!({"name": "new", "region": "azure-arm::westeurope"}),
        json!({"name": "new", "subnet": "10.56.0.0/16"}),
        json!({"name": "new", "subnet": 7, "tags": "a"}),
        json!({"name": "\n"}),
    ] {
        let answer = Call::put(&format!("/api/vpcs/{id}")).key(&world.key).json(&change);
        let answer = answer.send(&world.customer).await;
        assert_eq!(answer.status, 400, "{change}: {}", answer.text);
        refusals.push(format!("PUT {change}\n  {}", answer.text));
    }
    insta::assert_snapshot!("refused_vpcs", refusals.join("\n"));
    let list = get(&world, "/api/vpcs").await.json();
    assert_eq!(list.as_array().unwrap().len(), 1, "what is refused leaves nothing");
    assert_eq!(list[0]["name"], "net");
}

#[tokio::test]
async fn instances_join_a_network_that_is_theirs_and_near() {
    let world = World::new().await;
    let id = world.create_vpc("net", "10.56.72.0/24").await;
    // The id wins, so the subnet is not looked at.
    for subnet in [json!(null), json!("10.56.72.0/24"), json!("nonsense")] {
        let answer = create(&world, &json!({"vpc_id": id, "vpc_subnet": subnet})).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let path = format!("/api/instances/{}", answer.json()["id"]);
        let read = get(&world, &path).await.json();
        assert_eq!(read["vpc"], json!({"id": id, "subnet": "10.56.72.0/24"}));
        assert_eq!(read["vpc_id"], id);
    }
    let inside = get(&world, &format!("/api/vpcs/{id}")).await.json();
    assert_eq!(inside["instances"], json!([1, 2, 3]));

    let elsewhere = json!({"vpc_id": id, "region": "amazon-web-services::us-east-1"});
    create(&world, &elsewhere).await.expect_error(
        400,
        "vpc_id: is in region local::this-machine, and the instance would be in \
         amazon-web-services::us-east-1",
    );
    let stranger = world.stranger().await;
    let mut body = order("theirs");
    body["vpc_id"] = json!(id);
    let theirs = Call::post("/api/instances").key(&stranger).json(&body);
    let not_yours = "vpc_id: is no VPC of yours; GET /api/vpcs lists them";
    theirs.send(&world.customer).await.expect_error(400, not_yours);
    for id in [0, -1, 99, i64::MAX] {
        create(&world, &json!({"vpc_id": id})).await.expect_error(400, not_yours);
    }
}

#[tokio::test]
async fn a_network_goes_with_the_instance_whose_create_made_it() {
    let world = World::new().await;
    let vpc = async |id: i64| {
        let found = store::vpcs::find(&mut world.app.store().reader(), VpcId(id)).await.unwrap();
        found.map(|vpc| (vpc.made_for.is_some(), vpc.deleted_at.is_some()))
    };
    let made = async |change: Value| {
        let answer = create(&world, &change).await;
        let id = answer.json()["id"].as_i64().unwrap();
        (id, world.load(id).await.vpc_id.0)
    };
    let remove = async |id: i64, query: &str| {
        let answer = delete(&world, &format!("/api/instances/{id}{query}")).await;
        assert_eq!(answer.status, 204, "{}", answer.text);
    };
    // It goes, and nobody can join it any more.
    let (alone, its) = made(json!({})).await;
    remove(alone, "").await;
    assert_eq!(vpc(its).await, Some((true, true)));
    assert_eq!(create(&world, &json!({"vpc_id": its})).await.status, 400);
    assert_eq!(get(&world, &format!("/api/vpcs/{its}")).await.status, 404);
    // It is kept, and stands alone from then on.
    let (kept, its) = made(json!({})).await;
    remove(kept, "?keep_vpc=1").await;
    assert_eq!(vpc(its).await, Some((false, false)));
    // Another one lives in it: it stays, and stands alone.
    let (maker, its) = made(json!({})).await;
    let (guest, _) = made(json!({"vpc_id": its})).await;
    remove(maker, "").await;
    assert_eq!(vpc(its).await, Some((false, false)));
    remove(guest, "").await;
    assert_eq!(vpc(its).await, Some((false, false)), "it is not the guest's to take along");
    // The guest goes first: the maker's network still goes with its maker.
    let (maker, its) = made(json!({})).await;
    let (guest, _) = made(json!({"vpc_id": its})).await;
    remove(guest, "?keep_vpc=true").await;
    assert_eq!(vpc(its).await, Some((true, false)));
    remove(maker, "?keep_vpc=false").await;
    assert_eq!(vpc(its).await, Some((true, true)));
    // One that stood alone all the time is no concern of an instance.
    let standing = world.create_vpc("net", "10.56.72.0/24").await;
    let (guest, _) = made(json!({"vpc_id": standing})).await;
    remove(guest, "").await;
    assert_eq!(vpc(standing).await, Some((false, false)));

    let answer = delete(&world, &format!("/api/instances/{maker}?keep_vpc=perhaps")).await;
    assert_eq!(answer.status, 404, "a deleted instance is gone, whatever is asked");
    let (last, _) = made(json!({})).await;
    let answer = delete(&world, &format!("/api/instances/{last}?keep_vpc=perhaps")).await;
    answer.expect_error(400, "keep_vpc: must be true or false");
}

#[tokio::test]
async fn a_range_stays_taken_until_its_network_is_removed() {
    let world = World::new().await;
    let id = world.create_vpc("net", "10.56.72.0/24").await;
    assert_eq!(delete(&world, &format!("/api/vpcs/{id}")).await.status, 204);
    let overlaps = create(&world, &json!({"vpc_subnet": "10.56.72.0/24"})).await;
    overlaps.expect_error(
        400,
        "vpc_subnet: overlaps 10.56.72.0/24, the subnet of a VPC that was deleted and is still \
         being removed; try again in a moment",
    );
    let mut work = world.app.store().begin().await.unwrap();
    let removable = store::vpcs::list_removable(&mut work).await.unwrap();
    assert_eq!(removable.iter().map(|vpc| vpc.id.0).collect::<Vec<_>>(), [id]);
    store::vpcs::remove_deleted(&mut work, VpcId(id)).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(create(&world, &json!({"vpc_subnet": "10.56.72.0/24"})).await.status, 200);
}

#[tokio::test]
async fn of_overlapping_ranges_at_the_same_moment_one_is_given() {
    let world = World::new().await;
    let body =
        |subnet: &str| json!({"name": "net", "region": "local::this-machine", "subnet": subnet});
    let calls = (0..8).map(|number| {
        let subnet = if number % 2 == 0 { "10.56.0.0/16" } else { "10.56.72.0/24" };
        let (path, body) = if number < 4 {
            ("/api/vpcs", body(subnet))
        } else {
            let mut order = order("orders");
            order["vpc_subnet"] = json!(subnet);
            ("/api/instances", order)
        };
        let (call, router) = (Call::post(path).key(&world.key).json(&body), world.customer.clone());
        tokio::spawn(async move { call.send(&router).await.status.as_u16() })
    });
    let mut statuses = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        statuses.push(call.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400, 400, 400, 400, 400, 400, 400]);

    // Those that name no range each get one of their own.
    let calls = (0..6).map(|_| {
        let call = Call::post("/api/instances").key(&world.key).json(&order("free"));
        let router = world.customer.clone();
        tokio::spawn(async move { call.send(&router).await.status.as_u16() })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap(), 200);
    }
    let vpcs = store::vpcs::list(&mut world.app.store().reader(), world.account).await.unwrap();
    for (at, one) in vpcs.iter().enumerate() {
        assert!(vpcs[at + 1..].iter().all(|two| !one.subnet.overlaps(two.subnet)));
    }
}

#[tokio::test]
async fn tags_narrow_the_networks_that_members_see() {
    let world = World::new().await;
    let tag = async |id: i64, tag: &str| {
        let call =
            Call::put(&format!("/api/vpcs/{id}")).key(&world.key).form(&format!("tags={tag}"));
        assert_eq!(call.send(&world.customer).await.status, 200);
    };
    let prod = world.create_vpc("prod", "10.56.1.0/24").await;
    let test = world.create_vpc("test", "10.56.2.0/24").await;
    tag(prod, "prod").await;
    tag(test, "test").await;
    for (tags, vpc_id) in [(["prod"], prod), (["test"], prod)] {
        create(&world, &json!({"vpc_id": vpc_id, "tags": tags})).await;
    }
    let member = world.member(Role::Member, &["prod"]).await;
    let list = Call::get("/api/vpcs").key(&member).send(&world.customer).await.json();
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(list[0]["instances"], json!([1]), "nor does it tell of instances it must not see");
    let hidden = Call::get(&format!("/api/vpcs/{test}")).key(&member).send(&world.customer).await;
    hidden.expect_error(404, "Not Found");
    let refused = Call::put(&format!("/api/vpcs/{prod}")).key(&member).form("name=x");
    assert_eq!(refused.send(&world.customer).await.status, 403);
}
