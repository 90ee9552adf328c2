//! What agents measured, taken once and read back by both keys.

use crate::agents::enrol;
use crate::call::{Answer, Call};
use crate::world::World;
use app::App;
use axum::Router;
use kafka::client::NewTopic;
use model::{Instance, Role, Secret, SignedDuration};
use serde_json::{Value, json};
use store::{Location, MetricsHistory};
use watch::metrics::News;
use web::{Options, RateLimit, RateLimits};

/// The world's clock begins at this.
pub const NOON: i64 = 1_794_744_000;
pub const NO_BOUND: i64 = i64::MAX;

pub fn sample(at: i64, connections: f64) -> Value {
    json!({
        "at": at,
        "values": {
            "connections": connections, "cpu_cores": 0.5, "memory_used_bytes": 1e9,
            "disk_used_bytes": 1e9, "file_system_free_bytes": 5e9, "of_a_newer_agent": 1.0,
        },
        "topics": {"orders": {"in": 100.0, "size": 5.0}},
    })
}

pub async fn send(router: &Router, certificate: &[u8], samples: &[Value]) -> Value {
    let body = json!({"incarnation": 1, "samples": samples});
    let call = Call::post("/agent/v1/metrics").json(&body).certificate(certificate);
    let answer = call.send(router).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

async fn read(router: &Router, instance: &Instance, key: &Secret, query: &str) -> Answer {
    let path = format!("/api/instances/{}/metrics?{query}", instance.id);
    Call::get(&path).key(key).send(router).await
}

/// What one series of the only server says.
async fn values(world: &World, router: &Router, instance: &Instance, query: &str) -> Value {
    let answer = read(router, instance, &world.key, query).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["servers"][0]["series"][0]["values"].clone()
}

/// A control plane that begins anew, on the same history.
pub async fn process(world: &World, at: &Location) -> (App, Router, Router) {
    let history = MetricsHistory::open(at).await.unwrap();
    let app = world.app.clone().with_metrics_history(history);
    let options = Options { rate_limit: RateLimit::new(RateLimits::OFF), ..Options::default() };
    let agent = api::agent_router(app.clone(), options.clone());
    (app.clone(), agent, api::customer_router(app, options))
}

#[tokio::test]
async fn a_sample_is_told_by_both_keys_with_its_share_of_the_plan() {
    let world = World::new().await;
    let instance = world.create("orders", &["prod"]).await;
    let (server, certificate) = enrol(&world, &instance).await;
    send(&world.agent, &certificate, &[sample(NOON - 10, 3.0)]).await;

    let query = format!("series=connections,cpu_percent&from={}&to={NOON}", NOON - 20);
    let expected = json!({
        "from": NOON - 20, "to": NOON, "step": 10,
        "servers": [{"server": server.name, "series": [
            {"name": "cpu_percent", "unit": "%", "values": [null, 50.0]},
            {"name": "connections", "unit": "connections", "values": [null, 3.0]},
        ]}],
    });
    let monitor = world.member(Role::Monitor, &["prod"]).await;
    for key in [&world.key, &monitor] {
        let answer = read(&world.customer, &instance, key, &query).await;
        assert_eq!((answer.status.as_u16(), answer.json()), (200, expected.clone()));
    }
    let call = Call::get(&format!("/api/metrics?{query}")).key(&instance.apikey);
    assert_eq!(call.send(&world.instance).await.json(), expected);

    let query = format!("series=topic_bytes_in_per_second&topic=orders&from={}", NOON - 10);
    let told = read(&world.customer, &instance, &world.key, &query).await.json();
    let series = json!([{"name": "topic_bytes_in_per_second", "unit": "B/s", "topic": "orders",
                         "values": [100.0]}]);
    assert_eq!(told["servers"][0]["series"], series);

    let call = Call::get("/api/metrics/prometheus").key(&instance.apikey);
    let answer = call.send(&world.instance).await;
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    for line in [
        "# TYPE castellan_connections gauge".to_owned(),
        format!("castellan_connections{{server=\"{}\"}} 3", server.name),
        format!("castellan_up{{server=\"{}\"}} 1", server.name),
        format!("castellan_topic_log_size_bytes{{server=\"{}\",topic=\"orders\"}} 5", server.name),
    ] {
        assert!(
            answer.text.lines().any(|found| found == line),
            "{line} is not in\n{}",
            answer.text
        );
    }
    world.clock.advance(SignedDuration::from_mins(10));
    let answer = call.send(&world.instance).await;
    let silent =
        format!("# TYPE castellan_up gauge\ncastellan_up{{server=\"{}\"}} 0\n", server.name);
    assert_eq!(answer.text, silent, "what is old is not told as new");
}

#[tokio::test]
async fn a_broker_that_hangs_is_not_up_though_its_agent_is() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let (server, certificate) = enrol(&world, &instance).await;
    let up = async || {
        let call = Call::get("/api/metrics/prometheus").key(&instance.apikey);
        let text = call.send(&world.instance).await.text;
        ["up", "broker_up"].map(|name| {
            let start = format!("castellan_{name}{{server=\"{}\"}} ", server.name);
            text.lines().find_map(|line| line.strip_prefix(start.as_str())).map(str::to_owned)
        })
    };
    let is = |up: &str, broker_up: &str| [Some(up.to_owned()), Some(broker_up.to_owned())];
    assert_eq!(up().await, [Some("0".to_owned()), None], "nobody knows");
    let mut measured = sample(NOON - 20, 3.0);
    measured["values"]["partitions"] = json!(7.0);
    send(&world.agent, &certificate, &[measured]).await;
    assert_eq!(up().await, is("1", "1"));

    let report = async |silent_since: Value| {
        let body = json!({
            "incarnation": 1, "agent_version": "0.1.0", "revision": 1, "phase": "running",
            "detail": "", "silent_since": silent_since,
        });
        let call = Call::post("/agent/v1/report").json(&body).certificate(&certificate);
        assert_eq!(call.send(&world.agent).await.status, 200);
    };
    report(json!("2026-11-15T11:58:00Z")).await;
    assert_eq!(up().await, is("1", "0"), "it answers its agent's questions for measures alone");
    report(Value::Null).await;
    assert_eq!(up().await, is("1", "1"));
    send(&world.agent, &certificate, &[sample(NOON - 10, 3.0)]).await;
    assert_eq!(up().await, is("1", "0"), "the broker was not measured");
}

