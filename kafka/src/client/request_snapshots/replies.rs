//! What a broker with one topic, one group and one user answers: something in every
//! list, and no error.

mod placement;

use crate::client::fake::{Asked, Reply, answer};
use bytes::{Bytes, BytesMut};
use indexmap::IndexMap;
use kafka_protocol::messages::*;
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{
    Compression, Record, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};

fn text(text: &'static str) -> StrBytes {
    StrBytes::from_static_str(text)
}

fn orders() -> TopicName {
    TopicName(text("orders"))
}

fn billing() -> GroupId {
    GroupId(text("billing"))
}

pub fn correct_reply(asked: &Asked) -> Reply {
    macro_rules! answers {
        ($($key:ident: $request:ident => $answer:expr,)*) => {
            match ApiKey::try_from(asked.key).unwrap() {
                $(ApiKey::$key => answer::<$request>(asked, &$answer),)*
                key => panic!("say what an answer to {key:?} is"),
            }
        };
    }
    answers! {
        AddRaftVoter: AddRaftVoterRequest => AddRaftVoterResponse::default(),
        AlterPartitionReassignments: AlterPartitionReassignmentsRequest => placement::altered_reassignments(),
        DescribeTopicPartitions: DescribeTopicPartitionsRequest => placement::partitions(),
        ListPartitionReassignments: ListPartitionReassignmentsRequest => placement::reassignments(),
        RemoveRaftVoter: RemoveRaftVoterRequest => RemoveRaftVoterResponse::default(),
        UnregisterBroker: UnregisterBrokerRequest => UnregisterBrokerResponse::default(),
        AlterClientQuotas: AlterClientQuotasRequest => altered_quota(),
        AlterUserScramCredentials: AlterUserScramCredentialsRequest => altered_user(),
        ConsumerGroupDescribe: ConsumerGroupDescribeRequest => consumer_group(),
        CreateAcls: CreateAclsRequest => created_acls(),
        CreatePartitions: CreatePartitionsRequest => created_partitions(),
        CreateTopics: CreateTopicsRequest => created_topics(),
        DeleteAcls: DeleteAclsRequest => deleted_acls(),
        DeleteGroups: DeleteGroupsRequest => deleted_groups(),
        DeleteTopics: DeleteTopicsRequest => deleted_topics(),
        DescribeAcls: DescribeAclsRequest => acls(),
        DescribeClientQuotas: DescribeClientQuotasRequest => quotas(),
        DescribeCluster: DescribeClusterRequest => cluster(),
        DescribeConfigs: DescribeConfigsRequest => settings(),
        DescribeGroups: DescribeGroupsRequest => classic_group(),
        DescribeLogDirs: DescribeLogDirsRequest => log_dirs(),
        DescribeQuorum: DescribeQuorumRequest => quorum(),
        DescribeUserScramCredentials: DescribeUserScramCredentialsRequest => users(),
        ElectLeaders: ElectLeadersRequest => elected(),
        Fetch: FetchRequest => fetched(),
        FindCoordinator: FindCoordinatorRequest => coordinator(),
        IncrementalAlterConfigs: IncrementalAlterConfigsRequest => altered_settings(),
        InitProducerId: InitProducerIdRequest => producer(),
        ListGroups: ListGroupsRequest => groups(),
        ListOffsets: ListOffsetsRequest => offsets(),
        Metadata: MetadataRequest => metadata(),
        OffsetCommit: OffsetCommitRequest => committed(),
        OffsetFetch: OffsetFetchRequest => group_offsets(),
        Produce: ProduceRequest => produced(),
    }
}

fn altered_quota() -> AlterClientQuotasResponse {
    use alter_client_quotas_response::{EntityData, EntryData};
    let user =
        EntityData::default().with_entity_type(text("user")).with_entity_name(Some(text("ada")));
    AlterClientQuotasResponse::default()
        .with_entries(vec![EntryData::default().with_entity(vec![user])])
}

fn altered_user() -> AlterUserScramCredentialsResponse {
    use alter_user_scram_credentials_response::AlterUserScramCredentialsResult as Altered;
    AlterUserScramCredentialsResponse::default()
        .with_results(vec![Altered::default().with_user(text("ada"))])
}

