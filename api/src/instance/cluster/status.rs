//! `GET /api/api/cluster/status`.

use crate::auth::Seeing;
use crate::openapi::About;
use app::{Right, cluster};
use axum::Json;
use wire::instance::ClusterStatus;

pub async fn handle(Seeing(access): Seeing) -> Json<ClusterStatus> {
    let cluster::Status { name, ready, configured } = cluster::status(&access);
    Json(ClusterStatus { name, ready, configured })
}

pub fn about() -> About {
    let status = ClusterStatus { name: "orders".into(), ready: true, configured: true };
    About::new("Read the state of the cluster")
        .needs(Right::SeeInstances)
        .json("Whether it is ready, and whether servers follow a change", &status)
}
