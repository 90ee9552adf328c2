//! Every path of both APIs and of the agents' listener, on one page.

use crate::about::About;
use crate::{
    agents, confirmations, customer, docs, health, instance, invitations, metrics, openapi,
};
use app::App;
use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use model::IntegrationKind;
use std::sync::Arc;
use web::counters::Counters;
use web::state::{Api, Listener, Options};
use web::{around, error, limit};

/// The Customer API: the account's own routes, and every Instance API route
/// under `/api/instances/{id}/`.
pub fn customer() -> Vec<Route> {
    use customer::instances::{account as instance_account, actions};
    use customer::{
        account, apikeys, auditlog, catalogue, instances, invoices, sessions, team, vpcs,
    };
    let key = Guard::CustomerKey;
    let mut routes = vec![
        get("/healthz", Guard::Open, health::live).about(health::about_live),
        get("/readyz", Guard::Open, health::ready).about(health::about_ready),
        get("/openapi.json", Guard::Open, openapi::handle).about(openapi::about),
        get("/docs", Guard::Open, docs::handle).about(docs::about),
        get("/api/instances", key, instances::list).about(instances::about_list),
        post("/api/instances", key, instances::create::handle).about(instances::create::about),
        get("/api/instances/{id}", key, instances::read::handle).about(instances::read::about),
        put("/api/instances/{id}", key, instances::update::handle).about(instances::update::about),
        delete("/api/instances/{id}", key, instances::delete).about(instances::about_delete),
        put("/api/instances/{id}/disk", key, instances::disk::handle).about(instances::disk::about),
        get("/api/instances/{id}/actions", key, actions::list).about(actions::about_list),
        get("/api/instances/{id}/actions/{action_id}", key, actions::read)
            .about(actions::about_read)
            .otherwise(actions::unknown),
        post("/api/instances/{id}/actions/{action_id}/cancel", key, actions::cancel)
            .about(actions::about_cancel),
        post("/api/instances/{id}/actions/restart", key, actions::servers::restart)
            .about(actions::servers::about_restart),
        post("/api/instances/{id}/actions/reboot", key, actions::servers::reboot)
            .about(actions::servers::about_reboot),
        post("/api/instances/{id}/actions/stop", key, actions::servers::stop)
            .about(actions::servers::about_stop),
        post("/api/instances/{id}/actions/start", key, actions::servers::start)
            .about(actions::servers::about_start),
        post("/api/instances/{id}/actions/cluster-restart", key, actions::cluster::restart)
            .about(actions::cluster::about_restart),
        post("/api/instances/{id}/actions/cluster-stop", key, actions::cluster::stop)
            .about(actions::cluster::about_stop),
        post("/api/instances/{id}/actions/cluster-start", key, actions::cluster::start)
            .about(actions::cluster::about_start),
        post("/api/instances/{id}/actions/rebalance", key, actions::cluster::rebalance)
            .about(actions::cluster::about_rebalance),
        post("/api/instances/{id}/account/rotate-apikey", key, instance_account::rotate_apikey)
            .about(instance_account::about_rotate_apikey),
        post("/api/instances/{id}/account/rotate-password", key, instance_account::rotate_password)
            .about(instance_account::about_rotate_password),
        get("/api/vpcs", key, vpcs::list).about(vpcs::about_list),
        post("/api/vpcs", key, vpcs::create).about(vpcs::about_create),
        get("/api/vpcs/{vpc_id}", key, vpcs::read).about(vpcs::about_read),
        put("/api/vpcs/{vpc_id}", key, vpcs::update).about(vpcs::about_update),
        delete("/api/vpcs/{vpc_id}", key, vpcs::delete).about(vpcs::about_delete),
        get("/api/invoices", key, invoices::list).about(invoices::about_list),
        get("/api/invoices/period", key, invoices::period).about(invoices::about_period),
        get("/api/invoices/{invoice_id}", key, invoices::read).about(invoices::about_read),
        get("/api/auditlog/csv", key, auditlog::csv).about(auditlog::about_csv),
        get("/api/team", key, team::list).about(team::about_list),
        post("/api/team/invite", key, team::invite).about(team::about_invite),
        post("/api/team/remove", key, team::remove).about(team::about_remove),
        put("/api/team/{user_id}", key, team::update).about(team::about_update),
        get("/api/apikeys", key, apikeys::list).about(apikeys::about_list),
        post("/api/apikeys", key, apikeys::create).about(apikeys::about_create),
        delete("/api/apikeys/{key_id}", key, apikeys::delete).about(apikeys::about_delete),
        post("/api/apikeys/rotate-apikey", key, apikeys::rotate).about(apikeys::about_rotate),
        get("/api/sessions", key, sessions::list).about(sessions::about_list),
        delete("/api/sessions", key, sessions::end_all).about(sessions::about_end_all),
        delete("/api/sessions/{session_id}", key, sessions::end).about(sessions::about_end),
        get("/api/account", key, account::read).about(account::about_read),
        put("/api/account", key, account::update).about(account::about_update),
        get("/api/plans", key, catalogue::plans).about(catalogue::about_plans),
        get("/api/regions", key, catalogue::regions).about(catalogue::about_regions),
    ];
    routes.extend(under_instance().into_iter().map(|route| Route {
        path: format!("/api/instances/{{id}}/{}", route.path),
        guard: key,
        ..route
    }));
    routes
}

