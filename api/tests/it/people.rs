//! People at the console: signing in, two factors, links, and how sessions end.

use crate::call::{Answer, Call};
use crate::world::World;
use app::people::{
    self, Credentials, NewSession, NextStep, PasswordChange, SignIn, SignedIn, Visit,
};
use app::team::{self, NewUser, UserChanges};
use app::{Asked, Error, Operator};
use model::{Role, Secret, SignedDuration, UserId};
use serde_json::{Value, json};
use totp_rs::{Builder, Secret as Seed};

const ADA: &str = "ada@example.test";
const PASSWORD: &str = "correct horse battery";
const HERE: &str = "192.0.2.7";

fn from(address: &str) -> Visit {
    Visit::new(Some(address.parse().unwrap()), "Firefox\u{7}/140.0")
}

async fn ada(world: &World, role: &str) -> UserId {
    let new = NewUser {
        email: ADA.into(),
        role: Some(role.into()),
        password: Some(Secret::new(PASSWORD)),
        ..NewUser::default()
    };
    let operator = Operator::of_opened_store();
    team::create_user(operator, &world.app, world.account, new).await.unwrap().id
}

fn typed(email: &str, password: &str) -> Asked<Credentials> {
    let (email, password) = (Some(email.into()), Some(Secret::new(password)));
    Asked::given(Credentials { email, password })
}

async fn try_from(world: &World, at: &str, email: &str, password: &str) -> Result<SignIn, Error> {
    people::sign_in(&from(at), &world.app, typed(email, password)).await
}

async fn sign_in(world: &World) -> NewSession {
    match try_from(world, HERE, ADA, PASSWORD).await.unwrap() {
        SignIn::Done(new) => new,
        SignIn::Next(steps) => panic!("{steps:?}"),
    }
}

async fn next_step(world: &World) -> NextStep {
    match try_from(world, HERE, ADA, PASSWORD).await.unwrap() {
        SignIn::Done(new) => panic!("{new:?}"),
        SignIn::Next(mut steps) => steps.remove(0),
    }
}

async fn signed_in(world: &World, token: &Secret) -> Result<SignedIn, Error> {
    people::authenticate(Some(HERE.parse().unwrap()), &world.app, token).await
}

async fn is_in(world: &World, new: &NewSession) -> bool {
    match signed_in(world, &new.token).await {
        Ok(_) => true,
        Err(Error::NotAuthorized(_)) => false,
        Err(other) => panic!("{other}"),
    }
}

fn code(text: impl Into<String>) -> Asked<Option<String>> {
    Asked::given(Some(text.into()))
}

/// What an app shows at this moment.
fn shown(world: &World, secret: &Secret) -> String {
    let seed = Seed::try_from_base32(secret.expose()).unwrap();
    let totp = Builder::new().with_secret(seed).build().unwrap();
    totp.generate(world.app.now().as_second().try_into().unwrap()).to_string()
}

