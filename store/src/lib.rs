//! Everything that can be lost, in one SQL store.
//!
//! Queries are functions of the noun's module and run on a [`Reader`], in a
//! [`Snapshot`] of one moment, or in a [`Work`], a transaction whose wake-ups
//! are told after its commit. One text of SQL serves SQLite and PostgreSQL, and
//! on both one transaction writes at a time. No transaction stays open while
//! other work runs.

pub mod accounts;
pub mod acls;
pub mod actions;
pub mod adoption;
pub mod alarms;
pub mod apikeys;
pub mod audit;
pub mod authorities;
pub mod backup;
pub mod certificates;
pub mod chain;
pub mod disk_guards;
pub mod disks;
pub mod history;
pub mod hosts;
pub mod idempotency;
pub mod incidents;
pub mod installation;
pub mod instances;
pub mod integration_turns;
pub mod integrations;
pub mod invitations;
pub mod invoices;
pub mod leases;
pub mod login_tokens;
pub mod mail_consents;
pub mod notifications;
pub mod outbound;
pub mod outbox;
pub mod pauses;
pub mod recipients;
pub mod resizes;
pub mod retention;
pub mod second_factors;
pub mod send_counts;
pub mod servers;
pub mod sessions;
pub mod set_back;
pub mod ssl_users;
pub mod tickets;
pub mod users;
pub mod vpcs;

mod backend;
mod data_version;
mod db;
mod error;
mod kept;
mod listen;
mod location;
mod metrics;
mod migrations;
mod postgres;
mod seal;
mod sqlite;
mod work;

pub use accounts::NewAccount;
pub use acls::AclNumber;
pub use actions::NewAction;
pub use apikeys::KeyUse;
pub use audit::{AuditLine, Withheld};
pub use authorities::AuthorityKind;
pub use db::Run;
pub use error::{Error, Result};
pub use hosts::Host;
pub use installation::Installation;
pub use integration_turns::{DueLimits, DueTurn, Turn, TurnOutcome, TurnSettings};
pub use integrations::{IntegrationFailure, NewIntegration};
pub use invoices::InvoiceSummary;
pub use kept::{Kept, Moment};
pub use leases::Lease;
pub use location::Location;
pub use metrics::{MetricWindow, MetricsHistory};
pub use outbox::{Due, Message, NewMessage};
pub use recipients::NewRecipient;
pub use seal::{MasterKey, SealError, hash_key, hash_public_key};
pub use servers::{EnrolledAgent, LastReport, ServerRecord, Token};
pub use tickets::Ticket;
pub use work::{Change, Reader, Snapshot, Store, Work};
