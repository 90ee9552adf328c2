//! The rules of a firewall: the one body that is a list where it is JSON. In a form and in a
//! query the list is the field `rules`.

use super::{Fields, Taken, ask, essence, take, unreadable};
use app::{Asked, Error};
use axum::extract::{FromRequest, Request};
use serde_json::Value;
use serde_json::error::Category;
use std::convert::Infallible;
use web::state::Api;

/// The name of the field that is the list.
pub const RULES: &str = "rules";

pub struct RulesBody(Result<Fields, Error>);

impl RulesBody {
    pub fn ask<T>(self, read: impl FnOnce(&mut Fields) -> T) -> Asked<T> {
        ask(self.0, read)
    }
}

impl FromRequest<Api> for RulesBody {
    type Rejection = Infallible;

    async fn from_request(request: Request, api: &Api) -> Result<Self, Infallible> {
        let fields = match take(request, api).await {
            Ok(taken) if is_json(&taken) => parse(&taken.bytes),
            Ok(taken) => taken.fields().await,
            Err(error) => Err(error),
        };
        Ok(Self(fields))
    }
}

/// Without a body the header says nothing.
fn is_json(taken: &Taken) -> bool {
    let essence = essence(&taken.parts.headers);
    !taken.bytes.is_empty() && essence.as_deref() == Some("application/json")
}

fn parse(bytes: &[u8]) -> Result<Fields, Error> {
    let list: Vec<Value> =
        serde_json::from_slice(bytes).map_err(|error| match error.classify() {
            Category::Data => unreadable("The body must be a JSON list of rules"),
            _ => unreadable(&format!("The body is not valid JSON: {error}")),
        })?;
    let mut fields = Fields::default();
    fields.add_json(RULES, list.into());
    Ok(fields)
}
