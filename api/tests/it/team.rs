//! The team: who is in it, and how people are asked in, changed and removed.

use crate::call::{Answer, Call};
use crate::world::World;
use model::{Role, Secret, SignedDuration};
use serde_json::{Value, json};

/// Stands for a member that is not there.
const NOBODY: &str = "00000000-0000-0000-0000-000000000000";

fn invite(key: &Secret) -> Call {
    Call::post("/api/team/invite").key(key)
}

async fn remove(world: &World, key: &Secret, email: &str) -> Answer {
    let body = json!({ "email": email });
    Call::post("/api/team/remove").key(key).json(&body).send(&world.customer).await
}

async fn update(world: &World, id: impl ToString, body: &Value) -> Answer {
    let path = format!("/api/team/{}", id.to_string());
    Call::put(&path).key(&world.key).json(body).send(&world.customer).await
}

async fn team(world: &World) -> Vec<String> {
    let answer = Call::get("/api/team").key(&world.key).send(&world.customer).await;
    let shown = |member: &Value| {
        let tags: Vec<&str> =
            member["tags"].as_array().unwrap().iter().map(|tag| tag.as_str().unwrap()).collect();
        let email = member["email"].as_str().unwrap();
        format!("{email} {} {}", member["roles"][0].as_str().unwrap(), tags.join(","))
    };
    answer.json().as_array().unwrap().iter().map(shown).collect()
}

#[tokio::test]
async fn the_team_from_invitation_to_removal() {
    let world = World::new().await;
    let (ada, _) = world.user("Ada@example.test", Role::Member, &["prod"]).await;
    world.user("zoe@example.test", Role::BillingManager, &[]).await;
    let body = json!({"email": "Grace@example.test", "role": "monitor", "tags": "eu, test"});
    let invited = invite(&world.key).json(&body).send(&world.customer).await;
    insta::assert_snapshot!("invite", invited.shown(&[]));

    let list = Call::get("/api/team").key(&world.key).send(&world.customer).await;
    let ids: Vec<String> =
        list.json().as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap().into()).collect();
    let named = ids
        .iter()
        .enumerate()
        .fold(list.shown(&[]), |shown, (number, id)| shown.replace(id, &format!("[id {number}]")));
    insta::assert_snapshot!("team", named);

    let updated = update(&world, ada, &json!({"role": "monitor", "tags": "prod,eu"})).await;
    insta::assert_snapshot!("update_member", updated.shown(&[]));
    let removed = remove(&world, &world.key, "ADA@example.TEST").await;
    insta::assert_snapshot!("remove_member", removed.shown(&[]));
    let withdrawn = remove(&world, &world.key, "grace@example.test").await;
    insta::assert_snapshot!("remove_invitation", withdrawn.shown(&[]));
    assert_eq!(
        team(&world).await,
        ["owner@example.test admin ", "zoe@example.test billing manager "]
    );
    insta::assert_snapshot!("team_audit", world.audit().await.join("\n"));
}

#[tokio::test]
async fn what_an_invitation_refuses() {
    let world = World::new().await;
    world.user("ada@example.test", Role::Member, &[]).await;
    let mut shown = Vec::new();
    for body in [
        json!({}),
        json!({"email": ""}),
        json!({"email": 7}),
        json!({"email": "ada"}),
        json!({"email": "ADA@example.test"}),
        json!({"email": "owner@example.test"}),
        json!({"email": "x@example.test\r\nBcc: eve@example.test"}),
        json!({"email": "x@example.test\u{0}"}),
        json!({"email": "\"<script>alert(1)</script>\"@example.test"}),
        json!({"email": "Eve <eve@example.test>"}),
        json!({"email": "a@example.test,b@example.test"}),
        json!({"email": format!("{}@example.test", "x".repeat(300))}),
        json!({"email": "x@example.test", "role": "root"}),
        json!({"email": "x@example.test", "role": "Admin"}),
        json!({"email": "x@example.test", "role": ["admin"]}),
        json!({"email": "x@example.test", "role": "admin", "tags": "a"}),
        json!({"email": "x@example.test", "role": "billing manager", "tags": ["a"]}),
        json!({"email": "x@example.test", "tags": "a\nb"}),
        json!({"email": "x@example.test", "tags": 7}),
        json!({"email": "x@example.test", "tags": "x".repeat(65)}),
        json!({"email": "x@example.test", "tags": (0..21).map(|n| n.to_string()).collect::<Vec<_>>()}),
        json!({"email": "x", "role": "y", "tags": {}}),
    ] {
        let answer = invite(&world.key).json(&body).send(&world.customer).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        shown.push(format!("{body}\n  {}", answer.text));
    }
    insta::assert_snapshot!("refused_invitations", shown.join("\n"));
    assert!(world.mails().await.is_empty());
    assert_eq!(team(&world).await.len(), 2);
}