/// The last line of the audit log, without ids.
async fn last_line(world: &World) -> String {
    let line = world.audit().await.pop().unwrap();
    let words = line.split(' ').map(|word| match word.trim_end_matches(';').split_once('=') {
        Some((name, value)) if value.parse::<UserId>().is_ok() => {
            word.replace(value, &format!("[{name}]"))
        }
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn wait() -> SignedDuration {
    SignedDuration::from_secs(60)
}

#[tokio::test]
async fn somebody_signs_in_works_and_signs_out() {
    let world = World::new().await;
    world.create("orders", &[]).await;
    ada(&world, "monitor").await;
    let new = sign_in(&world).await;
    assert_eq!((new.token.expose().len(), new.session.browser.as_str()), (43, "Firefox/140.0"));
    assert_eq!(
        last_line(&world).await,
        "login.ok console 192.0.2.7 ada@example.test by=password; session=[session]; \
         browser=Firefox/140.0"
    );
    let ada = signed_in(&world, &new.token).await.unwrap();
    assert_eq!((ada.user().email.as_str(), ada.session().id), (ADA, new.session.id));
    // The rights are the user's, and so are the refusals.
    let seen = app::instances::list(ada.caller(), &world.app, Asked::given(<_>::default())).await;
    assert_eq!(seen.unwrap().instances.len(), 1);
    assert!(ada.caller().masked());
    let refused = team::list(ada.caller(), &world.app).await.unwrap_err();
    assert!(matches!(refused, Error::Forbidden(_)), "{refused}");
    let refused = app::apikeys::rotate(ada.caller(), &world.app).await.unwrap_err();
    assert!(matches!(refused, Error::Refused(_)), "{refused}");
    let asked = Asked::given(app::apikeys::NewOwnKey::default());
    let (key, secret) = app::apikeys::create_own(ada.caller(), &world.app, asked).await.unwrap();
    assert_eq!(key.role, Role::Monitor);
    let plans = Call::get("/api/plans").key(&secret).send(&world.customer).await;
    assert_eq!(plans.status, 200);

    people::sign_out(&ada, &world.app).await.unwrap();
    assert!(!is_in(&world, &new).await);
    assert_eq!(
        last_line(&world).await,
        "session.end console 192.0.2.7 ada@example.test session=[session]; why=signed out"
    );
    people::sign_out(&ada, &world.app).await.unwrap();
    // What somebody still holds of before is no good either.
    let asked = Asked::given(app::apikeys::NewOwnKey::default());
    let refused = app::apikeys::create_own(ada.caller(), &world.app, asked).await.unwrap_err();
    assert!(matches!(refused, Error::NotAuthorized(_)), "{refused}");
}

#[tokio::test]
async fn the_answer_never_tells_whether_an_email_is_known() {
    let world = World::new().await;
    ada(&world, "member").await;
    let (keys_alone, _) = world.user("keys@example.test", Role::Admin, &[]).await;
    let lines = world.audit().await.len();
    let mut said = Vec::new();
    for (email, password) in [
        (ADA, "wrong horse battery"),
        (ADA, ""),
        ("keys@example.test", PASSWORD),
        ("nobody@example.test", PASSWORD),
        ("no e-mail\u{0}", PASSWORD),
    ] {
        let asked =
            Credentials { email: Some(email.into()), password: Some(Secret::new(password)) };
        let refused = people::sign_in(&from(HERE), &world.app, Asked::given(asked)).await;
        said.push(refused.unwrap_err().to_string());
    }
    said.dedup();
    assert_eq!(said, ["E-mail or password is wrong"]);
    let told = world.audit().await.split_off(lines);
    let failed = |email: &str| {
        format!("login.failed console 192.0.2.7 {email} wrong=password; browser=Firefox/140.0")
    };
    assert_eq!(told, [failed(ADA), failed(ADA), failed("keys@example.test")], "{keys_alone}");
    let refused = people::sign_in(&from(HERE), &world.app, Asked::given(<_>::default())).await;
    assert!(matches!(refused.unwrap_err(), Error::Invalid(fields) if fields.len() == 2));
    // In any case.
    assert!(try_from(&world, HERE, "ADA@example.TEST", PASSWORD).await.is_ok());
}

#[tokio::test]
async fn five_tries_a_minute_with_one_email_from_one_address() {
    let world = World::new().await;
    ada(&world, "member").await;
    let wrong =
        async |at: &str, email: &str| match try_from(&world, at, email, "wrong horse battery")
            .await
            .unwrap_err()
        {
            Error::NotAuthorized(_) => None,
            Error::TooMany { retry_after } => Some(retry_after),
            other => panic!("{other}"),
        };
    for _ in 0..4 {
        assert_eq!(wrong(HERE, ADA).await, None);
        world.clock.advance(SignedDuration::from_secs(5));
    }
    assert_eq!(wrong(HERE, "ADA@example.test").await, None);
    assert_eq!(wrong(HERE, ADA).await, Some(41));
    // Also with the right password, and alike for an e-mail that nobody has.
    assert!(matches!(
        try_from(&world, HERE, ADA, PASSWORD).await,
        Err(Error::TooMany { retry_after: 41 })
    ));
    for _ in 0..5 {
        assert_eq!(wrong(HERE, "nobody@example.test").await, None);
    }
    assert_eq!(wrong(HERE, "nobody@example.test").await, Some(61));
    // Not from elsewhere, and not for long.
    assert!(try_from(&world, "192.0.2.8", ADA, PASSWORD).await.is_ok());
    world.clock.advance(SignedDuration::from_secs(40));
    assert!(try_from(&world, HERE, ADA, PASSWORD).await.is_ok());

    // Whatever the e-mails are, an address has thirty, and a network of IPv6 is one.
    for number in 0..30 {
        let at = format!("2001:db8::{number:x}");
        assert_eq!(wrong(&at, &format!("{number}@example.test")).await, None, "{number}");
    }
    assert!(wrong("2001:db8::ffff", "x@example.test").await.is_some());
    assert_eq!(wrong("2001:db8:0:1::1", "x@example.test").await, None);
}

#[tokio::test]
async fn a_session_ends_after_twelve_idle_hours_and_thirty_days() {
    let world = World::new().await;
    ada(&world, "member").await;
    let (idle, busy) = (sign_in(&world).await, sign_in(&world).await);
    let hour = SignedDuration::from_hours(1);
    world.clock.advance(hour * 11);
    assert!(is_in(&world, &busy).await);
    world.clock.advance(hour);
    assert!(!is_in(&world, &idle).await, "nobody was seen for twelve hours");
    assert!(is_in(&world, &busy).await, "also before it is written that somebody was seen");
    for hours in (12..30 * 24).step_by(6) {
        assert!(is_in(&world, &busy).await, "{hours}");
        people::flush_last_seen(&world.app).await.unwrap();
        world.clock.advance(hour * 6);
    }
    assert!(!is_in(&world, &busy).await, "whatever its user does");
    let lines = world.audit().await.len();
    app::retention::tidy(&world.app).await.unwrap();
    let told = world.audit().await.split_off(lines);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("session.end system system@localhost email=ada@example.test"));
    app::retention::tidy(&world.app).await.unwrap();
    assert_eq!(world.audit().await.len(), lines + 2);
}

#[tokio::test]
async fn nobody_is_seen_more_than_once_a_minute() {
    let world = World::new().await;
    ada(&world, "member").await;
    let new = sign_in(&world).await;
    let written = async || {
        people::flush_last_seen(&world.app).await.unwrap();
        let mut reader = world.app.store().reader();
        let found = store::sessions::find_by_id(&mut reader, new.session.id).await.unwrap();
        found.unwrap().last_seen_at
    };
    let start = world.app.now();
    world.clock.advance(SignedDuration::from_secs(59));
    assert!(is_in(&world, &new).await);
    assert_eq!(written().await, start);
    world.clock.advance(SignedDuration::from_secs(1));
    assert!(is_in(&world, &new).await);
    assert_eq!(written().await, start + wait());
}

#[tokio::test]
async fn a_new_password_ends_every_session() {
    let world = World::new().await;
    let id = ada(&world, "member").await;
    let (mine, other) = (sign_in(&world).await, sign_in(&world).await);
    let me = signed_in(&world, &mine.token).await.unwrap();
    assert!(people::has_password(&me, &world.app).await.unwrap());
    let change = async |current: &str, new: &str| {
        let (current, new) = (Some(Secret::new(current)), Some(Secret::new(new)));
        let asked = Asked::given(PasswordChange { current, new });
        people::change_password(&me, &from(HERE), &world.app, asked).await
    };
    let new = "another horse battery";
    for (current, new, expected) in [
        ("wrong horse battery", new, "current_password: is wrong"),
        (PASSWORD, "short", "at least 12"),
        (PASSWORD, ADA, "must not be your e-mail"),
    ] {
        let refused = change(current, new).await.unwrap_err().to_string();
        assert!(refused.contains(expected), "{refused}");
    }
    assert!(is_in(&world, &mine).await && is_in(&world, &other).await);
    let next = change(PASSWORD, new).await.unwrap();
    assert!(!is_in(&world, &mine).await && !is_in(&world, &other).await);
    assert!(is_in(&world, &next).await);
    let lines = world.audit().await.split_off(world.audit().await.len() - 2);
    assert_eq!(
        lines,
        [
            "session.end console 192.0.2.7 ada@example.test sessions=2; why=password changed",
            "team.update console 192.0.2.7 ada@example.test email=ada@example.test; \
             password=changed"
        ]
    );
    world.clock.advance(wait());
    assert!(try_from(&world, HERE, ADA, PASSWORD).await.is_err());
    assert!(try_from(&world, HERE, ADA, new).await.is_ok());

    // The operator's word counts as much.
    let changes = UserChanges { password: Some(Secret::new(PASSWORD)), ..<_>::default() };
    team::update_user(Operator::of_opened_store(), &world.app, id, changes).await.unwrap();
    assert!(!is_in(&world, &next).await);
}

#[tokio::test]
async fn sessions_are_listed_and_ended_by_key_and_from_the_console() {
    let world = World::new().await;
    ada(&world, "member").await;
    let (first, second) = (sign_in(&world).await, sign_in(&world).await);
    let me = signed_in(&world, &first.token).await.unwrap();
    let asked = Asked::given(app::apikeys::NewOwnKey::default());
    let (_, key) = app::apikeys::create_own(me.caller(), &world.app, asked).await.unwrap();
    let get = async |key: &Secret| -> Vec<Value> {
        let answer = Call::get("/api/sessions").key(key).send(&world.customer).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json().as_array().unwrap().clone()
    };
    let delete = async |key: &Secret, path: &str| -> Answer {
        Call::delete(&format!("/api/sessions{path}")).key(key).send(&world.customer).await
    };
    let listed = get(&key).await;
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|it| it["address"] == HERE && it["browser"] == "Firefox/140.0"));
    let text = serde_json::to_string(&listed).unwrap();
    assert!(!text.contains(first.token.expose()), "nobody is let in by what is listed");
    let listed = people::list(me.caller(), &world.app).await.unwrap();
    let current: Vec<_> =
        listed.iter().filter(|it| it.is_current).map(|it| it.session.id).collect();
    assert_eq!(current, [first.session.id]);

    // They are nobody else's, not even an admin's.
    assert_eq!(get(&world.key).await.len(), 0);
    let path = format!("/{}", second.session.id);
    for other in [&world.key, &world.stranger().await] {
        delete(other, &path).await.expect_error(404, "Not Found");
        assert_eq!(delete(other, "").await.status, 204);
    }
    assert!(is_in(&world, &second).await);
    assert_eq!(delete(&key, &path).await.status, 204);
    assert!(!is_in(&world, &second).await && is_in(&world, &first).await);
    delete(&key, &path).await.expect_error(404, "Not Found");

    // From the console all but the one that asks, with a key all.
    let third = sign_in(&world).await;
    assert_eq!(people::end_all(me.caller(), &world.app).await.unwrap(), 1);
    assert!(!is_in(&world, &third).await && is_in(&world, &first).await);
    let fourth = sign_in(&world).await;
    assert_eq!(delete(&key, "").await.status, 204);
    assert!(!is_in(&world, &first).await && !is_in(&world, &fourth).await);
    let last = "session.end customer-api 192.0.2.7 ada@example.test sessions=2; \
                why=ended by its user";
    assert_eq!(world.audit().await.last().unwrap(), last);
}

