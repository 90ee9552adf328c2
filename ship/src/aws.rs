//! Calls to Amazon's services: signed with the customer's key, and what their errors mean.

use crate::destination::setting;
use crate::drive::Said;
use crate::endpoints::Address;
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use egress::{Answer, HttpRequest};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use model::{IntegrationConfig, Timestamp};
use serde::Deserialize;
use std::time::SystemTime;
use url::Url;

/// A service in a region, as one of its customers calls it.
pub struct Service {
    pub url: Url,
    name: &'static str,
    region: String,
    access_key_id: String,
    secret_access_key: String,
}

impl Service {
    pub fn new(name: &'static str, address: &Address, config: &IntegrationConfig) -> Option<Self> {
        let region = setting(config, "region");
        let mut url = address.at(region)?;
        // China has its own domain.
        let host = url.host_str().filter(|_| region.starts_with("cn-"));
        if let Some(host) = host.filter(|host| host.ends_with(".amazonaws.com")) {
            let host = format!("{host}.cn");
            url.set_host(Some(&host)).ok()?;
        }
        Some(Self {
            url,
            name,
            region: region.to_owned(),
            access_key_id: setting(config, "access_key_id").to_owned(),
            secret_access_key: setting(config, "secret_access_key").to_owned(),
        })
    }

    /// A signed POST with these headers, all of which are part of what is signed.
    pub fn request(
        &self,
        headers: &[(&'static str, &'static str)],
        body: Vec<u8>,
        now: Timestamp,
    ) -> Option<HttpRequest> {
        let signature = self.sign("POST", headers, &body, now)?;
        let mut request = HttpRequest::new(self.url.clone(), body);
        for (name, value) in headers {
            let value = HeaderValue::from_static(value);
            request.headers.insert(HeaderName::from_static(name), value);
        }
        request.headers.extend(signature);
        Some(request)
    }

    /// The headers that sign a call.
    fn sign(
        &self,
        method: &str,
        headers: &[(&'static str, &'static str)],
        body: &[u8],
        now: Timestamp,
    ) -> Option<HeaderMap> {
        let (id, secret) = (&*self.access_key_id, &*self.secret_access_key);
        let identity = Credentials::new(id, secret, None, None, "castellan").into();
        let params = SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(self.name)
            .time(SystemTime::from(now))
            .settings(SigningSettings::default())
            .build()
            .ok()?;
        let body = SignableBody::Bytes(body);
        let signable =
            SignableRequest::new(method, self.url.as_str(), headers.iter().copied(), body);
        let (signature, _) = sign(signable.ok()?, &params.into()).ok()?.into_parts();
        let mut signed = HeaderMap::new();
        for (name, value) in signature.headers() {
            let mut value = HeaderValue::try_from(value).ok()?;
            value.set_sensitive(true);
            signed.insert(HeaderName::try_from(name).ok()?, value);
        }
        Some(signed)
    }
}

/// `application/x-amz-json-1.1`, as a header of a request.
pub const JSON: (&str, &str) = (CONTENT_TYPE_NAME, "application/x-amz-json-1.1");
pub const FORM: (&str, &str) =
    (CONTENT_TYPE_NAME, "application/x-www-form-urlencoded; charset=utf-8");
const CONTENT_TYPE_NAME: &str = "content-type";
const _: HeaderName = CONTENT_TYPE;

#[derive(Default, Deserialize)]
#[serde(default)]
struct JsonError {
    #[serde(rename = "__type")]
    kind: String,
}

/// What services that speak JSON answer: which error it is stands in the body.
pub fn said_in_json(answer: &Answer) -> Said {
    let error: JsonError = serde_json::from_slice(&answer.body).unwrap_or_default();
    let kind = error.kind.rsplit('#').next().unwrap_or_default();
    said(answer, kind.split(':').next().unwrap_or_default())
}

/// What services that speak XML answer.
pub fn said_in_xml(answer: &Answer) -> Said {
    let body = String::from_utf8_lossy(&answer.body);
    let code = body.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    said(answer, code.map_or("", |(code, _)| code))
}

