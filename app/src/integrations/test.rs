//! Trying whether something arrives there.

use super::{about, find};
use crate::access::on_servers_of_its_own;
use crate::{App, Error, InstanceAccess, Result, audit};
use async_trait::async_trait;
use model::{
    AccountId, Instance, Integration, IntegrationId, IntegrationKind, Secret, SignedDuration,
};
use ship::{Origin, Server, check_destination};
use store::send_counts::{self, Limit};
use store::{Work, servers};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// Implemented by the composition root from what sends.
#[async_trait]
pub trait IntegrationTester: Send + Sync {
    /// Sends one event, or one point, as if it came from there, and returns in a sentence of ours
    /// what came of it. It has limits of its own to time and memory.
    async fn test(
        &self,
        origin: &Origin,
        integration: &Integration,
    ) -> std::result::Result<String, String>;
}

/// For programs that send nothing.
pub struct NoTester;

#[async_trait]
impl IntegrationTester for NoTester {
    async fn test(&self, _: &Origin, _: &Integration) -> std::result::Result<String, String> {
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
        return Err(Error::Refused(Integration::UNREADABLE.into()));
    }
    let mut work = app.store().begin().await?;
    count(&mut work, app, instance.account_id, &integration).await?;
    let asker = access.asker(&mut work).await?;
    let extras = about(instance, integration.id, kind, integration.system);
    audit::write(&mut work, &asker, now, "integration.test", &extras).await?;
    work.commit().await?;
    let origin = origin(app, instance).await?;
    let tested = app.integration_tester.test(&origin, &integration).await;
    Ok(match tested {
        Ok(message) => Tested { ok: true, message },
        Err(message) => Tested { ok: false, message },
    })
}

/// One of its servers, so that what is sent is found among what they send.
async fn origin(app: &App, instance: &Instance) -> Result<Origin> {
    let servers = servers::list_bare(&mut app.store().reader(), instance.id).await?;
    let none = || Server { name: instance.name.as_str().to_owned(), hostname: String::new() };
    let server = servers.first().map_or_else(none, Server::from);
    Ok(Origin { instance: instance.into(), server })
}

async fn count(
    work: &mut Work,
    app: &App,
    account: AccountId,
    integration: &Integration,
) -> Result<()> {
    const WHAT: &str = "integration tests";
    let (most, now) = (&app.settings.messages, app.now());
    // The key is part of the place: a caller without it can't use up the tests of a
    // destination that many share.
    let place = match check_destination(integration.system, &integration.config) {
        Ok(Some(destination)) => destination.url.to_string(),
        _ => integration.config.values().map(Secret::expose).collect::<Vec<_>>().join(" "),
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
