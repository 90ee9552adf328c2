//! Fixtures that tests of several crates share: a Castellan of its own for a test, the
//! clients that use a cluster, a real PostgreSQL, a real broker, and the other side of
//! mails, webhooks and the agent protocol.
//!
//! A dev-dependency alone: nothing that is shipped may know it. Everything here panics where
//! it can't go on, and ends with the test that started it.

#![expect(clippy::unwrap_used, reason = "it is part of tests")]
#![expect(
    clippy::new_without_default,
    clippy::return_self_not_must_use,
    clippy::should_implement_trait,
    reason = "this is no library for others"
)]
// Clippy lets tests import everything, and this is one where all libraries are tested.
#![cfg_attr(not(test), expect(clippy::wildcard_imports, reason = "it is part of tests"))]

pub mod broker;
pub mod clients;
pub mod control_plane;
pub mod installation;
pub mod kcat;
pub mod left_over;
pub mod postgres;
pub mod receiver;
pub mod rows;
pub mod tight;
pub mod webhook;
pub mod witness;
pub mod writer;

use std::path::{Path, PathBuf};

/// Where Cargo puts what it builds, and `scripts/setup.sh test` what tests need besides: a test
/// runs from `target/debug/deps`.
pub fn target() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors().nth(3).unwrap().to_owned()
}

/// The `castellan` that was built with the tests of `server`, which alone may use it.
pub fn binary() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let path = own.ancestors().nth(2).unwrap().join("castellan");
    assert!(path.exists(), "{} is not there; only tests of `server` build it", path.display());
    path
}

/// A program that a fixture runs.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name)
}

/// The Python with what a fixture needs, as `scripts/setup.sh test` sets it up.
fn python(name: &str) -> PathBuf {
    let program = target().join(name).join("bin/python");
    assert!(program.exists(), "{} is not there; `make setup-test` installs it", program.display());
    program
}
