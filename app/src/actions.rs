//! What is asked of an instance's servers, and the journal of it.
//!
//! A use case here touches no server. It writes what shall be, the action's row
//! and the audit line in one transaction; the engine carries it out, notes the
//! steps, and ends the action with the write that says that servers are there.

mod cancel;
mod change;
mod configure;
mod journal;
mod launches;
mod nodes;
mod open;
mod power;
mod rebalance;
mod record;
mod restart;
mod scene;
mod start;
mod stop;
mod undo;

pub use cancel::{Cancelled, cancel};
pub use change::{DryRun, PlannedMove, Preview};
pub(crate) use change::{ServerChange, change_servers, preview_change};
pub(crate) use configure::configure;
pub use journal::{ActionView, list, read};
pub use nodes::Nodes;
pub use power::{Power, set_power};
pub use rebalance::{Rebalanced, rebalance};
pub use restart::{How, restart};
pub use start::start_servers;
pub use stop::stop_servers;
pub use undo::Undoing;