#[tokio::test]
async fn what_a_crash_takes_is_sent_again_and_nothing_counts_twice() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let at = Location::Sqlite(directory.path().join("store.db"));
    let instance = world.create("orders", &[]).await;
    let (_, certificate) = enrol(&world, &instance).await;
    let range = format!("series=connections&from={NOON}&to={}&step=600", NOON + 1800);

    let (app, agent, _) = process(&world, &at).await;
    let minutes = |from: i64, to: i64| -> Vec<Value> {
        (from * 6..to * 6).map(|slot| sample(NOON + slot * 10, 4.0)).collect()
    };
    world.clock.advance(SignedDuration::from_mins(9));
    let first = send(&agent, &certificate, &minutes(0, 9)).await;
    assert_eq!(first["kept_through"], 0, "nothing is on disk");
    watch::metrics::flush(app.watch(), NO_BOUND).await;
    assert_eq!(send(&agent, &certificate, &[]).await["kept_through"], 0, "it is not over");
    world.clock.advance(SignedDuration::from_mins(5));
    send(&agent, &certificate, &minutes(9, 14)).await;
    watch::metrics::flush(app.watch(), NO_BOUND).await;
    let kept = send(&agent, &certificate, &[]).await;
    assert_eq!((&kept["window"], &kept["kept_through"]), (&first["window"], &json!(NOON + 590)));

    // It is killed, and away for ten minutes. What it had in memory is gone, and
    // agents send all of it again, some of it twice.
    world.clock.advance(SignedDuration::from_mins(16));
    let (app, agent, customer) = process(&world, &at).await;
    let anew = send(&agent, &certificate, &minutes(24, 30)).await;
    assert_ne!(anew["window"], first["window"]);
    assert_eq!(anew["kept_through"], json!(NOON + 590), "as it is on disk");
    send(&agent, &certificate, &minutes(9, 24)).await;
    send(&agent, &certificate, &minutes(10, 24)).await;
    assert_eq!(values(&world, &customer, &instance, &range).await, json!([4.0, 4.0, 4.0]));
    let points = range.replace("step=600", "step=10");
    let all = values(&world, &customer, &instance, &points).await;
    assert_eq!(all.as_array().unwrap().len(), 180);
    assert!(all.as_array().unwrap().iter().all(|value| *value == 4.0), "{all}");

    // An orderly end writes what there is.
    watch::metrics::flush_everything(app.watch()).await;
    let (_, agent, customer) = process(&world, &at).await;
    assert_eq!(values(&world, &customer, &instance, &points).await, all);
    let kept = send(&agent, &certificate, &[]).await;
    assert_eq!(kept["kept_through"], json!(NOON + 1790));
}

