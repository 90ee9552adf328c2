//! What a new cluster is asked first, asked of the training broker: the cache
//! then holds what those requests load, and the first customer does not wait
//! for it.

use crate::client::admin::produce::Produce;
use crate::client::admin::topics::CreateTopic;
use crate::client::{
    Acl, Admin, Broker, Call, Cluster, Connection, DirectDial, Error, Identity, Limits, Login,
    Mechanism, Operation, PatternType, Permission, ProtocolAdmin, ResourceType, sasl, tls,
};
use crate::throwaway::Throwaway;
use crate::{Endpoint, metrics};
use model::{Clock, InstanceId, Listeners, OsEntropy, Secret, SystemClock};
use std::sync::Arc;

const USER: &str = "training";
const TOPIC: &str = "training";
/// No instance has it; the client that is used here asks nobody else.
const NO_INSTANCE: InstanceId = InstanceId(0);

/// A user with rights, a login by each mechanism, a topic and some messages, and
/// a look at the metrics.
pub async fn run(training: &Throwaway) -> Result<(), Error> {
    let admin = ProtocolAdmin::new(Arc::new(DirectDial), Arc::new(OsEntropy));
    let listeners = &training.listeners;
    let cluster = Cluster {
        instance: NO_INSTANCE,
        brokers: vec![Broker::new(1, Endpoint::from(&listeners.internal))],
        trust_pem: training.authority.clone(),
        identity: Identity {
            certificate_chain_pem: training.identity.clone(),
            key_pem: Secret::new(&*training.identity),
        },
    };
    let password = Secret::new("training only");
    let rights = Acl {
        resource_type: ResourceType::Topic,
        pattern: "*".into(),
        pattern_type: PatternType::Literal,
        principal: format!("User:{USER}"),
        operation: Operation::All,
        permission: Permission::Allow,
    };
    admin.set_scram_user(&cluster, USER, &password).await?;
    admin.add_acls(&cluster, &[rights]).await?;
    for mechanism in Mechanism::ALL {
        let login = Login {
            instance: NO_INSTANCE,
            brokers: vec![Broker::new(1, Endpoint::from(&listeners.sasl_scram))],
            trust_pem: training.authority.clone(),
            username: USER.into(),
            password: password.clone(),
            mechanism,
        };
        admin.check_login(&login).await?;
        write(&login, &Endpoint::from(&listeners.sasl_scram)).await?;
    }
    look(listeners).await
}

async fn look(listeners: &Listeners) -> Result<(), Error> {
    let Some(listener) = &listeners.metrics else { return Ok(()) };
    let endpoint = Endpoint::from(listener);
    let scraped = metrics::scrape(&endpoint).await;
    let broken = |error: std::io::Error| Error::Broken {
        endpoint,
        call: "a look at its metrics".into(),
        reason: format!("failed ({error})"),
    };
    scraped.map(drop).map_err(broken)
}

/// Logs in as a customer and writes.
async fn write(login: &Login, endpoint: &Endpoint) -> Result<(), Error> {
    let tls = tls::client_config(&login.trust_pem, None)?;
    let mut connection = Connection::open_tcp(endpoint, &tls, Limits::default()).await?;
    sasl::log_in(&mut connection, &login.username, &login.password, login.mechanism).await?;
    let topic = CreateTopic { name: TOPIC, partitions: 1, replicas: 1, settings: &[] };
    topic.run(&mut connection).await?;
    for _ in 0..20 {
        let message =
            Produce { topic: TOPIC, partition: 0, value: b"training", at: SystemClock.now() };
        message.run(&mut connection).await?;
    }
    Ok(())
}
