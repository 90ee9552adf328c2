//! A certificate for a client: whoever holds it is one user of this cluster.
//!
//! A name that can log in with a password gets none, so that nobody comes in as
//! somebody else by having a request signed; names of ours get none either. The
//! certificate is on record before its first byte leaves.

use crate::resources::Cluster;
use crate::users::{has_password, hold, let_go};
use crate::{App, Asked, Error, InstanceAccess, Result, audit};
use model::{Certificate, Instance, UserName};
use pki::{ClientCertificate, ClientRequest};
use store::certificates::{self, Count};
use store::ssl_users::{self, Held, Purpose};
use store::{AuthorityKind, Work, authorities};

/// Certificates of an instance that clients can log in with.
const MOST: i64 = 10_000;
/// Revoked certificates that have not expired, beyond which none is signed. Brokers keep
/// a list of them, which has at most so many and [`MOST`] entries.
const MOST_REVOKED: i64 = 10_000;

/// What is asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signing {
    /// A certificate request (PKCS #10) in PEM.
    pub csr: Option<String>,
}

/// The certificate as PEM, followed by the intermediate that signed it.
pub async fn sign(access: &InstanceAccess, app: &App, wanted: Asked<Signing>) -> Result<String> {
    access.may_change()?;
    let (Signing { csr }, mut problems) = wanted.open()?;
    let csr = problems.required("csr", csr);
    let request = csr.and_then(|csr| problems.take("csr", ClientRequest::parse(&csr)));
    problems.finish()?;
    let Some(request) = request else { return Err(Error::field("csr", "Field is required")) };
    may_be_had(app, &access.instance, request.name())?;
    let cluster = Cluster::open(access, app).await?;
    let held = Box::pin(hold(access, app, request.name(), Purpose::Certificate)).await?;
    let held = held.ok_or_else(|| is_being_given(request.name()))?;
    let signed = Box::pin(sign_held(access, app, &cluster, &request, &held)).await;
    if signed.is_err() {
        let_go(app, &held).await;
    }
    signed
}

/// Nobody makes a user of that name meanwhile.
async fn sign_held(
    access: &InstanceAccess,
    app: &App,
    cluster: &Cluster<'_>,
    request: &ClientRequest,
    held: &Held,
) -> Result<String> {
    has_no_password(cluster, request.name()).await?;
    let mut work = app.store().begin().await?;
    let instance = access.still_there(&mut work).await?;
    if !ssl_users::let_go(&mut work, held).await? {
        return Err(is_being_given(request.name()));
    }
    let issued = issue(&mut work, app, &instance, request).await?;
    let asker = access.asker(&mut work).await?;
    let about = super::about(&instance, &issued.0);
    audit::write(&mut work, &asker, app.now(), "certificate.sign", &about).await?;
    work.commit().await?;
    Ok(issued.1)
}

/// Whether anybody but us may be this user by a certificate.
fn may_be_had(app: &App, instance: &Instance, name: &UserName) -> Result<()> {
    if name.is_reserved() {
        let what = format!("has the common name {name}, which is reserved; choose another");
        return Err(Error::field("csr", what));
    }
    if name.as_str() == instance.username {
        let what =
            format!("has the common name {name}, which is the default user's; choose another");
        return Err(Error::field("csr", what));
    }
    let prefix = format!("{}-", instance.username);
    let shared = app.catalogue.plan(&instance.plan.0).is_some_and(model::Plan::shared);
    if shared && !name.as_str().starts_with(&prefix) {
        let what =
            format!("has the common name {name}; on shared plans it must begin with {prefix}");
        return Err(Error::field("csr", what));
    }
    Ok(())
}

/// Users with passwords are known to Kafka alone.
async fn has_no_password(cluster: &Cluster<'_>, name: &UserName) -> Result<()> {
    if !has_password(cluster, name).await? {
        return Ok(());
    }
    let what = format!(
        "has the common name {name}, which is a user with a password; choose another, or delete \
         that user first"
    );
    Err(Error::field("csr", what))
}

fn is_being_given(name: &UserName) -> Error {
    let what = format!(
        "has the common name {name}, which is being given out by another call; try again in a \
         minute"
    );
    Error::field("csr", what)
}

async fn issue(
    work: &mut Work,
    app: &App,
    instance: &Instance,
    request: &ClientRequest,
) -> Result<(Certificate, String)> {
    let now = app.now();
    certificates::forget_expired(work, instance.id, now).await?;
    has_room(certificates::count(work, instance.id, now).await?)?;
    let found = authorities::find(work, instance.id, AuthorityKind::Client).await?;
    let (certificate, key) = found.ok_or(Error::InvalidId)?;
    let authority = pki::Authority { certificate, key };
    let ClientCertificate { pem, serial, expires_at } =
        authority.issue_to_client(request, now, app.entropy())?;
    let issued = Certificate {
        serial: serial.parse().map_err(Error::internal)?,
        cn: request.name().clone(),
        issued_at: now,
        expires_at,
        revoked_at: None,
    };
    certificates::insert(work, instance.id, &issued).await?;
    Ok((issued, pem))
}

/// A revoked certificate makes room for another one, as long as brokers can keep the
/// list of those that they have to refuse.
fn has_room(Count { good, revoked }: Count) -> Result<()> {
    if good >= MOST {
        return Err(Error::Refused(format!(
            "This instance has {good} certificates that are good, and can't have more; revoke \
             some that are not used any more, and sign again"
        )));
    }
    if revoked >= MOST_REVOKED {
        return Err(Error::Refused(format!(
            "This instance has revoked {revoked} certificates that have not expired, and brokers \
             can't keep more in mind; sign again once some of them have expired"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revoked_certificates_make_room_within_a_bound_of_their_own() {
        let check = |good, revoked, expected: Option<&str>| {
            let refused = has_room(Count { good, revoked }).err().map(|error| error.to_string());
            assert_eq!(refused.is_some(), expected.is_some(), "{good} {revoked}");
            assert!(refused.is_none_or(|it| it.contains(expected.unwrap_or_default())));
        };
        check(9_999, 0, None);
        check(9_999, 9_999, None);
        check(10_000, 0, Some("revoke some"));
        check(0, 10_000, Some("has revoked 10000"));
    }
}
