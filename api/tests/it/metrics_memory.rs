//! What is remembered of metrics when a server, or the control plane, goes.

use crate::agents::{enrol, enrol_server};
use crate::call::Call;
use crate::metrics::{NO_BOUND, NOON, process, sample, send};
use crate::world::World;
use app::metrics::Sample;
use kafka::client::NewTopic;
use model::{Instance, Series, Server, SignedDuration};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use store::Location;
use watch::alarms::Watch;

#[tokio::test]
async fn a_group_is_as_far_behind_as_it_was_when_the_first_server_goes_silent() {
    let world = World::new().await;
    let instance = world.create_of("mouse-3", "orders", &[]).await;
    world.make_ready(instance.id).await;
    let topic = NewTopic { name: "orders".into(), partitions: 1, replicas: 1, settings: vec![] };
    world.run_kafka(&instance, &[topic]).await;
    // Of two messages the group has read one.
    world.use_cluster(&instance).await;
    let servers = world.servers(instance.id).await;
    let first = enrol_server(&world, &servers[0]).await;
    let second = enrol_server(&world, &servers[1]).await;
    for look in 0..5 {
        let now = world.app.now().as_second();
        if look < 2 {
            send(&world.agent, &first, &[sample(now, 1.0)]).await;
        }
        send(&world.agent, &second, &[sample(now, 1.0)]).await;
        watch::metrics::sample_groups(world.app.watch()).await;
        world.clock.advance(SignedDuration::from_secs(30));
    }
    let query = "series=group_lag_seconds&group=billing&step=10&of=max";
    let path = format!("/api/instances/{}/metrics?{query}", instance.id);
    let told = Call::get(&path).key(&world.key).send(&world.customer).await.json();
    let values = &told["servers"][1]["series"][0]["values"];
    let seconds = values.as_array().into_iter().flatten().filter_map(Value::as_f64);
    assert_eq!(seconds.reduce(f64::max), Some(120.0), "since the first look: {told}");
}

#[tokio::test]
async fn a_server_that_is_gone_is_forgotten_though_there_is_no_history() {
    let world = World::new().await;
    let instance = world.create("orders", &[]).await;
    let (server, certificate) = enrol(&world, &instance).await;
    send(&world.agent, &certificate, &[sample(NOON, 1.0)]).await;
    for (minutes, is_known) in [(59, true), (2, false)] {
        world.clock.advance(SignedDuration::from_mins(minutes));
        watch::metrics::flush(world.app.watch(), NO_BOUND).await;
        assert_eq!(
            watch::metrics::latest(world.app.watch(), server.id).server.is_some(),
            is_known,
            "{minutes}"
        );
    }
}

/// What is free where segments come and go: it falls for half an hour, and is back.
fn free(minute: u16) -> f32 {
    4e9 - f32::from(minute % 30) * 5e7
}

/// Twenty minutes in which it falls, looked at by one control plane.
async fn sees_it_fall(watch: &mut Watch, server: &Server) {
    for minute in 240..260 {
        let values = BTreeMap::from([(Series::DiskFree, free(minute))]);
        let sample = Sample { at: NOON + i64::from(minute) * 60, values, ..<_>::default() };
        watch.sample(server.id, &sample).await.unwrap();
    }
}

/// How often the disk was told to be full soon.
async fn fired(world: &World, instance: &Instance) -> usize {
    let path = format!("/api/instances/{}/alarms/5/history", instance.id);
    let history = Call::get(&path).key(&world.key).send(&world.customer).await.json();
    history.as_array().unwrap().len()
}

#[tokio::test]
async fn a_disk_is_judged_by_hours_though_the_control_plane_began_just_now() {
    let world = World::new().await;
    let directory = tempfile::tempdir().unwrap();
    let at = Location::Sqlite(directory.path().join("store.db"));
    let instance = world.create("orders", &[]).await;
    world.make_ready(instance.id).await;
    let alarm = json!({"type": "disk_forecast", "value_threshold": 24});
    let path = format!("/api/instances/{}/alarms", instance.id);
    let made = Call::post(&path).key(&world.key).json(&alarm).send(&world.customer).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let (server, certificate) = enrol(&world, &instance).await;

    let (app, agent, _) = process(&world, &at).await;
    let measured = |minute: u16| {
        let mut sample = sample(NOON + i64::from(minute) * 60, 1.0);
        sample["values"]["file_system_free_bytes"] = json!(free(minute));
        sample
    };
    for begin in (0..240).step_by(10) {
        world.clock.advance(SignedDuration::from_mins(10));
        let samples: Vec<Value> = (begin..begin + 10).map(measured).collect();
        send(&agent, &certificate, &samples).await;
        watch::metrics::flush(app.watch(), NO_BOUND).await;
    }
    watch::metrics::flush_everything(app.watch()).await;
    world.clock.advance(SignedDuration::from_mins(20));

    let (app, ..) = process(&world, &at).await;
    sees_it_fall(&mut Watch::new(app.watch().clone()), &server).await;
    assert_eq!(fired(&world, &instance).await, 0, "it goes up and down");
    // One that knows nothing of the hours before takes it for a disk that fills.
    sees_it_fall(&mut Watch::new(world.app.watch().clone()), &server).await;
    assert_eq!(fired(&world, &instance).await, 1);
}
