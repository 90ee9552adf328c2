//! The HTTP side: both APIs and the agents' listener.
//!
//! An endpoint extracts, calls one use case of `app` and converts; those of one noun share
//! a file. Keys and bodies are one extractor each, and what surrounds every request is in
//! `web`. Nothing here reads the store or decides what a caller may do.

mod about;
mod agents;
mod answer;
mod auth;
mod body;
mod confirmations;
mod customer;
mod docs;
mod health;
mod instance;
mod invitations;
mod metrics;
mod openapi;
mod page;
mod path;
pub mod routes;

pub use routes::{agent_router, customer_router, instance_router};