/// Pages for people, on the Customer API's listener. They are not of the API,
/// so its document does not name them.
pub fn pages() -> Vec<Route> {
    vec![
        get("/invitations/{token}", Guard::Link, invitations::show),
        post("/invitations/{token}", Guard::Link, invitations::accept),
        get("/confirmations/{token}", Guard::Link, confirmations::show),
        post("/confirmations/{token}", Guard::Link, confirmations::answer),
    ]
}

/// The Instance API.
pub fn instance() -> Vec<Route> {
    let mut routes = vec![
        get("/healthz", Guard::Open, health::live).about(health::about_live),
        get("/readyz", Guard::Open, health::ready).about(health::about_ready),
        get("/openapi.json", Guard::Open, openapi::handle).about(openapi::about),
        get("/docs", Guard::Open, docs::handle).about(docs::about),
    ];
    routes.extend(under_instance().into_iter().map(|route| {
        // The doubled segment of the cluster paths is part of the interface.
        let prefix = if route.path.starts_with("cluster/") { "/api/api" } else { "/api" };
        Route { path: format!("{prefix}/{}", route.path), ..route }
    }));
    routes
}

/// What both listeners serve, relative to the instance.
fn under_instance() -> Vec<Route> {
    use instance::{
        acls, alarms, ca, cluster, config, details, groups, messages, metrics, nodes, quotas,
        recipients, topics, users,
    };
    let key = Guard::InstanceKey;
    let mut routes = vec![
        get("details", key, details::handle).about(details::about),
        get("ca/ca_cert.pem", key, ca::certificate).about(ca::about_certificate),
        post("ca/sign", key, ca::sign).about(ca::about_sign),
        get("ca/certificates", key, ca::list).about(ca::about_list),
        delete("ca/certificates/{serial}", key, ca::revoke).about(ca::about_revoke),
        get("cluster/status", key, cluster::status).about(cluster::about_status),
        post("cluster/restart", key, cluster::restart).about(cluster::about_restart),
        get("topics/{name}/messages", key, messages::read).about(messages::about_read),
        post("topics/{name}/messages", key, messages::write).about(messages::about_write),
        get("groups", key, groups::list).about(groups::about_list),
        get("groups/{name}", key, groups::read).about(groups::about_read),
        post("groups/{name}/reset", key, groups::reset).about(groups::about_reset),
        delete("groups/{name}", key, groups::delete).about(groups::about_delete),
        get("quotas", key, quotas::list).about(quotas::about_list),
        put("quotas", key, quotas::set).about(quotas::about_set),
        delete("quotas", key, quotas::remove).about(quotas::about_remove),
        get("topics", key, topics::list).about(topics::about_list),
        post("topics", key, topics::create).about(topics::about_create),
        get("topics/{name}", key, topics::read).about(topics::about_read),
        put("topics/{name}", key, topics::update).about(topics::about_update),
        delete("topics/{name}", key, topics::delete).about(topics::about_delete),
        get("users", key, users::list).about(users::about_list),
        post("users", key, users::create).about(users::about_create),
        delete("users/{name}", key, users::delete).about(users::about_delete),
        get("acls", key, acls::list).about(acls::about_list),
        post("acls", key, acls::create).about(acls::about_create),
        delete("acls/{acl_id}", key, acls::delete).about(acls::about_delete),
        get("config/kafka", key, config::list).about(config::about_list),
        post("config/kafka", key, config::update).about(config::about_update),
        get("metrics", key, metrics::read).about(metrics::about_read),
        get("metrics/prometheus", key, metrics::prometheus).about(metrics::about_prometheus),
        get("nodes", key, nodes::handle).about(nodes::about),
        get("alarms", key, alarms::list).about(alarms::about_list),
        post("alarms", key, alarms::create).about(alarms::about_create),
        get("alarms/{alarm_id}", key, alarms::read).about(alarms::about_read),
        put("alarms/{alarm_id}", key, alarms::update).about(alarms::about_update),
        get("alarms/{alarm_id}/history", key, alarms::history).about(alarms::about_history),
        delete("alarms/{alarm_id}", key, alarms::delete).about(alarms::about_delete),
        get("alarms/recipients", key, recipients::list).about(recipients::about_list),
        post("alarms/recipients", key, recipients::create).about(recipients::about_create),
        get("alarms/recipients/{recipient_id}", key, recipients::read)
            .about(recipients::about_read),
        put("alarms/recipients/{recipient_id}", key, recipients::update)
            .about(recipients::about_update),
        post("alarms/recipients/{recipient_id}/test", key, recipients::test)
            .about(recipients::about_test),
        delete("alarms/recipients/{recipient_id}", key, recipients::delete)
            .about(recipients::about_delete),
    ];
    routes.extend(integrations(IntegrationKind::Logs));
    routes.extend(integrations(IntegrationKind::Metrics));
    routes
}

