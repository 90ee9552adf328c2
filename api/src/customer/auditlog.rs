//! `/api/auditlog`.

mod cell;

use crate::about::{About, Input};
use crate::auth::CustomerKey;
use crate::body::{Fields, Query};
use app::auditlog::{self, AuditLine, Export, Wanted};
use app::{Error, Right};
use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use cell::safe;
use csv::{Terminator, WriterBuilder};
use futures::stream;
use web::error::Failure;

const CSV: &str = "text/csv; charset=utf-8";
const HEADER: [&str; 5] = ["Timestamp", "Event", "Source", "User", "Extras"];

/// `GET /api/auditlog/csv`.
///
/// The body is written while it is read, page by page. If the store goes away
/// in between, the connection breaks off, so that nobody takes a part for all.
pub async fn csv(CustomerKey(caller, app): CustomerKey, query: Query) -> Result<Response, Failure> {
    let mut export = auditlog::export(&caller, &app, query.ask(wanted)).await?;
    // The first page comes before the answer, while an error can still be told.
    let first = export.next().await?.unwrap_or_default();
    let mut rows = vec![HEADER.map(Into::into)];
    rows.extend(first.iter().map(row));
    let first = write(&rows)?;
    let pages = stream::try_unfold((Some(first), export), next_piece);
    let kind = [(CONTENT_TYPE, HeaderValue::from_static(CSV))];
    Ok((kind, Body::from_stream(pages)).into_response())
}

fn wanted(fields: &mut Fields) -> Wanted {
    Wanted { timestamp: fields.text("timestamp") }
}

type Pieces = (Option<Bytes>, Export);

async fn next_piece((ready, mut export): Pieces) -> Result<Option<(Bytes, Pieces)>, Error> {
    if let Some(piece) = ready {
        return Ok(Some((piece, (None, export))));
    }
    let page = export.next().await.inspect_err(|error| {
        tracing::error!(%error, "an audit log broke off while it was sent");
    })?;
    let Some(lines) = page else { return Ok(None) };
    let rows: Vec<_> = lines.iter().map(row).collect();
    Ok(Some((write(&rows)?, (None, export))))
}

fn row(line: &AuditLine) -> [String; 5] {
    let at = line.at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string();
    [at, safe(&line.event), safe(&line.source), safe(&line.user), safe(&line.extras)]
}

/// Rows as RFC 4180 has them.
fn write(rows: &[[String; 5]]) -> Result<Bytes, Error> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).map_err(Error::internal)?;
    }
    writer.into_inner().map(Into::into).map_err(|error| Error::internal(error.to_string()))
}

pub fn about_csv() -> About {
    let example = "Timestamp,Event,Source,User,Extras\r\n\
                   2026-11-15 12:00:00 UTC,instance.create,customer-api 192.0.2.7,\
                   owner@example.com,id=7; name=orders; plan=mouse-1\r\n";
    About::new("Read a month of the audit log as CSV")
        .needs(Right::SeeAuditLog)
        .query(&[Input::month(
            "timestamp",
            "The month, as YYYY-MM; the latest with entries if absent",
        )])
        .text("One line for each change, oldest first", CSV, example)
}
