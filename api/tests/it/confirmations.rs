//! E-mail addresses outside the team: one mail with a link is all they get before the
//! link is used, and limits hold by account and by destination.

use crate::call::{Answer, Call};
use crate::world::World;
use app::Settings;
use model::{InstanceId, Mail, MessageLimits, Role, Secret, SignedDuration};
use serde_json::{Value, json};

const ADA: &str = "ada@example.com";

/// An account's instance, and the key to it.
struct Desk {
    key: Secret,
    instance: InstanceId,
}

impl Desk {
    async fn of_owner(world: &World) -> Self {
        Self { key: world.key.clone(), instance: world.create("orders", &[]).await.id }
    }

    /// Of another account.
    async fn of_stranger(world: &World) -> Self {
        let key = world.stranger().await;
        let body = json!({"name": "x", "plan": "mouse-1", "region": "local::this-machine"});
        let made = Call::post("/api/instances").key(&key).json(&body).send(&world.customer).await;
        let instance = InstanceId(made.json()["id"].as_i64().unwrap());
        Self { key, instance }
    }

    async fn send(&self, world: &World, method: &str, path: &str, body: Option<Value>) -> Answer {
        let path = format!("/api/instances/{}/alarms/recipients{path}", self.instance);
        let call = Call::new(method, &path).key(&self.key);
        let call = body.map_or(call.clone(), |body| call.json(&body));
        call.send(&world.customer).await
    }

    /// Creates a recipient; its id and what `last_status` says.
    async fn create(&self, world: &World, kind: &str, value: &str) -> (i64, String) {
        let body = json!({"type": kind, "value": value});
        let made = self.send(world, "POST", "", Some(body)).await;
        assert_eq!(made.status, 201, "{}", made.text);
        (made.json()["id"].as_i64().unwrap(), status_of(&made.json()))
    }

    async fn test(&self, world: &World, id: i64) -> Answer {
        self.send(world, "POST", &format!("/{id}/test"), None).await
    }

    async fn status(&self, world: &World, id: i64) -> String {
        status_of(&self.send(world, "GET", &format!("/{id}"), None).await.json())
    }
}

fn status_of(recipient: &Value) -> String {
    recipient["last_status"]["message"].as_str().unwrap_or_default().to_owned()
}

async fn invite(world: &World, key: &Secret, email: &str) -> Answer {
    let call = Call::post("/api/team/invite").key(key).json(&json!({ "email": email }));
    call.send(&world.customer).await
}

/// The path of the link in a mail.
fn link(mail: &Mail) -> String {
    let (_, rest) = mail.text.split_once("http://127.0.0.1:8080").unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

async fn answer(world: &World, link: &str, answer: &str) -> Answer {
    Call::post(link).json(&json!({ "answer": answer })).send(&world.customer).await
}

/// How many mails and how many notifications wait to be sent; from here on they are sent.
async fn waiting(world: &World) -> (usize, usize) {
    let mut work = world.app.store().begin().await.unwrap();
    let taken = crate::world::take_due(&mut work, world.app.now()).await;
    for message in &taken {
        store::outbox::set_sent(&mut work, message).await.unwrap();
    }
    work.commit().await.unwrap();
    let mails = taken.iter().filter(|message| message.kind == "mail").count();
    (mails, taken.len() - mails)
}

#[tokio::test]
async fn create_test_and_delete_send_one_mail_however_often() {
    let world = World::new().await;
    let desk = Desk::of_owner(&world).await;
    let mut sent = (0, 0);
    for _ in 0..62 {
        let (id, status) = desk.create(&world, "email", "Ada@example.com").await;
        assert!(
            status.starts_with("waiting for confirmation: a mail with a link went"),
            "{status}"
        );
        let refused = desk.test(&world, id).await;
        assert!(matches!(refused.status.as_u16(), 400 | 429), "{}", refused.text);
        let (mails, notifications) = waiting(&world).await;
        sent = (sent.0 + mails, sent.1 + notifications);
        assert_eq!(desk.send(&world, "DELETE", &format!("/{id}"), None).await.status, 204);
        world.clock.advance(SignedDuration::from_secs(1));
    }
    assert_eq!(sent, (1, 0));
}

#[tokio::test]
async fn what_the_mail_and_its_page_say() {
    let world = World::new().await;
    let desk = Desk::of_owner(&world).await;
    desk.create(&world, "email", "Ada@example.com").await;
    let mails = world.mails().await;
    let [mail] = mails.as_slice() else { panic!("{mails:?}") };
    let path = link(mail);
    let token = path.rsplit_once('/').unwrap().1;
    assert_eq!(token.len(), 43);
    insta::assert_snapshot!(
        "confirmation_mail",
        format!("{}\n{}\n\n{}", mail.to, mail.subject, mail.text.replace(token, "[token]"))
    );
    let page = Call::get(&path).send(&world.customer).await;
    insta::assert_snapshot!("confirmation_page", page.text.split("</style>").nth(1).unwrap());
    let gone = Call::get("/confirmations/nothing").send(&world.customer).await;
    for (answer, status) in [(&page, 200), (&gone, 404)] {
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("cache-control"), "no-store");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert!(answer.header("content-security-policy").starts_with("default-src 'none';"));
    }
    answer(&world, "/confirmations/nothing", "allow").await.expect_error(404, "Not Found");
    let missing = Call::post(&path).send(&world.customer).await;
    missing.expect_error(400, "answer: Field is required");
    answer(&world, &path, "perhaps").await.expect_error(400, "answer: must be allow or never");
}

