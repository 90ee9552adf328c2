//! What can go wrong in a use case, told without a transport.
//!
//! `Display` is the public sentence of each variant: it never holds SQL, a
//! path or a secret. What only the log may see is the source.

use model::Timestamp;

pub type Result<T> = std::result::Result<T, Error>;

/// A field of a request and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldProblem {
    pub field: String,
    pub what: String,
}

/// The number of an error that existing clients switch on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    /// Firewall rules are not in effect yet.
    pub const FIREWALL_NOT_CONFIGURED: Self = Self(40_001);
    /// A firewall rule opens nothing.
    pub const EMPTY_FIREWALL_RULE: Self = Self(40_002);
    /// A disk would become smaller.
    pub const SMALLER_DISK: Self = Self(40_007);
}

/// One variant for each thing that callers treat differently.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller is unknown, in the words to say so.
    #[error("{0}")]
    NotAuthorized(&'static str),
    /// The caller is known, and their role does not go that far.
    #[error("{0}")]
    Forbidden(String),
    /// No such instance, or none that this caller may see.
    #[error("Invalid ID")]
    InvalidId,
    #[error("Not Found")]
    NotFound,
    /// The request can't be understood at all.
    #[error("{0}")]
    Unreadable(String),
    #[error("The request body is larger than {limit_kib} KiB")]
    TooLarge { limit_kib: usize },
    #[error("Too many requests; try again in {retry_after} s")]
    TooMany {
        /// Seconds.
        retry_after: u64,
    },
    /// Fields are missing or wrong.
    #[error("{}", summary(.0))]
    Invalid(Vec<FieldProblem>),
    /// Understood and allowed, but it can't be done now or here.
    #[error("{0}")]
    Refused(String),
    /// The same, where clients of the family tell errors by their numbers.
    #[error("{sentence}")]
    Coded { code: ErrorCode, sentence: String },
    /// Done in part, or unknown: what became of each piece.
    #[error("{summary}")]
    Partly { summary: String, pieces: Vec<FieldProblem> },
    /// It was tried, and it is unknown whether it was done or will be.
    #[error("{0}")]
    Unknown(String),
    /// A use case that shared plans don't have.
    #[error("Not available on shared plans")]
    NotOnSharedPlans,
    /// The same call may succeed later.
    #[error("The service can't answer right now; try again in a few seconds")]
    Away(#[source] store::Error),
    #[error("Castellan is stopping; try again in a few seconds")]
    Stopping,
    #[error("Something went wrong on our side; try again later")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// For a key that is missing, malformed or unknown.
    pub const NOT_AUTHORIZED: Error = Error::NotAuthorized("Not authorized");

    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error::Internal(source.into())
    }

    /// A limit is reached until then.
    pub(crate) fn too_many(now: Timestamp, until: Timestamp) -> Self {
        let seconds = u64::try_from(until.duration_since(now).as_secs()).unwrap_or_default();
        Error::TooMany { retry_after: seconds + 1 }
    }

    /// A field error on its own.
    pub fn field(field: &str, what: impl Into<String>) -> Self {
        Error::Invalid(vec![FieldProblem { field: field.into(), what: what.into() }])
    }
}

impl From<store::Error> for Error {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Away(_) => Error::Away(error),
            _ => Error::internal(error),
        }
    }
}

impl From<watch::Error> for Error {
    fn from(error: watch::Error) -> Self {
        match error {
            watch::Error::Store(error) => error.into(),
            watch::Error::Reach(error) => Error::internal(error),
        }
    }
}

impl From<pki::Error> for Error {
    fn from(error: pki::Error) -> Self {
        Error::internal(error)
    }
}

fn summary(problems: &[FieldProblem]) -> String {
    match problems {
        [one] => format!("{}: {}", one.field, one.what),
        many => {
            let fields: Vec<&str> = many.iter().map(|problem| problem.field.as_str()).collect();
            format!("{} fields are missing or wrong: {}", many.len(), fields.join(", "))
        }
    }
}
