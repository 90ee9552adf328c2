//! Strangers and customers hold connections and memory of every server of a cluster,
//! on every listener at once, before and after login. No broker ends, and somebody
//! else's writes are acknowledged all the while.

use crate::attackers::{Attack, Attackers, Entry, Harm};
use crate::real::RealCluster;
use crate::subject::{NODES, SOON, Subject, settled};
use bytes::BytesMut;
use kafka::Endpoint;
use kafka::client::admin::produce::Produce;
use kafka::client::{
    Acl, Admin as _, Call as _, Connection, DirectDial, Limits, Mechanism, NewTopic, Operation,
    PatternType, Permission, ProtocolAdmin, ResourceType, sasl, tls,
};
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::{FetchRequest, MetadataRequest, RequestHeader, TopicName};
use kafka_protocol::protocol::{Encodable as _, Request, StrBytes};
use model::{Listeners, OsEntropy, Secret};
use std::sync::Arc;
use std::time::{Duration, Instant};

const USER: &str = "tenant";
const TOPIC: &str = "attacked";
/// Longer than a connection may take to log in, and some more rounds of attackers.
const ATTACK: Duration = Duration::from_secs(30);
/// What the brokers of the test take at most; see `kafka::render::Limits`.
const LARGE: u32 = 4 << 20;
/// Kafka's own largest request, which was enough to end a broker.
const HUGE: u32 = 100 << 20;

pub async fn writes_go_on(cluster: &RealCluster) {
    let subject: &dyn Subject = cluster;
    let password = Secret::new("password of the tenant");
    let all = subject.through(1);
    settled(subject, "the tenant is known", async || {
        subject.admin().set_scram_user(&all, USER, &password).await
    })
    .await;
    let rights = [Operation::Write, Operation::Read].map(|operation| Acl {
        resource_type: ResourceType::Topic,
        pattern: TOPIC.into(),
        pattern_type: PatternType::Literal,
        principal: format!("User:{USER}"),
        operation,
        permission: Permission::Allow,
    });
    subject.admin().add_acls(&all, &rights).await.unwrap();

    let new = NewTopic {
        name: TOPIC.into(),
        partitions: 3,
        replicas: 3,
        settings: vec![("min.insync.replicas".into(), "2".into())],
    };
    settled(subject, "the topic is made", async || subject.admin().create_topic(&all, &new).await)
        .await;
    let topic = subject
        .until_topic(TOPIC, &NODES, "every partition is led", |topic| {
            topic.partitions.iter().all(|it| it.leader.is_some())
        })
        .await;
    let mut writers = Vec::new();
    for partition in &topic.partitions {
        let leader = partition.leader.expect("it is led");
        writers.push(Writer::log_in(cluster, leader, partition.index, &password).await);
    }
    for writer in &mut writers {
        // Something for slow readers to ask for.
        for _ in 0..4 {
            writer.write(&vec![7; 900 << 10]).await;
        }
    }
    let attackers = Attackers::begin(attacks(cluster, &password), &subject.cluster().trust_pem);
    let writing = writers.into_iter().map(|writer| tokio::spawn(writer.write_for(ATTACK)));
    let writing: Vec<_> = writing.collect();
    newcomers_get_in(cluster, &password).await;
    for writer in writing {
        writer.await.unwrap();
    }
    cluster.assert_none_ended();
    attackers.assert_all_entered();
    drop(attackers);
    subject
        .until_topic(TOPIC, &NODES, "every copy is in sync", |topic| {
            topic.partitions.iter().all(|it| it.in_sync.len() == NODES.len())
        })
        .await;
    cluster.assert_none_ended();
}

/// As many as find a place, and more that wait for one.
fn attacks(cluster: &RealCluster, password: &Secret) -> Vec<Attack> {
    let at = |listener: fn(&Listeners) -> &model::Listener| -> Vec<Endpoint> {
        NODES.iter().map(|id| listener(cluster.listeners(*id)).into()).collect()
    };
    let plaintext = || at(|it| it.plaintext.as_ref().expect("this cluster has it"));
    let (by_certificate, by_password) = (|| at(|it| &it.ssl), || at(|it| &it.sasl_scram));
    let certificate = || Entry::Certificate(cluster.identity());
    let tenant = || Entry::Password(USER, password.clone());
    let attack = |at, count, entry, harm| Attack { at, count, entry, harm };
    vec![
        attack(plaintext(), 12, Entry::Bare, Harm::Announces(HUGE)),
        attack(plaintext(), 12, Entry::Bare, Harm::Announces(15 << 10)),
        attack(plaintext(), 12, Entry::Bare, Harm::NeverReads(unknown_topics())),
        attack(by_certificate(), 30, Entry::Bare, Harm::HalfHandshake),
        attack(by_certificate(), 12, certificate(), Harm::Announces(HUGE)),
        attack(by_certificate(), 12, certificate(), Harm::Announces(LARGE)),
        attack(by_password(), 30, Entry::Bare, Harm::HalfHandshake),
        attack(by_password(), 12, Entry::Tls, Harm::Announces(500 << 10)),
        attack(by_password(), 12, Entry::Tls, Harm::Announces(10 << 10)),
        attack(by_password(), 6, tenant(), Harm::Announces(HUGE)),
        attack(by_password(), 6, tenant(), Harm::Announces(LARGE)),
        attack(by_password(), 6, tenant(), Harm::NeverReads(all_messages())),
        attack(at(|it| &it.internal), 60, Entry::Bare, Harm::HalfHandshake),
        attack(at(|it| &it.controller), 60, Entry::Bare, Harm::HalfHandshake),
    ]
}