#[tokio::test]
async fn thinner_history_is_told_where_the_fine_one_is_gone() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let at = Location::Sqlite(directory.path().join("store.db"));
    let instance = world.create("orders", &[]).await;
    let (_, certificate) = enrol(&world, &instance).await;
    let (app, agent, customer) = process(&world, &at).await;
    world.clock.advance(SignedDuration::from_mins(11));
    let samples: Vec<Value> =
        (0..60).map(|slot| sample(NOON + slot * 10, if slot == 7 { 61.0 } else { 1.0 })).collect();
    send(&agent, &certificate, &samples).await;
    watch::metrics::flush(app.watch(), NO_BOUND).await;

    let minute = format!("series=connections&from={}&to={}&step=60", NOON + 60, NOON + 120);
    for days in [0, 2] {
        world.clock.advance(SignedDuration::from_hours(24 * days));
        assert_eq!(values(&world, &customer, &instance, &minute).await, json!([11.0]));
        let most = format!("{minute}&of=max");
        assert_eq!(values(&world, &customer, &instance, &most).await, json!([61.0]));
    }
    world.clock.advance(SignedDuration::from_hours(24 * 6));
    let ten = format!("series=connections&from={NOON}&to={}&step=600", NOON + 600);
    assert_eq!(values(&world, &customer, &instance, &ten).await, json!([2.0]));
    // The next write takes away what is too old; a bound of nothing takes all.
    send(&agent, &certificate, &[sample(NOON + 8 * 86_400, 1.0)]).await;
    world.clock.advance(SignedDuration::from_mins(20));
    watch::metrics::flush(app.watch(), NO_BOUND).await;
    assert_eq!(values(&world, &customer, &instance, &minute).await, Value::Null);
    assert_eq!(values(&world, &customer, &instance, &ten).await, json!([2.0]));
    send(&agent, &certificate, &[sample(NOON + 8 * 86_400 + 900, 1.0)]).await;
    world.clock.advance(SignedDuration::from_mins(20));
    watch::metrics::flush(app.watch(), 0).await;
    assert_eq!(values(&world, &customer, &instance, &ten).await, Value::Null);
}

#[tokio::test]
async fn what_is_in_memory_counts_as_much_as_it_will_on_disk() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let at = Location::Sqlite(directory.path().join("store.db"));
    let instance = world.create("orders", &[]).await;
    let (_, certificate) = enrol(&world, &instance).await;
    let (app, agent, customer) = process(&world, &at).await;
    let all = |slots: std::ops::Range<i64>, connections: f64| -> Vec<Value> {
        let slots = slots.filter(|slot| *slot != 7);
        slots.map(|slot| sample(NOON + slot * 10, connections)).collect()
    };
    world.clock.advance(SignedDuration::from_mins(11));
    send(&agent, &certificate, &all(0..60, 1.0)).await;
    watch::metrics::flush(app.watch(), NO_BOUND).await;
    world.clock.advance(SignedDuration::from_mins(9));
    send(&agent, &certificate, &all(60..120, 5.0)).await;
    let hour = format!("series=connections&from={NOON}&to={}&step=3600", NOON + 1200);
    assert_eq!(values(&world, &customer, &instance, &hour).await, json!([3.0]));

    // One comes late, of a time that is on disk already.
    send(&agent, &certificate, &[sample(NOON + 70, 61.0)]).await;
    let ten = format!("series=connections&from={NOON}&to={}&step=600", NOON + 600);
    let expected = [
        (format!("{hour}&of=max"), 61.0),
        (hour, 3.5),
        (format!("{ten}&of=max"), 61.0),
        (format!("series=connections&from={}&to={}&step=60", NOON + 60, NOON + 120), 11.0),
        (ten, 2.0),
    ];
    let check = async |customer: &Router, when: &str| {
        for (query, expected) in &expected {
            let found = values(&world, customer, &instance, query).await;
            assert_eq!(found[0], json!(expected), "{query} {when}");
        }
    };
    check(&customer, "in memory").await;
    watch::metrics::flush_everything(app.watch()).await;
    let (_, _, customer) = process(&world, &at).await;
    check(&customer, "on disk").await;
}

