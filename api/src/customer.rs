//! The Customer API: one endpoint a file.

pub mod account;
pub mod apikeys;
pub mod auditlog;
pub mod catalogue;
pub mod instances;
pub mod invoices;
pub mod sessions;
pub mod team;
pub mod vpcs;
