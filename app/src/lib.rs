//! The use cases: check the caller, validate, write intent with its audit line
//! and wake-up in one transaction, answer.
//!
//! This crate never touches a server and knows no transport. A use case takes
//! who calls as its first argument, so that skipping the check does not
//! compile. What was sent comes as [`Asked`] and is looked at only after the
//! caller's rights, which gives every entry point the same order of checks.
//!
//! Who calls can't be made up either: nothing outside this crate can build one.
//!
//! ```compile_fail,E0061
//! async fn skip_the_check(app: &app::App) {
//!     let _ = app::team::list(app).await;
//! }
//! ```
//!
//! ```compile_fail,E0451
//! fn make_up(account_id: model::AccountId, real: app::Caller) -> app::Caller {
//!     app::Caller { account_id, ..real }
//! }
//! ```

pub mod accounts;
pub mod acls;
pub mod actions;
pub mod agents;
pub mod alarms;
pub mod apikeys;
pub mod audit;
pub mod auditlog;
pub mod billing;
pub mod ca;
pub mod catalogue;
pub mod cluster;
pub mod details;
pub mod groups;
pub mod instances;
pub mod integrations;
pub mod messages;
pub mod metrics;
pub mod nodes;
pub mod passwords;
pub mod people;
pub mod quotas;
pub mod recipients;
pub mod retention;
pub mod settings;
pub mod team;
pub mod topics;
pub mod users;
pub mod vpcs;

mod access;
mod asked;
mod caller;
mod context;
mod destinations;
mod error;
mod history;
mod idempotency;
mod limits;
mod mail;
mod placement;
mod places;
mod resources;
mod rights;

pub use access::{InstanceAccess, Need};
pub use asked::{Asked, Problems};
pub use caller::{Caller, Grant, Operator, Source, SourceKind};
pub use context::{App, Parts, Settings};
pub use destinations::{Anywhere, Destinations};
pub use error::{Error, ErrorCode, FieldProblem, Result};
pub use limits::Limits;
pub use places::{Addresses, Clouds, Growth, NoPlace, NoRoom, Place, Places, RegionCloud, Room};
pub use rights::Right;
