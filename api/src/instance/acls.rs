//! `/api/acls`.

use crate::about::{About, Input};
use crate::answer::Answer;
use crate::auth::{Changing, Seeing};
use crate::body::{Body, Fields};
use crate::path::AclPath;
use app::Right;
use app::acls::{self, AclView, MOST, NewAcls};
use axum::Json;
use axum::http::StatusCode;
use model::Timestamp;
use web::error::Failure;
use wire::customer::Message;
use wire::users::{Acl, CreateAcls, Rule};

fn document(view: &AclView) -> Acl {
    let words = &view.words;
    Acl {
        id: view.id,
        name: view.user.clone(),
        rule: Rule {
            operation: words.operation.clone(),
            resource: words.resource.clone(),
            resource_pattern: words.resource_pattern.clone(),
            resource_pattern_type: words.resource_pattern_type.clone(),
        },
        created_at: view.created_at,
    }
}

fn example() -> Acl {
    let created_at = Timestamp::constant(1_794_744_000, 0);
    Acl { id: 1, name: "ada".into(), rule: example_rule(), created_at }
}

fn example_rule() -> Rule {
    Rule {
        operation: "read".into(),
        resource: "topic".into(),
        resource_pattern: "orders".into(),
        resource_pattern_type: "literal".into(),
    }
}

/// `GET /api/acls`.
pub async fn list(Seeing(access, app): Seeing) -> Answer<Vec<Acl>> {
    let views = acls::list(&access, &app).await?;
    Ok(Json(views.iter().map(document).collect()))
}

pub fn about_list() -> About {
    About::new("List what users may do")
        .needs(Right::SeeInstances)
        .asks_kafka()
        .list("By id, without the default user's own rights", example())
}

/// `POST /api/acls`.
pub async fn create(
    Changing(access, app): Changing,
    body: Body,
) -> Result<(StatusCode, Json<Vec<Acl>>), Failure> {
    let views = acls::create(&access, &app, body.ask(asked)).await?;
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

pub fn about_create() -> About {
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

/// `DELETE /api/acls/<id>`.
pub async fn delete(Changing(access, app): Changing, AclPath(id): AclPath) -> Answer<Message> {
    acls::delete(&access, &app, id).await?;
    Ok(Json(done()))
}

fn done() -> Message {
    Message { message: "The right is taken away".into() }
}

pub fn about_delete() -> About {
    About::new("Take a right away")
        .needs(Right::ChangeInstances)
        .asks_kafka()
        .or_not_found()
        .json("It is gone", &done())
}
