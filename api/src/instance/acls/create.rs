//! `POST /api/acls`.

use super::{document, example, example_rule};
use crate::auth::Changing;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::openapi::{About, Input};
use crate::state::Api;
use app::Right;
use app::acls::{self, MOST, NewAcls};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use wire::users::{Acl, CreateAcls};

pub async fn handle(
    State(api): State<Api>,
    Changing(access): Changing,
    body: Body,
) -> Result<(StatusCode, Json<Vec<Acl>>), Failure> {
    let views = acls::create(&access, &api.app, body.ask(asked)).await?;
    Ok((StatusCode::CREATED, Json(views.iter().map(document).collect())))
}

fn asked(fields: &mut Fields) -> NewAcls {
    NewAcls { user: fields.text("user"), rules: fields.objects("rules", rule) }
}

fn rule(fields: &mut Fields) -> acls::Rule {
    acls::Rule {
        operation: fields.text("operation"),
        resource: fields.text("resource"),
        resource_pattern: fields.text("resource_pattern"),
        resource_pattern_type: fields.text("resource_pattern_type"),
    }
}

pub fn about() -> About {
    let asked = CreateAcls { user: "ada".into(), rules: vec![example_rule()] };
    About::new("Give a user rights")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .body(&FIELDS, &asked)
        .created_json("The rights are given; those that were there keep their id", &vec![example()])
}

const FIELDS: [Input; 2] = [
    Input::text("user", "The name of a user").required().at_most(64).like("^[A-Za-z0-9._-]+$"),
    Input::objects("rules", "What the user may do", &RULE).required().items(1, MOST),
];

const RULE: [Input; 4] = [
    Input::text(
        "operation",
        "In any case, which is kept. On the cluster clusteraction and alterconfigs are the \
         service's own: brokers grant them to no user",
    )
    .one_of_any_case(acls::operations)
    .required(),
    Input::text("resource", "In any case, which is kept")
        .one_of_any_case(acls::resources)
        .required(),
    Input::plain("resource_pattern", "A name, a prefix or *; needed unless it is the cluster")
        .at_most(2000),
    Input::text("resource_pattern_type", "literal if not given; in any case, which is kept")
        .one_of_any_case(acls::patterns),
];
