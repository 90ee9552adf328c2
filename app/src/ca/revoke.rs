//! Having brokers refuse a certificate. The engine tells them, and none is
//! restarted for it; there is no way back.

use crate::{App, Error, InstanceAccess, Result, audit};
use model::Serial;
use store::{Work, certificates, instances};

/// `None` stands for a path segment that is no serial. Asking again changes
/// nothing.
pub async fn revoke(access: &InstanceAccess, app: &App, serial: Option<Serial>) -> Result<()> {
    access.may_change()?;
    let serial = serial.ok_or(Error::NotFound)?;
    let (instance, now) = (&access.instance, app.now());
    let mut work = app.store().begin().await?;
    let found = certificates::find(&mut work, instance.id, &serial).await?;
    let certificate = found.ok_or(Error::NotFound)?;
    if certificates::revoke(&mut work, instance.id, &serial, now).await? {
        instances::wake(&mut work, instance.id, now).await?;
        let asker = access.asker(&mut work).await?;
        let about = super::about(instance, &certificate);
        audit::write(&mut work, &asker, now, "certificate.revoke", &about).await?;
    }
    Ok(work.commit().await?)
}

/// The same for every certificate of a name.
pub(crate) async fn revoke_all(
    access: &InstanceAccess,
    app: &App,
    work: &mut Work,
    name: &str,
) -> Result<()> {
    let (instance, now) = (&access.instance, app.now());
    let revoked = certificates::revoke_all(work, instance.id, name, now).await?;
    if revoked.is_empty() {
        return Ok(());
    }
    instances::wake(work, instance.id, now).await?;
    let asker = access.asker(work).await?;
    for certificate in &revoked {
        let about = super::about(instance, certificate);
        audit::write(work, &asker, now, "certificate.revoke", &about).await?;
    }
    Ok(())
}
