//! When the certificates of servers' keys are replaced by new ones. Pure.
//!
//! Each is due at two thirds of its own life, or when less than a third of the life that
//! is set now is left: a longer setting holds at once. One that is not valid yet, because
//! the clock was ahead when it was issued, is due at once. A certificate that ends with its
//! authority is never due, since another one would end at the same moment.

use crate::desired::{INTERNAL, SERVER};
use crate::world::{ServerView, World};
use model::{CertificateLife, Timestamp};
use pki::Facts;

/// When the certificates of a server are due; none while one of them is not issued yet, and
/// where no new one would last longer.
pub(super) fn due(world: &World, view: &ServerView) -> Option<Timestamp> {
    let mut all = Vec::new();
    for (name, authority) in [(INTERNAL, &world.trust.internal), (SERVER, &world.trust.server)] {
        let authority = Facts::read(authority)?;
        let own = Facts::read(view.certificate(name)?.certificate.as_ref()?)?;
        all.extend(renew_at(&own, authority.not_after, world.certificate_life, world.now));
    }
    all.into_iter().min()
}

fn renew_at(
    own: &Facts,
    authority_end: Timestamp,
    life: CertificateLife,
    now: Timestamp,
) -> Option<Timestamp> {
    if own.not_before > now {
        return Some(now);
    }
    let at = own.renew_at().min(own.not_after - life.duration() / 3);
    (own.not_after < authority_end).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::SignedDuration;

    #[test]
    fn a_certificate_is_due_at_two_thirds_unless_its_authority_ends() {
        let day = |number: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * number);
        let check = |(from, until), authority_end, life: &str, expected: Option<i64>| {
            let own = Facts { public_key: vec![], not_before: day(from), not_after: day(until) };
            let at = renew_at(&own, day(authority_end), life.parse().unwrap(), day(1));
            assert_eq!(at, expected.map(day), "{from} to {until}, {life}");
        };
        check((0, 30), 3650, "30d", Some(20));
        // A shorter life holds from the next certificate on, a longer one at once.
        check((0, 30), 3650, "3d", Some(20));
        check((0, 30), 3650, "300d", Some(-70));
        check((0, 30), 30, "30d", None);
        check((0, 30), 31, "30d", Some(20));
        // Issued while the clock was ahead.
        check((400, 430), 3650, "30d", Some(1));
    }
}
