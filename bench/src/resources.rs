//! What people do with a cluster every day, through the API: topics made beside
//! Kafka's own admin client on the same cluster, long lists of topics and groups, and
//! what it costs to stay connected to many clusters.

pub mod brokers;

use crate::castellan::{Castellan, resident_mib};
use crate::page::{Page, median};
use anyhow::{Context, Result};
use brokers::Clusters;
use checker::{Access, Auth, Question, ask_admin_client};
use client::Client;
use kafka::client::admin::topics::DescribeTopics;
use kafka::client::{DirectDial, ProtocolAdmin};
use model::OsEntropy;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use wire::topics::CreateTopic;

const ROUNDS: usize = 3;
const SERVERS: u8 = 3;
/// As many as Terraform has under way.
const AT_ONCE: u32 = 10;
const LISTS: usize = 100;
const CLUSTERS: usize = 50;

/// How much of everything; a debug build only tries whether it works.
struct Scale {
    topics: u32,
    groups: u32,
}

impl Scale {
    fn new() -> Self {
        if cfg!(debug_assertions) {
            Self { topics: 20, groups: 20 }
        } else {
            Self { topics: 1000, groups: 2000 }
        }
    }
}

pub async fn run(binary: &Path, page: &mut Page) -> Result<()> {
    let Scale { topics, groups } = Scale::new();
    let connected = connected_mib().await?;
    let castellan = Castellan::start(binary).await?;
    let id = castellan.first_write(SERVERS).await?.id;
    let access = access(&castellan, id).await?;
    let client = castellan.client();

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let prefix = format!("theirs-{round}-");
        let question = Question::CreateTopics {
            prefix: &prefix,
            count: topics,
            at_once: AT_ONCE,
            replicas: SERVERS.into(),
        };
        let took = ask_admin_client(&access, None, &question).await?;
        let took: f64 = took.first().context("it says how long it took")?.parse()?;
        delete(client, id, &prefix, topics).await?;
        let prefix = format!("ours-{round}-");
        let began = Instant::now();
        create(client, id, &prefix, topics).await?;
        let own = began.elapsed().as_secs_f64();
        eprintln!("round {round}: Kafka's own {:.2} s, castellan {own:.2} s", took / 1000.0);
        theirs.push(took / 1000.0);
        ours.push(own);
        // The last ones are there to be listed.
        if round < ROUNDS {
            delete(client, id, &prefix, topics).await?;
        }
    }
    let topic_list = times(async || client.topics(id).await.map(drop)).await?;

    let topic = format!("ours-{ROUNDS}-0");
    let question = Question::CommitOffsets {
        prefix: "group-",
        count: groups,
        at_once: AT_ONCE,
        topic: &topic,
    };
    ask_admin_client(&access, None, &question).await?;
    let group_list = times(async || client.groups(id).await.map(drop)).await?;
    castellan.end().await?;

    let (ours, theirs) = (median(&mut ours), median(&mut theirs));
    let ratio = ours / theirs;
    let [(topic_half, topic_p99), (group_half, group_p99)] = [topic_list, group_list];
    page.put(
        "What is in a cluster",
        &format!(
            "Three servers, {AT_ONCE} calls at once for what is made, medians of {ROUNDS} rounds \
             taken in turn; lists by\none client, {LISTS} times.\n\n\
             | what | figure | goal |\n|---|---|---|\n\
             | {topics} topics by `POST topics` ÷ by Kafka's own admin client in one process | \
             **{ratio:.2}** ({ours:.2} s ÷ {theirs:.2} s) | ≤ 1.5 |\n\
             | `GET topics` of {topics} topics, p99 | {topic_p99:.0} ms (median {topic_half:.0} ms) | |\n\
             | `GET groups` of {groups} groups with their lag, p99 | {group_p99:.0} ms (median \
             {group_half:.0} ms) | |\n\
             | memory for open connections to {CLUSTERS} clusters of three simulated brokers | \
             {connected:.1} MiB | |\n"
        ),
    );
    Ok(())
}

/// How a customer gets in.
async fn access(castellan: &Castellan, id: i64) -> Result<Access> {
    let login = castellan.login(id).await?;
    let auth = Auth::Scram {
        ca_pem: Some(login.trust_pem),
        username: login.username,
        password: login.password,
        mechanism: login.mechanism,
    };
    let brokers = login.brokers.into_iter().map(|broker| broker.endpoint).collect();
    Ok(Access { brokers, auth })
}

async fn create(client: &Client, id: i64, prefix: &str, count: u32) -> Result<()> {
    let create = move |client: Client, name: String| async move {
        let replicas = Some(SERVERS.into());
        let new = CreateTopic { name, partitions: Some(1), replicas, config: None };
        client.create_topic(id, &new).await.map(drop)
    };
    each(client, prefix, count, create).await
}

async fn delete(client: &Client, id: i64, prefix: &str, count: u32) -> Result<()> {
    let delete = move |client: Client, name: String| async move {
        client.delete_topic(id, &name).await.map(drop)
    };
    each(client, prefix, count, delete).await
}

/// Does it for every name, so many at once.
async fn each<F>(
    client: &Client,
    prefix: &str,
    count: u32,
    call: impl Fn(Client, String) -> F + Copy + Send + 'static,
) -> Result<()>
where
    F: Future<Output = client::Result<()>> + Send,
{
    let mut running = JoinSet::new();
    for first in 0..AT_ONCE {
        let (client, prefix) = (client.clone(), prefix.to_owned());
        running.spawn(async move {
            for number in (first..count).step_by(AT_ONCE as usize) {
                call(client.clone(), format!("{prefix}{number}")).await?;
            }
            client::Result::Ok(())
        });
    }
    while let Some(ended) = running.join_next().await {
        ended??;
    }
    Ok(())
}

/// Milliseconds: the median and the 99th of a hundred.
async fn times(call: impl AsyncFn() -> client::Result<()>) -> Result<(f64, f64)> {
    let mut times = Vec::new();
    for _ in 0..LISTS {
        let began = Instant::now();
        call().await?;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
    }
    let half = median(&mut times);
    Ok((half, times[LISTS * 99 / 100]))
}

/// What the connections take that a control plane keeps open: those of this very
/// process, to brokers in another.
async fn connected_mib() -> Result<f64> {
    let clusters = Clusters::start(CLUSTERS).await?;
    let admin = ProtocolAdmin::new(Arc::new(DirectDial), Arc::new(OsEntropy));
    let before = resident_mib(pid()?)?;
    for cluster in &clusters.all {
        for broker in &cluster.brokers {
            admin.ask(&cluster.through(broker), &DescribeTopics { names: Some(&[]) }).await?;
        }
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let connected = resident_mib(pid()?)? - before;
    clusters.end().await?;
    Ok(connected)
}

fn pid() -> Result<i32> {
    Ok(i32::try_from(std::process::id())?)
}
