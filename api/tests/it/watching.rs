//! Alarms that watch: samples come in, people are told, once.

mod changes;
mod clock;
mod disk_guard;
mod expiry;
mod membership;

use crate::call::Call;
use crate::world::{World, tellings};
use app::Operator;
use app::alarms::{Scope, notice};
use app::metrics::Sample;
use model::{
    Instance, Maintenance, NotificationState, QueuedNotification, Series, Server, SignedDuration,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use watch::alarms::Watch;
use watch::metrics::{Lag, Lags};

struct Post {
    world: World,
    instance: Instance,
    server: Server,
}

/// What somebody is told: of which alarm, what, about whom.
type Told = (i64, NotificationState, Option<String>);

impl Post {
    /// A ready instance without alarms but this one.
    async fn with(alarm: Value) -> Self {
        let world = World::new().await;
        let instance = world.create("orders", &[]).await;
        world.make_ready(instance.id).await;
        let instance = world.load(instance.id.0).await;
        let server = world.servers(instance.id).await.remove(0);
        let post = Self { world, instance, server };
        for id in 1..=4 {
            assert_eq!(post.call("DELETE", &format!("alarms/{id}"), None).await, 204);
        }
        assert_eq!(post.call("POST", "alarms", Some(alarm)).await, 201);
        post
    }

    async fn call(&self, method: &str, path: &str, body: Option<Value>) -> u16 {
        let path = format!("/api/instances/{}/{path}", self.instance.id);
        let call = Call::new(method, &path).key(&self.world.key);
        let call = body.map_or(call.clone(), |body| call.json(&body));
        call.send(&self.world.customer).await.status.as_u16()
    }

    fn watch(&self) -> Watch {
        Watch::new(self.world.app.watch().clone())
    }

    /// Ten seconds later a sample comes.
    async fn sees(&self, watch: &mut Watch, series: Series, value: f32) {
        self.world.clock.advance(SignedDuration::from_secs(10));
        let values = BTreeMap::from([(series, value)]);
        let sample = Sample { at: self.world.app.now().as_second(), values, ..<_>::default() };
        watch.sample(self.server.id, &sample).await.unwrap();
    }

    /// Everything that waits in the outbox; it is sent by that.
    async fn told(&self) -> Vec<Told> {
        let what = |telling: QueuedNotification| telling.notification;
        let told = self.tellings().await.into_iter().map(what);
        told.map(|it| (it.alarm_id.unwrap().0, it.state, it.server.or(it.group))).collect()
    }

    /// The same, with whom it goes to.
    async fn tellings(&self) -> Vec<QueuedNotification> {
        tellings(&self.world.app).await
    }

    fn of_server(&self, state: NotificationState) -> Told {
        (5, state, Some(self.server.name.clone()))
    }
}

fn cpu() -> Value {
    json!({"type": "cpu", "value_threshold": 90, "time_threshold": 60})
}

#[tokio::test]
async fn a_level_that_holds_is_told_once_and_so_is_its_end() {
    let post = Post::with(cpu()).await;
    let mut watch = post.watch();
    for _ in 0..6 {
        post.sees(&mut watch, Series::Cpu, 99.0).await;
        assert_eq!(post.told().await, [], "not before its time");
    }
    for _ in 0..10 {
        post.sees(&mut watch, Series::Cpu, 99.0).await;
    }
    assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)]);
    for _ in 0..20 {
        post.sees(&mut watch, Series::Cpu, 88.0).await;
        post.sees(&mut watch, Series::Cpu, 91.0).await;
    }
    assert_eq!(post.told().await, [], "on the edge it neither ends nor begins");
    for _ in 0..20 {
        post.sees(&mut watch, Series::Cpu, 5.0).await;
    }
    assert_eq!(post.told().await, [post.of_server(NotificationState::Resolved)]);

    let path = format!("/api/instances/{}/alarms/5/history", post.instance.id);
    let history = Call::get(&path).key(&post.world.key).send(&post.world.customer).await.json();
    assert_eq!(history.as_array().unwrap().len(), 1);
    assert_eq!(history[0]["server"], json!(post.server.name));
    assert!(history[0]["resolved_at"].is_string() && history[0]["triggered_at"].is_string());
}

