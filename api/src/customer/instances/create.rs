//! `POST /api/instances`.

use crate::answer::SecretJson;
use crate::auth::CustomerKey;
use crate::body::{Body, Fields};
use crate::error::Failure;
use crate::state::Api;
use app::instances::{self, NewInstance};
use axum::extract::State;
use axum::http::HeaderMap;
use wire::customer::CreatedInstance;

pub async fn handle(
    State(api): State<Api>,
    CustomerKey(caller): CustomerKey,
    headers: HeaderMap,
    body: Body,
) -> Result<SecretJson<CreatedInstance>, Failure> {
    let asked = body.ask(|fields| NewInstance {
        idempotency_key: idempotency_key(&headers),
        ..new_instance(fields)
    });
    let created = instances::create(&caller, &api.app, asked).await?;
    Ok(SecretJson(CreatedInstance {
        id: created.id.0,
        url: created.url,
        apikey: created.apikey,
        message: "Your cluster is being created; it is ready once `ready` reads true".into(),
    }))
}

fn new_instance(fields: &mut Fields) -> NewInstance {
    // Checked for its type already, though alarms come with a later release.
    let _ = fields.flag("no_default_alarms");
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
        copies_settings: fields.has_content("copy_settings"),
        idempotency_key: None,
    }
}

/// As sent; bytes that are no text become characters that no key may hold.
fn idempotency_key(headers: &HeaderMap) -> Option<String> {
    let sent = headers.get("idempotency-key")?;
    Some(String::from_utf8_lossy(sent.as_bytes()).into_owned())
}
