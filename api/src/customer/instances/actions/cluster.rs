//! `/api/instances/<ID>/actions/cluster-restart`, `cluster-stop`, `cluster-start` and
//! `rebalance`.

use super::{DRY_RUN, EXAMPLE, accepted, dry_run, planned};
use crate::about::About;
use crate::answer::Answer;
use crate::auth::Changing;
use crate::body::Query;
use app::actions::{self, How, Nodes, Power, Rebalanced};
use app::{Asked, Right};
use axum::Json;
use wire::actions::Accepted;

const RESTART_BEGUN: &str = "The cluster is being restarted, one server at a time";

/// `POST /api/instances/<ID>/actions/cluster-restart`.
pub async fn restart(Changing(access, app): Changing) -> Answer<Accepted> {
    let all = Asked::given(Nodes::default());
    let action = actions::restart(&access, &app, How::Restart, all).await?;
    Ok(Json(accepted(Some(action), RESTART_BEGUN, RESTART_BEGUN)))
}

pub fn about_restart() -> About {
    let answer = accepted(Some(EXAMPLE), RESTART_BEGUN, RESTART_BEGUN);
    About::new("Restart the cluster, one server at a time")
        .needs(Right::ChangeInstances)
        .refuses("The cluster is stopped; start it with actions/cluster-start first")
        .json("Accepted; `configured` is false until it is done", &answer)
}

const STOP_BEGUN: &str = "The cluster is being stopped; its data and addresses stay";
const STOP_ALREADY: &str = "The cluster is stopped already, or is being stopped";

/// `POST /api/instances/<ID>/actions/cluster-stop`.
pub async fn stop(Changing(access, app): Changing) -> Answer<Accepted> {
    let action = actions::set_power(&access, &app, Power::Stop).await?;
    Ok(Json(accepted(action, STOP_BEGUN, STOP_ALREADY)))
}

pub fn about_stop() -> About {
    About::new("Stop every server of a cluster; data and addresses stay")
        .needs(Right::ChangeInstances)
        .refuses("Not available on shared plans")
        .json("Accepted; `ready` follows", &accepted(Some(EXAMPLE), STOP_BEGUN, STOP_ALREADY))
}

const START_BEGUN: &str = "The cluster is being started";
const START_ALREADY: &str = "The cluster is started already, or is being started";

/// `POST /api/instances/<ID>/actions/cluster-start`.
pub async fn start(Changing(access, app): Changing) -> Answer<Accepted> {
    let action = actions::set_power(&access, &app, Power::Start).await?;
    Ok(Json(accepted(action, START_BEGUN, START_ALREADY)))
}

pub fn about_start() -> About {
    About::new("Start a cluster that was stopped")
        .needs(Right::ChangeInstances)
        .refuses("Not available on shared plans")
        .json("Accepted; `ready` follows", &accepted(Some(EXAMPLE), START_BEGUN, START_ALREADY))
}

const REBALANCE_BEGUN: &str = "Replicas are being moved until every server has its share";
const EVEN: &str = "Every server has its share already";
const REBALANCE_DRY: &str = "Nothing was begun; this is what would be done";

/// `POST /api/instances/<ID>/actions/rebalance`.
pub async fn rebalance(Changing(access, app): Changing, query: Query) -> Answer<Accepted> {
    let rebalanced = actions::rebalance(&access, &app, query.ask(dry_run)).await?;
    Ok(Json(match rebalanced {
        Rebalanced::Begun(action) => accepted(Some(action), REBALANCE_BEGUN, EVEN),
        Rebalanced::Even => accepted(None, REBALANCE_BEGUN, EVEN),
        Rebalanced::Planned(preview) => Accepted {
            planned: Some(planned(preview)),
            ..accepted(None, REBALANCE_BEGUN, REBALANCE_DRY)
        },
    }))
}

pub fn about_rebalance() -> About {
    let answer = accepted(Some(EXAMPLE), REBALANCE_BEGUN, EVEN);
    About::new("Spread replicas and leaders evenly over the servers")
        .needs(Right::ChangeInstances)
        .query(&[DRY_RUN])
        .asks_kafka()
        .json("Accepted; the action tells how far it is", &answer)
}