/// Where logs go, or metrics. Each system that takes them has a path to create one.
fn integrations(kind: IntegrationKind) -> Vec<Route> {
    use instance::integrations as them;
    let (key, all) = (Guard::InstanceKey, format!("integrations/{kind}"));
    let (one, tested) =
        (format!("{all}/{{integration_id}}"), format!("{all}/{{integration_id}}/test"));
    let mut routes = vec![
        get(&all, key, move |access| them::list(kind, access))
            .about(move || them::about_list(kind)),
        get(&one, key, move |access, id| them::read(kind, access, id))
            .about(move || them::about_read(kind))
            .otherwise(them::unknown),
        put(&one, key, move |access, id, body| them::update(kind, access, id, body))
            .about(move || them::about_update(kind)),
        post(&tested, key, move |access, id| them::test(kind, access, id))
            .about(move || them::about_test(kind)),
        delete(&one, key, move |access, id| them::delete(kind, access, id))
            .about(move || them::about_delete(kind)),
    ];
    routes.extend(them::systems(kind).map(|system| {
        let path = format!("{all}/{system}");
        post(&path, key, move |access, body| them::create(kind, system, access, body))
            .about(move || them::about_create(kind, system))
    }));
    routes
}

/// The agents' listener.
pub fn agent() -> Vec<Route> {
    let certificate = Guard::AgentCertificate;
    vec![
        get("/healthz", Guard::Open, health::live),
        get("/metrics", Guard::Neighbour, metrics::handle),
        post("/agent/v1/enrol", Guard::AgentToken, agents::enrol),
        post("/agent/v1/renew", certificate, agents::renew),
        get("/agent/v1/desired", certificate, agents::desired),
        get("/agent/v1/integrations", certificate, agents::integrations),
        post("/agent/v1/report", certificate, agents::report),
        post("/agent/v1/claim", certificate, agents::claim),
        post("/agent/v1/metrics", certificate, agents::metrics::handle),
    ]
}

/// What a caller has to show. The extractors enforce it; this says it, and a
/// test compares the two for every route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    Open,
    CustomerKey,
    InstanceKey,
    AgentToken,
    AgentCertificate,
    /// A link that was sent by mail.
    Link,
    /// This machine, or a network the operator named.
    Neighbour,
}

/// One method on one path.
pub struct Route {
    pub method: Method,
    pub path: String,
    pub guard: Guard,
    /// What the OpenAPI document says of it; agents have none.
    pub(crate) about: Option<Box<dyn Fn() -> About>>,
    answer: MethodRouter<Api>,
}

impl Route {
    fn about(self, about: impl Fn() -> About + 'static) -> Self {
        Self { about: Some(Box::new(about)), ..self }
    }

    /// Who answers where its path is called by a method that no route has for it.
    fn otherwise<H: Handler<T, Api>, T: 'static>(self, handler: H) -> Self {
        Self { answer: self.answer.fallback(handler), ..self }
    }
}

pub fn customer_router(app: App, options: Options) -> Router {
    let table = customer().into_iter().chain(pages()).collect();
    router(table, app, Listener::Customer, options)
}

pub fn instance_router(app: App, options: Options) -> Router {
    router(instance(), app, Listener::Instance, options)
}

pub fn agent_router(app: App, options: Options) -> Router {
    router(agent(), app, Listener::Agent, options)
}

fn router(table: Vec<Route>, app: App, listener: Listener, options: Options) -> Router {
    let counters = Arc::new(Counters::new(listener));
    let api = Api { app, listener, options: Arc::new(options), counters };
    let around = axum::middleware::from_fn_with_state(api.clone(), around::around);
    let mut router = Router::new();
    for Route { path, answer, .. } in table {
        // After path and method are known to exist, before any key is looked up.
        let limited = answer.route_layer(axum::middleware::from_fn(limit::enforce));
        router = router.route(&path, limited);
    }
    router
        .fallback(|| async { error::not_found() })
        .method_not_allowed_fallback(|| async { error::method_not_allowed() })
        .layer(around)
        .with_state(api)
}

fn get<H: Handler<T, Api>, T: 'static>(path: &str, guard: Guard, handler: H) -> Route {
    route(Method::GET, path, guard, on(MethodFilter::GET, handler))
}

fn post<H: Handler<T, Api>, T: 'static>(path: &str, guard: Guard, handler: H) -> Route {
    route(Method::POST, path, guard, on(MethodFilter::POST, handler))
}

fn put<H: Handler<T, Api>, T: 'static>(path: &str, guard: Guard, handler: H) -> Route {
    route(Method::PUT, path, guard, on(MethodFilter::PUT, handler))
}

fn delete<H: Handler<T, Api>, T: 'static>(path: &str, guard: Guard, handler: H) -> Route {
    route(Method::DELETE, path, guard, on(MethodFilter::DELETE, handler))
}

fn route(method: Method, path: &str, guard: Guard, answer: MethodRouter<Api>) -> Route {
    Route { method, path: path.into(), guard, about: None, answer }
}
