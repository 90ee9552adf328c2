//! `/api/auditlog`.

mod cell;
pub mod csv;
