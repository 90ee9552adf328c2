//! The machine we run on: processes that outlive us, files that are whole or
//! absent, and locks. The one home of starting processes.
//!
//! A process is known by pid, start time and boot id together, so that a
//! reused pid is never taken for ours.

mod confine;
mod file;
mod foreign;
mod groups;
mod handover;
mod inspect;
mod lock;
mod memory;
mod namespace;
mod piped;
mod priority;
mod process;
mod replace;
mod reserve;
mod room;

mod slots;
pub mod testing;
mod usage;

pub use confine::{is_root, missing_capabilities};
pub use file::{
    create_parents, create_private_dir, sync_dir, write_atomic, write_private, write_private_for,
};
pub use foreign::{
    can_write, give_away, is_own, open_beneath, owner, read_beneath, read_own, remove_tree,
};
pub use groups::{Group, Groups, Limits};
pub use handover::{Asker, Handover, ask};
pub use inspect::{has_processes, of_user, processors, with_environment, with_variable};
pub use lock::{DirLock, LockError, holder};
pub use memory::spare_memory;
pub use namespace::{run_within, within};
pub use piped::Piped;
pub use process::{Exit, Input, ProcessId, Spawn, Watch, run_lines, run_output};
pub use replace::{replace_self, replace_self_as};
pub use reserve::{keep_reserved, reserve};
pub use room::{Room, room, share_room, taken};
pub use slots::{Slot, Slots};
pub use usage::{Usage, usage, with_children};
