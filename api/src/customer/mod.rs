//! The Customer API: one endpoint a file.

pub mod instances;
pub mod plans;
pub mod regions;
pub mod vpcs;
