//! The Customer API: one endpoint a file.

pub mod auditlog;
pub mod instances;
pub mod invoices;
pub mod plans;
pub mod regions;
pub mod team;
pub mod vpcs;
