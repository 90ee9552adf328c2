//! `/api/integrations/logs` and `/api/integrations/metrics`.
//!
//! Both kinds are called alike, so every function takes the kind. What is behind it in a path
//! is a system where something is created, which each has a path of its own, and else an id.

use crate::about::{About, Input};
use crate::answer::{Answer, SecretJson};
use crate::auth::{Changing, Seeing};
use crate::body::{Body, Fields};
use crate::path::IntegrationPath;
use app::Right;
use app::integrations::{self, IntegrationFields};
use axum::Json;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use model::{Field, IntegrationKind, IntegrationSystem, Secret, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use web::error::{self, Failure};
use wire::integrations::{Integration, Tested};

/// The systems that take a kind.
pub fn systems(kind: IntegrationKind) -> impl Iterator<Item = IntegrationSystem> {
    IntegrationSystem::ALL.into_iter().filter(move |system| system.takes(kind))
}

fn document(access: &app::InstanceAccess, integration: model::Integration) -> Integration {
    Integration {
        id: integration.id.0,
        system: integration.system.to_string(),
        config: integration.config,
        error: integration.error,
        account_id: access.instance().account_id.to_string(),
        created_at: integration.created_at,
    }
}

/// Those of these settings that are given; other fields are left alone.
fn asked(
    settings: impl IntoIterator<Item = &'static Field>,
    fields: &mut Fields,
) -> IntegrationFields {
    let names: BTreeSet<_> = settings.into_iter().map(|field| field.name).collect();
    let given = |name: &'static str| Some((name, Secret::new(fields.text(name)?)));
    IntegrationFields(names.into_iter().filter_map(given).collect())
}

/// The settings of all systems that take a kind.
fn settings(kind: IntegrationKind) -> impl Iterator<Item = &'static Field> {
    systems(kind).flat_map(IntegrationSystem::fields)
}

const REGION: &str =
    "Of AWS; or of Datadog: us, us1, us3, us5, eu, eu1, ap1 or ap2, and us if not given";