#[tokio::test]
async fn what_an_update_and_a_removal_refuse() {
    let world = World::new().await;
    let (ada, _) = world.user("ada@example.test", Role::Member, &["prod"]).await;
    let (bob, _) = world.user("bob@example.test", Role::Devops, &[]).await;
    let before = team(&world).await;
    let mut shown = Vec::new();
    for (id, body) in [
        (ada, json!({})),
        (ada, json!({"role": null, "tags": null})),
        (ada, json!({"role": ""})),
        (ada, json!({"role": "king"})),
        (ada, json!({"role": "admin", "tags": "x"})),
        (ada, json!({"tags": ["a", 7]})),
        (ada, json!({"tags": "\u{7}"})),
        (bob, json!({"tags": "x"})),
    ] {
        let answer = update(&world, id, &body).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        shown.push(format!("{body}\n  {}", answer.text));
    }
    insta::assert_snapshot!("refused_updates_of_members", shown.join("\n"));
    let stranger = world.stranger().await;
    for id in [NOBODY, "7", "x", "{}"] {
        update(&world, id, &json!({"role": "admin"})).await.expect_error(404, "Not Found");
    }
    let path = format!("/api/team/{ada}");
    let other = Call::put(&path).key(&stranger).json(&json!({"role": "admin"}));
    other.send(&world.customer).await.expect_error(404, "Not Found");

    for (body, status, error) in [
        (json!({}), 400, "email: Field is required"),
        (json!({"email": ["x"]}), 400, "email: must be a string"),
        (json!({"email": "nobody@example.test"}), 404, "Not Found"),
        (json!({"email": "no e-mail\n"}), 404, "Not Found"),
    ] {
        let call = Call::post("/api/team/remove").key(&world.key).json(&body);
        call.send(&world.customer).await.expect_error(status, error);
    }
    remove(&world, &stranger, "ada@example.test").await.expect_error(404, "Not Found");
    assert_eq!(team(&world).await, before);
}

