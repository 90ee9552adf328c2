//! The places in which calls are made.
//!
//! There are so many, and one system, one account, one instance, and what fails or is slow, of
//! one system and of one account there, each hold a part of them at most. However many calls of
//! one of these hang, others have places; and an integration has one call at a time.

use egress::places;
use model::{AccountId, InstanceId, IntegrationId, IntegrationSystem};
use store::DueTurn;

pub const OF_ACCOUNT: u32 = 8;
pub const OF_INSTANCE: u32 = 4;

/// What calls have in common that hold places together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Holder {
    All,
    System(IntegrationSystem),
    Account(AccountId),
    Instance(InstanceId),
    /// Those whose last call failed or was slow: they may hang.
    AllFailing,
    Failing(IntegrationSystem),
    FailingOf(AccountId, IntegrationSystem),
    Integration(InstanceId, IntegrationId),
}

impl places::Holder for Holder {
    fn most(&self) -> usize {
        match self {
            Self::All => 32,
            Self::System(_) | Self::AllFailing => 24,
            Self::Account(_) => OF_ACCOUNT as usize,
            Self::Instance(_) => OF_INSTANCE as usize,
            Self::Failing(_) => 12,
            Self::FailingOf(..) => 2,
            Self::Integration(..) => 1,
        }
    }
}

impl Holder {
    fn of_call(request: PlaceRequest) -> Vec<Self> {
        let mut all = vec![
            Self::All,
            Self::System(request.system),
            Self::Account(request.account),
            Self::Instance(request.instance),
        ];
        if request.failing {
            all.extend([
                Self::AllFailing,
                Self::Failing(request.system),
                Self::FailingOf(request.account, request.system),
            ]);
        }
        all
    }
}

/// The integration that wants a place.
#[derive(Clone, Copy, Debug)]
pub struct PlaceRequest {
    pub account: AccountId,
    pub instance: InstanceId,
    pub integration: IntegrationId,
    pub system: IntegrationSystem,
    /// Its last call failed, or was slow.
    pub failing: bool,
}

impl PlaceRequest {
    pub fn new(turn: &DueTurn, is_slow: bool) -> Self {
        Self {
            account: turn.account_id,
            instance: turn.instance_id,
            integration: turn.id,
            system: turn.system,
            failing: turn.failures > 0 || is_slow,
        }
    }
}

#[derive(Clone, Default, Debug)]
pub struct Places(places::Places<Holder>);

pub type Place = places::Place<Holder>;

/// What a turn holds.
#[derive(Debug)]
pub struct TurnPlaces {
    /// Until what came of the turn is written.
    pub integration: Place,
    /// Until the call is over.
    pub call: Place,
}

impl Places {
    /// None if another call has to end first.
    pub fn take(&self, request: PlaceRequest) -> Option<TurnPlaces> {
        let integration = Holder::Integration(request.instance, request.integration);
        let integration = self.0.take(vec![integration])?;
        let call = self.0.take(Holder::of_call(request))?;
        Some(TurnPlaces { integration, call })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Entropy as _, SeededEntropy};

    struct Crowd {
        places: Places,
        accounts: Vec<AccountId>,
    }

    impl Crowd {
        fn new() -> Self {
            let entropy = SeededEntropy::new(1);
            let accounts = (0..10).map(|_| AccountId(entropy.uuid())).collect();
            Self { places: Places::default(), accounts }
        }

        /// How many of these get a place, each instance asking for ten integrations.
        fn take(
            &self,
            account: usize,
            instances: std::ops::Range<i64>,
            system: IntegrationSystem,
            failing: bool,
        ) -> Vec<TurnPlaces> {
            let account = self.accounts[account];
            let ids = || (1..=10).map(IntegrationId);
            let all = instances.flat_map(|it| ids().map(move |id| (InstanceId(it), id)));
            let request = |(instance, integration)| PlaceRequest {
                account,
                instance,
                integration,
                system,
                failing,
            };
            all.filter_map(|it| self.places.take(request(it))).collect()
        }
    }

    #[test]
    fn everybody_has_a_part() {
        use IntegrationSystem as S;
        let crowd = Crowd::new();
        let one = crowd.take(0, 1..2, S::Otlp, false);
        assert_eq!(one.len(), 4, "an instance with many integrations");
        let rest = crowd.take(0, 2..100, S::Otlp, false);
        assert_eq!(rest.len(), 4, "an account with many instances");
        let others: Vec<_> =
            (1..=2).flat_map(|account| crowd.take(account, 100..200, S::Otlp, false)).collect();
        assert_eq!(others.len(), 16, "two accounts leave places to a third");
        assert_eq!(crowd.take(3, 200..300, S::Otlp, false).len(), 0, "a system that many use");
        assert_eq!(crowd.take(3, 200..300, S::Datadog, false).len(), 8, "all others");
        drop((one, rest, others));
    }

    #[test]
    fn what_fails_leaves_places_to_other_accounts_and_to_what_works() {
        use IntegrationSystem as S;
        let crowd = Crowd::new();
        let take = |account, system, failing| crowd.take(account, 1..100, system, failing);
        let one = take(0, S::Otlp, true);
        assert_eq!(one.len(), 2, "an account whose own receivers are away");
        let other = take(1, S::Otlp, true);
        assert_eq!(other.len(), 2, "another account still has its part");
        let system: Vec<_> = (2..10).flat_map(|account| take(account, S::Otlp, true)).collect();
        assert_eq!(one.len() + other.len() + system.len(), 12, "a system that is away");
        let all = |system| (0..10).flat_map(move |account| take(account, system, true));
        let more: Vec<_> = [S::Datadog, S::Librato].into_iter().flat_map(all).collect();
        assert_eq!(more.len(), 12, "three systems that are away");
        assert_eq!(take(9, S::Newrelic, false).len(), 8, "one that works");
    }

    #[test]
    fn an_integration_has_one_call_at_a_time_and_none_before_the_last_is_saved() {
        let crowd = Crowd::new();
        let take = || crowd.take(0, 1..2, IntegrationSystem::Otlp, false);
        let first = take();
        assert_eq!(first.len(), 4);
        let first: Vec<_> = first.into_iter().map(|places| places.integration).collect();
        let second = take();
        assert_eq!(second.len(), 4, "others of the instance");
        drop((first, second));
        assert!(crowd.places.0.are_free(), "nothing is kept of those that are done");
    }
}
