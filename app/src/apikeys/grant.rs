//! What a new key may do: never more than those who make it.

use crate::rights::{is_within, narrowed_by_tags};
use crate::{Grant, Problems};
use model::{Role, Tags};

/// What a new key stays within.
pub(super) struct Bounds<'a> {
    /// Of the key that it is made with, if it is made with one.
    pub key: Option<&'a Grant>,
    pub user: &'a Grant,
    /// Whose rights these are, as in "the user's own".
    pub whose: &'static str,
}

impl Bounds<'_> {
    /// Role and tags as asked for. Without a role it is as much as the bounds allow; without
    /// tags it has those of the key it is made with. The user's own narrow it anyway.
    pub fn grant(&self, problems: &mut Problems, role: Option<Role>, tags: Tags) -> Grant {
        let role = self.role(problems, role);
        if tags.is_empty() {
            let narrowed = self.key.filter(|key| narrowed_by_tags(key.role));
            let tags = narrowed.map(|key| key.tags.clone()).unwrap_or_default();
            return Grant { role, tags };
        }
        if !narrowed_by_tags(role) {
            problems.add("tags", "are only for the roles member and monitor");
        }
        if let Some(tag) = tags.as_slice().iter().find(|tag| !self.allow_tag(tag)) {
            problems.add("tags", format!("{tag} is none of {}", self.whose));
        }
        Grant { role, tags }
    }

    fn role(&self, problems: &mut Problems, role: Option<Role>) -> Role {
        let bounds = || self.all().map(|bound| bound.role);
        let allow = |role: &Role| bounds().all(|bound| is_within(*role, bound));
        let Some(role) = role else {
            let most = bounds().find(allow);
            if most.is_none() {
                problems.add("role", "your key and your user have no role in common");
            }
            return most.unwrap_or(self.user.role);
        };
        if let Some(bound) = bounds().find(|bound| !is_within(role, *bound)) {
            problems.add("role", format!("{role} is more than {}, {bound}", self.whose));
        }
        role
    }

    fn allow_tag(&self, tag: &str) -> bool {
        let allows = |tags: &Tags| tags.is_empty() || tags.as_slice().iter().any(|own| own == tag);
        self.all().all(|bound| allows(&bound.tags))
    }

    fn all(&self) -> impl Iterator<Item = &Grant> {
        self.key.into_iter().chain([self.user])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Role::{Admin, BillingManager, Devops, Member, Monitor};

    fn grant(role: Role, tags: &[&str]) -> Grant {
        let tags = Tags::parse(tags.iter().map(ToString::to_string).collect()).unwrap();
        Grant { role, tags }
    }

    fn made(key: Option<&Grant>, user: &Grant, role: Option<Role>, tags: &[&str]) -> Option<Grant> {
        let bounds = Bounds { key, user, whose: "your own" };
        let mut problems = Problems::default();
        let made = bounds.grant(&mut problems, role, grant(Admin, tags).tags);
        problems.finish().ok().map(|()| made)
    }

    #[test]
    fn a_key_is_never_made_with_more_than_its_users_rights() {
        let check = |user: Grant, role: Option<Role>, tags: &[&str], expected: bool| {
            assert_eq!(made(None, &user, role, tags).is_some(), expected, "{user:?} {role:?}");
        };
        check(grant(Admin, &[]), None, &[], true);
        check(grant(Admin, &[]), Some(Monitor), &["x"], true);
        check(grant(Admin, &[]), Some(Devops), &["x"], false);
        check(grant(Member, &[]), Some(Devops), &[], false);
        check(grant(Member, &["a", "b"]), None, &["b"], true);
        check(grant(Member, &["a", "b"]), None, &["c"], false);
        check(grant(Monitor, &[]), Some(Member), &[], false);
        check(grant(BillingManager, &[]), Some(Monitor), &[], false);
    }

    #[test]
    fn nor_with_more_than_the_key_that_it_is_made_with() {
        let check = |key: Grant, user: Grant, role, tags: &[&str], expected: Option<Grant>| {
            let text = format!("{key:?} {user:?} {role:?} {tags:?}");
            assert_eq!(made(Some(&key), &user, role, tags), expected, "{text}");
        };
        let admin = || grant(Admin, &[]);
        check(admin(), admin(), None, &[], Some(admin()));
        check(grant(Monitor, &[]), admin(), None, &[], Some(grant(Monitor, &[])));
        check(admin(), grant(Monitor, &[]), None, &[], Some(grant(Monitor, &[])));
        check(grant(Monitor, &[]), admin(), Some(Member), &[], None);
        check(grant(Devops, &[]), grant(BillingManager, &[]), None, &[], None);
        let (narrowed, wide) = (grant(Member, &["a", "b"]), grant(Member, &[]));
        check(narrowed.clone(), admin(), None, &[], Some(narrowed.clone()));
        check(narrowed.clone(), admin(), Some(Monitor), &["a"], Some(grant(Monitor, &["a"])));
        check(narrowed.clone(), admin(), None, &["c"], None);
        check(wide.clone(), narrowed.clone(), None, &["c"], None);
        check(wide, narrowed.clone(), None, &["b"], Some(grant(Member, &["b"])));
        // The user's tags narrow it as well, whatever they are later.
        check(narrowed.clone(), grant(Member, &["b", "c"]), None, &[], Some(narrowed));
    }
}
