//! `POST /api/instances`.

use crate::about::{About, Input};
use crate::answer::SecretJson;
use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use app::Right;
use app::instances::{self, NewInstance};
use axum::http::HeaderMap;
use model::Secret;
use web::error::Failure;
use wire::customer::{CreateInstance, CreatedInstance};

const ACCEPTED: &str = "Your cluster is being created; it is ready once `ready` reads true";

pub async fn handle(
    CustomerKey(caller, app): CustomerKey,
    headers: HeaderMap,
    body: Body,
) -> Result<SecretJson<CreatedInstance>, Failure> {
    let asked = body.ask(|fields| NewInstance {
        idempotency_key: idempotency_key(&headers),
        ..new_instance(fields)
    });
    let created = instances::create(&caller, &app, asked).await?;
    Ok(SecretJson(CreatedInstance {
        id: created.id.0,
        url: created.url,
        apikey: created.apikey,
        message: ACCEPTED.into(),
    }))
}

fn new_instance(fields: &mut Fields) -> NewInstance {
    NewInstance {
        name: fields.text("name"),
        plan: fields.text("plan"),
        region: fields.text("region"),
        vpc_subnet: fields.text("vpc_subnet"),
        vpc_id: fields.integer("vpc_id"),
        nodes: fields.integer("nodes"),
        kafka_version: fields.text("kafka_version"),
        tags: fields.list("tags").unwrap_or_default(),
        disk_size: fields.size("disk_size"),
        no_default_alarms: fields.flag("no_default_alarms").unwrap_or_default(),
        copies_settings: fields.has_content("copy_settings"),
        idempotency_key: None,
    }
}

/// As sent; bytes that are no text become characters that no key may hold.
fn idempotency_key(headers: &HeaderMap) -> Option<String> {
    let sent = headers.get("idempotency-key")?;
    Some(String::from_utf8_lossy(sent.as_bytes()).into_owned())
}

pub fn about() -> About {
    let asked = CreateInstance {
        name: "orders".into(),
        plan: "mouse-1".into(),
        region: "local::this-machine".into(),
        tags: vec!["prod".into()],
        ..CreateInstance::default()
    };
    let created = CreatedInstance {
        id: 7,
        url: Secret::new("kafka://u7k2m9qa:password@127.64.0.1:9094/"),
        apikey: Secret::new("the-key-of-the-instance"),
        message: ACCEPTED.into(),
    };
    About::new("Order an instance")
        .needs(Right::CreateInstances)
        .header(KEY)
        .body(&FIELDS, &asked)
        .json("It is being made", &created)
}

const KEY: Input = Input::text("Idempotency-Key", "Sending it again makes no second instance")
    .at_least(1)
    .at_most(255)
    .like("^[ -~]*$");

const VERSION: &str = r"^([0-9]+\.[0-9]+\.[0-9]+)?$";

const FIELDS: [Input; 10] = [
    Input::name("name"),
    Input::text("plan", "A name of /api/plans").required(),
    Input::text("region", "<provider>::<region> of /api/regions").required(),
    Input::subnet("vpc_subnet", "A private range from /16 to /28; a free one if not given"),
    Input::integer("vpc_id", "A network of /api/vpcs to join; wins over vpc_subnet"),
    Input::integer("nodes", "Wins over the number in the plan's name").at_least(1).at_most(99),
    Input::text("kafka_version", "The newest if not given").like(VERSION),
    Input::tags("tags", "At most 20, of 1 to 64 characters without comma"),
    Input::integer("disk_size", "Gigabytes of each server, if more than the plan's; 0: the plan's")
        .at_least(0),
    Input::flag("no_default_alarms", "Start with the notice alarm alone"),
];
