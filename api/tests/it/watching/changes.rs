//! What is told when an alarm that fires is about another group, or has others to tell.

use super::{Post, cpu, looks};
use crate::call::Call;
use model::{NotificationState, QueuedNotification, Series, SignedDuration};
use serde_json::{Value, json};
use watch::metrics::{Lag, Lags};

#[tokio::test]
async fn a_group_that_an_alarm_is_not_about_any_more_is_told_as_over() {
    let alarm = |group: &str| {
        json!({"type": "consumer_lag", "value_threshold": 60, "time_threshold": 0,
               "group": group})
    };
    let late = || {
        let late = Lag { messages: 9, seconds: 90, at_least: false };
        Lags { groups: vec![("billing".into(), late)], gone: vec![] }
    };
    let of_billing = |state| (5, state, Some("billing".to_owned()));
    for before in ["billing", ""] {
        let post = Post::with(alarm(before)).await;
        let mut watch = post.watch();
        let told = looks(&post, &mut watch, late()).await;
        assert_eq!(told, [of_billing(NotificationState::Triggered)], "{before:?}");
        assert_eq!(post.call("PUT", "alarms/5", Some(alarm("billing"))).await, 201);
        assert_eq!(post.told().await, [], "{before:?}: it is about it as before");
        assert_eq!(post.call("PUT", "alarms/5", Some(alarm("audit"))).await, 201);
        assert_eq!(post.told().await, [of_billing(NotificationState::Resolved)], "{before:?}");
        assert_eq!(looks(&post, &mut watch, late()).await, [], "{before:?}");
        assert_eq!(post.call("PUT", "alarms/5", Some(alarm(""))).await, 201);
        let told = looks(&post, &mut watch, late()).await;
        assert_eq!(told, [of_billing(NotificationState::Triggered)], "{before:?}: once more");
    }
}

#[tokio::test]
async fn who_hears_of_another_group_from_now_on_hears_nothing_of_the_old_one() {
    let alarm = |group: &str, recipient: i64| {
        json!({"type": "consumer_lag", "value_threshold": 60, "time_threshold": 0,
               "group": group, "recipients": [recipient]})
    };
    let post = Post::with(alarm("billing", 1)).await;
    let mut watch = post.watch();
    assert_eq!(post.call("POST", "alarms/recipients", Some(hook())).await, 201);
    post.world.clock.advance(SignedDuration::from_secs(30));
    let late = Lag { messages: 9, seconds: 90, at_least: false };
    let lags = Lags { groups: vec![("billing".into(), late)], gone: vec![] };
    watch.groups(post.instance.id, &lags).await.unwrap();
    assert_eq!(who(&post).await, [(1, NotificationState::Triggered)]);
    assert_eq!(post.call("PUT", "alarms/5", Some(alarm("audit", 2))).await, 201);
    assert_eq!(who(&post).await, [(1, NotificationState::Resolved)]);
}

#[tokio::test]
async fn whoever_comes_to_be_told_of_what_goes_on_hears_its_beginning() {
    let mut alarm = cpu();
    alarm["recipients"] = json!([1]);
    let post = Post::with(alarm).await;
    assert_eq!(post.call("POST", "alarms/recipients", Some(hook())).await, 201);
    let (began, over) = (NotificationState::Triggered, NotificationState::Resolved);
    let mut watch = post.watch();
    for _ in 0..7 {
        post.sees(&mut watch, Series::Cpu, 99.0).await;
    }
    assert_eq!(who(&post).await, [(1, began)]);
    assert_eq!(post.call("POST", "alarms/recipients", Some(hook())).await, 201);
    assert_eq!(who(&post).await, [], "the alarm names another one");
    assert_eq!(post.call("DELETE", "alarms/recipients/1", None).await, 204);
    let told = [(1, over), (2, began), (3, began)];
    assert_eq!(who(&post).await, told, "it names everybody now, and one is gone");
    assert_eq!(post.call("POST", "alarms/recipients", Some(hook())).await, 201);
    assert_eq!(who(&post).await, [(4, began)], "everybody has one more");
    assert_eq!(post.call("DELETE", "alarms/recipients/4", None).await, 204);
    assert_eq!(who(&post).await, [(4, over)]);
    for _ in 0..10 {
        post.sees(&mut watch, Series::Cpu, 5.0).await;
    }
    assert_eq!(who(&post).await, [(2, over), (3, over)]);
    assert_eq!(post.call("POST", "alarms/recipients", Some(hook())).await, 201);
    assert_eq!(who(&post).await, [], "nothing goes on");
}