#[tokio::test]
async fn a_restart_of_the_control_plane_loses_and_repeats_nothing() {
    let post = Post::with(cpu()).await;
    for _ in 0..7 {
        // Another control plane for every sample.
        post.sees(&mut post.watch(), Series::Cpu, 99.0).await;
    }
    assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)]);
    for _ in 0..5 {
        post.sees(&mut post.watch(), Series::Cpu, 99.0).await;
    }
    assert_eq!(post.told().await, []);
    for _ in 0..7 {
        post.sees(&mut post.watch(), Series::Cpu, 5.0).await;
    }
    assert_eq!(post.told().await, [post.of_server(NotificationState::Resolved)]);
}

#[tokio::test]
async fn of_two_control_planes_one_tells() {
    let post = Post::with(json!({"type": "cpu", "value_threshold": 90, "time_threshold": 0})).await;
    let (mut one, mut other) = (post.watch(), post.watch());
    let values = BTreeMap::from([(Series::Cpu, 99.0)]);
    let sample = Sample { at: post.world.app.now().as_second(), values, ..<_>::default() };
    let (first, second) =
        tokio::join!(one.sample(post.server.id, &sample), other.sample(post.server.id, &sample));
    first.and(second).unwrap();
    assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)]);
}

#[tokio::test]
async fn a_server_that_is_silent_is_told_of_after_a_moment_of_grace() {
    let post = Post::with(json!({"type": "server_unreachable"})).await;
    let mut watch = post.watch();
    let mut fired = None;
    for second in (0..120).step_by(5) {
        post.world.clock.advance(SignedDuration::from_secs(5));
        watch.silence().await.unwrap();
        let told = post.told().await;
        if !told.is_empty() {
            assert_eq!(told, [post.of_server(NotificationState::Triggered)]);
            fired = Some(second);
        }
    }
    assert_eq!(fired, Some(55), "30 s of grace, then 30 s of silence");
}

#[tokio::test]
async fn a_server_that_is_restarted_as_asked_may_be_silent_for_a_while() {
    let post = Post::with(json!({"type": "server_unreachable"})).await;
    let mut watch = post.watch();
    assert_eq!(post.call("POST", "actions/cluster-restart", None).await, 200);
    let mut fired = None;
    for second in (0..480).step_by(10) {
        post.world.clock.advance(SignedDuration::from_secs(10));
        watch.silence().await.unwrap();
        if !post.told().await.is_empty() {
            fired = Some(second);
        }
    }
    assert_eq!(fired, Some(320), "for five minutes, then 30 s of silence");
}

#[tokio::test]
async fn what_is_stopped_or_deleted_has_no_open_alarms() {
    for (method, path) in [("POST", "/actions/cluster-stop"), ("DELETE", "")] {
        let post = Post::with(cpu()).await;
        let mut watch = post.watch();
        for _ in 0..7 {
            post.sees(&mut watch, Series::Cpu, 99.0).await;
        }
        assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)]);
        let path = format!("/api/instances/{}{path}", post.instance.id);
        let call = Call::new(method, &path).key(&post.world.key);
        assert!(call.send(&post.world.customer).await.status.is_success());
        assert_eq!(post.told().await, [post.of_server(NotificationState::Resolved)], "{path}");
        for _ in 0..20 {
            post.sees(&mut watch, Series::Cpu, 99.0).await;
        }
        assert_eq!(post.told().await, [], "{path}");
    }
}

