//! The document of one listener.

use super::about::{About, Sent};
use super::answers;
use super::input::Input;
use super::schema::{self, Form};
use crate::error;
use crate::routes::{Guard, Route};
use app::{Error, Right};
use axum::http::{Method, StatusCode};
use model::Role;
use serde_json::json;
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{
    HttpMethod, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, Paths,
};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::{ArrayBuilder, ComponentsBuilder, Object, ObjectBuilder, Type};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, Header, Info, OpenApi, OpenApiBuilder, Ref, Required};

const KEY: &str = "key";
const ERROR: &str = "Error";
/// What stands between braces in paths.
const PLACEHOLDERS: [Input; 10] = [
    Input::integer("id", "The instance's id").at_least(1).required(),
    Input::integer("action_id", "The action's id").at_least(1).required(),
    Input::integer("vpc_id", "The network's id").at_least(1).required(),
    Input::integer("invoice_id", "The invoice's id").at_least(1).required(),
    Input::text("serial", "The certificate's serial in hex")
        .like("^[0-9a-f]{32}$")
        .such_as("4f1c22d0a3b94e5f8a6d7c0b1e2f3a4b")
        .required(),
    Input::text("user_id", "The team member's id, a UUID").required(),
    Input::integer("acl_id", "The ACL's id").at_least(1).required(),
    Input::integer("alarm_id", "The alarm's id").at_least(1).required(),
    Input::integer("recipient_id", "The recipient's id").at_least(1).required(),
    Input::text("name", "The thing's name in the cluster").required(),
];
/// On every answer that is charged to somebody, and what they say.
const LIMITS: [(&str, &str); 3] = [
    ("RateLimit-Limit", "Requests that are let through at once"),
    ("RateLimit-Remaining", "How many of them are left"),
    ("RateLimit-Reset", "Seconds until all of them are there again"),
];

pub fn document(title: &str, table: &[Route]) -> OpenApi {
    let mut paths = Paths::new();
    for route in table {
        let Some(about) = route.about.map(|about| about()) else { continue };
        let method = match route.method {
            Method::POST => HttpMethod::Post,
            Method::PUT => HttpMethod::Put,
            Method::DELETE => HttpMethod::Delete,
            _ => HttpMethod::Get,
        };
        paths.add_path_operation(&route.path, vec![method], operation(route, &about));
    }
    OpenApiBuilder::new()
        .info(Info::new(title, env!("CARGO_PKG_VERSION")))
        .paths(paths)
        .components(Some(components()))
        .build()
}

fn operation(route: &Route, about: &About) -> OperationBuilder {
    let mut operation = OperationBuilder::new()
        .operation_id(Some(operation_id(route)))
        .summary(Some(about.summary))
        .request_body(about.body.as_ref().map(body));
    if guarded(route) {
        operation = operation.security(SecurityRequirement::new(KEY, [] as [&str; 0]));
    }
    let named = |input: &&Input| route.path.contains(&format!("{{{}}}", input.name));
    for input in PLACEHOLDERS.iter().filter(named) {
        operation = operation.parameter(parameter(input, ParameterIn::Path));
    }
    for input in &about.query {
        operation = operation.parameter(parameter(input, ParameterIn::Query));
    }
    for input in &about.headers {
        operation = operation.parameter(parameter(input, ParameterIn::Header));
    }
    operation = operation.response(about.answer.status.to_string(), success(route, about));
    for error in refusals(route, about) {
        let status = error::status(&error);
        operation = operation.response(status.as_str(), refusal(route, status, &error));
    }
    operation
}

/// Such as `get_api_instances_id`.
fn operation_id(route: &Route) -> String {
    let words = route.path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    let method = route.method.as_str().to_lowercase();
    std::iter::once(method.as_str()).chain(words).collect::<Vec<_>>().join("_")
}

fn parameter(input: &Input, place: ParameterIn) -> Parameter {
    ParameterBuilder::new()
        .name(input.name)
        .parameter_in(place)
        .required(if input.required { Required::True } else { Required::False })
        .description(Some(input.what))
        .schema(Some(schema::input(input, Form::Text)))
        .example(input.example.map(Into::into))
        .build()
}

