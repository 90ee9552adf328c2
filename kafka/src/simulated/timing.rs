//! How long things take in a simulated cluster.

use model::SignedDuration;

/// Kafka's own times where it has a setting for them, and measured ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timing {
    /// From the process's start until its controller votes.
    pub start: SignedDuration,
    /// Reading through the logs after an end that was not orderly.
    pub recovery: SignedDuration,
    /// An orderly stop, once the controller has moved the leaders.
    pub stop: SignedDuration,
    /// An orderly stop when no controller answers.
    pub lonely_stop: SignedDuration,
    /// A broker that is silent for so long is fenced.
    pub session: SignedDuration,
    /// From a controller's silence to the next one's election.
    pub election: SignedDuration,
    /// The same after one that said it would go.
    pub handover: SignedDuration,
    /// An active controller that hears from no majority gives up.
    pub alone: SignedDuration,
    /// From a change of the metadata until the other brokers have read it.
    pub spread: SignedDuration,
    /// Until a replica that was away has everything again.
    pub catch_up: SignedDuration,
    /// A replica in sync that does not fetch for so long is not in sync.
    pub lag: SignedDuration,
    /// After a change of voters the next one is refused for so long.
    pub vote: SignedDuration,
    /// What a broker copies from others, without a throttle.
    pub bytes_per_second: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            start: SignedDuration::from_millis(1_500),
            recovery: SignedDuration::from_secs(2),
            stop: SignedDuration::from_millis(500),
            lonely_stop: SignedDuration::from_secs(310),
            session: SignedDuration::from_secs(3),
            election: SignedDuration::from_secs(2),
            handover: SignedDuration::from_millis(300),
            alone: SignedDuration::from_secs(3),
            spread: SignedDuration::from_millis(100),
            catch_up: SignedDuration::from_secs(1),
            lag: SignedDuration::from_secs(30),
            vote: SignedDuration::from_millis(50),
            bytes_per_second: 100_000_000,
        }
    }
}

impl Timing {
    /// Everything happens at once.
    pub const INSTANT: Self = Self {
        start: SignedDuration::ZERO,
        recovery: SignedDuration::ZERO,
        stop: SignedDuration::ZERO,
        lonely_stop: SignedDuration::ZERO,
        session: SignedDuration::ZERO,
        election: SignedDuration::ZERO,
        handover: SignedDuration::ZERO,
        alone: SignedDuration::ZERO,
        spread: SignedDuration::ZERO,
        catch_up: SignedDuration::ZERO,
        lag: SignedDuration::ZERO,
        vote: SignedDuration::ZERO,
        bytes_per_second: u64::MAX,
    };
}
