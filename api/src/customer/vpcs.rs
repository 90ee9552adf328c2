//! `/api/vpcs`.

use crate::about::{About, Counts, Input};
use crate::answer::Answer;
use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use crate::path::VpcPath;
use app::Right;
use app::vpcs::{self, NewVpc, PLAN, VpcChanges, VpcView};
use axum::Json;
use axum::http::StatusCode;
use model::VpcId;
use web::error::Failure;
use wire::customer::{CreateVpc, CreatedVpc, Message, UpdateVpc, Vpc};

fn document(view: VpcView) -> Vpc {
    let VpcView { vpc, instances } = view;
    Vpc {
        id: vpc.id.0,
        name: vpc.name,
        plan: PLAN.into(),
        subnet: vpc.subnet.to_string(),
        region: vpc.region.0,
        tags: vpc.tags.into(),
        providerid: vpc.provider_id.to_string(),
        instances: instances.into_iter().map(|id| id.0).collect(),
    }
}

fn example() -> Vpc {
    Vpc {
        id: 3,
        name: "production".into(),
        plan: PLAN.into(),
        subnet: "10.56.72.0/24".into(),
        region: "local::this-machine".into(),
        tags: vec!["prod".into()],
        providerid: "7f0c6f4c-3a5a-4f0e-8c53-1d0d2f7c1b9a".into(),
        instances: vec![7],
    }
}

/// `GET /api/vpcs`.
pub async fn list(CustomerKey(caller, app): CustomerKey) -> Answer<Vec<Vpc>> {
    let listed = vpcs::list(&caller, &app).await?;
    Ok(Json(listed.into_iter().map(document).collect()))
}

pub fn about_list() -> About {
    About::new("List the networks you may see")
        .needs(Right::SeeInstances)
        .list("Networks by id", example())
}

/// `POST /api/vpcs`.
pub async fn create(CustomerKey(caller, app): CustomerKey, body: Body) -> Answer<CreatedVpc> {
    Ok(Json(answer(vpcs::create(&caller, &app, body.ask(new_vpc)).await?)))
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

pub fn about_create() -> About {
    let asked = CreateVpc {
        name: "production".into(),
        region: "local::this-machine".into(),
        subnet: "10.56.72.0/24".into(),
        tags: vec!["prod".into()],
    };
    About::new("Make a network")
        .needs(Right::CreateInstances)
        .body(&CREATE_FIELDS, &asked)
        .json("It is made; give its id as vpc_id when you create instances", &answer(VpcId(3)))
}

const CREATE_FIELDS: [Input; 4] = [
    Input::name("name"),
    Input::text("region", "<provider>::<region> of /api/regions").required(),
    Input::subnet("subnet", "A private range from /16 to /28 that overlaps none you have")
        .required(),
    Input::tags("tags", "At most 20, of 1 to 64 characters without comma"),
];

/// `GET /api/vpcs/<id>`.
pub async fn read(CustomerKey(caller, app): CustomerKey, VpcPath(id): VpcPath) -> Answer<Vpc> {
    Ok(Json(document(vpcs::read(&caller, &app, id).await?)))
}

pub fn about_read() -> About {
    About::new("Read one network")
        .needs(Right::SeeInstances)
        .json("The network, and the instances in it that you may see", &example())
}

const SAVED: &str = "Changes saved";

/// `PUT /api/vpcs/<id>`.
pub async fn update(
    CustomerKey(caller, app): CustomerKey,
    VpcPath(id): VpcPath,
    body: Body,
) -> Answer<Message> {
    vpcs::update(&caller, &app, id, body.ask(changes)).await?;
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

pub fn about_update() -> About {
    let asked = UpdateVpc { name: Some("staging".into()), tags: Some(vec!["test".into()]) };
    About::new("Rename or tag a network")
        .needs(Right::CreateInstances)
        .body(&UPDATE_FIELDS, &asked)
        .at_least_one(&[("name", Counts::Given), ("tags", Counts::EvenEmpty)])
        .json("It is changed", &Message { message: SAVED.into() })
}

const UPDATE_FIELDS: [Input; 2] = [
    Input::plain("name", "1 to 64 characters").at_most(64),
    Input::tags("tags", "An empty list clears them"),
];

/// `DELETE /api/vpcs/<id>`.
pub async fn delete(
    CustomerKey(caller, app): CustomerKey,
    VpcPath(id): VpcPath,
) -> Result<StatusCode, Failure> {
    vpcs::delete(&caller, &app, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_delete() -> About {
    About::new("Delete a network that no instance lives in")
        .needs(Right::CreateInstances)
        .refuses("The VPC is in use by instance 7; delete that first")
}