/// Many names in few bytes: what a broker makes of them is thirty times as large.
fn unknown_topics() -> Vec<u8> {
    let names = (0..2500).map(|number| TopicName(StrBytes::from(format!("{number:x}"))));
    let topics = names.map(|name| MetadataRequestTopic::default().with_name(Some(name)));
    frame(&MetadataRequest::default().with_topics(Some(topics.collect())), 9)
}

fn all_messages() -> Vec<u8> {
    let partitions = (0..3).map(|partition| {
        FetchPartition::default().with_partition(partition).with_partition_max_bytes(8 << 20)
    });
    let topic = FetchTopic::default()
        .with_topic(TopicName(StrBytes::from_static_str(TOPIC)))
        .with_partitions(partitions.collect());
    let request = FetchRequest::default()
        .with_max_wait_ms(500)
        .with_min_bytes(1)
        .with_max_bytes(32 << 20)
        .with_topics(vec![topic]);
    frame(&request, 11)
}

/// A request as it goes over the wire.
fn frame<R: Request>(request: &R, version: i16) -> Vec<u8> {
    let header = RequestHeader::default()
        .with_request_api_key(R::KEY)
        .with_request_api_version(version)
        .with_client_id(Some(StrBytes::from_static_str("attacker")));
    let mut bytes = BytesMut::new();
    header.encode(&mut bytes, R::header_version(version)).unwrap();
    request.encode(&mut bytes, version).unwrap();
    let length = u32::try_from(bytes.len()).unwrap();
    [&length.to_be_bytes()[..], &bytes].concat()
}

/// A customer and another broker can still connect, to every server.
async fn newcomers_get_in(cluster: &RealCluster, password: &Secret) {
    let subject: &dyn Subject = cluster;
    for node in NODES {
        subject
            .until("a customer and the control plane get in", SOON, async || {
                // It has no connection yet.
                let admin = ProtocolAdmin::new(Arc::new(DirectDial), Arc::new(OsEntropy));
                let login = subject.login(node, USER, password, Mechanism::ScramSha512);
                let through = subject.through(node);
                let (customer, control_plane) =
                    tokio::join!(admin.check_login(&login), admin.describe_cluster(&through),);
                customer.and(control_plane.map(drop)).map_err(|error| error.to_string())
            })
            .await;
    }
}

/// A customer who was there before.
struct Writer {
    connection: Connection,
    partition: i32,
    clock: fn() -> model::Timestamp,
}

impl Writer {
    async fn log_in(cluster: &RealCluster, leader: i32, partition: i32, password: &Secret) -> Self {
        let trust = tls::client_config(&Subject::cluster(cluster).trust_pem, None).unwrap();
        let limits = Limits::default();
        let mut connection =
            Connection::open_tcp(&cluster.sasl(leader), &trust, limits).await.unwrap();
        sasl::log_in(&mut connection, USER, password, Mechanism::ScramSha256).await.unwrap();
        Self { connection, partition, clock: || model::Clock::now(&model::SystemClock) }
    }

    async fn write(&mut self, value: &[u8]) {
        let message =
            Produce { topic: TOPIC, partition: self.partition, value, at: (self.clock)() };
        message.run(&mut self.connection).await.unwrap();
    }

    /// Every write is acknowledged by all, within the time that a call may take.
    async fn write_for(mut self, time: Duration) {
        let began = Instant::now();
        let mut slowest = Duration::ZERO;
        let mut count = 0;
        while began.elapsed() < time {
            let sent = Instant::now();
            self.write(&vec![1; 20 << 10]).await;
            slowest = slowest.max(sent.elapsed());
            count += 1;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        eprintln!("partition {}: {count} writes, slowest {slowest:?}", self.partition);
    }
}
