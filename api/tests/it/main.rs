//! The app in-process: real routers, real store, fake clock and places.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

mod account;
mod account_limits;
mod actions;
mod agents;
mod alarms;
mod audit_budget;
mod auditlog;
mod away;
mod bodies;
mod call;
mod certificates;
mod changes;
mod confirmations;
mod connections;
mod coverage;
mod customer;
mod documents;
mod fuzz;
mod hundred_days;
mod instances;
mod integrations;
mod invitations;
mod invoices;
mod keys;
mod keys_of_systems;
mod limits;
mod listen;
mod masking;
mod metrics;
mod metrics_memory;
mod openapi;
mod own_keys;
mod people;
mod raw;
mod reported;
mod resources;
mod rules;
mod schemas;
mod stolen_identity;
mod team;
mod tls_files;
mod vpcs;
mod watching;
mod world;
