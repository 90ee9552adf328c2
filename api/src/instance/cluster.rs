//! The cluster as a whole.

use crate::about::About;
use crate::auth::{Changing, Seeing};
use app::actions::{self, How, Nodes};
use app::{Asked, Right, cluster};
use axum::Json;
use axum::http::StatusCode;
use web::error::Failure;
use wire::instance::ClusterStatus;

/// `GET /api/api/cluster/status`.
pub async fn status(Seeing(access, _): Seeing) -> Json<ClusterStatus> {
    let cluster::Status { name, ready, configured } = cluster::status(&access);
    Json(ClusterStatus { name, ready, configured })
}

pub fn about_status() -> About {
    let status = ClusterStatus { name: "orders".into(), ready: true, configured: true };
    About::new("Read the state of the cluster")
        .needs(Right::SeeInstances)
        .json("Whether it is ready, and whether servers follow a change", &status)
}

/// `POST /api/api/cluster/restart`.
pub async fn restart(Changing(access, app): Changing) -> Result<StatusCode, Failure> {
    let all = Asked::given(Nodes::default());
    actions::restart(&access, &app, How::Restart, all).await?;
    Ok(StatusCode::CREATED)
}

pub fn about_restart() -> About {
    About::new("Restart the cluster, one server at a time")
        .needs(Right::ChangeInstances)
        .refuses(
            "The cluster follows another change: action 12 (restart of the cluster, asked for \
             at 2026-11-15T12:00:00Z; waiting: server 3 is to be restarted); \
             try again once `configured` reads true",
        )
        .created("Accepted; `configured` is false until it is done")
}
