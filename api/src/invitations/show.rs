//! `GET /invitations/<token>`.

use super::{Link, page};
use axum::response::Response;

pub async fn handle(Link(link): Link) -> Response {
    match link {
        Ok(invitee) => page::form(&invitee, "", &[]),
        Err(failure) => page::failed(&failure),
    }
}
