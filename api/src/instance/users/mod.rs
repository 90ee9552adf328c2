//! `/api/users`.

pub mod create;
pub mod delete;
pub mod list;

fn document(user: &app::users::User) -> wire::users::User {
    wire::users::User { name: user.name.clone(), kind: user.kind.as_str().into() }
}

fn example() -> wire::users::User {
    wire::users::User { name: "ada".into(), kind: "sasl".into() }
}
