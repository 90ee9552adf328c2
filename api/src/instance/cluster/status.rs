//! `GET /api/api/cluster/status`.

use crate::auth::Seeing;
use app::cluster;
use axum::Json;
use wire::instance::ClusterStatus;

pub async fn handle(Seeing(access): Seeing) -> Json<ClusterStatus> {
    let cluster::Status { name, ready, configured } = cluster::status(&access);
    Json(ClusterStatus { name, ready, configured })
}
