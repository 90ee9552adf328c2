//! Whom an instance's alarms are told to.

mod confirmation;
mod create;
mod delete;
mod read;
mod test;
mod update;
mod validate;

pub use confirmation::{Addressee, Answer, addressee, answer};
pub use create::create;
pub use delete::delete;
pub use read::{list, read};
pub use test::{Tested, test};
pub use update::update;
pub use validate::{RESPONDERS, RecipientFields};

use model::{Instance, RecipientId, RecipientType};

/// What the audit log says of a recipient; never its value, which may be a key.
fn about(
    instance: &Instance,
    id: RecipientId,
    kind: RecipientType,
    name: &str,
) -> [(&'static str, String); 5] {
    [
        ("id", instance.id.to_string()),
        ("name", instance.name.to_string()),
        ("recipient", id.to_string()),
        ("type", kind.to_string()),
        ("recipient_name", name.to_owned()),
    ]
}
