//! `/api/instances/<ID>/actions`.

pub mod cancel;
pub mod cluster_restart;
pub mod cluster_start;
pub mod cluster_stop;
pub mod list;
pub mod read;
pub mod reboot;
pub mod restart;
pub mod start;
pub mod stop;
pub mod unknown;

use crate::body::Fields;
use crate::openapi::Input;
use app::actions::{ActionView, Nodes};
use model::{ActionId, Timestamp};
use wire::actions::{Accepted, Action};

/// What is said to whom asks for an action, and to whom asks for what is so
/// already.
fn accepted(action: Option<ActionId>, begun: &str, already: &str) -> Accepted {
    let message = if action.is_some() { begun } else { already };
    Accepted { message: message.into(), action: action.map(|id| id.0) }
}

/// The servers that are named. An empty list is not the same as none: whoever
/// filters a list down to nothing does not mean everything.
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
