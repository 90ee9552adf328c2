//! The ids in a path.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use model::{
    ActionId, AlarmId, InstanceId, IntegrationId, InvoiceId, KeyId, RecipientId, Serial, SessionId,
    UserId, VpcId,
};
use std::collections::HashMap;
use std::convert::Infallible;
use std::str::FromStr;

/// Extractors of ids. They never fail by themselves: whether the caller has a key and
/// the role comes first, and a segment that is no id is none.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident($id:ty) = $segment:literal by $parse:path;)*) => {$(
        $(#[$doc])*
        pub struct $name(pub Option<$id>);

        impl<S: Send + Sync> FromRequestParts<S> for $name {
            type Rejection = Infallible;

            async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
                let text = segment(parts, state, $segment).await;
                Ok(Self(text.and_then(|text| $parse(&text))))
            }
        }
    )*};
}

ids! {
    /// The instance's.
    Id(InstanceId) = "id" by number;
    /// That of one of its actions.
    ActionPath(ActionId) = "action_id" by number;
    VpcPath(VpcId) = "vpc_id" by number;
    InvoicePath(InvoiceId) = "invoice_id" by number;
    AclPath(i64) = "acl_id" by number;
    AlarmPath(AlarmId) = "alarm_id" by number;
    RecipientPath(RecipientId) = "recipient_id" by number;
    IntegrationPath(IntegrationId) = "integration_id" by number;
    /// A certificate's serial.
    SerialPath(Serial) = "serial" by parsed;
    /// A team member's.
    Member(UserId) = "user_id" by parsed;
    /// A customer key's.
    KeyPath(KeyId) = "key_id" by parsed;
    SessionPath(SessionId) = "session_id" by parsed;
}

/// One spelling for each number: no sign, no leading zero.
fn number<T: FromStr>(text: &str) -> Option<T> {
    let is_one = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    if is_one { parsed(text) } else { None }
}

fn parsed<T: FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

/// The name of something in a cluster, as it was sent; empty, which nothing is
/// called, if that segment is no text.
pub struct Named(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(Named(segment(parts, state, "name").await.unwrap_or_default()))
    }
}

async fn segment<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Option<String> {
    let path = Path::<HashMap<String, String>>::from_request_parts(parts, state).await;
    path.ok().and_then(|Path(mut segments)| segments.remove(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let check = |text: &str, expected: Option<i64>| {
            assert_eq!(number(text), expected, "{text}");
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
