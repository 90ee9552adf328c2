//! What agents ask of the control plane: a certificate for a token, what their
//! server should be, an ear for what it is, and leave to stop it.
//!
//! An agent reaches its own server's row and nothing else: every use case
//! after enrolment takes the [`Agent`] that its certificate names.

mod authenticate;
mod certificate;
mod claim;
mod deliveries;
mod desired;
mod enrol;
mod integrations;
mod re_enrol;
mod report;

pub use authenticate::{Agent, authenticate};
pub use certificate::renew;
pub use claim::{Claim, claim};
pub(crate) use deliveries::RecentFailures;
pub use desired::{Held, Known, News, desired};
pub use enrol::{Admitted, Enrolment, enrol, first_document};
pub use integrations::{LogIntegrations, log_integrations, settle_outbound};
pub use re_enrol::re_enrol;
pub use report::{flush_last_seen, report};
