//! Roles with their tags, as members of a team get them.

use crate::rights::narrowed_by_tags;
use crate::{Error, Grant, Problems, Result};
use model::{Role, Tags, User};
use store::{Work, users};

const ONLY_NARROWED: &str = "are only for the roles member and monitor";

/// Role and tags as sent, read. Tags go with member and monitor alone; with
/// another role `present` ones are dropped and new ones are refused.
pub(super) fn read(
    problems: &mut Problems,
    role: Option<&str>,
    tags: Option<Vec<String>>,
    present: &Grant,
) -> Grant {
    let role = role.and_then(|text| problems.take("role", text.parse::<Role>()));
    let tags = tags.and_then(|tags| problems.take("tags", Tags::parse(tags)));
    let role = role.unwrap_or(present.role);
    let tags = match tags {
        Some(tags) if !tags.is_empty() && !narrowed_by_tags(role) => {
            problems.add("tags", ONLY_NARROWED);
            Tags::default()
        }
        Some(tags) => tags,
        None if narrowed_by_tags(role) => present.tags.clone(),
        None => Tags::default(),
    };
    Grant { role, tags }
}

/// Fails if the team would be left without an admin.
pub(super) async fn spare(work: &mut Work, user: &User) -> Result<()> {
    if user.role != Role::Admin || users::has_another_admin(work, user.account_id, user.id).await? {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "{} is the team's last admin; make somebody else admin first",
        user.email
    )))
}

/// Gives a member another role or tags. False if they had exactly these.
pub(super) async fn set(work: &mut Work, user: &User, grant: &Grant) -> Result<bool> {
    if grant.role == user.role && grant.tags == user.tags {
        return Ok(false);
    }
    if grant.role != Role::Admin {
        spare(work, user).await?;
    }
    users::set_role(work, user.id, grant.role, &grant.tags).await?;
    Ok(true)
}

/// How the audit log tells of somebody's role.
pub(super) fn extras(email: &str, grant: &Grant) -> [(&'static str, String); 3] {
    [
        ("email", email.to_owned()),
        ("role", grant.role.to_string()),
        ("tags", grant.tags.as_slice().join(",")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(tags: &[&str]) -> Vec<String> {
        tags.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn tags_go_with_member_and_monitor_alone() {
        use Role::{Admin, Member, Monitor};
        let check = |present: (Role, &[&str]),
                     role: Option<&str>,
                     tags: Option<&[&str]>,
                     expected: Option<(Role, &[&str])>| {
            let mut problems = Problems::default();
            let (had, with) = present;
            let present = Grant { role: had, tags: Tags::parse(list(with)).unwrap() };
            let grant = read(&mut problems, role, tags.map(list), &present);
            let read = problems.finish().ok().map(|()| (grant.role, Vec::from(grant.tags)));
            assert_eq!(read, expected.map(|(role, tags)| (role, list(tags))), "{role:?} {tags:?}");
        };
        check((Member, &["a"]), Some("monitor"), None, Some((Monitor, &["a"])));
        check((Member, &["a"]), Some("admin"), None, Some((Admin, &[])));
        check((Member, &["a"]), Some("admin"), Some(&[]), Some((Admin, &[])));
        check((Member, &["a"]), Some("admin"), Some(&["b"]), None);
        check((Member, &["a"]), None, Some(&["b", "c"]), Some((Member, &["b", "c"])));
        check((Member, &["a"]), None, Some(&[]), Some((Member, &[])));
        check((Admin, &[]), None, Some(&["b"]), None);
        check((Admin, &[]), None, Some(&[]), Some((Admin, &[])));
        check((Admin, &[]), Some("member"), Some(&["b"]), Some((Member, &["b"])));
        check((Admin, &[]), Some("Admin"), None, None);
        check((Admin, &[]), Some("root"), None, None);
    }
}
