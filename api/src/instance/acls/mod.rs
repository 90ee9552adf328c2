//! `/api/acls`.

pub mod create;
pub mod delete;
pub mod list;

use app::acls::AclView;
use model::Timestamp;
use wire::users::{Acl, Rule};

fn document(view: &AclView) -> Acl {
    let words = &view.words;
    Acl {
        id: view.id,
        name: view.user.clone(),
        rule: Rule {
            operation: words.operation.clone(),
            resource: words.resource.clone(),
            resource_pattern: words.resource_pattern.clone(),
            resource_pattern_type: words.resource_pattern_type.clone(),
        },
        created_at: view.created_at,
    }
}

fn example() -> Acl {
    let created_at = Timestamp::constant(1_794_744_000, 0);
    Acl { id: 1, name: "ada".into(), rule: example_rule(), created_at }
}

fn example_rule() -> Rule {
    Rule {
        operation: "read".into(),
        resource: "topic".into(),
        resource_pattern: "orders".into(),
        resource_pattern_type: "literal".into(),
    }
}
