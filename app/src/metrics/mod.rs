//! What servers measured: taken from agents, kept as history, read back.
//!
//! The open windows of all servers are in memory; once their time is over they
//! are written, merged with what is there. What a crash takes from memory, agents
//! send again. A history that can't be written or read is no failure of anything
//! else: what is in memory is told.

mod flush;
mod groups;
mod hub;
mod latest;
mod read;
mod share;
mod take;

pub use flush::{flush, flush_everything};
pub use groups::{Lag, Lags, sample_groups};
pub use hub::{Metrics, News, Taken};
pub use latest::{Latest, last_heard, latest, latest_of, subscribe};
pub(crate) use read::minutes;
pub use read::{ReadFields, ServerValues, Told, Values, read};
pub use series::{Measure, Sample};
pub(crate) use take::AHEAD;
pub use take::take;
