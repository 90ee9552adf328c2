//! `POST /api/vpcs`.

use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::vpcs::{self, NewVpc};
use axum::Json;
use axum::extract::State;
use model::VpcId;
use wire::customer::{CreateVpc, CreatedVpc};

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    body: Body,
) -> Result<Json<CreatedVpc>, Failure> {
    Ok(Json(answer(vpcs::create(&caller, &api.app, body.ask(new_vpc)).await?)))
}

fn new_vpc(fields: &mut Fields) -> NewVpc {
    NewVpc {
        name: fields.text("name"),
        region: fields.text("region"),
        subnet: fields.text("subnet"),
        tags: fields.list("tags").unwrap_or_default(),
    }
}

fn answer(id: VpcId) -> CreatedVpc {
    CreatedVpc { id: id.0, message: "The VPC is there".into(), apikey: String::new() }
}

pub fn about() -> About {
    let asked = CreateVpc {
        name: "production".into(),
        region: "local::this-machine".into(),
        subnet: "10.56.72.0/24".into(),
        tags: vec!["prod".into()],
    };
    About::new("Make a network")
        .needs(Right::CreateInstances)
        .body(&FIELDS, &asked)
        .json("It is made; give its id as vpc_id when you create instances", &answer(VpcId(3)))
}

const FIELDS: [Input; 4] = [
    Input::name("name"),
    Input::text("region", "<provider>::<region> of /api/regions").required(),
    Input::subnet("subnet", "A private range from /16 to /28 that overlaps none you have")
        .required(),
    Input::tags("tags", "At most 20, of 1 to 64 characters without comma"),
];
