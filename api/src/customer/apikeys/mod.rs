//! `/api/apikeys`.

pub mod rotate;
