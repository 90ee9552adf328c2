//! `GET /api/instances/<ID>`.

use super::entry;
use crate::answer::SecretJson;
use crate::auth::CustomerKey;
use crate::error::Failure;
use crate::path::Id;
use crate::state::Api;
use app::instances::{self, InstanceView};
use app::plans::BACKEND;
use axum::extract::State;
use wire::customer::{Instance, InstanceVpc};

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    Id(id): Id,
) -> Result<SecretJson<Instance>, Failure> {
    Ok(SecretJson(document(instances::read(&caller, &api.app, id).await?)))
}

fn document(view: InstanceView) -> Instance {
    let details = view.details;
    let instance = &details.instance;
    Instance {
        entry: entry(instance),
        ca: view.ca,
        apikey: instance.apikey.clone(),
        brokers: view.brokers,
        username: instance.username.clone(),
        password: instance.password.clone(),
        // Only topics of shared plans carry a prefix.
        topic_prefix: String::new(),
        ready: instance.ready(),
        kafka_version: instance.kafka_version.to_string(),
        nodes: instance.nodes,
        vpc: Some(InstanceVpc { id: details.vpc.id.0, subnet: details.vpc.subnet.to_string() }),
        vpc_id: Some(details.vpc.id.0),
        url: view.url,
        backend: BACKEND.into(),
        hostname_external: instance.hostname.clone(),
        hostname_internal: details.first_server().listeners.sasl_scram.advertised_host.clone(),
        created_at: instance.created_at,
        status: instance.progress.status.clone(),
    }
}
