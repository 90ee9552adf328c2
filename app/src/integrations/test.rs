//! Trying whether something arrives there.

use super::validate::destination;
use super::{UNREADABLE, about, find};
use crate::access::on_servers_of_its_own;
use crate::{App, Error, InstanceAccess, Result, audit};
use async_trait::async_trait;
use model::{
    AccountId, InstanceId, InstanceName, Integration, IntegrationId, IntegrationKind,
    SignedDuration,
};
use store::Work;
use store::send_counts::{self, Limit};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// Whose logs and metrics they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IntegrationOrigin {
    pub instance_id: InstanceId,
    pub instance_name: InstanceName,
}

/// Implemented by the composition root from what sends.
#[async_trait]
pub trait IntegrationTester: Send + Sync {
    /// Sends one event, or one point, and says in a sentence of ours what came of it. It has
    /// limits of its own to time and memory.
    async fn test(
        &self,
        origin: &IntegrationOrigin,
        integration: &Integration,
    ) -> Result<String, String>;
}

/// For who tests none.
pub struct NoTester;

#[async_trait]
impl IntegrationTester for NoTester {
    async fn test(&self, _: &IntegrationOrigin, _: &Integration) -> Result<String, String> {
        Err("Nothing is sent from here".into())
    }
}

/// What came of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tested {
    pub ok: bool,
    pub message: String,
}

/// Sends one event or one point there, and waits for what comes of it. `None` stands for a
/// path segment that is no id.
pub async fn test(
    access: &InstanceAccess,
    app: &App,
    kind: IntegrationKind,
    id: Option<IntegrationId>,
) -> Result<Tested> {
    access.may_change()?;
    on_servers_of_its_own(app, &access.instance)?;
    let (instance, now) = (&access.instance, app.now());
    let integration = find(access, app, kind, id).await?;
    if !integration.is_readable() {
        return Err(Error::Refused(UNREADABLE.into()));
    }
    let mut work = app.store().begin().await?;
    count(&mut work, app, instance.account_id, &integration).await?;
    let asker = access.asker(&mut work).await?;
    let extras = about(instance, integration.id, kind, integration.system);
    audit::write(&mut work, &asker, now, "integration.test", &extras).await?;
    work.commit().await?;
    let origin =
        IntegrationOrigin { instance_id: instance.id, instance_name: instance.name.clone() };
    let tested = app.integration_tester.test(&origin, &integration).await;
    Ok(match tested {
        Ok(message) => Tested { ok: true, message },
        Err(message) => Tested { ok: false, message },
    })
}

async fn count(
    work: &mut Work,
    app: &App,
    account: AccountId,
    integration: &Integration,
) -> Result<()> {
    const WHAT: &str = "integration tests";
    let (most, now) = (&app.settings.messages, app.now());
    // Only who knows the key of a destination that everybody shares can use it up.
    let place = match destination(integration.system, &integration.config) {
        Some((_, url)) => url.to_string(),
        None => integration.config.values().map(|it| it.expose()).collect::<Vec<_>>().join(" "),
    };
    let system = integration.system.as_str();
    let limits = [
        Limit::of_account(WHAT, account, most.tests_per_account_per_hour, HOUR),
        Limit::of_place(WHAT, system, &place, most.tests_per_destination_per_hour, HOUR),
    ];
    match send_counts::spend(work, &limits, now).await? {
        None => Ok(()),
        Some(exceeded) => Err(Error::too_many(now, exceeded.until)),
    }
}
