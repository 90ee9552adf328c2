//! `/api/instances/<ID>/account/…`.

pub mod rotate_apikey;
pub mod rotate_password;
