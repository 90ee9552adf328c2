//! `/api/sessions`: where people are signed in to the console.

use crate::about::About;
use crate::answer::Answer;
use crate::auth::CustomerKey;
use crate::path::SessionPath;
use app::Right;
use app::people::{self, SessionView};
use axum::Json;
use axum::http::StatusCode;
use web::error::Failure;
use wire::sessions::SessionEntry;

/// `GET /api/sessions`.
pub async fn list(CustomerKey(caller, app): CustomerKey) -> Answer<Vec<SessionEntry>> {
    let sessions = people::list(&caller, &app).await?;
    Ok(Json(sessions.into_iter().map(entry).collect()))
}

fn entry(SessionView { session, .. }: SessionView) -> SessionEntry {
    SessionEntry {
        id: session.id.to_string(),
        started_at: session.started_at,
        last_seen_at: session.last_seen_at,
        ends_at: session.ends_at(),
        address: session.address.map(|address| address.to_string()),
        browser: session.browser,
    }
}

pub fn about_list() -> About {
    let at = |text: &str| text.parse().expect("an example is a time");
    let example = SessionEntry {
        id: "9d1f0a3e-6c57-4b7e-8a0f-5c1a2b3d4e5f".into(),
        started_at: at("2026-11-15T12:00:00Z"),
        last_seen_at: at("2026-11-15T12:30:00Z"),
        ends_at: at("2026-11-16T00:30:00Z"),
        address: Some("192.0.2.7".into()),
        browser: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0".into(),
    };
    About::new("List where you are signed in to the console")
        .needs(Right::UseOwnAccess)
        .list("Your own sessions, the one that was seen last first", example)
}

/// `DELETE /api/sessions`.
pub async fn end_all(CustomerKey(caller, app): CustomerKey) -> Result<StatusCode, Failure> {
    people::end_all(&caller, &app).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_end_all() -> About {
    About::new("Sign out everywhere").needs(Right::UseOwnAccess)
}

/// `DELETE /api/sessions/<id>`.
pub async fn end(
    CustomerKey(caller, app): CustomerKey,
    SessionPath(id): SessionPath,
) -> Result<StatusCode, Failure> {
    people::end(&caller, &app, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub fn about_end() -> About {
    About::new("End one of your sessions").needs(Right::UseOwnAccess)
}
