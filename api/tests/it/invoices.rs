//! Invoices, issued and running, as clients see them.

use crate::call::{Answer, Call};
use crate::world::World;
use app::billing::{CustomerChanges, paid, update_customer};
use app::{Settings, Source, SourceKind};
use model::{Clock as _, Role, Seller, SignedDuration, Timestamp};
use serde_json::json;

const CLI: Source = Source { kind: SourceKind::Cli, address: None };

async fn world() -> World {
    let seller = Seller {
        company: "Kafka Hosting Ltd".into(),
        address: "Harbour Road 2".into(),
        zipcode: "D01 X2Y3".into(),
        country: "IE".into(),
        vatid: "IE1234567X".into(),
    };
    World::with(Settings { seller, ..Settings::default() }).await
}

async fn get(world: &World, path: &str) -> Answer {
    let role = world.member(Role::BillingManager, &[]).await;
    Call::get(path).key(&role).send(&world.customer).await
}

fn advance_to(world: &World, time: &str) {
    let time: Timestamp = time.parse().unwrap();
    world.clock.advance(time.duration_since(world.clock.now()));
}

#[tokio::test]
async fn a_month_from_its_first_second_to_its_payment() {
    let world = world().await;
    assert_eq!(get(&world, "/api/invoices").await.text, "[]");
    let empty = get(&world, "/api/invoices/period?month=2026-11").await;
    insta::assert_snapshot!("nothing_used", empty.shown(&[]));

    let orders = world.create("orders", &["prod", "eu"]).await;
    world.create("payments", &[]).await;
    advance_to(&world, "2026-11-16T00:00:00.75Z");
    let running = get(&world, "/api/invoices/period?year=2026&month=11").await;
    assert_eq!(running.header("cache-control"), "no-cache");
    insta::assert_snapshot!("running_month", running.shown(&[]));
    assert_eq!(get(&world, "/api/invoices").await.text, "[]", "nothing is issued yet");

    let path = format!("/api/instances/{}", orders.id);
    let rename = json!({"name": "=HYPERLINK(\"http://x\")", "tags": ["a\"b", "<script>"]});
    let renamed = Call::put(&path).key(&world.key).json(&rename).send(&world.customer).await;
    assert_eq!(renamed.status, 200, "{}", renamed.text);
    advance_to(&world, "2026-11-20T00:00:00Z");
    let deleted = Call::delete(&path).key(&world.key).send(&world.customer).await;
    assert_eq!(deleted.status, 204);
    // What the engine does once nothing is left of it.
    let mut work = world.app.store().begin().await.unwrap();
    for record in store::servers::list(&mut work, orders.id).await.unwrap() {
        for disk in store::disks::list(&mut work, orders.id).await.unwrap() {
            store::disks::remove(&mut work, disk.id).await.unwrap();
        }
        store::servers::remove(&mut work, record.server.id).await.unwrap();
    }
    store::instances::remove(&mut work, orders.id).await.unwrap();
    work.commit().await.unwrap();

    let changes = CustomerChanges {
        company: Some("Acme GmbH".into()),
        address: Some("Hauptstraße 1\n10115 Berlin".into()),
        country: Some("DE".into()),
        ..CustomerChanges::default()
    };
    update_customer(CLI, &world.app, world.account, changes).await.unwrap();
    world.issue_month().await;
    insta::assert_snapshot!("issued_list", get(&world, "/api/invoices").await.shown(&[]));
    let issued = get(&world, "/api/invoices/1").await;
    insta::assert_snapshot!("issued", issued.shown(&[]));
    // Frozen, whatever is asked and whoever changes.
    let changes = CustomerChanges { company: Some("Other".into()), ..CustomerChanges::default() };
    update_customer(CLI, &world.app, world.account, changes).await.unwrap();
    assert_eq!(get(&world, "/api/invoices/period?month=2026-11").await.text, issued.text);
    let running = get(&world, "/api/invoices/period?month=2026-12").await.json();
    assert_eq!(running["customer"]["company"], "Other");
    assert_eq!((&running["lines"], &running["total"]), (&json!([]), &json!(0)));

    paid(CLI, &world.app, 1).await.unwrap();
    assert_eq!(get(&world, "/api/invoices").await.json()[0]["paid"], true);
}

#[tokio::test]
async fn disk_beyond_the_plan_is_on_the_bill() {
    let world = world().await;
    advance_to(&world, "2026-12-01T00:00:00Z");
    for disk_size in [10, 125] {
        let body = json!({"name": "orders", "plan": "mouse-3", "region": "local::this-machine",
                          "disk_size": disk_size});
        let made = Call::post("/api/instances").key(&world.key).json(&body);
        assert_eq!(made.send(&world.customer).await.status, 200);
    }
    world.issue_month().await;
    let invoice = get(&world, "/api/invoices/1").await.json();
    let amounts: Vec<&serde_json::Value> =
        invoice["lines"].as_array().unwrap().iter().map(|line| &line["amount"]).collect();
    // 100 GB more on each of three servers, at 20 cents each.
    assert_eq!(amounts, [&json!(297), &json!(357)], "{invoice}");
}