#[tokio::test]
async fn samples_that_are_sent_again_tell_nothing_again() {
    let post = Post::with(json!({"type": "cpu", "value_threshold": 90, "time_threshold": 0})).await;
    let began = post.world.app.now().as_second();
    let story = [5.0, 99.0, 99.0, 5.0, 5.0, 5.0, 5.0, 5.0];
    let mut watch = post.watch();
    for value in story {
        post.sees(&mut watch, Series::Cpu, value).await;
    }
    let states: Vec<NotificationState> = post.told().await.into_iter().map(|it| it.1).collect();
    assert_eq!(states, [NotificationState::Triggered, NotificationState::Resolved]);
    // Another control plane has none of it in memory, and agents send it again.
    let mut watch = post.watch();
    for (number, value) in (1..).zip(story) {
        let values = BTreeMap::from([(Series::Cpu, value)]);
        let sample = Sample { at: began + 10 * number, values, ..<_>::default() };
        watch.sample(post.server.id, &sample).await.unwrap();
    }
    assert_eq!(post.told().await, []);
    post.sees(&mut watch, Series::Cpu, 99.0).await;
    assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)], "this is new");
}

#[tokio::test]
async fn a_level_that_nobody_saw_for_an_hour_has_to_hold_anew() {
    let post = Post::with(cpu()).await;
    for _ in 0..5 {
        post.sees(&mut post.watch(), Series::Cpu, 99.0).await;
    }
    post.world.clock.advance(SignedDuration::from_hours(1));
    let mut watch = post.watch();
    for _ in 0..6 {
        post.sees(&mut watch, Series::Cpu, 99.0).await;
    }
    assert_eq!(post.told().await, []);
    post.sees(&mut watch, Series::Cpu, 99.0).await;
    assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)]);
}

#[tokio::test]
async fn what_nobody_watches_any_more_is_over() {
    for change in ["DELETE", "PUT"] {
        let post = Post::with(cpu()).await;
        let mut watch = post.watch();
        for _ in 0..7 {
            post.sees(&mut watch, Series::Cpu, 99.0).await;
        }
        assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)]);
        let mut off = cpu();
        off["enabled"] = json!(false);
        let body = (change == "PUT").then_some(off);
        assert!(post.call(change, "alarms/5", body).await < 300);
        assert_eq!(post.told().await, [post.of_server(NotificationState::Resolved)]);
        for _ in 0..20 {
            post.sees(&mut watch, Series::Cpu, 99.0).await;
        }
        assert_eq!(post.told().await, []);
    }
}

#[tokio::test]
async fn who_leaves_a_list_hears_the_end_and_who_joins_it_the_beginning() {
    let told_to = |recipients: Value| {
        let mut alarm = cpu();
        alarm["recipients"] = recipients;
        alarm
    };
    let post = Post::with(told_to(json!([1]))).await;
    let hook = json!({"type": "webhook", "value": "https://hooks.example.com/x"});
    assert_eq!(post.call("POST", "alarms/recipients", Some(hook)).await, 201);
    let told = async || {
        let mut told = post.tellings().await;
        told.sort_by_key(|it| it.recipient_id);
        told.into_iter().map(|it| (it.recipient_id.0, it.notification.state)).collect::<Vec<_>>()
    };
    let (began, over) = (NotificationState::Triggered, NotificationState::Resolved);
    assert_eq!(post.call("PUT", "alarms/5", Some(told_to(json!([2])))).await, 201);
    assert_eq!(post.call("PUT", "alarms/5", Some(told_to(json!([1])))).await, 201);
    let mut watch = post.watch();
    for _ in 0..7 {
        post.sees(&mut watch, Series::Cpu, 99.0).await;
    }
    assert_eq!(told().await, [(1, began)], "nobody was told of what did not fire");
    assert_eq!(post.call("PUT", "alarms/5", Some(told_to(json!([2])))).await, 201);
    assert_eq!(told().await, [(1, over), (2, began)]);
    assert_eq!(post.call("PUT", "alarms/5", Some(told_to(json!([])))).await, 201);
    assert_eq!(told().await, [(1, began)], "the other one is told of it already");
    for _ in 0..10 {
        post.sees(&mut watch, Series::Cpu, 5.0).await;
    }
    assert_eq!(told().await, [(1, over), (2, over)]);
    let path = format!("/api/instances/{}/alarms/5/history", post.instance.id);
    let history = Call::get(&path).key(&post.world.key).send(&post.world.customer).await.json();
    assert_eq!(history.as_array().unwrap().len(), 1, "it is one incident all the time");
}

