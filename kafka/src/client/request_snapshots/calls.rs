//! Every call by its name, as it is asked.

use crate::client::admin::acls::{AddAcls, DescribeAcls, RemoveAcl, RemoveAcls};
use crate::client::admin::change_topic::ChangeTopic;
use crate::client::admin::client_quotas::{AlterQuota, DescribeQuotas};
use crate::client::admin::cluster::DescribeCluster;
use crate::client::admin::commit_offsets::CommitOffsets;
use crate::client::admin::configs::{Changes, Mode};
use crate::client::admin::copy::{CopyStart, FetchCopy};
use crate::client::admin::delete_groups::DeleteGroup;
use crate::client::admin::delete_topic::DeleteTopic;
use crate::client::admin::describe_consumer_groups::DescribeConsumerGroups;
use crate::client::admin::describe_groups::DescribeGroups;
use crate::client::admin::elections::ElectPreferredLeaders;
use crate::client::admin::fetch::Fetch;
use crate::client::admin::fetch_offsets::FetchOffsets;
use crate::client::admin::find_coordinator::FindCoordinator;
use crate::client::admin::init_producer::InitProducer;
use crate::client::admin::list_groups::ListGroups;
use crate::client::admin::list_offsets::{At, ListOffsets};
use crate::client::admin::list_topics::ListTopics;
use crate::client::admin::log_dirs::DescribeLogDirs;
use crate::client::admin::own_words::AskItself;
use crate::client::admin::placement_parts::ReadParts;
use crate::client::admin::produce::Produce;
use crate::client::admin::quorum::DescribeQuorum;
use crate::client::admin::raft_voters::{AddVoter, RemoveVoter};
use crate::client::admin::reassignments::{AlterReassignments, ListReassignments};
use crate::client::admin::replication::DescribeReplication;
use crate::client::admin::routes::FindRoutes;
use crate::client::admin::scram::{DescribeUser, ListUsers, RemoveUser, SetUsers};
use crate::client::admin::topic_partitions::DescribePartitions;
use crate::client::admin::topics::{CreateTopic, DescribeTopics};
use crate::client::admin::unregister::Unregister;
use crate::client::admin::write::Write;
use crate::client::messages::{NewMessage, Producer};
use crate::client::quotas::{Name, QuotaChange, QuotaEntity, QuotaKey};
use crate::client::settings::{ChangeSettings, ChangeSome, DescribeSettings, DescribeSome};
use crate::client::{
    Acl, Call, Connection, Endpoint, Error, NewVoter, Operation, PatternType, Permission,
    ResourceType, SettingsOf, TopicChange, TopicPartition,
};
use bytes::Bytes;
use model::{Secret, SeededEntropy, Timestamp};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::LazyLock;
use uuid::Uuid;

type Ending = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;
pub type Run = Box<dyn Fn(Connection) -> Ending>;

fn call<C: Call + 'static>(make: fn() -> C) -> Run {
    Box::new(move |mut connection| {
        Box::pin(async move { make().run(&mut connection).await.map(drop) })
    })
}

static PASSWORD: LazyLock<Secret> = LazyLock::new(|| Secret::new("word"));
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
static TOPICS: LazyLock<[String; 1]> = LazyLock::new(|| ["orders".to_owned()]);
static PLACE: LazyLock<TopicPartition> = LazyLock::new(|| TopicPartition::new("orders", 1));
static PLACES: LazyLock<[TopicPartition; 1]> = LazyLock::new(|| [PLACE.clone()]);
static OFFSETS: LazyLock<BTreeMap<TopicPartition, i64>> =
    LazyLock::new(|| BTreeMap::from([(PLACE.clone(), 42)]));
static ENTITY: LazyLock<QuotaEntity> = LazyLock::new(|| QuotaEntity {
    user: Some(Name::Of("ada".into())),
    client_id: Some(Name::Default),
});
static QUOTAS: LazyLock<QuotaChange> = LazyLock::new(|| {
    let gone = (QuotaKey::RequestPercentage, None);
    BTreeMap::from([(QuotaKey::ProducerByteRate, Some(1024.0)), gone])
});
static MESSAGE: LazyLock<NewMessage> = LazyLock::new(|| NewMessage {
    key: Some(Bytes::from_static(b"k")),
    value: Some(Bytes::from_static(b"v")),
    headers: vec![("h".into(), None)],
    partition: None,
});

type Reassigned = [(&'static TopicPartition, Option<&'static [i32]>); 2];
static OTHER_PLACE: LazyLock<TopicPartition> = LazyLock::new(|| TopicPartition::new("orders", 2));
static REASSIGNED: LazyLock<Reassigned> =
    LazyLock::new(|| [(&*PLACE, Some(&[3, 1])), (&*OTHER_PLACE, None)]);
static VOTER: LazyLock<NewVoter> = LazyLock::new(|| NewVoter {
    id: 4,
    directory: Uuid::from_u128(7),
    controller: Endpoint::new("b4", 9090),
});
static ONE_TOPIC: LazyLock<SettingsOf> = LazyLock::new(|| SettingsOf::Topic("orders".into()));
static ONE_BROKER: LazyLock<SettingsOf> = LazyLock::new(|| SettingsOf::Broker(1));
static SOME: LazyLock<[&'static SettingsOf; 2]> = LazyLock::new(|| [&*ONE_TOPIC, &*ONE_BROKER]);

fn change_some() -> ChangeSome<'static> {
    ChangeSome(vec![(&*ONE_TOPIC, &*CHANGES), (&*ONE_BROKER, &*CHANGES)])
}