#[tokio::test]
async fn tags_follow_the_role() {
    let world = World::new().await;
    let (ada, _) = world.user("ada@example.test", Role::Member, &["a"]).await;
    let check = async |body: Value, expected: &str| {
        let answer = update(&world, ada, &body).await;
        assert_eq!(answer.text, r#"{"message":"Role and tags were updated"}"#, "{body}");
        assert_eq!(team(&world).await[0], format!("ada@example.test {expected}"), "{body}");
    };
    check(json!({"role": "monitor"}), "monitor a").await;
    check(json!({"tags": "b, c,,b"}), "monitor b,c").await;
    check(json!({"tags": ["=1+1", "<b>&\"'"]}), "monitor =1+1,<b>&\"'").await;
    check(json!({"role": "member", "tags": ""}), "member ").await;
    check(json!({"tags": []}), "member ").await;
    check(json!({"tags": "x"}), "member x").await;
    check(json!({"role": "devops"}), "devops ").await;
    check(json!({"role": "devops", "tags": ""}), "devops ").await;
    check(json!({"role": "member", "tags": "y"}), "member y").await;
    let lines = world.audit().await.len();
    check(json!({"role": "member", "tags": ["y", "y"]}), "member y").await;
    assert_eq!(world.audit().await.len(), lines, "nothing changed, nothing is noted");
}

#[tokio::test]
async fn form_and_json_mean_the_same() {
    let pairs = [
        ("email=x%40example.test", json!({"email": "x@example.test"})),
        (
            "email=x%40example.test&role=monitor&tags=a,b",
            json!({"email": "x@example.test", "role": "monitor", "tags": "a,b"}),
        ),
        (
            "email=x%40example.test&tags[]=a&tags[]=b",
            json!({"email": "x@example.test", "tags": ["a", "b"]}),
        ),
        ("email=x&role=king", json!({"email": "x", "role": "king"})),
        ("role=billing+manager", json!({"role": "billing manager"})),
    ];
    for (form, body) in pairs {
        let result = async |call: fn(Call, &str, &Value) -> Call| {
            let world = World::new().await;
            let answer = call(invite(&world.key), form, &body).send(&world.customer).await;
            let mails = world.mails().await;
            (answer.status, answer.text, world.audit().await, mails)
        };
        let as_json = result(|call, _, body| call.json(body)).await;
        assert_eq!(as_json, result(|call, form, _| call.form(form)).await, "{form}");
    }
    for (form, body) in [
        ("role=monitor&tags=a,b", json!({"role": "monitor", "tags": ["a", "b"]})),
        ("tags=", json!({"tags": ""})),
        ("tags[]=", json!({"tags": []})),
        ("", json!({})),
    ] {
        let result = async |call: fn(Call, &str, &Value) -> Call| {
            let world = World::new().await;
            let (ada, _) = world.user("ada@example.test", Role::Member, &["x"]).await;
            let put = Call::put(&format!("/api/team/{ada}")).key(&world.key);
            let answer = call(put, form, &body).send(&world.customer).await;
            (answer.status, answer.text, team(&world).await)
        };
        let as_json = result(|call, _, body| call.json(body)).await;
        assert_eq!(as_json, result(|call, form, _| call.form(form)).await, "{form}");
    }
    let world = World::new().await;
    let call = invite(&world.key).form(r#"{"email":"x@example.test"}"#);
    let refused = call.send(&world.customer).await;
    refused.expect_error(400, "JSON needs the header Content-Type: application/json");
}

#[tokio::test]
async fn the_last_admin_stays() {
    let world = World::new().await;
    let sentence = "owner@example.test is the team's last admin; make somebody else admin first";
    remove(&world, &world.key, "owner@example.test").await.expect_error(400, sentence);
    let list = Call::get("/api/team").key(&world.key).send(&world.customer).await;
    let owner = list.json()[0]["id"].as_str().unwrap().to_owned();
    for role in ["devops", "member", "billing manager"] {
        update(&world, &owner, &json!({"role": role})).await.expect_error(400, sentence);
    }
    assert_eq!(update(&world, &owner, &json!({"role": "admin"})).await.status, 200);
    // An admin elsewhere is none here.
    world.stranger().await;
    remove(&world, &world.key, "owner@example.test").await.expect_error(400, sentence);

    let (_, second) = world.user("second@example.test", Role::Admin, &[]).await;
    assert_eq!(remove(&world, &world.key, "owner@example.test").await.status, 200);
    // The keys of whoever is removed stop at once.
    let gone = Call::get("/api/plans").key(&world.key).send(&world.customer).await;
    gone.expect_error(401, "Not authorized");
    assert_eq!(remove(&world, &second, "second@example.test").await.status, 400);
}

async fn of_two_admins_one_stays(world: World) {
    for round in 0..10 {
        let emails = [format!("a{round}@x.test"), format!("b{round}@x.test")];
        let (a, key_a) = world.user(&emails[0], Role::Admin, &[]).await;
        let (b, key_b) = world.user(&emails[1], Role::Admin, &[]).await;
        let remove = |key: &Secret, email: &str| {
            let call = Call::post("/api/team/remove").key(key).json(&json!({ "email": email }));
            let router = world.customer.clone();
            tokio::spawn(async move { call.send(&router).await.status.as_u16() })
        };
        if round == 0 {
            // From here on there is nobody else.
            assert_eq!(remove(&key_a, "owner@example.test").await.unwrap(), 200);
        }
        let (one, two) = (remove(&key_a, &emails[1]), remove(&key_b, &emails[0]));
        let mut statuses = [one.await.unwrap(), two.await.unwrap()];
        statuses.sort_unstable();
        assert_eq!(statuses[0], 200);
        // Removed before it was looked up, or before it could act.
        assert_eq!(statuses[1], 401, "the other one is gone");
        let mut reader = world.app.store().reader();
        let team = store::users::list(&mut reader, world.account).await.unwrap();
        let left: Vec<_> = team.iter().map(|user| user.id).collect();
        assert!(left == [a] || left == [b], "{left:?}");
        // Makes room for the next two.
        let mut work = world.app.store().begin().await.unwrap();
        store::users::remove(&mut work, left[0]).await.unwrap();
        work.commit().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_admins_who_remove_each_other_one_stays_on_sqlite() {
    of_two_admins_one_stays(World::new().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_admins_who_remove_each_other_one_stays_on_postgresql() {
    of_two_admins_one_stays(World::on_postgres().await).await;
}

async fn of_two_admins_who_step_down_one_stays(world: World) {
    let (a, key_a) = world.user("a@x.test", Role::Admin, &[]).await;
    let (b, key_b) = world.user("b@x.test", Role::Admin, &[]).await;
    assert_eq!(remove(&world, &key_a, "owner@example.test").await.status, 200);
    let step_down = |key: &Secret, id: model::UserId| {
        let call = Call::put(&format!("/api/team/{id}")).key(key).form("role=devops");
        let router = world.customer.clone();
        tokio::spawn(async move { call.send(&router).await.status.as_u16() })
    };
    let (one, two) = (step_down(&key_a, a), step_down(&key_b, b));
    let mut statuses = [one.await.unwrap(), two.await.unwrap()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_admins_who_step_down_at_once_one_stays() {
    of_two_admins_who_step_down_one_stays(World::new().await).await;
    of_two_admins_who_step_down_one_stays(World::on_postgres().await).await;
}

#[tokio::test]
async fn a_change_of_role_counts_at_once() {
    let world = World::new().await;
    let instance = world.create("orders", &["prod"]).await;
    let (ada, key) = world.user("ada@example.test", Role::Admin, &[]).await;
    let read = Call::get(&format!("/api/instances/{}", instance.id)).key(&key);
    let password = async || read.send(&world.customer).await.json()["password"].clone();
    assert_eq!(password().await, instance.password.expose());
    update(&world, ada, &json!({"role": "monitor"})).await;
    assert_eq!(password().await, "", "an admin's key in a monitor's hands");
    update(&world, ada, &json!({"tags": "test"})).await;
    read.send(&world.customer).await.expect_error(404, "Invalid ID");
    update(&world, ada, &json!({"role": "billing manager"})).await;
    assert_eq!(read.send(&world.customer).await.status, 403);
}

#[tokio::test]
async fn an_account_invites_twenty_times_an_hour() {
    let world = World::new().await;
    let send = async |number: usize| {
        let body = json!({ "email": format!("{number}@example.test") });
        invite(&world.key).json(&body).send(&world.customer).await
    };
    for number in 0..20 {
        assert_eq!(send(number).await.status, 200, "{number}");
        world.clock.advance(SignedDuration::from_secs(60));
    }
    // Twenty minutes have passed since the first.
    let refused = send(20).await;
    refused.expect_error(429, "Too many requests; try again in 2401 s");
    assert_eq!(refused.header("retry-after"), "2401");
    insta::assert_snapshot!("too_many_invitations", refused.shown(&[]));
    // Also for an e-mail that is invited already.
    assert_eq!(send(0).await.status, 429);
    // Not for another account, nor for what sends nothing.
    let stranger = world.stranger().await;
    let body = json!({"email": "0@example.test"});
    assert_eq!(invite(&stranger).json(&body).send(&world.customer).await.status, 200);
    assert_eq!(remove(&world, &world.key, "0@example.test").await.status, 200);
    world.clock.advance(SignedDuration::from_secs(2401));
    // Another hour begins with the first invitation of it.
    for number in 20..40 {
        assert_eq!(send(number).await.status, 200, "{number}");
    }
    assert_eq!(send(40).await.status, 429);
}

#[tokio::test]
async fn an_invitation_tells_nothing_of_other_accounts() {
    let world = World::new().await;
    world.stranger().await;
    let send = async |email: &str| {
        let answer =
            invite(&world.key).json(&json!({ "email": email })).send(&world.customer).await;
        (answer.status.as_u16(), answer.text.replace(email, "[email]"))
    };
    assert_eq!(send("other@example.test").await, send("unknown@example.test").await);
}

/// Their own keys stop at once; copies of what instances tell do not.
#[tokio::test]
async fn what_a_removed_member_could_read_is_listed() {
    let world = World::new().await;
    let prod = world.create("orders", &["prod"]).await.id.0;
    let test = world.create("payments", &["test"]).await.id.0;
    let check = async |role: Role, tags: &[&str], expected: &[(i64, &str)]| {
        let email = format!("{}@example.test", role.as_str().replace(' ', "-"));
        world.user(&email, role, tags).await;
        let removed = remove(&world, &world.key, &email).await.json();
        let listed: Vec<Value> =
            expected.iter().map(|(id, name)| json!({"id": id, "name": name})).collect();
        assert_eq!(removed["instances_to_rotate"], json!(listed), "{role}");
        let ids: Vec<String> = expected.iter().map(|(id, _)| id.to_string()).collect();
        let line = world.audit().await.pop().unwrap();
        assert!(line.ends_with(&format!("instances_to_rotate={}", ids.join(","))), "{line}");
    };
    let all = [(prod, "orders"), (test, "payments")];
    check(Role::Admin, &[], &all).await;
    check(Role::Devops, &[], &all).await;
    check(Role::Member, &[], &all).await;
    check(Role::Member, &["prod"], &all[..1]).await;
    check(Role::Monitor, &[], &[]).await;
    check(Role::BillingManager, &[], &[]).await;
}
