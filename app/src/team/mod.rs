//! An account's team: who is in it, and how people come and go.
//!
//! A team always has an admin. Everything that decides who may do what is
//! checked in the transaction that changes it, so that of two changes at once
//! the second sees the first.

mod grants;
mod invite;
mod join;
mod list;
mod mail;
mod operate;
mod remove;
mod update;

pub use invite::{NewInvitation, invite};
pub use join::{Acceptance, Invitee, Joined, invitee, join};
pub use list::list;
pub use operate::{
    NewUser, UserChanges, create_user, find_user, list_users, remove_user, update_user,
};
pub use remove::{Removed, remove};
pub use update::{RoleChanges, update};