#[tokio::test]
async fn who_is_removed_is_signed_out_and_a_change_of_role_counts_at_once() {
    let world = World::new().await;
    let id = ada(&world, "admin").await;
    let new = sign_in(&world).await;
    let path = format!("/api/team/{id}");
    let update = Call::put(&path).key(&world.key).json(&json!({"role": "devops"}));
    assert_eq!(update.send(&world.customer).await.status, 200);
    let me = signed_in(&world, &new.token).await.unwrap();
    assert!(team::list(me.caller(), &world.app).await.is_err());
    let body = json!({ "email": ADA });
    let removed = Call::post("/api/team/remove").key(&world.key).json(&body);
    assert_eq!(removed.send(&world.customer).await.status, 200);
    assert!(!is_in(&world, &new).await);
    assert!(last_line(&world).await.contains("keys=0; sessions=1"), "{}", last_line(&world).await);
    assert!(try_from(&world, HERE, ADA, PASSWORD).await.is_err());
}

#[tokio::test]
async fn two_factors_from_the_first_code_to_the_last() {
    let world = World::new().await;
    ada(&world, "member").await;
    let app = &world.app;
    let me = signed_in(&world, &sign_in(&world).await.token).await.unwrap();
    let early = people::enable_second_factor(&me, app, code("123456")).await.unwrap_err();
    assert!(early.to_string().contains("Begin with"), "{early}");
    let first = people::begin_second_factor(&me, app).await.unwrap();
    let enrolment = people::begin_second_factor(&me, app).await.unwrap();
    assert!(enrolment.uri.expose().contains(enrolment.secret.expose()));
    let wrong = people::enable_second_factor(&me, app, code(shown(&world, &first.secret))).await;
    assert!(wrong.unwrap_err().to_string().starts_with("code: is wrong"));
    let now = shown(&world, &enrolment.secret);
    let recovery = people::enable_second_factor(&me, app, code(&now)).await.unwrap();
    assert_eq!(recovery.len(), 10);
    assert!(recovery.iter().all(|code| code.expose().len() == 19));
    let line = "tfa.enable console 192.0.2.7 ada@example.test email=ada@example.test";
    assert_eq!(last_line(&world).await, line);
    let team = Call::get("/api/team").key(&world.key).send(&world.customer).await;
    assert_eq!(team.json()[0]["tfa_auth_enabled"], true);
    assert!(people::begin_second_factor(&me, app).await.is_err(), "it is on already");

    // A password alone lets nobody in, and a code is good once.
    world.clock.advance(wait());
    let step = next_step(&world).await;
    assert!(step.needs_code && step.team == "Acme");
    assert!(!is_in_by(&world, &step.token).await);
    let go_on = async |step: &NextStep, text: &str| {
        people::go_on(&from(HERE), app, &step.token, code(text)).await
    };
    let missing = people::go_on(&from(HERE), app, &step.token, Asked::given(None)).await;
    assert!(missing.unwrap_err().to_string().contains("Field is required"));
    assert!(go_on(&step, "000000").await.unwrap_err().to_string().starts_with("code: is wrong"));
    let line = "login.failed console 192.0.2.7 ada@example.test wrong=code; browser=Firefox/140.0";
    assert_eq!(last_line(&world).await, line);
    assert!(go_on(&step, &now).await.is_err(), "it was used to turn it on, and is old");
    let now = shown(&world, &enrolment.secret);
    let new = go_on(&step, &now).await.unwrap();
    assert!(is_in(&world, &new).await);
    assert!(last_line(&world).await.contains("second_factor=code"));
    assert!(matches!(go_on(&step, &now).await.unwrap_err(), Error::NotAuthorized(_)));
    let again = next_step(&world).await;
    assert!(go_on(&again, &now).await.is_err(), "the same code, a moment later");

    // A recovery code, however it is typed, and once.
    world.clock.advance(wait());
    let typed = recovery[3].expose().to_uppercase().replace('-', " ");
    let step = next_step(&world).await;
    let new = go_on(&step, &typed).await.unwrap();
    assert!(last_line(&world).await.contains("second_factor=recovery code"));
    let step = next_step(&world).await;
    assert!(go_on(&step, &typed).await.is_err());
    let me = signed_in(&world, &new.token).await.unwrap();
    assert_eq!(people::recovery_codes_left(&me, app).await.unwrap(), 9);
    let now = shown(&world, &enrolment.secret);
    let renewed = people::renew_recovery_codes(&me, app, code(now)).await.unwrap();
    assert_eq!(people::recovery_codes_left(&me, app).await.unwrap(), 10);

    world.clock.advance(wait());
    let old = people::disable_second_factor(&me, app, code(recovery[0].expose())).await;
    assert!(old.is_err(), "new ones have taken their place");
    people::disable_second_factor(&me, app, code(renewed[0].expose())).await.unwrap();
    let line = "tfa.disable console 192.0.2.7 ada@example.test email=ada@example.test";
    assert_eq!(last_line(&world).await, line);
    assert!(is_in(&world, &sign_in(&world).await).await);
}

