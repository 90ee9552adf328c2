//! `GET /api/config/kafka`.

use crate::auth::Seeing;
use crate::error::Failure;
use crate::openapi::About;
use crate::state::Api;
use app::{Right, settings};
use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use wire::nodes::Setting;

pub async fn handle(
    State(api): State<Api>,
    Seeing(access): Seeing,
) -> Result<Json<Vec<Setting>>, Failure> {
    let chosen = settings::list(&access, &api.app).await?;
    let setting = |(name, text): (String, String)| Setting { value: value(&text), name };
    Ok(Json(chosen.into_iter().map(setting).collect()))
}

/// All of them are numbers or flags.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

pub fn about() -> About {
    let example = Setting { name: "log.retention.ms".into(), value: json!(86_400_000) };
    About::new("List the settings of all brokers that were chosen")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("By name", example)
}
