//! `/api/config/kafka`.

pub mod list;
pub mod update;