fn said(answer: &Answer, kind: &str) -> Said {
    if answer.status < 400 {
        return Said::of(answer);
    }
    match kind.trim_end_matches("Exception") {
        "ResourceNotFound" => Said::Missing,
        "Throttling"
        | "ThrottledException"
        | "Throttled"
        | "RequestLimitExceeded"
        | "ServiceUnavailable"
        | "InternalFailure"
        | "InternalServiceFault"
        | "LimitExceeded"
        | "OperationAborted" => Said::Later { after: answer.retry_after },
        "UnrecognizedClient"
        | "InvalidClientTokenId"
        | "InvalidSignature"
        | "SignatureDoesNotMatch"
        | "IncompleteSignature"
        | "MissingAuthenticationToken"
        | "AuthFailure"
        | "OptInRequired" => Said::BadKey,
        "AccessDenied" | "UnauthorizedOperation" | "NotAuthorized" => {
            Said::Never("it knows the access key, and the key has no permission for this")
        }
        "ExpiredToken" | "RequestExpired" => Said::Never("the clocks differ by too much"),
        _ => Said::of(answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Secret;

    fn service(name: &'static str, address: &str, region: &str) -> Service {
        let config = [
            ("region", region),
            ("access_key_id", "AKIDEXAMPLE"),
            ("secret_access_key", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        ];
        let config = config.map(|(name, value)| (name.to_owned(), Secret::new(value)));
        let address = Address::try_from(address.to_owned()).unwrap();
        Service::new(name, &address, &config.into()).unwrap()
    }

    /// `post-vanilla` and `get-vanilla` of the test suite that Amazon publishes for its
    /// signatures.
    #[test]
    fn signatures_are_as_published() {
        let service = service("service", "https://example.amazonaws.com", "us-east-1");
        let now = "2015-08-30T12:36:00Z".parse().unwrap();
        for (method, signature) in [
            ("GET", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("POST", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        ] {
            let headers = service.sign(method, &[], b"", now).unwrap();
            let expected = format!(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                 SignedHeaders=host;x-amz-date, Signature={signature}"
            );
            assert_eq!(headers["authorization"], expected, "{method}");
            assert_eq!(headers["x-amz-date"], "20150830T123600Z");
        }
    }

    #[test]
    fn china_is_elsewhere() {
        let host = |address: &str, region: &str| {
            service("logs", address, region).url.host_str().unwrap().to_owned()
        };
        let real = "https://logs.{region}.amazonaws.com";
        assert_eq!(host(real, "eu-west-1"), "logs.eu-west-1.amazonaws.com");
        assert_eq!(host(real, "cn-north-1"), "logs.cn-north-1.amazonaws.com.cn");
        assert_eq!(host("https://gate.test", "cn-north-1"), "gate.test");
    }

    #[test]
    fn what_errors_mean() {
        let json = |status: u16, kind: &str| {
            let body = format!(r#"{{"__type":"{kind}","message":"secret words"}}"#).into_bytes();
            said_in_json(&Answer { status, retry_after: None, body })
        };
        let later = Said::Later { after: None };
        assert_eq!(json(400, "com.amazonaws.logs#ResourceNotFoundException"), Said::Missing);
        assert_eq!(json(400, "ThrottlingException:http://x"), later);
        assert_eq!(json(400, "UnrecognizedClientException"), Said::BadKey);
        assert_eq!(json(400, "InvalidParameterException"), Said::Bad);
        assert_eq!(json(500, "Whatever"), later);
        assert_eq!(json(200, ""), Said::Taken { refused: 0 });
        let xml = |status: u16, code: &str| {
            let body = format!("<ErrorResponse><Error><Code>{code}</Code></Error></ErrorResponse>");
            said_in_xml(&Answer { status, retry_after: None, body: body.into_bytes() })
        };
        assert_eq!(xml(400, "Throttling"), later);
        assert_eq!(xml(403, "InvalidClientTokenId"), Said::BadKey);
        assert!(matches!(xml(403, "AccessDenied"), Said::Never(_)));
        assert_eq!(xml(400, "InvalidParameterValue"), Said::Bad);
        assert_eq!(xml(403, "<Code"), Said::BadKey);
    }
}
