//! `/api/instances/<ID>/actions`.

pub mod cluster;
pub mod servers;

use crate::about::{About, Input};
use crate::answer::Answer;
use crate::auth::{Changing, Seeing};
use crate::body::Fields;
use crate::path::ActionPath;
use app::Right;
use app::actions::{self, ActionView, Cancelled, DryRun, Nodes, Preview, Undoing};
use axum::Json;
use axum::http::{Method, StatusCode};
use axum::response::Response;
use model::{ActionId, ActionStep, MoveProgress, Timestamp};
use web::error;
use wire::actions::{Accepted, Action, ActionDetails, PlannedChange, PlannedMove, Progress, Step};
use wire::customer::Message;

/// What is said to whom asks for an action, and to whom asks for what is so
/// already.
fn accepted(action: Option<ActionId>, begun: &str, already: &str) -> Accepted {
    let message = if action.is_some() { begun } else { already };
    Accepted { message: message.into(), action: action.map(|id| id.0), planned: None }
}

/// The servers that are named. An empty list is not the same as none: a caller
/// that filters a list down to nothing does not mean everything.
fn nodes(fields: &mut Fields) -> Nodes {
    Nodes { names: fields.list_even_empty("nodes") }
}

const FIELDS: [Input; 1] =
    [Input::list("nodes", "Names of servers; all of them if not given").items(1, 99)];

fn example_nodes() -> wire::actions::Nodes {
    wire::actions::Nodes { nodes: Some(vec!["u7k2m9qa-01".into()]) }
}

const EXAMPLE: ActionId = ActionId(12);

fn document(view: &ActionView) -> Action {
    let action = &view.action;
    Action {
        id: action.id.0,
        kind: action.kind.to_string(),
        servers: view.servers.clone(),
        asked_by: action.asked_by.clone(),
        source: action.source.clone(),
        asked_at: action.asked_at,
        ended_at: action.ended_at,
        state: action.state().as_str().into(),
        status: view.status.clone(),
    }
}

fn example() -> Action {
    Action {
        id: EXAMPLE.0,
        kind: "restart".into(),
        servers: vec!["u7k2m9qa-02".into()],
        asked_by: "ada@example.com".into(),
        source: "customer-api 192.0.2.7".into(),
        asked_at: Timestamp::constant(1_794_744_000, 0),
        ended_at: Some(Timestamp::constant(1_794_744_012, 0)),
        state: "done".into(),
        status: "done".into(),
    }
}

/// `GET /api/instances/<ID>/actions`.
pub async fn list(Seeing(access, app): Seeing) -> Answer<Vec<Action>> {
    let actions = actions::list(&access, &app).await?;
    Ok(Json(actions.iter().map(document).collect()))
}

pub fn about_list() -> About {
    About::new("List what was asked of an instance")
        .needs(Right::SeeInstances)
        .refuses("Not available on shared plans")
        .list("The last hundred actions, newest first", example())
}

/// `GET /api/instances/<ID>/actions/<id>`.
pub async fn read(
    Seeing(access, app): Seeing,
    ActionPath(id): ActionPath,
) -> Answer<ActionDetails> {
    let (view, steps) = actions::read(&access, &app, id).await?;
    let step = |ActionStep { at, text }| Step { at, text };
    let steps = steps.into_iter().map(step).collect();
    let progress = view.progress.as_ref().map(progress);
    Ok(Json(ActionDetails { action: document(&view), progress, steps }))
}

pub fn about_read() -> About {
    let at = Timestamp::constant(1_794_744_003, 0);
    let text = "u7k2m9qa-02 is being restarted".into();
    let steps = vec![Step { at, text }];
    let details = ActionDetails { action: example(), progress: None, steps };
    About::new("Read one action with its steps")
        .needs(Right::SeeInstances)
        .refuses("Not available on shared plans")
        .json("Who asked, and what was done and waited for", &details)
}

fn progress(of: &MoveProgress) -> Progress {
    Progress {
        bytes_done: of.bytes_done,
        bytes_left: of.bytes_left,
        bytes_per_second: of.bytes_per_second,
        ready_at: of.ready_at,
    }
}

/// The field of a query that asks for nothing to be done.
pub const DRY_RUN: Input = Input::flag("dry_run", "Tell what would be done, and do nothing");

/// `?dry_run` alone means it, too: what was only asked about must not be done.
pub fn dry_run(fields: &mut Fields) -> DryRun {
    DryRun(fields.flag("dry_run").unwrap_or_else(|| fields.is_sent("dry_run")))
}

/// What would be done.
pub fn planned(preview: Preview) -> PlannedChange {
    let moves = preview.moves.into_iter().map(|it| PlannedMove {
        topic: it.topic,
        partition: it.partition,
        from: it.from,
        to: it.to,
        bytes: it.bytes,
    });
    PlannedChange {
        joining: preview.joining,
        leaving: preview.leaving,
        restarting: preview.restarting,
        disk_size: preview.disk_gb,
        bytes: preview.bytes,
        partitions: preview.partitions,
        moves: moves.collect(),
        leaders: preview.leaders,
        not_raised: preview.not_raised,
    }
}

const AT_ONCE: &str = "Cancelled; nothing was restarted";
const LATER: &str = "No further server is restarted; what has begun is brought to its end";

const SHRINKS_AGAIN: &str = "Cancelled: the servers that were added are emptied and removed, and \
    the price is that of before from now on. Replicas that were added to topics go with them; \
    which of the other servers holds what is not put back";
const STAYS: &str = "Cancelled: every server stays, and the price is that of before from now on. \
    Topics get as many replicas as they had, not each on the server that had it";
const MOVES_NO_MORE: &str = "Cancelled: moves that have begun are brought to their end, and no \
    more are begun. Replicas that were moved stay where they are";

/// `POST /api/instances/<ID>/actions/<id>/cancel`.
pub async fn cancel(
    Changing(access, app): Changing,
    ActionPath(id): ActionPath,
) -> Answer<Message> {
    Ok(Json(answer(actions::cancel(&access, &app, id).await?)))
}

fn answer(cancelled: Cancelled) -> Message {
    let message = match cancelled {
        Cancelled::AtOnce => AT_ONCE,
        Cancelled::Later => LATER,
        Cancelled::Undoing(Undoing::Growth) => SHRINKS_AGAIN,
        Cancelled::Undoing(Undoing::Shrink) => STAYS,
        Cancelled::Undoing(Undoing::Rebalance) => MOVES_NO_MORE,
    };
    Message { message: message.into() }
}

pub fn about_cancel() -> About {
    About::new("Cancel a restart, or a change of settings, plan or servers, that is under way")
        .needs(Right::ChangeInstances)
        .refuses("Action 12 has ended; there is nothing left to cancel")
        .json(
            "Its state reads `cancelling` until what has begun is done",
            &answer(Cancelled::Later),
        )
}

const SENTENCE: &str = "There is no such action; there are actions/restart, actions/reboot, \
    actions/stop, actions/start, actions/cluster-restart, actions/cluster-stop, \
    actions/cluster-start and actions/rebalance, and actions/<id>/cancel";

/// `POST /api/instances/<ID>/actions/<what nobody can do>`.
///
/// For methods that the path of one action does not take. A word where its number
/// would be is the name of an action that does not exist.
pub async fn unknown(method: Method, ActionPath(id): ActionPath) -> Response {
    if method == Method::POST && id.is_none() {
        return error::respond(StatusCode::NOT_FOUND, SENTENCE.into());
    }
    error::method_not_allowed()
}