#[tokio::test]
async fn reminders_come_at_their_interval() {
    let mut alarm = cpu();
    alarm["reminder_interval"] = json!(60);
    let post = Post::with(alarm).await;
    let mut watch = post.watch();
    let mut told = Vec::new();
    for _ in 0..19 {
        post.sees(&mut watch, Series::Cpu, 99.0).await;
        told.extend(post.told().await.into_iter().map(|told| told.1));
    }
    let expected =
        [NotificationState::Triggered, NotificationState::Reminder, NotificationState::Reminder];
    assert_eq!(told, expected);
}

#[tokio::test]
async fn nobody_is_reminded_of_what_they_have_not_heard_yet() {
    let mut alarm = cpu();
    alarm["reminder_interval"] = json!(60);
    let post = Post::with(alarm).await;
    let mut watch = post.watch();
    for _ in 0..360 {
        post.sees(&mut watch, Series::Cpu, 99.0).await;
    }
    assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)]);
    for _ in 0..20 {
        post.sees(&mut watch, Series::Cpu, 99.0).await;
    }
    assert_eq!(post.told().await, [post.of_server(NotificationState::Reminder)]);
}

#[tokio::test]
async fn a_notice_reaches_those_whom_it_concerns() {
    let post = Post::with(json!({"type": "notice"})).await;
    let other = post.world.create("payments", &[]).await;
    let operator = Operator::of_opened_store();
    let send = async |scope: Scope, text: &str| {
        notice(operator, &post.world.app, &scope, Maintenance::Planned, text).await
    };
    let told = send(Scope::Instance(post.instance.id), "Sunday 03:00").await.unwrap();
    assert_eq!(told, [post.instance.id]);
    assert_eq!(post.told().await, [(5, NotificationState::Triggered, None)]);
    let path = format!("/api/instances/{}/alarms/5/history", post.instance.id);
    let history = Call::get(&path).key(&post.world.key).send(&post.world.customer).await.json();
    assert_eq!(history[0]["message"], "Planned maintenance: Sunday 03:00");

    let here = Scope::Region(post.instance.region.clone());
    assert_eq!(send(here, "x").await.unwrap(), [post.instance.id, other.id]);
    assert_eq!(send(Scope::All, "x").await.unwrap().len(), 2);
    let nowhere = Scope::Region(model::RegionName("local::elsewhere".into()));
    let refused = send(nowhere, "x").await.unwrap_err().to_string();
    assert!(refused.starts_with("There is no region local::elsewhere; "), "{refused}");
    let nobody = Scope::Instance(model::InstanceId(99));
    let refused = send(nobody, "x").await.unwrap_err().to_string();
    assert_eq!(refused, "There is no instance 99");
    assert_eq!(post.call("DELETE", "alarms/5", None).await, 204);
    assert_eq!(send(Scope::Instance(post.instance.id), "x").await.unwrap(), [], "no such alarm");
    assert!(send(Scope::All, " ").await.is_err());
    assert!(post.world.audit().await.iter().any(|line| line.contains("notice.send")));
}

