//! The link of an invitation: what it opens, how it is taken up, and that it is
//! so once.

use crate::call::{Answer, Call};
use crate::world::World;
use model::{Role, Secret, SignedDuration};
use serde_json::json;
use tokio::task::JoinSet;

const PASSWORD: &str = "correct horse battery";

async fn invite(world: &World, email: &str, role: &str, tags: &str) -> String {
    let body = json!({"email": email, "role": role, "tags": tags});
    let call = Call::post("/api/team/invite").key(&world.key).json(&body);
    let answer = call.send(&world.customer).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    link(world).await
}

/// The path in the last mail.
async fn link(world: &World) -> String {
    let mails = world.mails().await;
    let text = &mails.last().unwrap().text;
    let (_, rest) = text.split_once("http://127.0.0.1:8080").unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

async fn accept(world: &World, link: &str, name: &str) -> Answer {
    let body = json!({"name": name, "password": PASSWORD});
    Call::post(link).json(&body).send(&world.customer).await
}

fn browser(call: Call) -> Call {
    call.header("accept", "text/html,application/xhtml+xml,*/*;q=0.8")
}

#[tokio::test]
async fn the_mail_says_who_invites_where_and_until_when() {
    let world = World::new().await;
    let body = json!({"email": "Grace@example.test", "role": "monitor"});
    Call::post("/api/team/invite").key(&world.key).json(&body).send(&world.customer).await;
    let mails = world.mails().await;
    assert_eq!(mails.len(), 1);
    let mail = &mails[0];
    let token = mail.text.split("/invitations/").nth(1).unwrap();
    let token = token.split_whitespace().next().unwrap();
    assert_eq!(token.len(), 43);
    insta::assert_snapshot!(
        "invitation_mail",
        format!("{}\n{}\n\n{}", mail.to, mail.subject, mail.text.replace(token, "[token]"))
    );
}

#[tokio::test]
async fn an_invitation_is_looked_at_and_taken_up_once() {
    let world = World::new().await;
    let link = invite(&world, "Grace@example.test", "monitor", "eu,test").await;
    for _ in 0..3 {
        let page = Call::get(&link).send(&world.customer).await;
        assert_eq!(page.status, 200);
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
    }
    let head = Call::new("HEAD", &link).send(&world.customer).await;
    assert_eq!((head.status.as_u16(), head.text.as_str()), (200, ""));
    let joined = accept(&world, &link, "Grace Hopper").await;
    insta::assert_snapshot!("join", joined.shown(&[]));
    accept(&world, &link, "Eve").await.expect_error(404, "Not Found");
    assert_eq!(Call::get(&link).send(&world.customer).await.status, 404);

    let mut reader = world.app.store().reader();
    let email = "grace@example.test";
    let user = store::users::find_by_email(&mut reader, world.account, email).await.unwrap();
    let user = user.unwrap();
    assert_eq!((user.email.as_str(), user.name.as_str()), ("Grace@example.test", "Grace Hopper"));
    assert_eq!((user.role, user.tags.as_slice().join(",")), (Role::Monitor, "eu,test".into()));
    let hash = store::users::find_password_hash(&mut reader, user.id).await.unwrap().unwrap();
    assert!(hash.expose().starts_with("$argon2id$v=19$"), "{}", hash.expose());
    let is_it =
        async |password: &str| app::passwords::verify(&Secret::new(password), &hash).await.unwrap();
    assert!(is_it(PASSWORD).await && !is_it("correct horse batterz").await);
    assert_eq!(
        world.audit().await.last().unwrap(),
        "team.join customer-api 192.0.2.7 Grace@example.test \
         email=Grace@example.test; role=monitor; tags=eu,test"
    );
    // Invited again: they are in already.
    let body = json!({"email": "GRACE@example.test"});
    let again = Call::post("/api/team/invite").key(&world.key).json(&body);
    let error = "email: GRACE@example.test is in the team already";
    again.send(&world.customer).await.expect_error(400, error);
}

#[tokio::test]
async fn a_link_lasts_seven_days() {
    let world = World::new().await;
    let link = invite(&world, "grace@example.test", "member", "").await;
    world.clock.advance(SignedDuration::from_hours(24 * 7) - SignedDuration::from_micros(1));
    assert_eq!(Call::get(&link).send(&world.customer).await.status, 200);
    world.clock.advance(SignedDuration::from_micros(1));
    assert_eq!(Call::get(&link).send(&world.customer).await.status, 404);
    accept(&world, &link, "Grace").await.expect_error(404, "Not Found");
    // It is not pending any more, so there is nothing to cancel.
    let body = json!({"email": "grace@example.test"});
    let cancel = Call::post("/api/team/remove").key(&world.key).json(&body);
    cancel.send(&world.customer).await.expect_error(404, "Not Found");
}

#[tokio::test]
async fn a_new_link_replaces_the_old_and_a_cancelled_one_is_dead() {
    let world = World::new().await;
    let first = invite(&world, "grace@example.test", "member", "").await;
    let second = invite(&world, "GRACE@example.test", "admin", "").await;
    assert_ne!(first, second);
    accept(&world, &first, "Grace").await.expect_error(404, "Not Found");
    assert_eq!(Call::get(&second).send(&world.customer).await.status, 200);

    let body = json!({"email": "grace@example.test"});
    let remove = Call::post("/api/team/remove").key(&world.key).json(&body);
    assert_eq!(remove.send(&world.customer).await.status, 200);
    accept(&world, &second, "Grace").await.expect_error(404, "Not Found");
    remove.send(&world.customer).await.expect_error(404, "Not Found");
}

/// A mail that is not out yet is taken back with its link.
#[tokio::test]
async fn what_was_replaced_or_cancelled_is_not_sent_any_more() {
    let world = World::new().await;
    let send = async |path: &str, body: &serde_json::Value| {
        let call = Call::post(path).key(&world.key).json(body);
        assert_eq!(call.send(&world.customer).await.status, 200);
    };
    let (grace, ada) = (json!({"email": "grace@x.test"}), json!({"email": "ada@x.test"}));
    for body in [&grace, &grace, &ada] {
        send("/api/team/invite", body).await;
    }
    send("/api/team/remove", &ada).await;
    let to: Vec<String> = world.mails().await.iter().map(|mail| mail.to.to_string()).collect();
    assert_eq!(to, ["grace@x.test"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_use_one_link_one_joins() {
    let world = World::new().await;
    let link = invite(&world, "grace@example.test", "member", "").await;
    let mut calls = JoinSet::new();
    for number in 0..8 {
        let body = json!({"name": format!("Grace {number}"), "password": PASSWORD});
        let (call, router) = (Call::post(&link).json(&body), world.customer.clone());
        calls.spawn(async move { call.send(&router).await.status.as_u16() });
    }
    let mut statuses = calls.join_all().await;
    statuses.sort_unstable();
    assert_eq!(statuses, [[200].as_slice(), &[404; 7]].concat());
}

#[tokio::test]
async fn what_joining_refuses_uses_nothing_up() {
    let world = World::new().await;
    let link = invite(&world, "grace-the-great@example.test", "member", "").await;
    let mut shown = Vec::new();
    for body in [
        json!({}),
        json!({"name": "Grace"}),
        json!({"name": "", "password": "short"}),
        json!({"name": "   ", "password": PASSWORD}),
        json!({"name": "a\r\nb", "password": PASSWORD}),
        json!({"name": "x".repeat(65), "password": PASSWORD}),
        json!({"name": 7, "password": ["x"]}),
        json!({"name": "Grace", "password": "eleven char"}),
        json!({"name": "Grace", "password": "x".repeat(257)}),
        json!({"name": "Grace", "password": "Grace-the-great@example.test"}),
        json!({"name": "Grace", "password": format!("{PASSWORD}\u{0}")}),
    ] {
        let answer = Call::post(&link).json(&body).send(&world.customer).await;
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        assert!(!answer.text.contains("eleven"), "{}", answer.text);
        let body = body.to_string().replace(&"x".repeat(65), "[65 characters]");
        let body = body.replace(&"x".repeat(192), "[192 more]");
        shown.push(format!("{body}\n  {}", answer.text));
    }
    insta::assert_snapshot!("refused_joins", shown.join("\n"));
    let text = Call::post(&link).form("{\"name\":\"x\"}").send(&world.customer).await;
    text.expect_error(400, "JSON needs the header Content-Type: application/json");
    assert_eq!(accept(&world, &link, "Grace").await.status, 200);
}

#[tokio::test]
async fn a_form_joins_too_and_gets_json_or_a_page() {
    let world = World::new().await;
    let form = "name=Grace+%3Ci%3E&password=correct+horse+battery";
    let link = invite(&world, "grace@example.test", "member", "").await;
    let joined = Call::post(&link).form(form).send(&world.customer).await;
    assert_eq!(joined.json()["message"], "Welcome, Grace <i>; you are in the team Acme now");

    let link = invite(&world, "ada@example.test", "member", "").await;
    let page = browser(Call::post(&link).form(form)).send(&world.customer).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.text.contains("Welcome, Grace &#60;i&#62;; you are in"), "{}", page.text);
    let used = browser(Call::post(&link).form(form)).send(&world.customer).await;
    assert_eq!(
        (used.status.as_u16(), used.header("content-type")),
        (404, "text/html; charset=utf-8")
    );
}

#[tokio::test]
async fn the_pages() {
    let world = World::new().await;
    let link = invite(&world, "grace@example.test", "billing manager", "").await;
    let page = Call::get(&link).send(&world.customer).await;
    insta::assert_snapshot!("invitation_page", page.text);
    let form = "name=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E&password=short";
    let again = browser(Call::post(&link).form(form)).send(&world.customer).await;
    assert_eq!(again.status, 400);
    assert!(!again.text.contains("<script") && !again.text.contains("short"), "{}", again.text);
    let problems = again.text.split("<style>").nth(1).unwrap().split("</style>").nth(1).unwrap();
    insta::assert_snapshot!("invitation_page_again", problems);
    let gone = Call::get("/invitations/nothing").send(&world.customer).await;
    assert_eq!(gone.status, 404);
    insta::assert_snapshot!("invitation_gone", gone.text.split("</style>").nth(1).unwrap());

    for answer in [&page, &again, &gone] {
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains("script-src"), "{policy}");
        assert!(!answer.text.contains("<script"), "{}", answer.text);
    }
}

/// A team's name is the operator's to choose, and still no page believes it.
#[tokio::test]
async fn hostile_names_are_text() {
    let world = World::new().await;
    let source = app::Source { kind: app::SourceKind::Cli, address: None };
    let name = "<img src=x onerror=alert(1)>\r\nBcc: eve@example.test";
    let email = "owner@hostile.test";
    let account = app::accounts::create(source, &world.app, name, email).await.unwrap();
    let body = json!({"email": "ada@example.test"});
    let call = Call::post("/api/team/invite").key(&account.apikey).json(&body);
    assert_eq!(call.send(&world.customer).await.status, 200);
    let mails = world.mails().await;
    let mail = mails.last().unwrap();
    assert!(!mail.subject.contains(char::is_control), "{:?}", mail.subject);
    assert!(!mail.text.contains('\r'), "{:?}", mail.text);
    let (_, rest) = mail.text.split_once("http://127.0.0.1:8080").unwrap();
    let page = Call::get(rest.split_whitespace().next().unwrap()).send(&world.customer).await;
    assert_eq!(page.status, 200);
    assert!(!page.text.contains("<img"), "{}", page.text);
}

#[tokio::test]
async fn pages_take_no_other_method_and_no_key() {
    let world = World::new().await;
    let link = invite(&world, "grace@example.test", "member", "").await;
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answer = Call::new(method, &link).send(&world.customer).await;
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.header("allow").contains("POST"), "{method}");
    }
    // The link itself lets in, whatever key comes along.
    let page = Call::get(&link).key(&Secret::new("wrong")).send(&world.customer).await;
    assert_eq!(page.status, 200);
    // And on no other listener.
    assert_eq!(Call::get(&link).send(&world.instance).await.status, 404);
    let longer = format!("{link}/x");
    Call::get(&longer).send(&world.customer).await.expect_error(404, "Not Found");
}
