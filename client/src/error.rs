//! Why a call failed.

use reqwest::StatusCode;
use wire::customer::ErrorBody;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0} is not the address of a Customer API")]
    BadAddress(String),
    /// Its path would be another thing's.
    #[error("nothing can be called \"{0}\"; give another name")]
    NoName(String),
    /// Nothing that can answer is there.
    #[error("{url} can't be reached; is `castellan serve` running there?")]
    Unreachable { url: String, source: reqwest::Error },
    /// The server's own sentence.
    #[error("{}", sentence(body))]
    Refused { status: StatusCode, body: ErrorBody },
    #[error("{url} answered {status} with something that is not of this API")]
    NotOurs { url: String, status: StatusCode },
    /// What came so far is not all.
    #[error("{url} broke off in the middle of its answer; try again")]
    BrokeOff { url: String },
    #[error("the HTTP client can't be set up")]
    SetUp(#[source] reqwest::Error),
}

/// The number by which the API says that firewall rules are not in effect yet.
const FIREWALL_NOT_CONFIGURED: u32 = 40_001;

impl Error {
    /// Whether new firewall rules are still being applied.
    pub fn is_firewall_not_configured(&self) -> bool {
        let Error::Refused { body, .. } = self else { return false };
        body.error_code == Some(FIREWALL_NOT_CONFIGURED)
    }

    /// Whether the thing asked for does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::Refused { status, .. } if *status == StatusCode::NOT_FOUND)
    }

    /// Whether the same call may succeed once the control plane is back.
    pub fn is_away(&self) -> bool {
        match self {
            Error::Unreachable { .. } => true,
            Error::Refused { status, .. } => *status == StatusCode::SERVICE_UNAVAILABLE,
            _ => false,
        }
    }
}

/// With several fields wrong the summary leaves out what is wrong with each.
fn sentence(body: &ErrorBody) -> String {
    let fields = body.errors.iter().flatten();
    if body.errors.len() < 2 {
        return body.error.clone();
    }
    let each: Vec<String> = fields.map(|(field, what)| format!("{field}: {what}")).collect();
    format!("{}; {}", body.error, each.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_summary_is_told_with_what_is_wrong_with_each_field() {
        let check = |body: serde_json::Value, expected: &str| {
            let body: ErrorBody = serde_json::from_value(body).unwrap();
            assert_eq!(sentence(&body), expected);
        };
        check(json!({"error": "Not Found"}), "Not Found");
        check(json!({"error": "a: is wrong", "errors": [{"a": "is wrong"}]}), "a: is wrong");
        let fields = json!([{"a": "is wrong"}, {"b": "is missing"}]);
        check(
            json!({"error": "2 fields are missing or wrong: a, b", "errors": fields}),
            "2 fields are missing or wrong: a, b; a: is wrong; b: is missing",
        );
        let pieces = json!([{"messages[0]": "written"}, {"messages[1]": "not written"}]);
        check(
            json!({"error": "Of 2 messages 1 was written", "errors": pieces}),
            "Of 2 messages 1 was written; messages[0]: written; messages[1]: not written",
        );
    }
}