#[tokio::test]
async fn a_group_that_is_too_far_behind_is_named_until_it_caught_up_or_is_gone() {
    let alarm = json!({"type": "consumer_lag", "value_threshold": 60, "time_threshold": 60,
                       "group": "billing"});
    let post = Post::with(alarm).await;
    let mut watch = post.watch();
    let look = async |watch: &mut Watch, groups: &[(&str, i64)]| {
        let lag = |seconds| Lag { messages: 9, seconds, at_least: false };
        let lags = groups.iter().map(|(name, seconds)| ((*name).into(), lag(*seconds)));
        looks(&post, watch, Lags { groups: lags.collect(), gone: vec![] }).await
    };
    let of_billing = |state| (5, state, Some("billing".to_owned()));
    for _ in 0..2 {
        assert_eq!(look(&mut watch, &[("billing", 90), ("audit", 900)]).await, []);
    }
    let told = look(&mut watch, &[("billing", 120), ("audit", 930)]).await;
    assert_eq!(told, [of_billing(NotificationState::Triggered)], "the one that was named");
    for _ in 0..10 {
        assert_eq!(look(&mut watch, &[]).await, [], "a broker is away, and nobody tells");
    }
    // Another control plane does not know yet since when its messages are there.
    let mut watch = post.watch();
    let young = Lag { messages: 900, seconds: 30, at_least: true };
    for _ in 0..10 {
        let lags = Lags { groups: vec![("billing".into(), young)], gone: vec![] };
        assert_eq!(looks(&post, &mut watch, lags).await, []);
    }
    assert_eq!(look(&mut watch, &[("billing", 5)]).await, []);
    let gone = || Lags { groups: vec![], gone: vec!["billing".into()] };
    assert_eq!(looks(&post, &mut watch, gone()).await, []);
    let told = looks(&post, &mut watch, gone()).await;
    assert_eq!(told, [of_billing(NotificationState::Resolved)]);
}

/// Half a minute later groups are looked at.
async fn looks(post: &Post, watch: &mut Watch, lags: Lags) -> Vec<Told> {
    post.world.clock.advance(SignedDuration::from_secs(30));
    watch.groups(post.instance.id, &lags).await.unwrap();
    post.told().await
}

#[tokio::test]
async fn an_alarm_of_one_group_stays_one_until_it_is_told_otherwise() {
    let alarm = json!({"type": "consumer_lag", "value_threshold": 60, "time_threshold": 60,
                       "group": "billing"});
    let post = Post::with(alarm.clone()).await;
    let path = format!("/api/instances/{}/alarms/5", post.instance.id);
    let group = async |body: Value| {
        assert!(post.call("PUT", "alarms/5", Some(body)).await < 300);
        let read = Call::get(&path).key(&post.world.key).send(&post.world.customer).await;
        read.json()["group"].clone()
    };
    assert_eq!(group(json!({"value_threshold": 90, "time_threshold": 60})).await, "billing");
    let all = json!({"value_threshold": 90, "time_threshold": 60, "group": ""});
    assert_eq!(group(all).await, Value::Null);
}

#[tokio::test]
async fn a_disk_that_will_be_full_soon_is_told_of_and_one_that_goes_up_and_down_is_not() {
    let alarm = json!({"type": "disk_forecast", "value_threshold": 24});
    let post = Post::with(alarm).await;
    let mut watch = post.watch();
    // Twenty minutes in which segments come and go.
    for sample in 0..120_u16 {
        let noise = f32::from(sample % 4) * 2e7;
        post.sees(&mut watch, Series::DiskFree, 50e9 - noise).await;
    }
    assert_eq!(post.told().await, [], "it does not fill");
    // Ten in which it does: at that rate it is full in less than three hours.
    for sample in 0..60_u16 {
        post.sees(&mut watch, Series::DiskFree, 50e9 - f32::from(sample) * 5e7).await;
    }
    assert_eq!(post.told().await, [post.of_server(NotificationState::Triggered)]);
    for _ in 0..120 {
        post.sees(&mut watch, Series::DiskFree, 50e9).await;
    }
    assert_eq!(post.told().await, [post.of_server(NotificationState::Resolved)]);
}
