//! Calls to Amazon's services: signed with the customer's key, and what their errors mean.

use crate::destination::setting;
use crate::drive::Meaning;
use crate::endpoints::Address;
use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use egress::{Answer, HttpRequest};
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
pub const JSON: (&str, &str) = ("content-type", "application/x-amz-json-1.1");
pub const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded; charset=utf-8");

#[derive(Default, Deserialize)]
#[serde(default)]
struct JsonError {
    #[serde(rename = "__type")]
    kind: String,
}

/// What services that speak JSON answer: which error it is stands in the body.
pub fn meaning_in_json(answer: &Answer) -> Meaning {
    let error: JsonError = serde_json::from_slice(&answer.body).unwrap_or_default();
    let kind = error.kind.rsplit('#').next().unwrap_or_default();
    meaning(answer, kind.split(':').next().unwrap_or_default())
}

/// What services that speak XML answer.
pub fn meaning_in_xml(answer: &Answer) -> Meaning {
    let body = String::from_utf8_lossy(&answer.body);
    let code = body.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    meaning(answer, code.map_or("", |(code, _)| code))
}

/// Amazon has no name of its own for a signature of another time: these words are all there is.
const OTHER_TIME: [&str; 2] = ["Signature expired", "Signature not yet current"];

fn meaning(answer: &Answer, kind: &str) -> Meaning {
    if answer.status < 400 {
        return Meaning::from_status(answer);
    }
    match kind.trim_end_matches("Exception") {
        // Of what was to be made.
        "ResourceAlreadyExists" => Meaning::Taken { refused: 0 },
        "ResourceNotFound" => Meaning::Missing,
        "Throttling"
        | "Throttled"
        | "RequestLimitExceeded"
        | "ServiceUnavailable"
        | "InternalFailure"
        | "InternalServiceFault"
        | "LimitExceeded"
        | "OperationAborted" => Meaning::Later { after: answer.retry_after },
        "InvalidSignature" | "SignatureDoesNotMatch" if holds_any(&answer.body, OTHER_TIME) => {
            Meaning::Never(OTHER_CLOCK)
        }
        "UnrecognizedClient"
        | "InvalidClientTokenId"
        | "InvalidSignature"
        | "SignatureDoesNotMatch"
        | "IncompleteSignature"
        | "MissingAuthenticationToken"
        | "AuthFailure"
        | "OptInRequired" => Meaning::BadKey,
        "AccessDenied" | "UnauthorizedOperation" | "NotAuthorized" => {
            Meaning::Never("it knows the access key, and the key has no permission for this")
        }
        "ExpiredToken" | "RequestExpired" => Meaning::Never(OTHER_CLOCK),
        _ => Meaning::from_status(answer),
    }
}

const OTHER_CLOCK: &str = "its clock and the one here differ by too much";

fn holds_any(body: &[u8], texts: [&str; 2]) -> bool {
    let body = String::from_utf8_lossy(body);
    texts.iter().any(|text| body.contains(text))
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
        let worded = |status: u16, kind: &str, words: &str| {
            let body = format!(r#"{{"__type":"{kind}","message":"{words}"}}"#).into_bytes();
            meaning_in_json(&Answer { status, retry_after: None, body })
        };
        let json = |status: u16, kind: &str| worded(status, kind, "secret words");
        let later = Meaning::Later { after: None };
        assert_eq!(json(400, "com.amazonaws.logs#ResourceNotFoundException"), Meaning::Missing);
        assert_eq!(json(400, "ThrottlingException:http://x"), later);
        assert_eq!(json(400, "UnrecognizedClientException"), Meaning::BadKey);
        assert_eq!(json(400, "InvalidParameterException"), Meaning::Bad);
        assert_eq!(json(500, "Whatever"), later);
        assert_eq!(json(400, "ResourceAlreadyExistsException"), Meaning::Taken { refused: 0 });
        assert_eq!(json(400, "InvalidSignatureException"), Meaning::BadKey);
        let expired = "Signature expired: 20261119T100000Z is now earlier than 20261119T101500Z";
        let other_clock = Meaning::Never(OTHER_CLOCK);
        assert_eq!(worded(400, "InvalidSignatureException", expired), other_clock);
        assert_eq!(json(200, ""), Meaning::Taken { refused: 0 });
        let xml = |status: u16, code: &str| {
            let body = format!("<ErrorResponse><Error><Code>{code}</Code></Error></ErrorResponse>");
            meaning_in_xml(&Answer { status, retry_after: None, body: body.into_bytes() })
        };
        assert_eq!(xml(400, "Throttling"), later);
        assert_eq!(xml(403, "InvalidClientTokenId"), Meaning::BadKey);
        assert!(matches!(xml(403, "AccessDenied"), Meaning::Never(_)));
        assert_eq!(xml(400, "InvalidParameterValue"), Meaning::Bad);
        assert_eq!(xml(403, "<Code"), Meaning::BadKey);
        let body = "<Code>SignatureDoesNotMatch</Code><Message>Signature not yet current";
        let body = body.as_bytes().to_vec();
        assert_eq!(meaning_in_xml(&Answer { status: 403, retry_after: None, body }), other_clock);
    }
}