/// A pager rings until it is told the end, and nobody tells it of the end later.
#[tokio::test]
async fn who_goes_or_is_told_elsewhere_hears_the_end_where_they_were() {
    let post = Post::with(cpu()).await;
    let pager = |key: &str, name: &str| json!({"type": "pagerduty", "value": key, "name": name});
    assert_eq!(post.call("POST", "alarms/recipients", Some(pager("old", "Ops"))).await, 201);
    let (began, over) = (NotificationState::Triggered, NotificationState::Resolved);
    // Of the pager: what it is told, and where if that is where it was before.
    let rings = async || {
        let mut told = post.tellings().await;
        told.retain(|it| it.recipient_id.0 == 2);
        told.sort_by_key(|it| it.address.is_none());
        let key =
            |it: &QueuedNotification| it.address.as_ref().map(|it| it.value.expose().to_owned());
        told.iter().map(|it| (it.notification.state, key(it))).collect::<Vec<_>>()
    };
    let at = |key: &str| Some(key.to_owned());
    let elsewhere = |key: &str| Some(pager(key, "Ops"));
    assert_eq!(post.call("PUT", "alarms/recipients/2", elsewhere("first")).await, 200);
    assert_eq!(rings().await, [], "nothing goes on");
    let mut watch = post.watch();
    for _ in 0..7 {
        post.sees(&mut watch, Series::Cpu, 99.0).await;
    }
    // It waits for its first turn, and goes to the new address.
    assert_eq!(post.call("PUT", "alarms/recipients/2", elsewhere("second")).await, 200);
    assert_eq!(rings().await, [(over, at("first")), (began, None)]);
    let named = Some(pager("second", "Night"));
    assert_eq!(post.call("PUT", "alarms/recipients/2", named).await, 200);
    assert_eq!(rings().await, [], "it is where it was");
    assert_eq!(post.call("PUT", "alarms/recipients/2", elsewhere("third")).await, 200);
    assert_eq!(rings().await, [(over, at("second")), (began, None)]);
    assert_eq!(post.call("DELETE", "alarms/recipients/2", None).await, 204);
    assert_eq!(rings().await, [(over, at("third"))]);
    for _ in 0..10 {
        post.sees(&mut watch, Series::Cpu, 5.0).await;
    }
    assert_eq!(rings().await, []);
}

fn hook() -> Value {
    json!({"type": "webhook", "value": "https://hooks.example.com/x"})
}

/// Who is told what, by recipient.
async fn who(post: &Post) -> Vec<(i64, NotificationState)> {
    let mut told = post.tellings().await;
    told.sort_by_key(|it| it.recipient_id);
    told.into_iter().map(|it| (it.recipient_id.0, it.notification.state)).collect()
}

/// An address outside the team is told nothing before it confirmed, and then what goes on.
#[tokio::test]
async fn an_address_that_confirms_hears_what_goes_on() {
    let mut alarm = cpu();
    alarm["recipients"] = json!([]);
    let post = Post::with(alarm).await;
    let mut watch = post.watch();
    for _ in 0..7 {
        post.sees(&mut watch, Series::Cpu, 99.0).await;
    }
    let began = NotificationState::Triggered;
    assert_eq!(who(&post).await, [(1, began)]);
    let body = json!({"type": "email", "value": "eve@example.com"});
    assert_eq!(post.call("POST", "alarms/recipients", Some(body)).await, 201);
    let mails = post.world.mails().await;
    assert_eq!(mails.len(), 1, "the link, and nothing of the alarm");
    let (_, rest) = mails[0].text.split_once("http://127.0.0.1:8080").unwrap();
    let link = Call::post(rest.split_whitespace().next().unwrap());
    let confirmed = link.json(&json!({"answer": "allow"})).send(&post.world.customer).await;
    assert_eq!(confirmed.status, 200, "{}", confirmed.text);
    assert_eq!(who(&post).await, [(2, began)]);
}
