//! How much one account may have. Everything is counted in the transaction that adds to
//! it: only one transaction writes at a time, so two creates at once can't both pass.

use crate::actions::ServerChange;
use crate::instances::Order;
use crate::{App, Error, Result};
use model::{AccountId, Instance, SignedDuration, User};
use serde::Deserialize;
use store::accounts::Holdings;
use store::{Run, accounts, apikeys, history};

/// At most so many keys for each user, expired ones among them.
const KEYS_OF_USER: usize = 50;
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// At most so many for each account; 0 is no limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Deleted ones count until nothing is left, with their servers and VPCs.
    pub instances: u32,
    /// Servers of all instances, and gigabytes of their disks.
    pub servers: u32,
    pub disk_gb: u32,
    /// With those that were made for an instance.
    pub vpcs: u32,
    /// Customer keys of all users.
    pub keys: u32,
    /// Users, and invitations that wait.
    pub users: u32,
    /// Instances that are created within 24 hours. Bills are made of their histories, which
    /// are kept.
    pub creates_per_day: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            instances: 20,
            servers: 60,
            disk_gb: 50_000,
            vpcs: 40,
            keys: 200,
            users: 100,
            creates_per_day: 100,
        }
    }
}

impl Limits {
    pub const NONE: Self = Self {
        instances: 0,
        servers: 0,
        disk_gb: 0,
        vpcs: 0,
        keys: 0,
        users: 0,
        creates_per_day: 0,
    };
}

/// Fails if an account can't have one more such instance.
pub(crate) async fn check_instance(
    run: &mut impl Run,
    app: &App,
    account: AccountId,
    order: &Order,
) -> Result<()> {
    let plan = &order.plan;
    let has = accounts::holdings(run, account, app.now()).await?;
    let limits = app.settings.limits;
    let disk_gb = i64::from(plan.disk_gb(order.disk_size)) * i64::from(plan.nodes);
    within("instances", limits.instances, has.instances, 1)?;
    within("servers", limits.servers, has.servers, plan.nodes.into())?;
    within("GB of disk", limits.disk_gb, has.disk_gb, disk_gb)?;
    let created = history::created_since(run, account, app.now() - DAY).await?;
    let most = limits.creates_per_day;
    if most > 0 && created >= i64::from(most) {
        return Err(Error::Refused(format!(
            "An account can create at most {most} instances within 24 hours, and this one has \
             created {created}; try again later, or ask the operator for a higher limit"
        )));
    }
    Ok(())
}

/// Fails if an account can't have what an instance is to have in addition.
pub(crate) async fn check_growth(
    run: &mut impl Run,
    app: &App,
    instance: &Instance,
    change: &ServerChange,
) -> Result<()> {
    let has = accounts::holdings(run, instance.account_id, app.now()).await?;
    let limits = app.settings.limits;
    let gigabytes = |servers: u32, each: u32| i64::from(servers) * i64::from(each);
    let after = gigabytes(change.plan.nodes, change.disk_gb());
    let more_gb = after - gigabytes(change.nodes_before, change.disk_before);
    let more = i64::try_from(change.adds()).unwrap_or(i64::MAX);
    // An operator may have lowered a limit since: what asks for no more is let pass.
    if more > 0 {
        within("servers", limits.servers, has.servers, more)?;
    }
    if more_gb > 0 {
        within("GB of disk", limits.disk_gb, has.disk_gb, more_gb)?;
    }
    Ok(())
}

pub(crate) async fn check_vpc(run: &mut impl Run, app: &App, account: AccountId) -> Result<()> {
    let Holdings { vpcs, .. } = accounts::holdings(run, account, app.now()).await?;
    within("VPCs", app.settings.limits.vpcs, vpcs, 1)
}

pub(crate) async fn check_key(run: &mut impl Run, app: &App, user: &User) -> Result<()> {
    let Holdings { keys, .. } = accounts::holdings(run, user.account_id, app.now()).await?;
    within("API keys", app.settings.limits.keys, keys, 1)?;
    if apikeys::list(run, user.id).await?.len() < KEYS_OF_USER {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "A user can have at most {KEYS_OF_USER} API keys; delete those that are not needed"
    )))
}

/// For a user or an invitation.
pub(crate) async fn check_user(run: &mut impl Run, app: &App, account: AccountId) -> Result<()> {
    let Holdings { users, .. } = accounts::holdings(run, account, app.now()).await?;
    within("users and open invitations", app.settings.limits.users, users, 1)
}

fn within(what: &str, most: u32, has: i64, more: i64) -> Result<()> {
    if most == 0 || has.saturating_add(more) <= most.into() {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "An account can have at most {most} {what}; this one has {has}, and {more} more would be \
         needed. Delete what is not needed, or ask the operator for a higher limit"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_reached_and_not_passed() {
        let check = |most, has, more, expected| {
            assert_eq!(within("servers", most, has, more).is_ok(), expected, "{most} {has} {more}");
        };
        check(3, 0, 3, true);
        check(3, 1, 3, false);
        check(3, 3, 1, false);
        check(0, i64::MAX, 1, true);
        let said = within("servers", 60, 58, 3).unwrap_err().to_string();
        assert!(
            said.starts_with("An account can have at most 60 servers; this one has 58"),
            "{said}"
        );
    }
}