/// Whether this lets somebody in as if it were of a session.
async fn is_in_by(world: &World, token: &Secret) -> bool {
    signed_in(world, token).await.is_ok()
}

#[tokio::test]
async fn codes_can_not_be_guessed_and_the_operator_helps_who_has_lost_them() {
    let world = World::new().await;
    let id = ada(&world, "member").await;
    let app = &world.app;
    let me = signed_in(&world, &sign_in(&world).await.token).await.unwrap();
    let enrolment = people::begin_second_factor(&me, app).await.unwrap();
    let now = shown(&world, &enrolment.secret);
    people::enable_second_factor(&me, app, code(now)).await.unwrap();
    world.clock.advance(wait());
    let step = next_step(&world).await;
    for number in 0..5 {
        let at = from(&format!("192.0.2.{number}"));
        let wrong = people::go_on(&at, app, &step.token, code("1")).await.unwrap_err();
        assert!(matches!(wrong, Error::Invalid(_)), "{number}: {wrong}");
    }
    let right = shown(&world, &enrolment.secret);
    let limited = people::go_on(&from("192.0.2.99"), app, &step.token, code(&right)).await;
    assert!(matches!(limited.unwrap_err(), Error::TooMany { .. }), "from wherever");
    world.clock.advance(SignedDuration::from_mins(10));
    let late = people::go_on(&from(HERE), app, &step.token, code(right)).await.unwrap_err();
    assert!(matches!(late, Error::NotAuthorized(_)), "{late}");

    let changes = UserChanges { no_second_factor: true, ..<_>::default() };
    team::update_user(Operator::of_opened_store(), app, id, changes).await.unwrap();
    let lines = world.audit().await;
    assert!(
        lines.contains(&format!("tfa.disable cli operator@localhost email={ADA}")),
        "{lines:?}"
    );
    assert!(is_in(&world, &sign_in(&world).await).await);
}

