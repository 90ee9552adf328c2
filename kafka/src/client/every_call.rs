//! Every call, held against brokers that answer well and brokers that don't.
//!
//! What is sent is written down in a snapshot, field by field. Whatever comes
//! back, a call ends, in an answer or an error. A new call belongs in [`all`].

use super::admin::acls::{AddAcls, DescribeAcls, RemoveAcl, RemoveAcls};
use super::admin::change_topic::ChangeTopic;
use super::admin::cluster::DescribeCluster;
use super::admin::configs::{Changes, Mode};
use super::admin::copy::{CopyStart, FetchCopy};
use super::admin::delete_topic::DeleteTopic;
use super::admin::elections::ElectPreferredLeaders;
use super::admin::list_topics::ListTopics;
use super::admin::log_dirs::DescribeLogDirs;
use super::admin::produce::Produce;
use super::admin::quorum::DescribeQuorum;
use super::admin::replication::DescribeReplication;
use super::admin::scram::{DescribeUser, ListUsers, RemoveUser, SetUser};
use super::admin::topics::{CreateTopic, DescribeTopics};
use super::fake::{Asked, Reply, answer, serve, speaks};
use super::settings::{ChangeSettings, DescribeSettings};
use super::{
    Acl, Call, Connection, Endpoint, Limits, Operation, PatternType, Permission, ResourceType,
    TopicChange,
};
use kafka_protocol::messages::describe_configs_response::{
    DescribeConfigsResourceResult, DescribeConfigsResult,
};
use kafka_protocol::messages::metadata_response::{
    MetadataResponsePartition, MetadataResponseTopic,
};
use kafka_protocol::messages::*;
use kafka_protocol::protocol::StrBytes;
use model::{Entropy, Secret, SeededEntropy, Timestamp};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

type Ending = Pin<Box<dyn Future<Output = Result<(), super::Error>> + Send>>;
type Run = Box<dyn Fn(Connection) -> Ending>;

fn call<C: Call + 'static>(make: fn() -> C) -> Run {
    Box::new(move |mut connection| {
        Box::pin(async move { make().run(&mut connection).await.map(drop) })
    })
}

static PASSWORD: LazyLock<Secret> = LazyLock::new(|| Secret::new("word"));
static DICE: LazyLock<SeededEntropy> = LazyLock::new(|| SeededEntropy::new(1));
static ACL: LazyLock<[Acl; 1]> = LazyLock::new(|| {
    [Acl {
        resource_type: ResourceType::Topic,
        pattern: "orders".into(),
        pattern_type: PatternType::Prefixed,
        principal: "User:ada".into(),
        operation: Operation::Read,
        permission: Permission::Allow,
    }]
});
static CHANGE: LazyLock<TopicChange> = LazyLock::new(|| TopicChange {
    partitions: Some(4),
    settings: Some(BTreeMap::from([("cleanup.policy".into(), "compact".into())])),
});
static CHANGES: LazyLock<Changes> = LazyLock::new(|| {
    let gone = ("num.io.threads".to_owned(), None);
    Changes::from([("log.retention.ms".to_owned(), Some("60000".to_owned())), gone])
});
static SETTINGS: LazyLock<Vec<(String, String)>> =
    LazyLock::new(|| vec![("retention.ms".into(), "60000".into())]);

