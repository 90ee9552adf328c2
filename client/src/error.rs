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

impl Error {
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

/// With several fields wrong the summary only names them; say what is wrong.
fn sentence(body: &ErrorBody) -> String {
    if body.errors.len() < 2 {
        return body.error.clone();
    }
    let each: Vec<String> =
        body.errors.iter().flatten().map(|(field, what)| format!("{field}: {what}")).collect();
    each.join("; ")
}
