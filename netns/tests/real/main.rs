//! Networks on the real kernel. Each test has a tag of its own and touches nothing else; at its
//! end the host has what it had before.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixture;
mod interrupted;
mod isolation;
mod outside;
mod processes;
mod repair;
