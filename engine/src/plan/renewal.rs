//! When the certificates of a server's keys are replaced by new ones. Pure.
//!
//! Each is due at two thirds of its own life, or when less than a third of the life that
//! is set now is left: a longer setting holds at once. A certificate that ends with its
//! authority is never due, since another one would end at the same moment.

use crate::desired::{CERTIFICATES, INTERNAL};
use crate::world::{ServerView, World};
use model::Timestamp;
use pki::Facts;

/// When a server's certificates are due. None while one of them is not issued yet, and
/// where no new one would last longer.
pub(super) fn renew_at(world: &World, view: &ServerView) -> Option<Timestamp> {
    let mut issued = Vec::new();
    for name in CERTIFICATES {
        let authority = if name == INTERNAL { &world.trust.internal } else { &world.trust.server };
        let certificate = Facts::read(view.certificate(name)?.certificate.as_ref()?)?;
        issued.push((certificate, Facts::read(authority)?));
    }
    let third = world.certificate_life.duration() / 3;
    let may_last = issued.iter().filter(|(own, authority)| own.not_after < authority.not_after);
    may_last.map(|(own, _)| own.renew_at().min(own.not_after - third)).min()
}

pub(super) fn is_due(world: &World, view: &ServerView) -> bool {
    renew_at(world, view).is_some_and(|at| at <= world.now)
}