#[tokio::test]
async fn a_broken_history_leaves_what_is_in_memory() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let at = Location::Sqlite(directory.path().join("store.db"));
    let instance = world.create("orders", &[]).await;
    let (_, certificate) = enrol(&world, &instance).await;
    let history = MetricsHistory::open(&at).await.unwrap();
    let app = world.app.clone().with_metrics_history(history.clone());
    let options = Options { rate_limit: RateLimit::new(RateLimits::OFF), ..Options::default() };
    let agent = api::agent_router(app.clone(), options.clone());
    let customer = api::customer_router(app.clone(), options);
    history.close().await;

    let taken = send(&agent, &certificate, &[sample(NOON, 3.0)]).await;
    assert_eq!(taken["kept_through"], 0);
    world.clock.advance(SignedDuration::from_mins(15));
    watch::metrics::flush(app.watch(), NO_BOUND).await;
    let range = format!("series=connections&from={NOON}&to={}", NOON + 10);
    assert_eq!(values(&world, &customer, &instance, &range).await, json!([3.0]));

    std::fs::write(directory.path().join("metrics.db"), "no database at all, not even a bit")
        .unwrap();
    std::fs::remove_file(directory.path().join("metrics.db-wal")).ok();
    assert!(MetricsHistory::open(&at).await.is_err());
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_or_left_out() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let (_, certificate) = enrol(&world, &instance).await;
    let strange = [sample(NOON - 86_400, 1.0), sample(NOON + 86_400, 1.0), sample(-5, 1.0)];
    send(&world.agent, &certificate, &strange).await;
    let told = read(&world.customer, &instance, &world.key, "").await.json();
    assert_eq!((&told["step"], &told["servers"][0]["series"]), (&json!(10), &json!([])));

    let check = async |query: &str, expected: &str| {
        read(&world.customer, &instance, &world.key, query).await.expect_error(400, expected);
    };
    let series = "series: \"cpu\": it is no series this Castellan measures";
    check("series=cpu", series).await;
    let time = "must be a time such as 2026-11-15T12:00:00Z, or Unix seconds";
    check("from=yesterday", &format!("from: {time}")).await;
    check("to=99999999999999", &format!("to: {time}")).await;
    check("of=min", "of: must be avg or max").await;
    check("step=ten", "step: must be an integer").await;
    check("step=15", "`step` must be a multiple of 10 from 10 to 86400 seconds").await;
    check("step=0", "`step` must be a multiple of 10 from 10 to 86400 seconds").await;
    let now = "2026-11-15T12:00:00Z";
    check(&format!("from={now}&to={now}"), "`from` must be before `to`").await;
    check("to=2027-01-01T00:00:00Z", "`to` lies in the future").await;
    check("from=2026-01-01T00:00:00Z", "Nothing is kept from before 30 days ago").await;
    let most = "That are more than 10000 points; ask for a larger `step`";
    check("from=2026-11-13T12:00:00Z&step=10", most).await;
    let topic = "topic: needs a series of topics, such as topic_bytes_in_per_second";
    check("topic=orders", topic).await;
}

#[tokio::test]
async fn groups_are_told_with_their_lag_in_messages_and_seconds() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    world.make_ready(instance.id).await;
    let topic = NewTopic { name: "orders".into(), partitions: 1, replicas: 1, settings: vec![] };
    world.run_kafka(&instance, &[topic]).await;
    // Of two messages the group has read one.
    world.use_cluster(&instance).await;
    let (server, certificate) = enrol(&world, &instance).await;
    watch::metrics::sample_groups(world.app.watch()).await;
    let told = read(&world.customer, &instance, &world.key, "series=group_lag_messages").await;
    assert_eq!(told.json()["servers"][0]["series"], json!([]), "its agent was not heard of here");

    let mut news = watch::metrics::subscribe(world.app.watch());
    for _ in 0..2 {
        let now = world.app.now().as_second();
        send(&world.agent, &certificate, &[sample(now, 1.0)]).await;
        watch::metrics::sample_groups(world.app.watch()).await;
        world.clock.advance(SignedDuration::from_secs(30));
    }
    let highest = async |series: &str| {
        let query = format!("series={series}&group=billing&step=10&of=max");
        let told = read(&world.customer, &instance, &world.key, &query).await.json();
        let series = told["servers"][0]["series"][0].clone();
        assert_eq!(series["group"], "billing", "{told}");
        let values = series["values"].as_array().unwrap().iter().filter_map(Value::as_f64);
        values.reduce(f64::max)
    };
    assert_eq!(highest("group_lag_messages").await, Some(1.0));
    assert_eq!(highest("group_lag_seconds").await, Some(30.0));
    let call = Call::get("/api/metrics/prometheus").key(&instance.apikey);
    let text = call.send(&world.instance).await.text;
    let name = &server.name;
    let line = format!("castellan_group_lag_seconds{{server=\"{name}\",group=\"billing\"}} 30");
    assert!(text.lines().any(|found| found == line), "{text}");
    let mut heard = 0;
    while let Ok(news) = news.try_recv() {
        if let News::Groups(id, lags) = news {
            assert_eq!(id, instance.id);
            heard += lags.groups.len();
        }
    }
    assert_eq!(heard, 2, "whoever listens hears of groups too");
    assert_eq!(
        watch::metrics::latest(world.app.watch(), server.id).server.unwrap().groups.len(),
        0
    );
}
