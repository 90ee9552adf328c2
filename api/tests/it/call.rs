//! One request to a router, and what came back.

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Request, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::BodyExt as _;
use model::{Instance, Secret};
use serde_json::Value;
use std::net::SocketAddr;
use tower::ServiceExt as _;

/// A request.
#[derive(Clone)]
pub struct Call {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    peer: SocketAddr,
    certificate: Option<Vec<u8>>,
}

impl Call {
    pub fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.into(),
            path: path.into(),
            headers: Vec::new(),
            body: Vec::new(),
            peer: "192.0.2.7:4711".parse().unwrap(),
            certificate: None,
        }
    }

    pub fn get(path: &str) -> Self {
        Self::new("GET", path)
    }

    pub fn post(path: &str) -> Self {
        Self::new("POST", path)
    }

    pub fn put(path: &str) -> Self {
        Self::new("PUT", path)
    }

    pub fn delete(path: &str) -> Self {
        Self::new("DELETE", path)
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn key(self, key: &Secret) -> Self {
        let encoded = STANDARD.encode(format!(":{}", key.expose()));
        self.header("authorization", &format!("Basic {encoded}"))
    }

    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.header("content-type", content_type)
    }

    /// A body that does not say what it is.
    pub fn bytes(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    pub fn form(self, body: &str) -> Self {
        self.body("application/x-www-form-urlencoded", body)
    }

    pub fn peer(mut self, peer: &str) -> Self {
        self.peer = peer.parse().unwrap();
        self
    }

    pub fn certificate(mut self, der: &[u8]) -> Self {
        self.certificate = Some(der.to_vec());
        self
    }

    /// A header as it goes out.
    pub fn sent_header(&self, name: &str) -> &str {
        &self.headers.iter().find(|(found, _)| found == name).unwrap().1
    }

    pub async fn send(&self, router: &Router) -> Answer {
        let mut request = Request::builder().method(self.method.as_str()).uri(&self.path);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut request = request.body(Body::from(self.body.clone())).unwrap();
        request.extensions_mut().insert(ConnectInfo(self.peer));
        request.extensions_mut().insert(web::PeerCertificate(self.certificate.clone()));
        let response = router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(bytes.into()).unwrap(),
        }
    }
}

/// What came back.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn expect_error(&self, status: u16, error: &str) {
        assert_eq!(self.status, status, "{}", self.text);
        assert_eq!(self.json()["error"], error);
        assert_eq!(self.header("content-type"), "application/json");
    }

    /// Status and body, with what was made at random named instead.
    pub fn shown(&self, instances: &[&Instance]) -> String {
        let body = match self.header("content-type") {
            "application/json" => serde_json::to_string_pretty(&self.json()).unwrap(),
            _ => self.text.clone(),
        };
        let mut shown = format!("{}\n{body}", self.status);
        for instance in instances {
            for (found, name) in [
                (instance.password.expose(), "[password]"),
                (instance.apikey.expose(), "[apikey]"),
                (instance.username.as_str(), "[username]"),
                (&instance.provider_id.to_string(), "[providerid]"),
            ] {
                shown = shown.replace(found, name);
            }
        }
        certificates_named(&shown)
    }
}

/// Keys of certificates are made by the operating system, so they differ.
pub fn certificates_named(text: &str) -> String {
    let mut rest = text;
    let mut shown = String::new();
    while let Some((before, after)) = rest.split_once("-----BEGIN CERTIFICATE-----") {
        let (_, after) = after.split_once("-----END CERTIFICATE-----").unwrap();
        shown = shown + before + "[certificate]";
        rest = after;
    }
    shown + rest
}