fn consumer_group() -> ConsumerGroupDescribeResponse {
    use consumer_group_describe_response::{Assignment, DescribedGroup, Member, TopicPartitions};
    let assigned = TopicPartitions::default().with_topic_name(orders()).with_partitions(vec![0, 1]);
    let member = Member::default()
        .with_member_id(text("m1"))
        .with_client_host(text("/10.0.0.1"))
        .with_subscribed_topic_names(vec![orders()])
        .with_assignment(Assignment::default().with_topic_partitions(vec![assigned]));
    let group = DescribedGroup::default()
        .with_group_id(billing())
        .with_group_state(text("Stable"))
        .with_members(vec![member]);
    ConsumerGroupDescribeResponse::default().with_groups(vec![group])
}

fn created_acls() -> CreateAclsResponse {
    CreateAclsResponse::default()
        .with_results(vec![create_acls_response::AclCreationResult::default()])
}

fn created_partitions() -> CreatePartitionsResponse {
    use create_partitions_response::CreatePartitionsTopicResult as Created;
    CreatePartitionsResponse::default().with_results(vec![Created::default().with_name(orders())])
}

fn created_topics() -> CreateTopicsResponse {
    use create_topics_response::{CreatableTopicConfigs, CreatableTopicResult};
    let setting = CreatableTopicConfigs::default()
        .with_name(text("retention.ms"))
        .with_value(Some(text("60000")));
    let topic = CreatableTopicResult::default()
        .with_name(TopicName(text("new")))
        .with_configs(Some(vec![setting]));
    CreateTopicsResponse::default().with_topics(vec![topic])
}

fn deleted_acls() -> DeleteAclsResponse {
    use delete_acls_response::{DeleteAclsFilterResult, DeleteAclsMatchingAcl};
    let acl = DeleteAclsMatchingAcl::default()
        .with_resource_type(2)
        .with_resource_name(text("orders"))
        .with_pattern_type(4)
        .with_principal(text("User:ada"))
        .with_host(text("*"))
        .with_operation(3)
        .with_permission_type(3);
    let result = DeleteAclsFilterResult::default().with_matching_acls(vec![acl]);
    DeleteAclsResponse::default().with_filter_results(vec![result])
}

fn deleted_groups() -> DeleteGroupsResponse {
    use delete_groups_response::DeletableGroupResult as Deleted;
    DeleteGroupsResponse::default().with_results(vec![Deleted::default().with_group_id(billing())])
}

fn deleted_topics() -> DeleteTopicsResponse {
    use delete_topics_response::DeletableTopicResult as Deleted;
    DeleteTopicsResponse::default()
        .with_responses(vec![Deleted::default().with_name(Some(orders()))])
}

fn acls() -> DescribeAclsResponse {
    use describe_acls_response::{AclDescription, DescribeAclsResource};
    let acl = AclDescription::default()
        .with_principal(text("User:ada"))
        .with_host(text("*"))
        .with_operation(3)
        .with_permission_type(3);
    let resource = DescribeAclsResource::default()
        .with_resource_type(2)
        .with_resource_name(text("orders"))
        .with_pattern_type(4)
        .with_acls(vec![acl]);
    DescribeAclsResponse::default().with_resources(vec![resource])
}

fn quotas() -> DescribeClientQuotasResponse {
    use describe_client_quotas_response::{EntityData, EntryData, ValueData};
    let user =
        EntityData::default().with_entity_type(text("user")).with_entity_name(Some(text("ada")));
    let rate = ValueData::default().with_key(text("producer_byte_rate")).with_value(1024.0);
    let entry = EntryData::default().with_entity(vec![user]).with_values(vec![rate]);
    DescribeClientQuotasResponse::default().with_entries(Some(vec![entry]))
}

fn cluster() -> DescribeClusterResponse {
    use describe_cluster_response::DescribeClusterBroker;
    let broker = DescribeClusterBroker::default()
        .with_broker_id(BrokerId(1))
        .with_host(text("b1"))
        .with_port(9091);
    DescribeClusterResponse::default().with_cluster_id(text("c1")).with_brokers(vec![broker])
}

