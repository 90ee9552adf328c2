//! Customer keys: who holds one, making, replacing and revoking them, and when
//! they were last used.

mod authenticate;
mod insert;
mod last_used;
mod operate;
mod rotate;

pub use authenticate::{authenticate, authenticate_instance};
pub use last_used::flush_last_used;
pub use operate::{KeyOf, NewKey, create, list, revoke};
pub use rotate::rotate;

pub(crate) use insert::{Grounds, insert_key};