#[tokio::test]
async fn who_confirms_can_be_told_from_then_on() {
    let world = World::new().await;
    let desk = Desk::of_owner(&world).await;
    let (id, _) = desk.create(&world, "email", ADA).await;
    let path = link(&world.mails().await[0]);
    for _ in 0..2 {
        assert_eq!(
            Call::get(&path).send(&world.customer).await.status,
            200,
            "looking is no answer"
        );
    }
    assert_eq!(desk.test(&world, id).await.status, 400);
    let browser = Call::post(&path).form("answer=allow").header("accept", "text/html");
    let page = browser.send(&world.customer).await;
    assert!(
        page.text.contains("Alarms of the team Acme are sent to ada@example.com"),
        "{}",
        page.text
    );
    assert_eq!(answer(&world, &path, "allow").await.status, 200, "once more changes nothing");
    assert_eq!(desk.status(&world, id).await, "confirmed; nothing was sent yet");
    assert_eq!(desk.test(&world, id).await.status, 200);
    assert_eq!(waiting(&world).await, (0, 1));
    let confirmed =
        "recipient.confirm customer-api 192.0.2.7 ada@example.com email=ada@example.com";
    let lines = world.audit().await;
    assert_eq!(lines.iter().filter(|line| *line == confirmed).count(), 1, "{lines:?}");

    // It outlives the recipient, and is of this account alone.
    desk.send(&world, "DELETE", &format!("/{id}"), None).await;
    let (id, status) = desk.create(&world, "email", "ADA@example.com").await;
    assert_eq!(status, "");
    assert_eq!(desk.test(&world, id).await.status, 200);
    let (_, status) = Desk::of_stranger(&world).await.create(&world, "email", ADA).await;
    assert!(status.starts_with("waiting for confirmation"), "{status}");
}

#[tokio::test]
async fn who_wants_no_mail_gets_none_from_any_account() {
    let world = World::new().await;
    let desk = Desk::of_owner(&world).await;
    let (id, _) = desk.create(&world, "email", ADA).await;
    let path = link(&world.mails().await[0]);
    let said = answer(&world, &path, "never").await;
    assert_eq!(said.json()["message"], "No mail is sent to ada@example.com from here any more");
    let sentence = "not sent: ada@example.com wants no mail from here; its owner can allow it by \
                    the link in the first mail";
    assert_eq!(desk.status(&world, id).await, sentence);
    desk.test(&world, id).await.expect_error(400, sentence);
    world.clock.advance(SignedDuration::from_hours(25));
    let other = Desk::of_stranger(&world).await;
    for email in [ADA, "ada+kafka@example.com"] {
        let (_, status) = other.create(&world, "email", email).await;
        assert!(status.contains("wants no mail from here"), "{status}");
        let refused = invite(&world, &other.key, email).await;
        refused.expect_error(400, &format!("email: {email} wants no mail from here"));
    }
    assert_eq!(waiting(&world).await, (0, 0));
    // The link is also how they change their mind.
    assert_eq!(answer(&world, &path, "allow").await.status, 200);
    assert_eq!(desk.test(&world, id).await.status, 200);
    assert_eq!(invite(&world, &other.key, ADA).await.status, 200);
}

#[tokio::test]
async fn the_link_is_sent_again_a_day_later_and_the_old_one_is_dead() {
    let world = World::new().await;
    let desk = Desk::of_owner(&world).await;
    let (id, _) = desk.create(&world, "email", ADA).await;
    let first = link(&world.mails().await[0]);
    world.clock.advance(SignedDuration::from_hours(24) - SignedDuration::from_micros(1));
    let early = desk.test(&world, id).await;
    assert!(
        early.text.contains("a test after 2026-11-16 12:00 UTC sends the link again"),
        "{}",
        early.text
    );
    world.clock.advance(SignedDuration::from_micros(1));
    let again = desk.test(&world, id).await;
    assert_eq!(again.status, 200, "{}", again.text);
    assert!(again.text.contains("a mail with a link is on its way"), "{}", again.text);
    let second = link(&world.mails().await[0]);
    answer(&world, &first, "allow").await.expect_error(404, "Not Found");
    assert_eq!(answer(&world, &second, "allow").await.status, 200);
}

