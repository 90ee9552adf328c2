//! `POST /api/instances/<ID>/actions/<what nobody can do>`.

use crate::error;
use crate::path::ActionPath;
use axum::http::{Method, StatusCode};
use axum::response::Response;

const SENTENCE: &str = "There is no such action; there are actions/restart, actions/reboot, \
    actions/stop, actions/start, actions/cluster-restart, actions/cluster-stop and \
    actions/cluster-start, and actions/<id>/cancel";

/// For methods that the path of one action does not take. A word where its number
/// would be is the name of an action that does not exist.
pub async fn handle(method: Method, ActionPath(id): ActionPath) -> Response {
    if method == Method::POST && id.is_none() {
        return error::respond(StatusCode::NOT_FOUND, SENTENCE.into());
    }
    error::method_not_allowed().await
}
