//! What the protocol client promises, told to a cluster that runs: the same
//! story for every way of starting one.

#![expect(clippy::unwrap_used, reason = "a step that fails ends the test")]

use kafka::client::admin::quorum::DescribeQuorum;
use kafka::client::admin::scram::DescribeUser;
use kafka::client::admin::topics::{CreateTopic, Created, DescribeTopics};
use kafka::client::{
    Acl, Admin, Broker, Call, Cluster, Connection, DirectDial, Endpoint, Error, Limits, Login,
    Mechanism, Operation, PatternType, Permission, ProtocolAdmin, Remedy, ResourceType, sasl, tls,
};
use model::{Entropy, OsEntropy, Secret};
use std::sync::Arc;

/// A cluster and its SASL listener. `cluster.brokers[0]` is the one that is
/// asked.
pub struct Running {
    pub cluster: Cluster,
    pub sasl: Vec<Endpoint>,
    /// The CAs of the SASL listener's certificate.
    pub sasl_trust_pem: String,
}

/// Each step panics with what it saw.
pub async fn tell(running: &Running) {
    let admin = ProtocolAdmin::new(Arc::new(DirectDial), Arc::new(OsEntropy));
    cluster_is_described(&admin, running).await;
    users_log_in(&admin, running).await;
    acls_are_enforced(&admin, running).await;
    errors_are_told_apart(&admin, running).await;
}

fn login(running: &Running, username: &str, password: &Secret, mechanism: Mechanism) -> Login {
    Login {
        instance: running.cluster.instance,
        brokers: running.sasl.iter().map(|it| Broker::new(1, it.clone())).collect(),
        trust_pem: running.sasl_trust_pem.clone(),
        username: username.to_owned(),
        password: password.clone(),
        mechanism,
    }
}

async fn cluster_is_described(admin: &ProtocolAdmin, running: &Running) {
    let view = admin.describe_cluster(&running.cluster).await.unwrap();
    let quorum = admin.ask(&running.cluster, &DescribeQuorum).await.unwrap();
    assert!(quorum.leader.is_some(), "{quorum:?}");
    assert_eq!(view.controller_id, quorum.leader);
    assert!(quorum.voters.iter().all(|voter| voter.log_end_offset.is_some()), "{quorum:?}");
    let first = &running.cluster.brokers[0].endpoint;
    assert!(
        view.brokers.iter().any(|broker| broker.endpoint == *first && !broker.fenced),
        "{view:?}"
    );
    assert_eq!(view.cluster_id.len(), 22);
}

async fn users_log_in(admin: &ProtocolAdmin, running: &Running) {
    let cluster = &running.cluster;
    assert_eq!(admin.ask(cluster, &DescribeUser { user: "ada" }).await, Ok(vec![]));
    // Twice with one password is a repeat, then a changed one takes over.
    let (old, new) = (OsEntropy.password(), OsEntropy.password());
    for password in [&old, &old, &new] {
        admin.set_scram_user(cluster, "ada", password).await.unwrap();
    }
    let known = admin.ask(cluster, &DescribeUser { user: "ada" }).await;
    assert_eq!(known, Ok(Mechanism::ALL.to_vec()));
    for mechanism in Mechanism::ALL {
        admin.check_login(&login(running, "ada", &new, mechanism)).await.unwrap();
        for (username, password) in [("ada", &old), ("nobody", &new)] {
            let refused = admin.check_login(&login(running, username, password, mechanism)).await;
            let error = refused.unwrap_err();
            assert!(matches!(error, Error::WrongPassword { .. }), "{error}");
        }
    }
}

async fn acls_are_enforced(admin: &ProtocolAdmin, running: &Running) {
    let password = OsEntropy.password();
    admin.set_scram_user(&running.cluster, "bob", &password).await.unwrap();
    let settings = [("retention.ms".to_owned(), "60000".to_owned())];
    let topic = |name| CreateTopic { name, partitions: 2, replicas: 1, settings: &settings };
    let mine = topic("bob-orders");
    let error = as_user(running, "bob", &password, &mine).await.unwrap_err();
    assert!(error.to_string().contains("TopicAuthorizationFailed"), "{error}");
    let acls = [Acl {
        resource_type: ResourceType::Topic,
        pattern: "bob-".to_owned(),
        pattern_type: PatternType::Prefixed,
        principal: "User:bob".to_owned(),
        operation: Operation::All,
        permission: Permission::Allow,
    }];
    for _ in 0..2 {
        admin.add_acls(&running.cluster, &acls).await.unwrap();
    }
    assert_eq!(as_user(running, "bob", &password, &mine).await, Ok(Created::New));
    assert_eq!(as_user(running, "bob", &password, &mine).await, Ok(Created::AlreadyThere));
    let error = as_user(running, "bob", &password, &topic("orders")).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Refused, "{error}");
    let names = ["bob-orders".to_owned(), "absent".to_owned()];
    let topics =
        admin.ask(&running.cluster, &DescribeTopics { names: Some(&names) }).await.unwrap();
    assert_eq!(topics.len(), 1);
    for partition in &topics[0].partitions {
        assert_eq!(partition.in_sync, partition.replicas);
        assert!(partition.leader.is_some());
    }
}

/// Runs a call as a customer would, through the SASL listener.
async fn as_user<C: Call>(
    running: &Running,
    username: &str,
    password: &Secret,
    call: &C,
) -> Result<C::Answer, Error> {
    let config = tls::client_config(&running.sasl_trust_pem, None)?;
    let mut connection = Connection::open_tcp(&running.sasl[0], &config, Limits::default()).await?;
    sasl::log_in(&mut connection, username, password, Mechanism::ScramSha512).await?;
    call.run(&mut connection).await
}

async fn errors_are_told_apart(admin: &ProtocolAdmin, running: &Running) {
    let cluster = &running.cluster;
    let wrong = Acl {
        resource_type: ResourceType::Cluster,
        pattern: "nonsense".to_owned(),
        pattern_type: PatternType::Literal,
        principal: "User:bob".to_owned(),
        operation: Operation::All,
        permission: Permission::Allow,
    };
    let error = admin.add_acls(cluster, &[wrong]).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Refused);
    assert!(error.to_string().contains("InvalidRequest (The only valid name"), "{error}");

    // Port 1 of the first broker's address: nobody listens there.
    let closed = Endpoint::new(cluster.brokers[0].endpoint.host.clone(), 1);
    let mut brokers = vec![Broker::new(9, closed.clone())];
    let down = Cluster { brokers: brokers.clone(), ..cluster.clone() };
    let error = admin.describe_cluster(&down).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{closed} refused the connection"));
    assert_eq!(error.remedy(), Remedy::Retry);
    brokers.extend_from_slice(&cluster.brokers);
    admin.describe_cluster(&Cluster { brokers, ..cluster.clone() }).await.unwrap();

    // The internal listener wants our certificate, and a password won't do.
    let nobody = Login {
        brokers: vec![cluster.brokers[0].clone()],
        trust_pem: cluster.trust_pem.clone(),
        ..login(running, "ada", &Secret::new("x"), Mechanism::ScramSha256)
    };
    let error = admin.check_login(&nobody).await.unwrap_err();
    assert!(matches!(error, Error::Tls { .. }), "{error}");
}
