//! Where an instance's logs and metrics are sent.
//!
//! Settings are never in the audit log, since most systems have a key among them.

mod test;
mod validate;

pub use test::{IntegrationTester, NoTester, Tested, test};
pub use validate::IntegrationFields;

use crate::access::on_servers_of_its_own;
use crate::{App, Asked, Error, InstanceAccess, Result, audit};
use model::{
    Instance, Integration, IntegrationId, IntegrationKind, IntegrationSystem, MOST_INTEGRATIONS,
    Secret,
};
use store::{NewIntegration, integrations};
use validate::validate;

/// What the audit log says of an integration.
fn about(
    instance: &Instance,
    id: IntegrationId,
    kind: IntegrationKind,
    system: IntegrationSystem,
) -> [(&'static str, String); 5] {
    [
        ("id", instance.id.to_string()),
        ("name", instance.name.to_string()),
        ("integration", id.to_string()),
        ("kind", kind.to_string()),
        ("type", system.to_string()),
    ]
}

/// By id.
pub async fn list(
    access: &InstanceAccess,
    app: &App,
    kind: IntegrationKind,
) -> Result<Vec<Integration>> {
    on_servers_of_its_own(app, &access.instance)?;
    let found = integrations::list(&mut app.store().reader(), access.instance.id, kind).await?;
    Ok(found.into_iter().map(|integration| shown(access, integration)).collect())
}

/// `None` stands for a path segment that is no id.
pub async fn read(
    access: &InstanceAccess,
    app: &App,
    kind: IntegrationKind,
    id: Option<IntegrationId>,
) -> Result<Integration> {
    on_servers_of_its_own(app, &access.instance)?;
    Ok(shown(access, find(access, app, kind, id).await?))
}

async fn find(
    access: &InstanceAccess,
    app: &App,
    kind: IntegrationKind,
    id: Option<IntegrationId>,
) -> Result<Integration> {
    let id = id.ok_or(Error::NotFound)?;
    let found = integrations::find(&mut app.store().reader(), access.instance.id, kind, id).await?;
    found.ok_or(Error::NotFound)
}

/// A caller who may not change anything sees no keys.
fn shown(access: &InstanceAccess, mut integration: Integration) -> Integration {
    if !integration.is_readable() {
        integration.error = Integration::UNREADABLE.into();
    }
    if access.masked() {
        for field in integration.system.fields().iter().filter(|field| field.secret) {
            if let Some(value) = integration.config.get_mut(field.name) {
                *value = Secret::new("");
            }
        }
    }
    integration
}

pub async fn create(
    access: &InstanceAccess,
    app: &App,
    kind: IntegrationKind,
    system: IntegrationSystem,
    wanted: Asked<IntegrationFields>,
) -> Result<Integration> {
    access.may_change()?;
    on_servers_of_its_own(app, &access.instance)?;
    // Before the transaction: an address may have to be looked up.
    let config = validate(app, system, wanted).await?;
    let (instance, now) = (access.instance.id, app.now());
    let mut work = app.store().begin().await?;
    access.still_there(&mut work).await?;
    let new = NewIntegration { kind, system, config };
    let Some(id) = integrations::insert(&mut work, instance, &new, now).await? else {
        return Err(Error::Refused(format!(
            "This instance has {MOST_INTEGRATIONS} integrations, and can't have more; delete one"
        )));
    };
    let asker = access.asker(&mut work).await?;
    let extras = about(&access.instance, id, kind, system);
    audit::write(&mut work, &asker, now, "integration.create", &extras).await?;
    let created = integrations::find(&mut work, instance, kind, id).await?;
    work.commit().await?;
    created.ok_or(Error::NotFound)
}

/// Replaces the settings; the system stays. What failed is tried again at once, also with the
/// same settings: the other side may have been mended. `None` stands for a path segment that
/// is no id.
pub async fn update(
    access: &InstanceAccess,
    app: &App,
    kind: IntegrationKind,
    id: Option<IntegrationId>,
    wanted: Asked<IntegrationFields>,
) -> Result<()> {
    access.may_change()?;
    on_servers_of_its_own(app, &access.instance)?;
    let before = find(access, app, kind, id).await?;
    let config = validate(app, before.system, wanted).await?;
    let (instance, now) = (access.instance.id, app.now());
    let mut work = app.store().begin().await?;
    access.still_there(&mut work).await?;
    if !integrations::set_config(&mut work, instance, before.id, &config, now).await? {
        return Err(Error::NotFound);
    }
    if before.config != config {
        let asker = access.asker(&mut work).await?;
        let extras = about(&access.instance, before.id, kind, before.system);
        audit::write(&mut work, &asker, now, "integration.update", &extras).await?;
    }
    Ok(work.commit().await?)
}

/// `None` stands for a path segment that is no id.
pub async fn delete(
    access: &InstanceAccess,
    app: &App,
    kind: IntegrationKind,
    id: Option<IntegrationId>,
) -> Result<()> {
    access.may_change()?;
    on_servers_of_its_own(app, &access.instance)?;
    let (instance, id) = (access.instance.id, id.ok_or(Error::NotFound)?);
    let mut work = app.store().begin().await?;
    let found = integrations::find(&mut work, instance, kind, id).await?;
    let found = found.ok_or(Error::NotFound)?;
    integrations::delete(&mut work, instance, id).await?;
    let asker = access.asker(&mut work).await?;
    let extras = about(&access.instance, id, kind, found.system);
    audit::write(&mut work, &asker, app.now(), "integration.delete", &extras).await?;
    Ok(work.commit().await?)
}