fn settings() -> DescribeConfigsResponse {
    use describe_configs_response::{DescribeConfigsResourceResult, DescribeConfigsResult};
    let setting = |name, value| {
        DescribeConfigsResourceResult::default()
            .with_name(text(name))
            .with_value(Some(text(value)))
            .with_config_source(1)
    };
    let settings = vec![setting("min.insync.replicas", "1"), setting("retention.ms", "5")];
    let result =
        DescribeConfigsResult::default().with_resource_name(orders().0).with_configs(settings);
    DescribeConfigsResponse::default().with_results(vec![result])
}

fn classic_group() -> DescribeGroupsResponse {
    use describe_groups_response::{DescribedGroup, DescribedGroupMember};
    let member = DescribedGroupMember::default()
        .with_member_id(text("m1"))
        .with_client_host(text("/10.0.0.1"))
        .with_member_assignment(Bytes::from_static(b"\0\0\0\0\0\x01\0\x01t\0\0\0\0"));
    let group = DescribedGroup::default()
        .with_group_id(billing())
        .with_group_state(text("Stable"))
        .with_protocol_type(text("consumer"))
        .with_members(vec![member]);
    DescribeGroupsResponse::default().with_groups(vec![group])
}

fn log_dirs() -> DescribeLogDirsResponse {
    use describe_log_dirs_response::{
        DescribeLogDirsPartition, DescribeLogDirsResult, DescribeLogDirsTopic,
    };
    let partition = DescribeLogDirsPartition::default().with_partition_size(100);
    let topic =
        DescribeLogDirsTopic::default().with_name(orders()).with_partitions(vec![partition]);
    let directory =
        DescribeLogDirsResult::default().with_log_dir(text("/data")).with_topics(vec![topic]);
    DescribeLogDirsResponse::default().with_results(vec![directory])
}

fn quorum() -> DescribeQuorumResponse {
    use describe_quorum_response::{Listener, Node, PartitionData, ReplicaState, TopicData};
    let replica = |id| ReplicaState::default().with_replica_id(BrokerId(id));
    let partition = PartitionData::default()
        .with_leader_id(BrokerId(1))
        .with_current_voters(vec![replica(1)])
        .with_observers(vec![replica(2)]);
    let topic = TopicData::default()
        .with_topic_name(TopicName(text("__cluster_metadata")))
        .with_partitions(vec![partition]);
    let listener = Listener::default().with_name(text("C")).with_host(text("b1")).with_port(9090);
    let node = Node::default().with_node_id(BrokerId(1)).with_listeners(vec![listener]);
    DescribeQuorumResponse::default().with_topics(vec![topic]).with_nodes(vec![node])
}

fn users() -> DescribeUserScramCredentialsResponse {
    use describe_user_scram_credentials_response::{
        CredentialInfo, DescribeUserScramCredentialsResult,
    };
    let password =
        |mechanism| CredentialInfo::default().with_mechanism(mechanism).with_iterations(4096);
    let user = DescribeUserScramCredentialsResult::default()
        .with_user(text("ada"))
        .with_credential_infos(vec![password(1), password(2)]);
    DescribeUserScramCredentialsResponse::default().with_results(vec![user])
}

fn elected() -> ElectLeadersResponse {
    use elect_leaders_response::{PartitionResult, ReplicaElectionResult};
    let result = ReplicaElectionResult::default()
        .with_topic(orders())
        .with_partition_result(vec![PartitionResult::default()]);
    ElectLeadersResponse::default().with_replica_election_results(vec![result])
}

fn fetched() -> FetchResponse {
    use fetch_response::{AbortedTransaction, FetchableTopicResponse, PartitionData};
    let aborted = AbortedTransaction::default().with_producer_id(ProducerId(7));
    let partition = PartitionData::default()
        .with_high_watermark(9)
        .with_aborted_transactions(Some(vec![aborted]))
        .with_records(Some(batch()));
    let topic =
        FetchableTopicResponse::default().with_topic(orders()).with_partitions(vec![partition]);
    FetchResponse::default().with_responses(vec![topic])
}

