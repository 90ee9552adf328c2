//! The machine we run on: processes that outlive us, files that are whole or
//! absent, and locks. The one home of starting processes.
//!
//! A process is known by pid, start time and boot id together, so that a
//! reused pid is never taken for ours.

mod file;
mod inspect;
mod lock;
mod piped;
mod process;
mod replace;
mod reserve;
mod room;
mod slots;
mod usage;

pub use file::{create_private_dir, sync_dir, write_atomic, write_private};
pub use inspect::{with_environment, with_variable};
pub use lock::{DirLock, LockError, holder};
pub use piped::Piped;
pub use process::{Exit, ProcessId, Spawn, Watch, run_lines, run_output};
pub use replace::replace_self;
pub use reserve::{keep_reserved, reserve};
pub use room::{Room, room, share_room, taken};
pub use slots::{Slot, Slots};
pub use usage::{Usage, usage, with_children};