/// By name; each as it is asked.
fn all() -> Vec<(&'static str, Run)> {
    vec![
        ("AddAcls", call(|| AddAcls { acls: &*ACL })),
        ("ChangeSettings", call(|| ChangeSettings { changes: &CHANGES, mode: Mode::Do })),
        ("ChangeTopic", call(|| ChangeTopic { name: "orders", change: &CHANGE })),
        ("CheckSettings", call(|| ChangeSettings { changes: &CHANGES, mode: Mode::Try })),
        ("CopyStart", call(|| CopyStart { topic: "orders", partition: 0 })),
        (
            "CreateTopic",
            call(|| CreateTopic { name: "new", partitions: 3, replicas: 2, settings: &SETTINGS }),
        ),
        ("DeleteTopic", call(|| DeleteTopic { name: "orders" })),
        ("DescribeAcls", call(|| DescribeAcls { principal: Some("User:ada") })),
        ("DescribeAclsOfAll", call(|| DescribeAcls { principal: None })),
        ("DescribeCluster", call(|| DescribeCluster)),
        ("DescribeLogDirs", call(|| DescribeLogDirs)),
        ("DescribeQuorum", call(|| DescribeQuorum)),
        ("DescribeReplication", call(|| DescribeReplication)),
        ("DescribeSettings", call(|| DescribeSettings)),
        ("DescribeTopics", call(|| DescribeTopics { names: None })),
        ("DescribeUser", call(|| DescribeUser { user: "ada" })),
        ("ElectPreferredLeaders", call(|| ElectPreferredLeaders)),
        ("FetchCopy", call(|| FetchCopy { topic: "orders", partition: 0, offset: 7 })),
        ("ListTopics", call(|| ListTopics { names: None })),
        ("ListUsers", call(|| ListUsers)),
        (
            "Produce",
            call(|| Produce {
                topic: "orders",
                partition: 0,
                value: b"one",
                at: Timestamp::UNIX_EPOCH,
            }),
        ),
        ("RemoveAcl", call(|| RemoveAcl { acl: &ACL[0] })),
        ("RemoveAcls", call(|| RemoveAcls { principal: "User:ada" })),
        ("RemoveUser", call(|| RemoveUser { user: "ada" })),
        ("SetUser", call(|| SetUser { user: "ada", password: &PASSWORD, entropy: &*DICE })),
    ]
}

/// A connection to a broker that speaks everything and replies like this.
async fn connect(
    patience: Duration,
    mut reply: impl FnMut(&Asked) -> Reply + Send + 'static,
) -> Connection {
    let everything: Vec<(ApiKey, i16, i16)> =
        (0..=127).filter_map(|key| Some((ApiKey::try_from(key).ok()?, 0, i16::MAX))).collect();
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    tokio::spawn(serve(theirs, move |asked| {
        let first = asked.key == ApiKey::ApiVersions as i16;
        if first { speaks(asked, &everything) } else { reply(asked) }
    }));
    let limits = Limits {
        call: patience,
        readable: patience.min(Duration::from_millis(50)),
        frame_bytes: 1 << 20,
        ..Limits::default()
    };
    Connection::negotiate(Box::new(ours), Endpoint::new("b1", 9091), limits).await.unwrap()
}

/// One topic with one partition and one setting; nothing else, and no error.
fn good(asked: &Asked) -> Reply {
    let name = TopicName(StrBytes::from_static_str("orders"));
    let key = ApiKey::try_from(asked.key).unwrap();
    match key {
        ApiKey::Metadata => {
            let partition = MetadataResponsePartition::default()
                .with_leader_id(BrokerId(1))
                .with_replica_nodes(vec![BrokerId(1)]);
            let topic = MetadataResponseTopic::default()
                .with_name(Some(name))
                .with_partitions(vec![partition]);
            let response = MetadataResponse::default().with_topics(vec![topic]);
            answer::<MetadataRequest>(asked, &response)
        }
        ApiKey::DescribeConfigs => {
            let setting = |name: &'static str, value: &'static str| {
                DescribeConfigsResourceResult::default()
                    .with_name(StrBytes::from_static_str(name))
                    .with_value(Some(StrBytes::from_static_str(value)))
                    .with_config_source(1)
            };
            let settings = vec![setting("min.insync.replicas", "1"), setting("retention.ms", "5")];
            let result =
                DescribeConfigsResult::default().with_resource_name(name.0).with_configs(settings);
            let response = DescribeConfigsResponse::default().with_results(vec![result]);
            answer::<DescribeConfigsRequest>(asked, &response)
        }
        _ => empty(asked, key),
    }
}

/// An answer that names nothing.
fn empty(asked: &Asked, key: ApiKey) -> Reply {
    macro_rules! empty {
        ($($key:ident: $request:ident,)*) => {
            match key {
                $(ApiKey::$key => answer::<$request>(asked, &Default::default()),)*
                key => panic!("say what an empty answer to {key:?} is"),
            }
        };
    }
    empty! {
        AlterUserScramCredentials: AlterUserScramCredentialsRequest,
        CreateAcls: CreateAclsRequest,
        CreatePartitions: CreatePartitionsRequest,
        CreateTopics: CreateTopicsRequest,
        DeleteAcls: DeleteAclsRequest,
        DeleteTopics: DeleteTopicsRequest,
        DescribeAcls: DescribeAclsRequest,
        DescribeCluster: DescribeClusterRequest,
        DescribeLogDirs: DescribeLogDirsRequest,
        DescribeQuorum: DescribeQuorumRequest,
        DescribeUserScramCredentials: DescribeUserScramCredentialsRequest,
        ElectLeaders: ElectLeadersRequest,
        Fetch: FetchRequest,
        IncrementalAlterConfigs: IncrementalAlterConfigsRequest,
        ListOffsets: ListOffsetsRequest,
        Produce: ProduceRequest,
    }
}