#[tokio::test]
async fn the_team_needs_no_confirmation_and_who_left_it_does() {
    let world = World::new().await;
    let desk = Desk::of_owner(&world).await;
    world.user("grace@example.test", Role::Member, &[]).await;
    for email in ["Owner@example.test", "GRACE@example.test"] {
        let (id, status) = desk.create(&world, "email", email).await;
        assert_eq!(status, "");
        assert_eq!(desk.test(&world, id).await.status, 200);
    }
    assert_eq!(waiting(&world).await, (0, 2));
    let removal = Call::post("/api/team/remove").key(&world.key);
    let removal = removal.json(&json!({"email": "grace@example.test"}));
    assert_eq!(removal.send(&world.customer).await.status, 200);
    let instead = desk.test(&world, 3).await;
    assert!(instead.text.contains("a mail with a link is on its way instead"), "{}", instead.text);
    assert!(desk.status(&world, 3).await.starts_with("waiting for confirmation"));
    assert_eq!(waiting(&world).await, (1, 0));
}

#[tokio::test]
async fn one_mailbox_gets_five_such_mails_a_day_from_all_accounts() {
    let world = World::new().await;
    let mut sent = 0;
    for number in 0..4 {
        let desk = Desk::of_stranger(&world).await;
        let (_, status) = desk.create(&world, "email", &format!("ada+{number}@example.com")).await;
        assert!(status.contains("a mail with a link went"), "{status}");
        sent += waiting(&world).await.0;
    }
    // Invitations are such mails.
    assert_eq!(invite(&world, &world.key, ADA).await.status, 200);
    sent += waiting(&world).await.0;
    let refused = invite(&world, &world.key, ADA).await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "86401"));
    let desk = Desk::of_owner(&world).await;
    let (id, status) = desk.create(&world, "email", ADA).await;
    let sentence = "waiting for confirmation: no mail with a link can go to ada@example.com before \
                    2026-11-16 12:00 UTC, because the limit of such mails is reached; test this \
                    recipient then to send one";
    assert_eq!(status, sentence);
    desk.test(&world, id).await.expect_error(400, sentence);
    assert_eq!((sent, waiting(&world).await), (5, (0, 0)));
    world.clock.advance(SignedDuration::from_hours(24));
    assert_eq!(desk.test(&world, id).await.status, 200);
    assert_eq!(waiting(&world).await, (1, 0));
}

#[tokio::test]
async fn an_account_asks_twenty_addresses_an_hour_invitations_included() {
    let world = World::new().await;
    let desk = Desk::of_owner(&world).await;
    for number in 0..10 {
        assert_eq!(invite(&world, &world.key, &format!("i{number}@example.com")).await.status, 200);
        desk.create(&world, "email", &format!("r{number}@example.com")).await;
    }
    let (_, status) = desk.create(&world, "email", ADA).await;
    assert!(status.contains("no mail with a link can go to"), "{status}");
    assert_eq!(invite(&world, &world.key, "i10@example.com").await.status, 429);
    assert_eq!(waiting(&world).await, (20, 0));
    // Another account has its own.
    Desk::of_stranger(&world).await.create(&world, "email", ADA).await;
    assert_eq!(waiting(&world).await, (1, 0));
}

#[tokio::test]
async fn tests_are_limited_by_destination_and_by_account() {
    let messages = MessageLimits {
        tests_per_destination_per_hour: 2,
        tests_per_account_per_hour: 3,
        ..MessageLimits::default()
    };
    let world = World::with(Settings { messages, ..Settings::default() }).await;
    let desk = Desk::of_owner(&world).await;
    let hook = "https://hooks.example.com/x";
    let (id, _) = desk.create(&world, "webhook", hook).await;
    let other = Desk::of_stranger(&world).await;
    let (same, _) = other.create(&world, "webhook", hook).await;
    assert_eq!(desk.test(&world, id).await.status, 200);
    assert_eq!(other.test(&world, same).await.status, 200);
    let refused = desk.test(&world, id).await;
    refused.expect_error(429, "Too many requests; try again in 3601 s");
    let (elsewhere, _) = desk.create(&world, "webhook", "https://hooks.example.com/y").await;
    for expected in [200, 200, 429] {
        assert_eq!(desk.test(&world, elsewhere).await.status, expected);
    }
    let (third, _) = desk.create(&world, "pagerduty", "k3y").await;
    assert_eq!(desk.test(&world, third).await.status, 429, "the account had its three");
    world.clock.advance(SignedDuration::from_hours(1));
    assert_eq!(desk.test(&world, id).await.status, 200);
}

#[tokio::test]
async fn another_address_is_asked_anew_and_says_nothing_of_the_old_one() {
    let world = World::new().await;
    let desk = Desk::of_owner(&world).await;
    let (id, _) = desk.create(&world, "email", ADA).await;
    let change = async |email: &str| {
        let body = json!({"type": "email", "value": email});
        let changed = desk.send(&world, "PUT", &format!("/{id}"), Some(body)).await;
        assert_eq!(changed.status, 200, "{}", changed.text);
        status_of(&changed.json())
    };
    assert_eq!(waiting(&world).await, (1, 0));
    assert!(change("bob@example.com").await.contains("went to bob@example.com"));
    assert_eq!(waiting(&world).await, (1, 0));
    assert_eq!(change("owner@example.test").await, "", "of the team");
    assert!(change("Ada@example.com").await.contains("went to Ada@example.com"));
    assert_eq!(waiting(&world).await, (0, 0), "Ada was asked before");
}
