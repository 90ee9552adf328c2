//! The authorities of an instance: what clients verify their brokers with, and
//! the certificates that clients log in with themselves.

mod sign;

pub use sign::{Signing, sign};

use crate::{App, Error, InstanceAccess, Result, audit};
use model::{Certificate, Instance, Serial};
use store::{Work, authorities, certificates, instances};

/// What clients verify brokers with, as PEM. It is written together with the instance and
/// goes with it.
pub async fn certificate(access: &InstanceAccess, app: &App) -> Result<String> {
    let mut reader = app.store().reader();
    authorities::customers_root(&mut reader, access.instance.id).await?.ok_or(Error::InvalidId)
}

/// What the audit log says of a certificate.
fn about(instance: &Instance, certificate: &Certificate) -> [(&'static str, String); 4] {
    [
        ("id", instance.id.to_string()),
        ("name", instance.name.to_string()),
        ("serial", certificate.serial.to_string()),
        ("cn", certificate.cn.to_string()),
    ]
}

/// All certificates that were signed for an instance's clients, also those that are revoked,
/// oldest first. Those that have expired are
/// among them until one is signed a day later.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<Certificate>> {
    Ok(certificates::list(&mut app.store().reader(), access.instance.id).await?)
}

/// Has brokers refuse a certificate. The engine tells them, and none is restarted for it;
/// there is no way back. `None` stands for a path segment that is no serial. Asking again changes
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
        let about = about(instance, &certificate);
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
        let about = about(instance, certificate);
        audit::write(work, &asker, now, "certificate.revoke", &about).await?;
    }
    Ok(())
}
