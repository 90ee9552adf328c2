//! People at the console: how they sign in, stay signed in, and prove who they are.
//!
//! This knows neither cookies nor pages. A page makes a [`Visit`] of each request, hands in
//! what was typed, and keeps the token of a [`NewSession`] in the browser. From then on
//! [`authenticate`] gives a [`SignedIn`], whose [`crate::Caller`] every other use case takes.
//! What is handed out is readable once: the store has hashes, and what codes are made from is
//! sealed. No answer tells whether an e-mail is known.

mod attempts;
mod codes;
mod links;
mod next_step;
mod password;
mod second_factor;
mod sessions;
mod sign_in;

pub use links::{LinkOwner, LoginLink, create_for_first_owner, create_link, open_link, see_link};
pub use next_step::go_on;
pub use password::{PasswordChange, change_password, has_password};
pub use second_factor::{
    Enrolment, begin_second_factor, disable_second_factor, enable_second_factor,
    recovery_codes_left, renew_recovery_codes,
};
pub use sessions::{
    NewSession, SessionView, SignedIn, authenticate, end, end_all, flush_last_seen, list, sign_out,
    sweep,
};
pub use sign_in::{Credentials, NextStep, SignIn, sign_in};

pub(crate) use second_factor::turn_off;
pub(crate) use sessions::{SessionHolder, end_all_of};

use crate::{Source, SourceKind};
use std::net::IpAddr;

const LONGEST_BROWSER: usize = 200;

/// Somebody comes by, and nobody knows yet who that is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Visit {
    source: Source,
    browser: String,
}

impl Visit {
    /// `browser` is what the request's `User-Agent` says.
    pub fn new(address: Option<IpAddr>, browser: &str) -> Self {
        let browser = browser.chars().filter(|c| !c.is_control()).take(LONGEST_BROWSER).collect();
        Self { source: Source { kind: SourceKind::Console, address }, browser }
    }
}
