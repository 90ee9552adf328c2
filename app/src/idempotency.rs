//! Calls that may be sent twice and happen once: the first answer is kept for
//! a day, sealed, and given again.
//!
//! The answer is saved in the transaction of the change itself, so there is
//! either both or neither. The caller's rights are checked every time, before
//! this.

use crate::{App, Caller, Error, Problems, Result};
use model::{Secret, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::idempotency::{self, Answered, Scope};
use store::{Work, hash_key};

/// The name clients know it by.
const FIELD: &str = "Idempotency-Key";

/// A call under the key its client chose.
pub(crate) struct Repeatable {
    scope: Scope,
    request_hash: String,
}

impl Repeatable {
    /// None if no key was given; a key that is no key is noted as a problem.
    pub fn new(
        caller: &Caller,
        operation: &'static str,
        key: Option<&str>,
        request: &impl Serialize,
        problems: &mut Problems,
    ) -> Option<Self> {
        let key = key?;
        let printable = key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        if !(1..=255).contains(&key.len()) || !printable {
            problems.add(FIELD, "must be 1 to 255 printable ASCII characters");
            return None;
        }
        let text = serde_json::to_string(request).expect("plain data serialises");
        Some(Self {
            scope: Scope { user_id: caller.user_id, operation, key: key.into() },
            request_hash: hash_key(&Secret::new(text)),
        })
    }
}

/// The first answer to this call. The same key on another request is an error.
pub(crate) async fn answered<T: DeserializeOwned>(
    app: &App,
    repeatable: Option<&Repeatable>,
) -> Result<Option<T>> {
    let Some(call) = repeatable else { return Ok(None) };
    let mut reader = app.store().reader();
    let found = idempotency::find(&mut reader, &call.scope, since(app.now())).await?;
    let Some(first) = found else { return Ok(None) };
    if first.request_hash != call.request_hash {
        return Err(Error::field(FIELD, "was used with another request; choose a new one"));
    }
    serde_json::from_str(first.answer.expose()).map(Some).map_err(Error::internal)
}

/// Keeps the answer; a conflict means that another did so first.
pub(crate) async fn keep(
    work: &mut Work,
    app: &App,
    repeatable: Option<&Repeatable>,
    answer: &impl Serialize,
) -> store::Result<()> {
    let Some(call) = repeatable else { return Ok(()) };
    let text = serde_json::to_string(answer).expect("plain data serialises");
    let answered = Answered { request_hash: call.request_hash.clone(), answer: Secret::new(text) };
    idempotency::insert(work, &call.scope, &answered, app.now(), since(app.now())).await
}

fn since(now: Timestamp) -> Timestamp {
    now - idempotency::LIFE
}