/// What each setting is, and a value that works.
const SETTINGS: [Input; 12] = [
    Input::text("access_key_id", "Of an AWS user who may send there")
        .such_as("AKIAIOSFODNN7EXAMPLE")
        .at_most(512),
    Input::text("api_key", "An API key").such_as("0123456789abcdef0123456789abcdef").at_most(512),
    Input::text("email", "Of the account that the key is of")
        .such_as("ada@example.com")
        .at_most(254),
    Input::text("endpoint", "Where OTLP over HTTP is taken")
        .such_as("https://collector.example.com:4318")
        .at_most(2048),
    Input::text("headers", "name=value, more of them separated by commas")
        .such_as("api-key=0123456789abcdef")
        .at_most(2048),
    Input::text("host_port", "Of the HTTP event collector")
        .such_as("splunk.example.com:8088")
        .at_most(512),
    Input::text("license_key", "A license key for ingest")
        .such_as("0123456789abcdef0123456789abcdef01234567")
        .at_most(512),
    Input::text("region", REGION).at_most(32),
    Input::text("secret_access_key", "The other half of access_key_id")
        .such_as("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        .at_most(512),
    Input::text("sourcetype", "What Splunk takes the events for").such_as("kafka").at_most(128),
    Input::text("token", "The token of the input")
        .such_as("9cdf5ad0-a8ac-4c55-8d3e-1f1a2b3c4d5e")
        .at_most(512),
    Input::text("url", "Where syslog is taken over TLS, as host:port")
        .such_as("logs.example.com:514")
        .at_most(512),
];

/// The settings of a system as fields of a body.
fn inputs(system: IntegrationSystem) -> Vec<Input> {
    let region = if system == IntegrationSystem::Datadog { "us1" } else { "eu-west-1" };
    let inputs = system.fields().iter().map(|field| {
        let input = SETTINGS.iter().find(|input| input.name == field.name);
        let input = *input.expect("the snapshot of the document has every setting");
        let input = if field.name == "region" { input.such_as(region) } else { input };
        if field.required { input.required() } else { input }
    });
    inputs.collect()
}

fn example_fields(inputs: &[Input]) -> BTreeMap<&'static str, &'static str> {
    inputs.iter().filter_map(|input| Some((input.name, input.example?))).collect()
}

/// For calls whose path names no system.
fn example_system(kind: IntegrationKind) -> IntegrationSystem {
    match kind {
        IntegrationKind::Logs => IntegrationSystem::Splunk,
        IntegrationKind::Metrics => IntegrationSystem::Datadog,
    }
}

fn example(system: IntegrationSystem) -> Integration {
    let config = example_fields(&inputs(system)).into_iter();
    Integration {
        id: 1,
        system: system.to_string(),
        config: config.map(|(name, value)| (name.to_owned(), Secret::new(value))).collect(),
        error: String::new(),
        account_id: "0d5a1f34-6d5e-4b0c-9a43-2f1f0c6f7a11".into(),
        created_at: Timestamp::constant(1_794_744_000, 0),
    }
}

const SHARED: &str = "Not available on shared plans";

/// `GET /api/integrations/<kind>`.
pub async fn list(
    kind: IntegrationKind,
    Seeing(access, app): Seeing,
) -> Result<SecretJson<Vec<Integration>>, Failure> {
    let found = integrations::list(&access, &app, kind).await?;
    Ok(SecretJson(found.into_iter().map(|it| document(&access, it)).collect()))
}

pub fn about_list(kind: IntegrationKind) -> About {
    let summary = match kind {
        IntegrationKind::Logs => "List where logs are sent",
        IntegrationKind::Metrics => "List where metrics are sent",
    };
    About::new(summary)
        .needs(Right::SeeInstances)
        .refuses(SHARED)
        .list("By id", example(example_system(kind)))
}

/// `POST /api/integrations/<kind>/<system>`.
pub async fn create(
    kind: IntegrationKind,
    system: IntegrationSystem,
    Changing(access, app): Changing,
    body: Body,
) -> Result<(StatusCode, SecretJson<Integration>), Failure> {
    let wanted = body.ask(|fields| asked(system.fields(), fields));
    let created = integrations::create(&access, &app, kind, system, wanted).await?;
    Ok((StatusCode::CREATED, SecretJson(document(&access, created))))
}

pub fn about_create(kind: IntegrationKind, system: IntegrationSystem) -> About {
    let summary = match kind {
        IntegrationKind::Logs => "Send logs to this system",
        IntegrationKind::Metrics => "Send metrics to this system",
    };
    let inputs = inputs(system);
    About::new(summary)
        .needs(Right::ChangeInstances)
        .body(&inputs, &example_fields(&inputs))
        .refuses(SHARED)
        .created_json("The integration", &example(system))
}

/// `POST /api/integrations/<kind>/<what is no system>`.
///
/// For methods that the path of one integration does not take. A word where its id would be
/// is the name of a system that there is not.
pub async fn unknown(method: Method, IntegrationPath(id): IntegrationPath) -> Response {
    if method == Method::POST && id.is_none() {
        return error::not_found().into_response();
    }
    error::method_not_allowed()
}

/// `GET /api/integrations/<kind>/<id>`.
pub async fn read(
    kind: IntegrationKind,
    Seeing(access, app): Seeing,
    IntegrationPath(id): IntegrationPath,
) -> Result<SecretJson<Integration>, Failure> {
    let found = integrations::read(&access, &app, kind, id).await?;
    Ok(SecretJson(document(&access, found)))
}

pub fn about_read(kind: IntegrationKind) -> About {
    About::new("Read an integration, and whether what is sent arrives")
        .needs(Right::SeeInstances)
        .refuses(SHARED)
        .json("The integration", &example(example_system(kind)))
}

/// `PUT /api/integrations/<kind>/<id>`.
pub async fn update(
    kind: IntegrationKind,
    Changing(access, app): Changing,
    IntegrationPath(id): IntegrationPath,
    body: Body,
) -> Result<StatusCode, Failure> {
    // Which of them are this one's is known once it is found.
    let wanted = body.ask(|fields| asked(settings(kind), fields));
    integrations::update(&access, &app, kind, id, wanted).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_update(kind: IntegrationKind) -> About {
    // The system, which the path does not name, decides which of them count.
    let names: BTreeSet<_> = settings(kind).map(|field| field.name).collect();
    let counts = |input: &&Input| names.contains(input.name);
    let fields: Vec<Input> =
        SETTINGS.iter().filter(counts).map(|input| Input::text(input.name, input.what)).collect();
    About::new("Replace the settings of an integration; the system stays")
        .needs(Right::ChangeInstances)
        .body(&fields, &example_fields(&inputs(example_system(kind))))
        .refuses(SHARED)
}

/// `DELETE /api/integrations/<kind>/<id>`. A body is let through and not looked at.
pub async fn delete(
    kind: IntegrationKind,
    Changing(access, app): Changing,
    IntegrationPath(id): IntegrationPath,
) -> Result<StatusCode, Failure> {
    integrations::delete(&access, &app, kind, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_delete(_: IntegrationKind) -> About {
    About::new("Send nothing there any more").needs(Right::ChangeInstances).refuses(SHARED)
}

/// `POST /api/integrations/<kind>/<id>/test`.
pub async fn test(
    kind: IntegrationKind,
    Changing(access, app): Changing,
    IntegrationPath(id): IntegrationPath,
) -> Answer<Tested> {
    let integrations::Tested { ok, message } = integrations::test(&access, &app, kind, id).await?;
    Ok(Json(Tested { ok, message }))
}

pub fn about_test(kind: IntegrationKind) -> About {
    let (summary, message) = match kind {
        IntegrationKind::Logs => ("Send one line, and wait for the result", "It took the line"),
        IntegrationKind::Metrics => {
            ("Send one point, and wait for the result", "It took the point")
        }
    };
    About::new(summary)
        .needs(Right::ChangeInstances)
        .refuses(SHARED)
        .json("What came of it", &Tested { ok: true, message: message.into() })
}
