//! `/api/instances/<ID>/account/…`.

pub mod rotate_apikey;
