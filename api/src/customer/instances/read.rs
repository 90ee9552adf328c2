//! `GET /api/instances/<ID>`.

use super::{entry, example};
use crate::about::About;
use crate::answer::{SecretDocument, written};
use crate::auth::CustomerKey;
use crate::path::Id;
use app::Right;
use app::catalogue::BACKEND;
use app::instances::{self, InstanceView};
use model::condition::message;
use model::{ConditionKind, Secret, Server, Timestamp};
use web::error::Failure;
use wire::customer::{Condition, Instance, InstanceVpc};

pub async fn handle(
    CustomerKey(caller, app): CustomerKey,
    Id(id): Id,
) -> Result<SecretDocument, Failure> {
    let view = instances::read(&caller, &app, id).await?;
    let document = view.document.get_or_init(|| written(&document(&view)));
    Ok(SecretDocument(document.clone()))
}

fn document(view: &InstanceView) -> Instance {
    let details = &view.details;
    let instance = &details.instance;
    Instance {
        entry: entry(instance),
        ca: view.ca.clone(),
        apikey: instance.apikey.clone(),
        brokers: view.brokers.clone(),
        username: instance.username.clone(),
        password: instance.password.clone(),
        // Only topics of shared plans carry a prefix.
        topic_prefix: String::new(),
        ready: instance.ready(),
        kafka_version: instance.kafka_version.to_string(),
        nodes: instance.nodes,
        vpc: Some(InstanceVpc { id: details.vpc.id.0, subnet: details.vpc.subnet.to_string() }),
        vpc_id: Some(details.vpc.id.0),
        url: view.url.clone(),
        backend: BACKEND.into(),
        hostname_external: instance.hostname.clone(),
        hostname_internal: details.first_server().listeners.sasl_scram.advertised_host.clone(),
        created_at: instance.created_at,
        status: instance.progress.status(),
        conditions: conditions(instance, &details.servers),
    }
}

fn conditions(instance: &model::Instance, servers: &[Server]) -> Vec<Condition> {
    let name = |number: u32| {
        let server = servers.iter().find(|server| server.number == number);
        server.map(|server| server.name.clone())
    };
    let document = |condition: &model::Condition| Condition {
        kind: condition.reason.kind(),
        server: condition.server.and_then(name),
        since: condition.since,
        message: message(condition),
    };
    instance.progress.conditions.iter().map(document).collect()
}

pub fn about() -> About {
    let running = Condition {
        kind: ConditionKind::Running,
        server: None,
        since: Some(Timestamp::constant(1_794_744_000, 0)),
        message: "running".into(),
    };
    let read = Instance {
        entry: example(),
        ca: "-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----\n".into(),
        apikey: Secret::new("the-key-of-the-instance"),
        brokers: "127.64.0.1:9094".into(),
        username: "u7k2m9qa".into(),
        password: Secret::new("password"),
        topic_prefix: String::new(),
        ready: true,
        kafka_version: "4.3.1".into(),
        nodes: 1,
        vpc: Some(InstanceVpc { id: 3, subnet: "10.192.0.0/24".into() }),
        vpc_id: Some(3),
        url: Secret::new("kafka://u7k2m9qa:password@127.64.0.1:9094/"),
        backend: BACKEND.into(),
        hostname_external: "127.64.0.1".into(),
        hostname_internal: "127.64.0.1".into(),
        created_at: Timestamp::constant(1_794_744_000, 0),
        status: "running".into(),
        conditions: vec![running],
    };
    About::new("Read one instance")
        .needs(Right::SeeInstances)
        .json("Everything about it; a monitor reads secrets as empty", &read)
}
