//! Who the control plane is to a cluster's internal listener: a short-lived
//! certificate of the instance's own internal authority, kept in memory alone.

use crate::{Error, Reach};
use kafka::client::Identity;
use model::{InstanceId, SignedDuration, Timestamp};
use pki::{Leaf, Usage};
use std::collections::HashMap;
use std::sync::Mutex;
use store::AuthorityKind;

const LONGEST_LIFE: SignedDuration = SignedDuration::from_hours(24);

/// Identities made so far, with the time they were made.
#[derive(Default)]
pub(crate) struct Identities(Mutex<HashMap<InstanceId, (Identity, Timestamp)>>);

impl Identities {
    /// One of which less than half of its life is over.
    fn fresh(&self, id: InstanceId, now: Timestamp, life: SignedDuration) -> Option<Identity> {
        let made = self.0.lock().expect("no holder of this lock panics");
        let (identity, at) = made.get(&id)?;
        // One made before the clock was set back may not be good yet.
        let age = now.duration_since(*at);
        (SignedDuration::ZERO..life / 2).contains(&age).then(|| identity.clone())
    }

    fn keep(&self, id: InstanceId, identity: Identity, now: Timestamp) {
        let mut made = self.0.lock().expect("no holder of this lock panics");
        made.insert(id, (identity, now));
    }
}

impl Reach {
    pub async fn identity(&self, id: InstanceId) -> Result<Identity, Error> {
        let now = self.clock.now();
        let life = self.certificate_life.at_most(LONGEST_LIFE);
        if let Some(identity) = self.identities.fresh(id, now, life) {
            return Ok(identity);
        }
        let authority = self.authority(id, AuthorityKind::Internal).await?;
        let leaf = Leaf {
            common_name: "castellan".into(),
            hosts: vec![],
            usage: Usage::Client,
            valid_for: life,
        };
        let (certificate, key) = authority.issue_with_key(&leaf, now, &*self.entropy)?;
        let identity = Identity { certificate_chain_pem: certificate, key_pem: key };
        self.identities.keep(id, identity.clone(), now);
        Ok(identity)
    }

    /// The instance is gone for good.
    pub fn forget(&self, id: InstanceId) {
        self.identities.0.lock().expect("no holder of this lock panics").remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Secret;

    #[test]
    fn one_that_is_old_or_made_before_the_clock_was_set_back_is_made_anew() {
        let (id, identities) = (InstanceId(1), Identities::default());
        let now: Timestamp = "2026-11-16T07:00:00Z".parse().unwrap();
        let identity = Identity { certificate_chain_pem: "c".into(), key_pem: Secret::new("k") };
        identities.keep(id, identity, now);
        let is_fresh =
            |after| identities.fresh(id, now + SignedDuration::from_hours(after), LONGEST_LIFE);
        let is_fresh = |after| is_fresh(after).is_some();
        assert!(is_fresh(0) && is_fresh(11));
        assert!(!is_fresh(12) && !is_fresh(-3));
    }
}
