//! How long a sender waits after a failure that may pass. Pure.

use model::Entropy;
use std::time::Duration;

/// The pause shortened by chance by up to a quarter, so that senders that failed together don't
/// come back together; and never less than the destination asks for.
pub fn retry_pause(pause: Duration, after: Option<Duration>, entropy: &dyn Entropy) -> Duration {
    let mut chance = [0];
    entropy.fill(&mut chance);
    let shortened = pause * (1024 - u32::from(chance[0])) / 1024;
    shortened.max(after.unwrap_or_default())
}