#[tokio::test]
async fn a_link_signs_in_once_and_lets_choose_a_password() {
    let world = World::new().await;
    let operator = Operator::of_opened_store();
    let app = &world.app;
    let token = |link: &people::LoginLink| {
        let (base, token) = link.url.expose().rsplit_once('/').unwrap();
        assert_eq!(base, "http://127.0.0.1:8080/login");
        Secret::new(token)
    };
    let old = people::create_for_first_owner(operator, app).await.unwrap();
    let link = people::create_for_first_owner(operator, app).await.unwrap();
    assert_eq!(link.email, "owner@example.test");
    assert!(last_line(&world).await.starts_with("login.link cli operator@localhost email=owner@"));
    let (old, token) = (token(&old), token(&link));
    let gone = people::see_link(app, &old).await.unwrap_err();
    assert!(matches!(gone, Error::NotFound), "another has taken its place");
    for _ in 0..2 {
        let owner = people::see_link(app, &token).await.unwrap();
        assert_eq!((&*owner.team, &*owner.email), ("Acme", "owner@example.test"));
    }
    assert!(!is_in_by(&world, &token).await, "a link is no session");
    let open = async |token: &Secret| people::open_link(&from(HERE), app, token).await;
    let SignIn::Done(new) = open(&token).await.unwrap() else { panic!("no code is needed") };
    assert!(last_line(&world).await.contains("by=link"), "{}", last_line(&world).await);
    assert!(matches!(open(&token).await.unwrap_err(), Error::NotFound));

    let me = signed_in(&world, &new.token).await.unwrap();
    assert!(!people::has_password(&me, app).await.unwrap());
    let choose = async |me: &SignedIn, new: &str| {
        let asked = Asked::given(PasswordChange { current: None, new: Some(Secret::new(new)) });
        people::change_password(me, &from(HERE), app, asked).await
    };
    let next = choose(&me, PASSWORD).await.unwrap();
    // From here on it is a session like any other.
    let me = signed_in(&world, &next.token).await.unwrap();
    let refused = choose(&me, "another horse battery").await.unwrap_err().to_string();
    assert!(refused.contains("current_password"), "{refused}");

    // Who has forgotten theirs chooses another one, within the hour; the second factor stays.
    let enrolment = people::begin_second_factor(&me, app).await.unwrap();
    let now = shown(&world, &enrolment.secret);
    people::enable_second_factor(&me, app, code(now)).await.unwrap();
    world.clock.advance(wait());
    let late = people::create_for_first_owner(operator, app).await.unwrap();
    let late = late.url.expose().rsplit_once('/').unwrap().1.to_owned();
    world.clock.advance(SignedDuration::from_hours(1));
    assert!(matches!(open(&Secret::new(late)).await.unwrap_err(), Error::NotFound));
    let link = people::create_for_first_owner(operator, app).await.unwrap();
    let token = Secret::new(link.url.expose().rsplit_once('/').unwrap().1);
    let SignIn::Next(steps) = open(&token).await.unwrap() else { panic!("a code is needed") };
    let now = code(shown(&world, &enrolment.secret));
    let new = people::go_on(&from(HERE), app, &steps[0].token, now).await.unwrap();
    let me = signed_in(&world, &new.token).await.unwrap();
    world.clock.advance(SignedDuration::from_mins(61));
    assert!(choose(&me, "another horse battery").await.is_err());
}

