//! A server's logs as their writers write, rotate and lose them, and what a destination gets
//! of them: every line once and in order.

#![allow(clippy::unwrap_used, reason = "it is a test")]

mod begins;
mod bounds;
mod brought;
mod copied;
mod kafka_lines;
mod properties;
mod renamed;
mod server;