/// Every different request that a call makes, with all of its fields.
#[tokio::test]
async fn requests_are_as_they_were() {
    for (name, run) in all() {
        let sent: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&sent);
        let connection = connect(Duration::from_mins(1), move |asked| {
            let key = ApiKey::try_from(asked.key).unwrap();
            let request = RequestKind::decode(key, &mut asked.body.clone(), asked.version).unwrap();
            let text = format!("version {}: {request:#?}", asked.version);
            let mut noted = noted.lock().unwrap();
            if !noted.contains(&text) {
                noted.push(text);
            }
            good(asked)
        });
        // Whether it shows on this broker is not the matter here.
        let _ = run(connection.await).await;
        let sent = sent.lock().unwrap().join("\n");
        insta::assert_snapshot!(format!("request_{name}"), without_tags(&sent));
    }
}

/// No request of ours has tagged fields.
fn without_tags(text: &str) -> String {
    let mut kept = String::new();
    for line in text.lines().filter(|line| !line.contains("unknown_tagged_fields: {}")) {
        writeln!(kept, "{line}").unwrap();
    }
    kept
}

/// What brokers of ill will, or a wire that is cut, may send.
fn bad(asked: &Asked, number: usize, dice: &SeededEntropy) -> Reply {
    let Reply::Frame(frame) = good(asked) else { return Reply::HangUp };
    let roll = |sides: usize| {
        let mut bytes = [0; 4];
        dice.fill(&mut bytes);
        u32::from_le_bytes(bytes) as usize % sides
    };
    match number % 7 {
        0 => Reply::Silence,
        1 => Reply::HangUp,
        // More is announced than anybody takes, or less than nothing.
        2 => Reply::Frame([i32::MAX.to_be_bytes(), [1; 4]].concat()),
        3 => Reply::Frame([(-5_i32).to_be_bytes(), [1; 4]].concat()),
        // It ends too early, but says that it is whole.
        4 => {
            let body = &frame[4..];
            framed(&body[..roll(body.len())])
        }
        // Lengths, counts and codes are anything.
        5 => {
            let mut body = frame[4..].to_vec();
            for _ in 0..=roll(4) {
                let at = 4 + roll(body.len().saturating_sub(4).max(1));
                if let Some(byte) = body.get_mut(at) {
                    *byte = u8::try_from(roll(256)).unwrap();
                }
            }
            framed(&body)
        }
        _ => {
            let mut body = vec![0; 4 + roll(200)];
            dice.fill(&mut body);
            // It is the answer to this very request.
            body[..4].copy_from_slice(&asked.correlation.to_be_bytes());
            framed(&body)
        }
    }
}

fn framed(body: &[u8]) -> Reply {
    Reply::Frame([&i32::try_from(body.len()).unwrap().to_be_bytes(), body].concat())
}

/// Thousands of answers, each of which ends the call.
#[tokio::test]
async fn no_answer_makes_a_call_panic_or_hang() {
    for (name, run) in all() {
        let mut running = Vec::new();
        for number in 0..140 {
            let dice = SeededEntropy::new(u64::try_from(number).unwrap());
            let mut asks = 0;
            let connection = connect(Duration::from_millis(50), move |asked| {
                asks += 1;
                // The first few may be fine, so that later ones are reached too.
                if asks <= number / 35 { good(asked) } else { bad(asked, number, &dice) }
            });
            running.push(tokio::spawn(run(connection.await)));
        }
        for (number, running) in running.into_iter().enumerate() {
            let ended = tokio::time::timeout(Duration::from_mins(1), running).await;
            let ended = ended.unwrap_or_else(|_| panic!("{name} hangs on answer {number}"));
            assert!(ended.is_ok(), "{name} panics on answer {number}");
        }
    }
}
