//! `PUT /api/vpcs/<id>`.

use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Counts, Input};
use crate::path::VpcPath;
use crate::state::Api;
use app::Right;
use app::vpcs::{self, VpcChanges};
use axum::Json;
use axum::extract::State;
use wire::customer::{Message, UpdateVpc};

const SAVED: &str = "Changes saved";

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    VpcPath(id): VpcPath,
    body: Body,
) -> Result<Json<Message>, Failure> {
    vpcs::update(&caller, &api.app, id, body.ask(changes)).await?;
    Ok(Json(Message { message: SAVED.into() }))
}

fn changes(fields: &mut Fields) -> VpcChanges {
    VpcChanges {
        name: fields.text("name"),
        tags: fields.list_even_empty("tags"),
        region: fields.text("region"),
        subnet: fields.text("subnet"),
    }
}

pub fn about() -> About {
    let asked = UpdateVpc { name: Some("staging".into()), tags: Some(vec!["test".into()]) };
    About::new("Rename or tag a network")
        .needs(Right::CreateInstances)
        .body(&FIELDS, &asked)
        .at_least_one(&[("name", Counts::Given), ("tags", Counts::EvenEmpty)])
        .json("It is changed", &Message { message: SAVED.into() })
}

const FIELDS: [Input; 2] = [
    Input::plain("name", "1 to 64 characters").at_most(64),
    Input::tags("tags", "An empty list clears them"),
];