#[tokio::test]
async fn who_is_in_two_accounts_chooses_one() {
    let world = World::new().await;
    ada(&world, "member").await;
    let source = app::Source { kind: app::SourceKind::Cli, address: None };
    let other = app::accounts::create(source, &world.app, "Other", ADA).await.unwrap();
    let operator = Operator::of_opened_store();
    let set = async |password: &str| {
        let changes =
            UserChanges { password: Some(Secret::new(password)), ..UserChanges::default() };
        team::update_user(operator, &world.app, other.owner.id, changes).await.unwrap();
    };
    set("another horse battery").await;
    // Where the passwords differ, they say which one is meant.
    assert!(is_in(&world, &sign_in(&world).await).await);
    set(PASSWORD).await;
    let SignIn::Next(steps) = try_from(&world, HERE, ADA, PASSWORD).await.unwrap() else {
        panic!("there are two")
    };
    let mut teams: Vec<&str> = steps.iter().map(|step| step.team.as_str()).collect();
    teams.sort_unstable();
    assert_eq!(teams, ["Acme", "Other"]);
    let step = steps.iter().find(|step| step.team == "Other").unwrap();
    assert!(!step.needs_code);
    let new = people::go_on(&from(HERE), &world.app, &step.token, Asked::given(None)).await;
    let me = signed_in(&world, &new.unwrap().token).await.unwrap();
    assert_eq!(me.caller().account_id(), other.account.id);
}

