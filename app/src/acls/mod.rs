//! Who may do what on a cluster. Kafka holds the ACLs; here are the numbers that
//! people know them by, and the words in which they asked.

mod create;
mod delete;
mod list;
mod room;
mod rule;

pub use create::{MOST, NewAcls, create};
pub use delete::delete;
pub use list::list;
pub use rule::{Rule, Words, operations, patterns, resources};

use model::Timestamp;

/// An ACL as people know it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AclView {
    pub id: i64,
    pub user: String,
    pub words: Words,
    pub created_at: Timestamp,
}
