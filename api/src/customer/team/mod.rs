//! `/api/team`.

pub mod invite;
pub mod list;
pub mod remove;
pub mod update;

use model::Role;

fn roles() -> Vec<&'static str> {
    Role::ALL.iter().map(|role| role.as_str()).collect()
}
