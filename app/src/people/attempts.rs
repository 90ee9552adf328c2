//! How often people may try to sign in. Counts are in the store: a restart forgives nothing,
//! and control planes that share a database count together.

use super::Visit;
use crate::{App, Error, Result};
use model::{SignedDuration, User, email_key};
use std::net::IpAddr;
use store::Work;
use store::send_counts::{self, Limit};

const MINUTE: SignedDuration = SignedDuration::from_mins(1);
const DAY: SignedDuration = SignedDuration::from_hours(24);
/// With one e-mail from one address.
const PER_EMAIL: u32 = 5;
/// From one address, whatever the e-mails are.
const PER_ADDRESS: u32 = 30;
/// Codes of a user whose password was right, from wherever. A million codes are possible, and
/// three of them are good at a time.
const CODES: u32 = 5;
const CODES_A_DAY: u32 = 100;
/// Passwords that somebody who is signed in takes for their own.
const PASSWORDS: u32 = 5;

/// Fails if this address has tried this e-mail too often. Right ones count as well.
pub(super) async fn count_sign_in(app: &App, visit: &Visit, email: &str) -> Result<()> {
    let network = network(visit);
    let pair = format!("{} {network}", email_key(email));
    let limits = [
        Limit::of_place("login", "pairs", &pair, PER_EMAIL, MINUTE),
        Limit::of_place("login", "addresses", &network, PER_ADDRESS, MINUTE),
    ];
    count(app, &limits).await
}

pub(super) async fn count_code(app: &App, user: &User) -> Result<()> {
    let user = user.id.to_string();
    let limits = [
        Limit::of_place("codes", "users", &user, CODES, MINUTE),
        Limit::of_place("codes of a day", "users", &user, CODES_A_DAY, DAY),
    ];
    count(app, &limits).await
}

pub(super) async fn count_password(app: &App, user: &User) -> Result<()> {
    let user = user.id.to_string();
    count(app, &[Limit::of_place("passwords", "users", &user, PASSWORDS, MINUTE)]).await
}

/// Writes something, so that a refusal takes as long where there is nobody whose audit log
/// would tell of it.
pub(super) async fn note_failure(work: &mut Work, app: &App, visit: &Visit) -> Result<()> {
    let limit = Limit::of_place("failed", "addresses", &network(visit), u32::MAX, DAY);
    send_counts::spend(work, &[limit], app.now()).await?;
    Ok(())
}

async fn count(app: &App, limits: &[Limit]) -> Result<()> {
    let now = app.now();
    let mut work = app.store().begin().await?;
    let exceeded = send_counts::spend(&mut work, limits, now).await?;
    work.commit().await?;
    exceeded.map_or(Ok(()), |exceeded| Err(Error::too_many(now, exceeded.until)))
}

/// Whoever has one address of IPv6 has all of its /64.
fn network(visit: &Visit) -> String {
    match visit.source.address {
        None => "unknown".into(),
        Some(IpAddr::V4(address)) => address.to_string(),
        Some(IpAddr::V6(address)) => match address.to_ipv4_mapped() {
            Some(address) => address.to_string(),
            None => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_network_are_one() {
        let check = |address: &str, expected: &str| {
            let visit = Visit::new(Some(address.parse().unwrap()), "");
            assert_eq!(network(&visit), expected, "{address}");
        };
        check("192.0.2.7", "192.0.2.7");
        check("::ffff:192.0.2.7", "192.0.2.7");
        check("2001:db8:0:1::7", "2001:db8:0:1::/64");
        check("2001:db8:0:1:ffff::", "2001:db8:0:1::/64");
    }
}
