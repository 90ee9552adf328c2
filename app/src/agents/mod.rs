//! What agents ask of the control plane: a certificate for a token, what their
//! server should be, and an ear for what it is.
//!
//! An agent reaches its own server's row and nothing else: every use case
//! after enrolment takes the [`Agent`] that its certificate names.

mod authenticate;
mod certificate;
mod desired;
mod enrol;
mod report;

pub use authenticate::{Agent, authenticate};
pub use certificate::renew;
pub use desired::{Held, desired};
pub use enrol::{Enrolment, enrol};
pub use report::{flush_last_seen, report};