fn body(sent: &Sent) -> RequestBody {
    let content = |form| {
        let schema = schema::body(sent, form);
        ContentBuilder::new().schema(Some(schema)).example(Some(sent.example.clone())).build()
    };
    RequestBodyBuilder::new()
        .content("application/json", content(Form::Json))
        .content("application/x-www-form-urlencoded", content(Form::Text))
        .content("multipart/form-data", content(Form::Text))
        .required(Some(if sent.optional { Required::False } else { Required::True }))
        .build()
}

fn success(route: &Route, about: &About) -> Response {
    let answer = &about.answer;
    let mut response = ResponseBuilder::new().description(answer.what);
    if let Some(content) = &answer.content {
        let schema = answers::answer(answer, &content.example);
        let example = Some(content.example.clone());
        let built = ContentBuilder::new().schema(Some(schema)).example(example).build();
        response = response.content(content.kind, built);
    }
    for (name, what) in answer.headers {
        response = response.header(*name, number(what));
    }
    with_limits(response, route)
}

/// Every way in which this operation may be refused, as it is said.
fn refusals(route: &Route, about: &About) -> Vec<Error> {
    if route.path == "/healthz" {
        return Vec::new();
    }
    let mut refusals = vec![Error::Stopping];
    if route.path == "/readyz" {
        return refusals;
    }
    refusals.extend([Error::TooMany { retry_after: 1 }, Error::internal("an example")]);
    if guarded(route) {
        refusals.push(Error::NOT_AUTHORIZED);
    }
    if route.guard == Guard::CustomerKey {
        let right = about.right.filter(|right| right.holders().len() < Role::ALL.len());
        refusals.extend(right.map(Right::needed).map(Error::Forbidden));
    }
    if route.path.contains("{id}") {
        refusals.push(Error::InvalidId);
    } else if route.path.contains('{') || about.or_not_found {
        refusals.push(Error::NotFound);
    }
    if let Some(sent) = &about.body {
        refusals.push(Error::field(sent.fields[0].name, "must be a string"));
        refusals.push(crate::body::TOO_LARGE);
    } else if let Some(input) = about.query.first() {
        refusals.push(Error::field(input.name, "must be given once"));
    } else if let Some(sentence) = about.refusal {
        refusals.push(Error::Refused(sentence.into()));
    }
    refusals
}

fn refusal(route: &Route, status: StatusCode, error: &Error) -> Response {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(ERROR)))
        .example(Some(json!(error::body(error))))
        .build();
    let mut response = ResponseBuilder::new()
        .description(status.canonical_reason().unwrap_or_default())
        .content("application/json", content);
    if error::retry_after(error).is_some() {
        response = response.header("Retry-After", number("Seconds to wait before the next try"));
    }
    if status == StatusCode::UNAUTHORIZED {
        response =
            response.header("WWW-Authenticate", Header::new(Object::with_type(Type::String)));
    }
    with_limits(response, route)
}

fn with_limits(mut response: ResponseBuilder, route: &Route) -> Response {
    if !crate::limit::EXEMPT.contains(&route.path.as_str()) {
        for (name, _) in LIMITS {
            response = response.header_ref(name, Ref::new(format!("#/components/headers/{name}")));
        }
    }
    response.build()
}

fn guarded(route: &Route) -> bool {
    matches!(route.guard, Guard::CustomerKey | Guard::InstanceKey)
}

fn number(what: &str) -> Header {
    let schema = Object::with_type(Type::Integer);
    HeaderBuilder::new().schema(Some(schema)).description(Some(what)).build()
}

fn components() -> Components {
    let what = "The key as password with an empty user, or as user with an empty password";
    let basic = HttpBuilder::new().scheme(HttpAuthScheme::Basic).description(Some(what)).build();
    let text = || Object::with_type(Type::String);
    let fault = ObjectBuilder::new()
        .schema_type(Type::Object)
        .additional_properties(Some(ObjectBuilder::new().schema_type(Type::String)))
        .description(Some("A field and what is wrong with it"));
    let error = ObjectBuilder::new()
        .property("error", text())
        .property("errors", ArrayBuilder::new().items(fault.build()))
        .required("error");
    let mut components = ComponentsBuilder::new()
        .security_scheme(KEY, SecurityScheme::Http(basic))
        .schema(ERROR, error);
    for (name, what) in LIMITS {
        components = components.header(name, number(what));
    }
    components.build()
}
