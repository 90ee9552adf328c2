//! Instances: order, list, read, rename, delete. The engine does the rest.

mod choose;
mod create;
mod delete;
mod list;
mod read;
mod rotate_apikey;
mod update;
pub(crate) mod validate;
mod write;

pub(crate) use choose::Order;
pub use create::{Created, NewInstance, create};
pub use delete::{Deletion, delete};
pub use list::{Listed, Page, list};
pub use read::{InstanceView, read};
pub use rotate_apikey::rotate_apikey;
pub use update::{InstanceChanges, update};
