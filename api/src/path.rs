//! The ids in a path.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use model::{ActionId, AlarmId, InstanceId, InvoiceId, RecipientId, Serial, UserId, VpcId};
use std::collections::HashMap;
use std::convert::Infallible;

/// The instance's id, or none if that segment is no number. It never fails by
/// itself: whether the caller has a key and the role comes first.
pub struct Id(pub Option<InstanceId>);

/// The id of one of its actions, under the same rules.
pub struct ActionPath(pub Option<ActionId>);

/// The network's id, under the same rules.
pub struct VpcPath(pub Option<VpcId>);

/// The invoice's id, under the same rules.
pub struct InvoicePath(pub Option<InvoiceId>);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(Id(number(parts, state, "id").await.map(InstanceId)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ActionPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(ActionPath(number(parts, state, "action_id").await.map(ActionId)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for VpcPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(VpcPath(number(parts, state, "vpc_id").await.map(VpcId)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for InvoicePath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(InvoicePath(number(parts, state, "invoice_id").await.map(InvoiceId)))
    }
}

/// The number of an ACL, under the same rules.
pub struct AclPath(pub Option<i64>);

impl<S: Send + Sync> FromRequestParts<S> for AclPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(AclPath(number(parts, state, "acl_id").await))
    }
}

/// The number of an alarm, under the same rules.
pub struct AlarmPath(pub Option<AlarmId>);

impl<S: Send + Sync> FromRequestParts<S> for AlarmPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(AlarmPath(number(parts, state, "alarm_id").await.map(AlarmId)))
    }
}

/// The number of a recipient, under the same rules.
pub struct RecipientPath(pub Option<RecipientId>);

impl<S: Send + Sync> FromRequestParts<S> for RecipientPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(RecipientPath(number(parts, state, "recipient_id").await.map(RecipientId)))
    }
}

/// The name of something in a cluster, as it was sent; empty, which nothing is
/// called, if that segment is no text.
pub struct Named(pub String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let path = Path::<HashMap<String, String>>::from_request_parts(parts, state).await;
        let name = path.ok().and_then(|Path(mut segments)| segments.remove("name"));
        Ok(Named(name.unwrap_or_default()))
    }
}

/// A certificate's serial, or none if that segment is none.
pub struct SerialPath(pub Option<Serial>);

impl<S: Send + Sync> FromRequestParts<S> for SerialPath {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let serial = segment(parts, state, "serial").await;
        Ok(SerialPath(serial.and_then(|serial| serial.parse().ok())))
    }
}

async fn number<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Option<i64> {
    segment(parts, state, name).await.and_then(|text| parse(&text))
}

async fn segment<S: Send + Sync>(parts: &mut Parts, state: &S, name: &str) -> Option<String> {
    let path = Path::<HashMap<String, String>>::from_request_parts(parts, state).await;
    path.ok().and_then(|Path(mut segments)| segments.remove(name))
}

/// A team member's id, or none if that segment is no UUID.
pub struct Member(pub Option<UserId>);

impl<S: Send + Sync> FromRequestParts<S> for Member {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let id = segment(parts, state, "user_id").await;
        Ok(Member(id.and_then(|id| id.parse().ok())))
    }
}

/// One spelling for each id: no sign, no leading zero.
fn parse(text: &str) -> Option<i64> {
    let id: i64 = text.parse().ok()?;
    (id > 0 && id.to_string() == text).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let check = |text: &str, expected: Option<i64>| {
            assert_eq!(parse(text), expected, "{text}");
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
