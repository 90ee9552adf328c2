//! One instance, and what the caller may do with it.

use crate::audit::Asker;
use crate::{App, Caller, Error, Result, Right, Source};
use model::{Instance, InstanceId};
use store::{Run, accounts, instances};

/// What a use case is about to do with an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    See,
    Change,
}

/// An instance that the caller may reach: by a customer key that sees it, or
/// by the instance's own key. Use cases of the Instance API take this, so one
/// implementation serves both listeners.
#[derive(Clone, Debug)]
pub struct InstanceAccess {
    pub(crate) instance: Instance,
    pub(crate) may_change: bool,
    pub(crate) masked: bool,
    source: Source,
    /// Of the customer key's owner; an instance's own key is the team's.
    email: Option<String>,
}

impl InstanceAccess {
    /// Role first, then whether the instance is there to be seen. `None` stands
    /// for a path segment that is no id.
    pub async fn of_caller(
        caller: &Caller,
        app: &App,
        id: Option<InstanceId>,
        need: Need,
    ) -> Result<Self> {
        caller.may(match need {
            Need::See => Right::SeeInstances,
            Need::Change => Right::ChangeInstances,
        })?;
        let instance = visible(caller, &mut app.store().reader(), id).await?;
        Ok(Self {
            instance,
            may_change: caller.may(Right::ChangeInstances).is_ok(),
            masked: caller.masked(),
            source: caller.source,
            email: Some(caller.email.clone()),
        })
    }

    /// The holder of an instance's own key may do everything under it.
    pub(crate) fn of_owner(instance: Instance, source: Source) -> Self {
        Self { instance, may_change: true, masked: false, source, email: None }
    }

    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Every use case that changes something asks this, whatever the entry
    /// point asked before.
    pub fn may_change(&self) -> Result<()> {
        if self.may_change {
            Ok(())
        } else {
            Err(Error::Forbidden(Right::ChangeInstances.needed()))
        }
    }

    pub fn masked(&self) -> bool {
        self.masked
    }

    /// Whether it came by the instance's own key, which sees nobody of the team.
    pub(crate) fn is_of_own_key(&self) -> bool {
        self.email.is_none()
    }

    /// The instance, looked at anew: since the caller's rights were checked it may
    /// have been deleted.
    pub(crate) async fn still_there(&self, run: &mut impl Run) -> Result<Instance> {
        let found = instances::find(run, self.instance.id).await?;
        found.filter(|it| it.deleted_at.is_none()).ok_or(Error::InvalidId)
    }

    /// Who asks, as the audit log tells it.
    pub(crate) async fn asker(&self, run: &mut impl Run) -> Result<Asker> {
        let account_id = self.instance.account_id;
        let email = match &self.email {
            Some(email) => email.clone(),
            None => accounts::find(run, account_id).await?.ok_or(Error::InvalidId)?.email,
        };
        Ok(Asker { account_id, source: self.source, email })
    }
}

/// The instance, or "Invalid ID" alike for one that does not exist, belongs to
/// another account, carries none of the caller's tags, or was deleted.
pub(crate) async fn visible(
    caller: &Caller,
    run: &mut impl Run,
    id: Option<InstanceId>,
) -> Result<Instance> {
    let id = id.ok_or(Error::InvalidId)?;
    let found = instances::find(run, id).await?;
    found.filter(|instance| caller.sees(instance)).ok_or(Error::InvalidId)
}

/// Fails for one of a shared plan: its servers belong to many customers.
pub(crate) fn on_servers_of_its_own(app: &App, instance: &Instance) -> Result<()> {
    match app.catalogue.plan(&instance.plan.0) {
        Some(plan) if plan.shared() => Err(Error::NotOnSharedPlans),
        _ => Ok(()),
    }
}

/// Fails unless clients can use it.
pub(crate) fn ready(instance: &Instance) -> Result<()> {
    if instance.stopped {
        let sentence = "The cluster is stopped; start it with actions/cluster-start first";
        return Err(Error::Refused(sentence.into()));
    }
    if instance.ready() {
        return Ok(());
    }
    let progress = &instance.progress;
    let what = if progress.observed_generation == 0 { "created" } else { "started" };
    Err(Error::Refused(format!(
        "The cluster is being {what} ({}); try again once `ready` reads true",
        progress.status_without_logs()
    )))
}
