//! One HTTP call: address, key, and what became of it.

use crate::{Error, Result};
use model::Secret;
use reqwest::{Method, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use url::Url;
use wire::customer::ErrorBody;

/// A call that waits for brokers is answered, with what became of it, after half a minute
/// and some seconds at most.
const TIMEOUT: Duration = Duration::from_mins(1);

#[derive(Clone, Debug)]
pub struct Caller {
    http: reqwest::Client,
    base: Url,
    apikey: Secret,
}

impl Caller {
    pub fn new(base: &Url, apikey: Secret, authority_pem: Option<&str>) -> Result<Self> {
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() {
            return Err(Error::BadAddress(base.to_string()));
        }
        let mut base = base.clone();
        // Without it, joining would replace the last segment.
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        // An error says that the program has chosen one before, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder().timeout(TIMEOUT);
        if let Some(pem) = authority_pem {
            let authorities = reqwest::Certificate::from_pem_bundle(pem.as_bytes());
            builder = builder.tls_certs_merge(authorities.map_err(Error::SetUp)?);
        }
        let http = builder.build().map_err(Error::SetUp)?;
        Ok(Self { http, base, apikey })
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.read(self.request(Method::GET, path)?).await
    }

    /// With the parameters that are given.
    pub async fn get_with<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, Option<&str>)],
    ) -> Result<T> {
        self.read(self.request(Method::GET, path)?.query(query)).await
    }

    /// The same for a body that may be large.
    pub async fn get_piecewise(
        &self,
        path: &str,
        query: &[(&str, Option<&str>)],
    ) -> Result<Piecewise> {
        let response = self.answer(self.request(Method::GET, path)?.query(query)).await?;
        Ok(Piecewise { response, url: self.base.to_string() })
    }

    /// A call without a body.
    pub async fn post<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.read(self.request(Method::POST, path)?).await
    }

    /// A call without a body, and an answer without one.
    pub async fn post_for_nothing(&self, path: &str) -> Result<()> {
        self.answer(self.request(Method::POST, path)?).await.map(drop)
    }

    pub async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T> {
        self.read(self.request(method, path)?.json(body)).await
    }

    /// A call that is answered with nothing.
    pub async fn send_for_nothing(
        &self,
        method: Method,
        path: &str,
        body: &impl Serialize,
    ) -> Result<()> {
        self.answer(self.request(method, path)?.json(body)).await.map(drop)
    }

    /// A call that is answered with text.
    pub async fn send_for_text(&self, path: &str, body: &impl Serialize) -> Result<String> {
        let response = self.answer(self.request(Method::POST, path)?.json(body)).await?;
        let text = response.text().await;
        text.map_err(|_| Error::BrokeOff { url: self.base.to_string() })
    }

    pub async fn delete(&self, path: &str) -> Result<()> {
        self.answer(self.request(Method::DELETE, path)?).await.map(drop)
    }

    /// With the parameters that are given.
    pub async fn delete_with(&self, path: &str, query: &[(&str, Option<&str>)]) -> Result<()> {
        self.answer(self.request(Method::DELETE, path)?.query(query)).await.map(drop)
    }

    /// The same where the answer says something.
    pub async fn delete_for<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        self.read(self.request(Method::DELETE, path)?).await
    }

    fn request(&self, method: Method, path: &str) -> Result<RequestBuilder> {
        let url = self.base.join(path).map_err(|_| Error::BadAddress(self.base.to_string()))?;
        Ok(self.http.request(method, url).basic_auth("", Some(self.apikey.expose())))
    }

    async fn read<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T> {
        let response = self.answer(request).await?;
        let status = response.status();
        response.json().await.map_err(|_| Error::NotOurs { url: self.base.to_string(), status })
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Response> {
        let response = request
            .send()
            .await
            .map_err(|source| Error::Unreachable { url: self.base.to_string(), source })?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        match response.json::<ErrorBody>().await {
            Ok(body) => Err(Error::Refused { status, body }),
            Err(_) => Err(Error::NotOurs { url: self.base.to_string(), status }),
        }
    }
}

/// A body while it arrives.
pub struct Piecewise {
    response: Response,
    url: String,
}

impl Piecewise {
    /// The next bytes; none at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let piece = self.response.chunk().await;
        let piece = piece.map_err(|_| Error::BrokeOff { url: self.url.clone() })?;
        Ok(piece.map(|bytes| bytes.to_vec()))
    }
}
