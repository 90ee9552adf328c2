//! Every path of both APIs and of the agents' listener, on one page.

use crate::openapi::About;
use crate::state::{Api, Listener, Options};
use crate::{
    agents, around, confirmations, customer, docs, error, health, instance, invitations, limit,
    metrics, openapi,
};
use app::App;
use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use std::sync::Arc;

/// The Customer API: the account's own routes, and every Instance API route
/// under `/api/instances/{id}/`.
pub fn customer() -> Vec<Route> {
    use customer::instances::{account, actions};
    use customer::{apikeys, auditlog, instances, invoices, plans, regions, team, vpcs};
    let key = Guard::CustomerKey;
    let mut routes = vec![
        get("/healthz", Guard::Open, health::live).about(health::about_live),
        get("/readyz", Guard::Open, health::ready).about(health::about_ready),
        get("/openapi.json", Guard::Open, openapi::handle).about(openapi::about),
        get("/docs", Guard::Open, docs::handle).about(docs::about),
        get("/api/instances", key, instances::list::handle).about(instances::list::about),
        post("/api/instances", key, instances::create::handle).about(instances::create::about),
        get("/api/instances/{id}", key, instances::read::handle).about(instances::read::about),
        put("/api/instances/{id}", key, instances::update::handle).about(instances::update::about),
        delete("/api/instances/{id}", key, instances::delete::handle)
            .about(instances::delete::about),
        get("/api/instances/{id}/actions", key, actions::list::handle).about(actions::list::about),
        get("/api/instances/{id}/actions/{action_id}", key, actions::read::handle)
            .about(actions::read::about)
            .otherwise(actions::unknown::handle),
        post("/api/instances/{id}/actions/{action_id}/cancel", key, actions::cancel::handle)
            .about(actions::cancel::about),
        post("/api/instances/{id}/actions/restart", key, actions::restart::handle)
            .about(actions::restart::about),
        post("/api/instances/{id}/actions/reboot", key, actions::reboot::handle)
            .about(actions::reboot::about),
        post("/api/instances/{id}/actions/stop", key, actions::stop::handle)
            .about(actions::stop::about),
        post("/api/instances/{id}/actions/start", key, actions::start::handle)
            .about(actions::start::about),
        post("/api/instances/{id}/actions/cluster-restart", key, actions::cluster_restart::handle)
            .about(actions::cluster_restart::about),
        post("/api/instances/{id}/actions/cluster-stop", key, actions::cluster_stop::handle)
            .about(actions::cluster_stop::about),
        post("/api/instances/{id}/actions/cluster-start", key, actions::cluster_start::handle)
            .about(actions::cluster_start::about),
        post("/api/instances/{id}/account/rotate-apikey", key, account::rotate_apikey::handle)
            .about(account::rotate_apikey::about),
        post("/api/instances/{id}/account/rotate-password", key, account::rotate_password::handle)
            .about(account::rotate_password::about),
        get("/api/vpcs", key, vpcs::list::handle).about(vpcs::list::about),
        post("/api/vpcs", key, vpcs::create::handle).about(vpcs::create::about),
        get("/api/vpcs/{vpc_id}", key, vpcs::read::handle).about(vpcs::read::about),
        put("/api/vpcs/{vpc_id}", key, vpcs::update::handle).about(vpcs::update::about),
        delete("/api/vpcs/{vpc_id}", key, vpcs::delete::handle).about(vpcs::delete::about),
        get("/api/invoices", key, invoices::list::handle).about(invoices::list::about),
        get("/api/invoices/period", key, invoices::period::handle).about(invoices::period::about),
        get("/api/invoices/{invoice_id}", key, invoices::read::handle).about(invoices::read::about),
        get("/api/auditlog/csv", key, auditlog::csv::handle).about(auditlog::csv::about),
        get("/api/team", key, team::list::handle).about(team::list::about),
        post("/api/team/invite", key, team::invite::handle).about(team::invite::about),
        post("/api/team/remove", key, team::remove::handle).about(team::remove::about),
        put("/api/team/{user_id}", key, team::update::handle).about(team::update::about),
        post("/api/apikeys/rotate-apikey", key, apikeys::rotate::handle)
            .about(apikeys::rotate::about),
        get("/api/plans", key, plans::handle).about(plans::about),
        get("/api/regions", key, regions::handle).about(regions::about),
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
        get("/invitations/{token}", Guard::Link, invitations::show::handle),
        post("/invitations/{token}", Guard::Link, invitations::accept::handle),
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
    vec![
        get("details", key, details::handle).about(details::about),
        get("ca/ca_cert.pem", key, ca::certificate::handle).about(ca::certificate::about),
        post("ca/sign", key, ca::sign::handle).about(ca::sign::about),
        get("ca/certificates", key, ca::list::handle).about(ca::list::about),
        delete("ca/certificates/{serial}", key, ca::revoke::handle).about(ca::revoke::about),
        get("cluster/status", key, cluster::status::handle).about(cluster::status::about),
        post("cluster/restart", key, cluster::restart::handle).about(cluster::restart::about),
        get("topics/{name}/messages", key, messages::read::handle).about(messages::read::about),
        post("topics/{name}/messages", key, messages::write::handle).about(messages::write::about),
        get("groups", key, groups::list::handle).about(groups::list::about),
        get("groups/{name}", key, groups::read::handle).about(groups::read::about),
        post("groups/{name}/reset", key, groups::reset::handle).about(groups::reset::about),
        delete("groups/{name}", key, groups::delete::handle).about(groups::delete::about),
        get("quotas", key, quotas::list::handle).about(quotas::list::about),
        put("quotas", key, quotas::set::handle).about(quotas::set::about),
        delete("quotas", key, quotas::remove::handle).about(quotas::remove::about),
        get("topics", key, topics::list::handle).about(topics::list::about),
        post("topics", key, topics::create::handle).about(topics::create::about),
        get("topics/{name}", key, topics::read::handle).about(topics::read::about),
        put("topics/{name}", key, topics::update::handle).about(topics::update::about),
        delete("topics/{name}", key, topics::delete::handle).about(topics::delete::about),
        get("users", key, users::list::handle).about(users::list::about),
        post("users", key, users::create::handle).about(users::create::about),
        delete("users/{name}", key, users::delete::handle).about(users::delete::about),
        get("acls", key, acls::list::handle).about(acls::list::about),
        post("acls", key, acls::create::handle).about(acls::create::about),
        delete("acls/{acl_id}", key, acls::delete::handle).about(acls::delete::about),
        get("config/kafka", key, config::list::handle).about(config::list::about),
        post("config/kafka", key, config::update::handle).about(config::update::about),
        get("metrics", key, metrics::read::handle).about(metrics::read::about),
        get("metrics/prometheus", key, metrics::prometheus::handle)
            .about(metrics::prometheus::about),
        get("nodes", key, nodes::handle).about(nodes::about),
        get("alarms", key, alarms::list::handle).about(alarms::list::about),
        post("alarms", key, alarms::create::handle).about(alarms::create::about),
        get("alarms/{alarm_id}", key, alarms::read::handle).about(alarms::read::about),
        put("alarms/{alarm_id}", key, alarms::update::handle).about(alarms::update::about),
        get("alarms/{alarm_id}/history", key, alarms::history::handle)
            .about(alarms::history::about),
        delete("alarms/{alarm_id}", key, alarms::delete::handle).about(alarms::delete::about),
        get("alarms/recipients", key, recipients::list::handle).about(recipients::list::about),
        post("alarms/recipients", key, recipients::create::handle).about(recipients::create::about),
        get("alarms/recipients/{recipient_id}", key, recipients::read::handle)
            .about(recipients::read::about),
        put("alarms/recipients/{recipient_id}", key, recipients::update::handle)
            .about(recipients::update::about),
        post("alarms/recipients/{recipient_id}/test", key, recipients::test::handle)
            .about(recipients::test::about),
        delete("alarms/recipients/{recipient_id}", key, recipients::delete::handle)
            .about(recipients::delete::about),
    ]
}

/// The agents' listener.
pub fn agent() -> Vec<Route> {
    let certificate = Guard::AgentCertificate;
    vec![
        get("/healthz", Guard::Open, health::live),
        get("/metrics", Guard::Neighbour, metrics::handle),
        post("/agent/v1/enrol", Guard::AgentToken, agents::enrol::handle),
        post("/agent/v1/renew", certificate, agents::renew::handle),
        get("/agent/v1/desired", certificate, agents::desired::handle),
        post("/agent/v1/report", certificate, agents::report::handle),
        post("/agent/v1/claim", certificate, agents::claim::handle),
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
    pub(crate) about: Option<fn() -> About>,
    answer: MethodRouter<Api>,
}

impl Route {
    fn about(self, about: fn() -> About) -> Self {
        Self { about: Some(about), ..self }
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
    let api = Api { app, listener, options: Arc::new(options) };
    let around = axum::middleware::from_fn_with_state(api.clone(), around::around);
    let mut router = Router::new();
    for Route { path, answer, .. } in table {
        // After path and method are known to exist, before any key is looked up.
        let limited = answer.route_layer(axum::middleware::from_fn(limit::enforce));
        router = router.route(&path, limited);
    }
    router
        .fallback(error::not_found)
        .method_not_allowed_fallback(error::method_not_allowed)
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
