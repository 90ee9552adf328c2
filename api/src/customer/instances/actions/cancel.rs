//! `POST /api/instances/<ID>/actions/<id>/cancel`.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::ActionPath;
use crate::state::Api;
use app::Right;
use app::actions::{self, Cancelled};
use axum::Json;
use axum::extract::State;
use wire::customer::Message;

const AT_ONCE: &str = "Cancelled; nothing was restarted";
const LATER: &str = "No further server is restarted; what has begun is brought to its end";

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    ActionPath(id): ActionPath,
) -> Result<Json<Message>, Failure> {
    Ok(Json(answer(actions::cancel(&access, &api.app, id).await?)))
}

fn answer(cancelled: Cancelled) -> Message {
    let message = match cancelled {
        Cancelled::AtOnce => AT_ONCE,
        Cancelled::Later => LATER,
    };
    Message { message: message.into() }
}

pub fn about() -> About {
    About::new("Cancel a restart that is under way")
        .needs(Right::ChangeInstances)
        .refuses("Action 12 has ended; there is nothing left to cancel")
        .json(
            "Its state reads `cancelling` until what has begun is done",
            &answer(Cancelled::Later),
        )
}
