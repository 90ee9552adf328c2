//! How many requests of which kind were answered, and how long they took.
//!
//! A counter is looked up by the texts of its labels once and then kept: that costs as much
//! as answering a small request.

use crate::state::Listener;
use axum::http::{Method, StatusCode};
use metrics::{Counter, Histogram};
use std::collections::HashMap;
use std::sync::RwLock;

/// Those of one listener.
pub struct Counters {
    listener: Listener,
    routes: RwLock<HashMap<String, Route>>,
}

struct Route {
    seconds: Histogram,
    /// Of each method and status that was answered.
    answered: Vec<(&'static str, StatusCode, Counter)>,
}

impl Counters {
    pub fn new(listener: Listener) -> Self {
        Self { listener, routes: RwLock::default() }
    }

    /// `route` is as it stands in the table of routes; empty if there is none.
    pub fn count(&self, route: &str, method: &Method, status: StatusCode, seconds: f64) {
        let method = known(method);
        if !self.count_known(route, method, status, seconds) {
            self.add(route, method, status);
            self.count_known(route, method, status, seconds);
        }
    }

    fn count_known(&self, route: &str, method: &str, status: StatusCode, seconds: f64) -> bool {
        let routes = self.routes.read().expect("no holder of this lock panics");
        let Some(route) = routes.get(route) else { return false };
        let found = route.answered.iter().find(|(of, with, _)| (*of, *with) == (method, status));
        let Some((_, _, counter)) = found else { return false };
        counter.increment(1);
        route.seconds.record(seconds);
        true
    }

    fn add(&self, route: &str, method: &'static str, status: StatusCode) {
        let labels = [
            ("listener", self.listener.as_str().to_owned()),
            ("route", route.to_owned()),
            ("method", method.to_owned()),
            ("status", status.as_u16().to_string()),
        ];
        let counter = metrics::counter!("castellan_http_requests_total", &labels);
        let mut routes = self.routes.write().expect("no holder of this lock panics");
        let of_route = routes.entry(route.to_owned()).or_insert_with(|| Route {
            seconds: metrics::histogram!("castellan_http_request_seconds", &labels[..2]),
            answered: Vec::new(),
        });
        // Two requests may have come to this at once.
        if !of_route.answered.iter().any(|(of, with, _)| (*of, *with) == (method, status)) {
            of_route.answered.push((method, status, counter));
        }
    }
}

/// A method that anybody can make up must not become a series of its own.
fn known(method: &Method) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];
    known.into_iter().find(|name| method.as_str() == *name).unwrap_or("other")
}
