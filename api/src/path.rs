//! The instance's id in a path.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use model::InstanceId;
use std::collections::HashMap;
use std::convert::Infallible;

/// The id, or none if that segment is no number. It never fails by itself:
/// whether the caller has a key and the role comes first.
pub struct Id(pub Option<InstanceId>);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let path = Path::<HashMap<String, String>>::from_request_parts(parts, state).await;
        Ok(Id(path.ok().and_then(|Path(segments)| parse(segments.get("id")?))))
    }
}

/// One spelling for each id: no sign, no leading zero.
fn parse(text: &str) -> Option<InstanceId> {
    let id: InstanceId = text.parse().ok()?;
    (id.0 > 0 && id.to_string() == text).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let check = |text: &str, expected: Option<i64>| {
            assert_eq!(parse(text).map(|id| id.0), expected, "{text}");
        };
        check("7", Some(7));
        check("07", None);
        check("+7", None);
        check("-7", None);
        check("0", None);
        check("seven", None);
        check("99999999999999999999", None);
    }
}