fn write() -> Write<'static> {
    let batches = BTreeMap::from([(1, vec![&*MESSAGE, &*MESSAGE])]);
    let producer = Some(Producer { id: 7, epoch: 3 });
    Write::new("orders", batches, Timestamp::UNIX_EPOCH).by(producer)
}

fn produce() -> Produce<'static> {
    Produce { topic: "orders", partition: 0, value: b"one", at: Timestamp::UNIX_EPOCH }
}

/// Its dice are its own, or what it sends would depend on who else rolls them.
struct SetAda;

impl Call for SetAda {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let dice = SeededEntropy::new(1);
        SetUsers { users: &[("ada", &PASSWORD)], entropy: &dice }.run(connection).await
    }
}

fn create_topic() -> CreateTopic<'static> {
    CreateTopic { name: "new", partitions: 3, replicas: 2, settings: &SETTINGS }
}

pub fn all() -> Vec<(&'static str, Run)> {
    vec![
        ("AddVoter", call(|| AddVoter { voter: &VOTER })),
        ("AlterReassignments", call(|| AlterReassignments { partitions: &*REASSIGNED })),
        ("AskItself", call(|| AskItself { broker: 1 })),
        ("ChangeSome", call(change_some)),
        ("DescribePartitions", call(|| DescribePartitions)),
        ("DescribeSome", call(|| DescribeSome(&*SOME))),
        ("ListReassignments", call(|| ListReassignments)),
        ("ReadParts", call(|| ReadParts)),
        ("RemoveVoter", call(|| RemoveVoter { id: 4, directory: Uuid::from_u128(7) })),
        ("Unregister", call(|| Unregister { broker: 4 })),
        ("AddAcls", call(|| AddAcls { acls: &*ACL })),
        ("AlterQuota", call(|| AlterQuota { entity: &ENTITY, changes: &QUOTAS })),
        ("ChangeSettings", call(|| ChangeSettings { changes: &CHANGES, mode: Mode::Do })),
        ("ChangeTopic", call(|| ChangeTopic { name: "orders", change: &CHANGE })),
        ("CheckSettings", call(|| ChangeSettings { changes: &CHANGES, mode: Mode::Try })),
        ("CommitOffsets", call(|| CommitOffsets { group: "billing", offsets: &OFFSETS })),
        ("CopyStart", call(|| CopyStart { topic: "orders", partition: 0 })),
        ("CreateTopic", call(create_topic)),
        ("DeleteGroup", call(|| DeleteGroup { group: "billing" })),
        ("DeleteTopic", call(|| DeleteTopic { name: "orders" })),
        ("DescribeAcls", call(|| DescribeAcls { principal: Some("User:ada") })),
        ("DescribeAclsOfAll", call(|| DescribeAcls { principal: None })),
        ("DescribeCluster", call(|| DescribeCluster)),
        ("DescribeConsumerGroups", call(|| DescribeConsumerGroups { groups: vec!["billing"] })),
        ("DescribeGroups", call(|| DescribeGroups { groups: vec!["billing"] })),
        ("DescribeLogDirs", call(|| DescribeLogDirs)),
        ("DescribeQuorum", call(|| DescribeQuorum)),
        ("DescribeQuotas", call(|| DescribeQuotas)),
        ("DescribeReplication", call(|| DescribeReplication)),
        ("DescribeSettings", call(|| DescribeSettings)),
        ("DescribeTopics", call(|| DescribeTopics { names: None })),
        ("DescribeUser", call(|| DescribeUser { user: "ada" })),
        ("ElectPreferredLeaders", call(|| ElectPreferredLeaders { partitions: &*PLACES })),
        ("Fetch", call(|| Fetch { topic: "orders", from: vec![(1, 42)] })),
        ("FetchCopy", call(|| FetchCopy { topic: "orders", partition: 0, offset: 7 })),
        ("FetchOffsets", call(|| FetchOffsets { groups: vec!["billing"] })),
        ("FindCoordinator", call(|| FindCoordinator { group: "billing" })),
        ("FindRoutes", call(|| FindRoutes { topics: &*TOPICS })),
        ("InitProducer", call(|| InitProducer)),
        ("ListGroups", call(|| ListGroups)),
        ("ListOffsets", call(|| ListOffsets { partitions: vec![&*PLACE], at: At::LatestStable })),
        ("ListTopics", call(|| ListTopics { names: None })),
        ("ListUsers", call(|| ListUsers)),
        ("Produce", call(produce)),
        ("RemoveAcl", call(|| RemoveAcl { acl: &ACL[0] })),
        ("RemoveAcls", call(|| RemoveAcls { principal: "User:ada" })),
        ("RemoveUser", call(|| RemoveUser { user: "ada" })),
        ("SetUser", call(|| SetAda)),
        ("Write", call(write)),
    ]
}
