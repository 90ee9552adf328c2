//! `GET /api/nodes`.

use crate::about::About;
use crate::answer::Answer;
use crate::auth::Seeing;
use app::{Right, nodes};
use axum::Json;
use wire::nodes::Node;

pub async fn handle(Seeing(access, app): Seeing) -> Answer<Vec<Node>> {
    let nodes = nodes::list(&access, &app).await?;
    Ok(Json(nodes.into_iter().map(document).collect()))
}

fn document(node: nodes::Node) -> Node {
    let server = node.server;
    Node {
        name: server.name,
        hostname: server.listeners.public_sasl_scram().advertised_host,
        hostname_internal: server.listeners.internal.advertised_host,
        private_ip: server.private_ip,
        running: node.running,
        configured: node.configured,
        kafka_version: server.kafka_version.to_string(),
        disk_size: node.disk_size.into(),
        additional_disk_size: node.additional_disk_size.into(),
        disk_used: node.disk_used,
        roles: server.roles.iter().map(ToString::to_string).collect(),
        availability_zone: server.zone,
    }
}

pub fn about() -> About {
    let node = Node {
        name: "u7k2m9qa-01".into(),
        hostname: "127.64.0.1".into(),
        hostname_internal: "127.64.0.1".into(),
        private_ip: "127.64.0.1".into(),
        running: true,
        configured: true,
        kafka_version: "4.3.1".into(),
        disk_size: 25,
        additional_disk_size: 0,
        disk_used: 1,
        roles: vec!["controller".into(), "broker".into()],
        availability_zone: "a".into(),
    };
    About::new("List servers").needs(Right::SeeInstances).list("By number; sizes in GB", node)
}
