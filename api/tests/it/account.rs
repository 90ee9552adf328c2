//! What an account says of itself.

use crate::call::{Answer, Call};
use crate::world::World;
use model::{Role, Secret};
use serde_json::{Value, json};

async fn read(world: &World) -> Value {
    let answer = Call::get("/api/account").key(&world.key).send(&world.customer).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let mut account = answer.json();
    assert_eq!(account["id"], world.account.to_string());
    account.as_object_mut().unwrap().remove("id");
    account
}

async fn update(world: &World, key: &Secret, body: &Value) -> Answer {
    Call::put("/api/account").key(key).json(body).send(&world.customer).await
}

#[tokio::test]
async fn an_account_is_read_and_changed_and_invoices_say_so() {
    let world = World::new().await;
    world.create("orders", &[]).await;
    let first = json!({"name": "Acme", "company": "", "address": "", "country": "",
                       "email": "owner@example.test"});
    assert_eq!(read(&world).await, first);
    let (_, zoe) = world.user("zoe@example.test", Role::BillingManager, &[]).await;
    let body = json!({"name": "Acme & Sons", "company": "Acme GmbH",
                      "address": "Hauptstr. 1\r\n10115 Berlin", "country": "Germany",
                      "email": "Zoe@example.test"});
    let answer = update(&world, &zoe, &body).await;
    assert_eq!(answer.text, r#"{"message":"Changes saved"}"#);
    let mut expected = body.clone();
    expected["address"] = json!("Hauptstr. 1\n10115 Berlin");
    assert_eq!(read(&world).await, expected);
    let line = "account.update customer-api 192.0.2.7 zoe@example.test \
                account_name=Acme & Sons; company=Acme GmbH; \
                address=Hauptstr. 1, 10115 Berlin; country=Germany; email=Zoe@example.test";
    assert_eq!(world.audit().await.last().unwrap(), line);

    // The same again changes nothing and is not noted.
    let lines = world.audit().await.len();
    assert_eq!(update(&world, &world.key, &body).await.status, 200);
    assert_eq!(world.audit().await.len(), lines);
    world.issue_month().await;
    let invoice = Call::get("/api/invoices/1").key(&world.key).send(&world.customer).await;
    assert!(invoice.text.contains("Acme GmbH"), "{}", invoice.text);

    // An empty text takes away what may be empty, and says nothing of the rest.
    let empty = json!({"name": "", "company": "", "email": "", "country": null});
    assert_eq!(update(&world, &world.key, &empty).await.status, 200);
    expected["company"] = json!("");
    assert_eq!(read(&world).await, expected);
    let form = Call::put("/api/account").key(&world.key).form("address=&country=Austria");
    assert_eq!(form.send(&world.customer).await.status, 200);
    expected["address"] = json!("");
    expected["country"] = json!("Austria");
    assert_eq!(read(&world).await, expected);
}

#[tokio::test]
async fn what_a_change_of_the_account_refuses() {
    let world = World::new().await;
    let before = read(&world).await;
    let mut shown = Vec::new();
    for body in [
        json!({}),
        json!({"name": "", "email": null}),
        json!({"name": "x".repeat(65)}),
        json!({"name": " \n"}),
        json!({"name": 7}),
        json!({"company": "x".repeat(129)}),
        json!({"company": "a\nb"}),
        json!({"company": ["a"]}),
        json!({"address": "x".repeat(513)}),
        json!({"address": "a\u{0}b"}),
        json!({"country": "x".repeat(65)}),
        json!({"email": "no e-mail"}),
        json!({"email": "a@example.test\r\nBcc: b@example.test"}),
        json!({"name": "Fine", "country": "\u{1b}[2J", "email": "x"}),
    ] {
        let answer = update(&world, &world.key, &body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        shown.push(format!("{body}\n  {}", answer.text));
    }
    insta::assert_snapshot!("refused_account_changes", shown.join("\n"));
    assert_eq!(read(&world).await, before);
}

/// Alarms go to the team's e-mail without a question, so it is no way around asking.
#[tokio::test]
async fn the_teams_email_is_no_strangers() {
    let world = World::new().await;
    world.stranger().await;
    let to = async |email: &str| {
        let body = json!({"email": email, "company": "x"});
        update(&world, &world.key, &body).await
    };
    let refused = "email: must be the e-mail of a member of the team, or one whose owner has \
                   confirmed that alarms may go there";
    for email in ["victim@example.test", "other@example.test"] {
        to(email).await.expect_error(400, refused);
    }
    assert_eq!(read(&world).await["company"], "", "nothing was changed");
    assert_eq!(to("OWNER@example.test").await.status, 200);
    assert_eq!(read(&world).await["email"], "OWNER@example.test");

    // The owner of an address agrees.
    let (token, ops) = (Secret::new("of a link"), "ops@example.test");
    let mut work = world.app.store().begin().await.unwrap();
    let now = world.app.now();
    store::mail_consents::ask(&mut work, world.account, ops, &token, now).await.unwrap();
    work.commit().await.unwrap();
    to(ops).await.expect_error(400, refused);
    let mut work = world.app.store().begin().await.unwrap();
    let consent = store::mail_consents::find(&mut work, &token).await.unwrap().unwrap();
    store::mail_consents::confirm(&mut work, &consent, now).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(to(ops).await.status, 200);
    assert_eq!(read(&world).await["email"], ops);
}