fn batch() -> Bytes {
    let record = Record {
        transactional: false,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: 0,
        producer_id: 7,
        producer_epoch: 3,
        timestamp_type: TimestampType::Creation,
        offset: 8,
        sequence: 0,
        timestamp: 1_000,
        key: Some(Bytes::from_static(b"k")),
        value: Some(Bytes::from_static(b"v")),
        headers: IndexMap::from([(text("h"), Some(Bytes::from_static(b"v")))]),
    };
    let options = RecordEncodeOptions { version: 2, compression: Compression::None };
    let mut bytes = BytesMut::new();
    RecordBatchEncoder::encode(&mut bytes, [&record], &options).unwrap();
    bytes.freeze()
}

fn coordinator() -> FindCoordinatorResponse {
    use find_coordinator_response::Coordinator;
    let found = Coordinator::default().with_key(billing().0).with_host(text("b1")).with_port(9091);
    FindCoordinatorResponse::default().with_coordinators(vec![found])
}

fn altered_settings() -> IncrementalAlterConfigsResponse {
    use incremental_alter_configs_response::AlterConfigsResourceResponse as Altered;
    IncrementalAlterConfigsResponse::default().with_responses(vec![
        Altered::default().with_resource_type(2).with_resource_name(orders().0),
    ])
}

fn producer() -> InitProducerIdResponse {
    InitProducerIdResponse::default().with_producer_id(ProducerId(7))
}

fn groups() -> ListGroupsResponse {
    use list_groups_response::ListedGroup;
    let group = |kind| ListedGroup::default().with_group_id(billing()).with_group_type(text(kind));
    ListGroupsResponse::default().with_groups(vec![group("classic"), group("consumer")])
}

fn offsets() -> ListOffsetsResponse {
    use list_offsets_response::{ListOffsetsPartitionResponse, ListOffsetsTopicResponse};
    let partition = ListOffsetsPartitionResponse::default().with_offset(9);
    let topic =
        ListOffsetsTopicResponse::default().with_name(orders()).with_partitions(vec![partition]);
    ListOffsetsResponse::default().with_topics(vec![topic])
}

fn metadata() -> MetadataResponse {
    use metadata_response::{
        MetadataResponseBroker, MetadataResponsePartition, MetadataResponseTopic,
    };
    let broker = MetadataResponseBroker::default()
        .with_node_id(BrokerId(1))
        .with_host(text("b1"))
        .with_port(9091);
    let partition = MetadataResponsePartition::default()
        .with_leader_id(BrokerId(1))
        .with_replica_nodes(vec![BrokerId(1)])
        .with_isr_nodes(vec![BrokerId(1)]);
    let topic =
        MetadataResponseTopic::default().with_name(Some(orders())).with_partitions(vec![partition]);
    MetadataResponse::default().with_brokers(vec![broker]).with_topics(vec![topic])
}

fn committed() -> OffsetCommitResponse {
    use offset_commit_response::{OffsetCommitResponsePartition, OffsetCommitResponseTopic};
    let topic = OffsetCommitResponseTopic::default()
        .with_name(orders())
        .with_partitions(vec![OffsetCommitResponsePartition::default()]);
    OffsetCommitResponse::default().with_topics(vec![topic])
}

fn group_offsets() -> OffsetFetchResponse {
    use offset_fetch_response::{
        OffsetFetchResponseGroup, OffsetFetchResponsePartitions, OffsetFetchResponseTopics,
    };
    let partition = OffsetFetchResponsePartitions::default().with_committed_offset(5);
    let topic =
        OffsetFetchResponseTopics::default().with_name(orders()).with_partitions(vec![partition]);
    let group =
        OffsetFetchResponseGroup::default().with_group_id(billing()).with_topics(vec![topic]);
    OffsetFetchResponse::default().with_groups(vec![group])
}

fn produced() -> ProduceResponse {
    use produce_response::{PartitionProduceResponse, TopicProduceResponse};
    let partition = PartitionProduceResponse::default().with_base_offset(3);
    let topic = TopicProduceResponse::default()
        .with_name(orders())
        .with_partition_responses(vec![partition]);
    ProduceResponse::default().with_responses(vec![topic])
}