#[tokio::test]
async fn a_user_has_twenty_sessions_and_the_oldest_makes_room() {
    let world = World::new().await;
    ada(&world, "member").await;
    let mut all = Vec::new();
    for _ in 0..21 {
        all.push(sign_in(&world).await);
        world.clock.advance(wait());
    }
    assert!(!is_in(&world, &all[0]).await && is_in(&world, &all[1]).await);
    let me = signed_in(&world, &all[20].token).await.unwrap();
    assert_eq!(people::list(me.caller(), &world.app).await.unwrap().len(), 20);
}

/// Of two who open a link at once one is let in, on both databases.
async fn a_link_is_opened_by_one(world: World) {
    let link = people::create_for_first_owner(Operator::of_opened_store(), &world.app).await;
    let token = Secret::new(link.unwrap().url.expose().rsplit_once('/').unwrap().1);
    let mut opened = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let (app, token) = (world.app.clone(), token.clone());
        opened.spawn(async move { people::open_link(&from(HERE), &app, &token).await.is_ok() });
    }
    let won = opened.join_all().await.into_iter().filter(|is_in| *is_in).count();
    assert_eq!(won, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_several_who_open_a_link_at_once_one_is_let_in() {
    a_link_is_opened_by_one(World::new().await).await;
    a_link_is_opened_by_one(World::on_postgres().await).await;
}
