//! Whether the program runs, and whether it can work.

use crate::about::About;
use crate::answer::Answer;
use axum::Json;
use axum::extract::State;
use web::state::Api;
use wire::customer::Message;

/// `GET /healthz`: the process answers.
pub async fn live() -> Json<Message> {
    Json(Message { message: "ok".into() })
}

/// `GET /readyz`: so does the store, and it is not stopping.
pub async fn ready(State(api): State<Api>) -> Answer<Message> {
    if api.options.stopping.is_cancelled() {
        return Err(app::Error::Stopping.into());
    }
    api.app.ping().await?;
    Ok(Json(Message { message: "ready".into() }))
}

pub fn about_live() -> About {
    let example = Message { message: "ok".into() };
    About::new("Ask whether the program runs").json("It does", &example)
}

pub fn about_ready() -> About {
    let example = Message { message: "ready".into() };
    About::new("Ask whether the program can work").json("It can", &example)
}
