//! `POST /api/alarms/recipients/<id>/test`.

use crate::auth::Changing;
use crate::error::Failure;
use crate::openapi::About;
use crate::path::RecipientPath;
use crate::state::Api;
use app::Right;
use app::recipients::{self, Tested};
use axum::Json;
use axum::extract::State;
use wire::customer::Message;

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    RecipientPath(id): RecipientPath,
) -> Result<Json<Message>, Failure> {
    let tested = recipients::test(&access, &api.app, id).await?;
    Ok(Json(done(&tested)))
}

fn done(tested: &Tested) -> Message {
    let message = match tested {
        Tested::Sent => "A test is on its way; last_status tells what became of it",
        Tested::LinkSent => {
            "The address is not confirmed yet; a mail with a link is on its way instead of a test"
        }
    };
    Message { message: message.into() }
}

pub fn about() -> About {
    About::new("Send a test")
        .needs(Right::ChangeInstances)
        .refuses("waiting for confirmation: a mail with a link went to ops@example.com")
        .json("It is on its way", &done(&Tested::Sent))
}