#[tokio::test]
async fn from_and_to_are_inclusive_months() {
    let world = world().await;
    world.create("orders", &[]).await;
    for _ in 0..3 {
        world.issue_month().await;
    }
    let periods = async |query: &str| {
        let answer = get(&world, &format!("/api/invoices{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text);
        let list = answer.json();
        let list = list.as_array().unwrap().iter();
        list.map(|it| it["period"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(periods("").await, "2027/01 2026/12 2026/11");
    assert_eq!(periods("?from=&to=").await, "2027/01 2026/12 2026/11");
    assert_eq!(periods("?from=2026-12").await, "2027/01 2026/12");
    assert_eq!(periods("?to=2026-12").await, "2026/12 2026/11");
    assert_eq!(periods("?from=2026-12&to=2026-12").await, "2026/12");
    assert_eq!(periods("?from=2027-02").await, "");
    assert_eq!(periods("?from=0001-01&to=9999-12").await, "2027/01 2026/12 2026/11");
    let list = get(&world, "/api/invoices").await;
    let list: Vec<wire::billing::InvoiceEntry> = serde_json::from_str(&list.text).unwrap();
    let totals: Vec<i64> = list.iter().map(|entry| entry.total.cents).collect();
    assert_eq!(totals, [9900, 9900, 5115], "whole months cost the same");
}

#[tokio::test]
async fn what_is_no_month_is_refused_by_name() {
    let world = world().await;
    let mut shown = Vec::new();
    for query in [
        "invoices?from=2026",
        "invoices?from=2026-13",
        "invoices?from=2026-1",
        "invoices?from=2026/11",
        "invoices?from=2026-11-01",
        "invoices?from=0000-01",
        "invoices?from=99999999999999999999-01",
        "invoices?from=-2026-11",
        "invoices?from=%00",
        "invoices?from=%D9%A2%D9%A0%D9%A2%D9%A6-%D9%A1%D9%A1",
        "invoices?from=%FF",
        "invoices?from=2026-11&from=2026-12",
        "invoices?from[]=2026-11",
        "invoices?to=next",
        "invoices?from=x&to=y",
        "invoices?from=2026-12&to=2026-11",
        "invoices/period",
        "invoices/period?year=2026",
        "invoices/period?month=11",
        "invoices/period?month=2026-12",
        "invoices/period?month=9999-12",
        "invoices/period?year=2026&month=12",
        "invoices/period?year=2025&month=2026-11",
        "invoices/period?year=2026&month=0",
        "invoices/period?year=2026&month=13",
        "invoices/period?year=2026&month=-1",
        "invoices/period?year=2026&month=011",
        "invoices/period?year=2026&month=november",
        "invoices/period?year=2026&month=1.5",
        "invoices/period?year=two&month=1",
        "invoices/period?year=0&month=1",
        "invoices/period?year=-1&month=1",
        "invoices/period?year=99999999999999999999&month=1",
        "invoices/period?year=10000&month=1",
        "invoices/period?year=2026&year=2026&month=1",
        "invoices/period?year=2026&month=1&month=2",
        "invoices/period?year=2026&month[]=1",
        "invoices/period?year=&month=",
    ] {
        let answer = get(&world, &format!("/api/{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
        shown.push(format!("{query}\n  {}", answer.text));
    }
    insta::assert_snapshot!("refused_months", shown.join("\n"));
    // And what is one, in every spelling.
    for query in
        ["month=2026-11", "year=2026&month=2026-11", "year=2026&month=1", "year=1970&month=01"]
    {
        let answer = get(&world, &format!("/api/invoices/period?{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text);
    }
}

#[tokio::test]
async fn an_invoice_is_its_accounts_own() {
    let world = world().await;
    world.create("orders", &[]).await;
    world.clock.advance(SignedDuration::from_hours(24));
    world.issue_month().await;
    assert_eq!(get(&world, "/api/invoices/1").await.status, 200);
    let stranger = world.stranger().await;
    for path in ["/api/invoices/1", "/api/invoices/2"] {
        let answer = Call::get(path).key(&stranger).send(&world.customer).await;
        answer.expect_error(404, "Not Found");
    }
    let list = Call::get("/api/invoices").key(&stranger).send(&world.customer).await;
    assert_eq!(list.text, "[]");
    for id in ["0", "-1", "01", "x", "1.0", "99999999999999999999", "%00", "%FF"] {
        get(&world, &format!("/api/invoices/{id}")).await.expect_error(404, "Not Found");
    }
    for role in [Role::Devops, Role::Member, Role::Monitor] {
        let key = world.member(role, &[]).await;
        let answer =
            Call::get("/api/invoices/period?month=x").key(&key).send(&world.customer).await;
        answer.expect_error(403, "This needs one of the roles admin or billing manager");
    }
}
