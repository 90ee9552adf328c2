//! The disk of a server that stays runs full while replicas move to others, and later while they
//! move to it. Its broker ends; what is acknowledged stays, writes go on, and once there is room
//! again the change goes on to its end.

use crate::cluster::Cluster;
use crate::{LONGEST, PATIENCE};
use checker::{Client, Kind, Load, LoadSpec, Mode, judge, read_back};
use kafka::client::TopicReplication;
use test_support::tight::Tight;

/// The server on a small disk, which stays.
const STAYS: usize = 0;
const DISK: u64 = 1 << 30;
/// Written before anything moves, so that it takes its time: 160 MB.
const BULK: &str = "bulk";
const BULK_BYTES: usize = 20_000;
const BULK_RECORDS: u64 = 8000;
const REPLICAS: i16 = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_runs_full_while_replicas_move_loses_nothing() {
    let [.., newest] = kafka::versions::all() else { panic!("there are several") };
    let cluster = Cluster::create(newest, 3).await;
    let castellan = &cluster.castellan;
    let tight = Tight::put_on(castellan, &cluster.instance, STAYS, DISK).await;
    if let Some(tight) = tight {
        runs_full(&cluster, &tight).await;
        tight.take_back(castellan, &cluster.instance).await;
    }
    cluster.castellan.purge().await;
}

async fn runs_full(cluster: &Cluster, tight: &Tight) {
    let spec = LoadSpec { replicas: REPLICAS, min_in_sync: 2, ..cluster.load() };
    let bulk = LoadSpec {
        topic: BULK.into(),
        clients: vec![Client { kind: Kind::Librdkafka, mode: Mode::Idempotent }],
        // More would keep a busy machine behind until the client gives up.
        rate_per_second: 200,
        bytes: BULK_BYTES,
        ..spec.clone()
    };
    let written = Load::start(&bulk).await.unwrap();
    written.goes_on(BULK_RECORDS, PATIENCE).await.unwrap();
    let bulk_history = written.stop().await.unwrap();
    let load = Load::start(&spec).await.unwrap();
    load.goes_on(50, PATIENCE).await.unwrap();
    for servers in [5, 3] {
        cluster.ask_for(servers).await;
        until_bulk_moves(cluster).await;
        let broker = cluster.castellan.processes()[STAYS].broker.clone();
        let mut full = tight.filled().inject().await.unwrap();
        cluster
            .castellan
            .until("the broker of the full disk ends", async || {
                if broker.is_alive() { Err("it runs") } else { Ok(()) }
            })
            .await;
        // A leader may wait for a replica that ended until a client gives up.
        load.goes_on(50, PATIENCE * 2).await.unwrap();
        full.undo().await.unwrap();
        cluster.until_configured().await;
        cluster.is_of(servers).await;
        load.goes_on(50, PATIENCE).await.unwrap();
    }
    let history = load.stop().await.unwrap();
    for (spec, history) in [(spec, history), (bulk, bulk_history)] {
        let logs = read_back(&spec.access(), &history.run).await.unwrap();
        let report = judge(&history, &logs);
        assert!(report.is_true_to_its_word() && report.whole, "{}: {report}", spec.topic);
        eprintln!("{}: {report}", spec.topic);
    }
}

/// A copy of it is under way.
async fn until_bulk_moves(cluster: &Cluster) {
    cluster
        .castellan
        .until_within(LONGEST, "the bulk moves", async || {
            let all = cluster.replication().await;
            let bulk: &TopicReplication = all.iter().find(|topic| topic.name == BULK).unwrap();
            let most = bulk.partitions.iter().map(|it| it.replicas.len()).max();
            if most > Some(REPLICAS.unsigned_abs().into()) {
                Ok(())
            } else {
                Err(format!("{bulk:?}"))
            }
        })
        .await;
}
