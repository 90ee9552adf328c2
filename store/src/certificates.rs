//! What client authorities have signed.
//!
//! A certificate is written in the transaction that answers with it, so none is
//! out there that can't be revoked. What is revoked stays so until it has expired. One
//! that has expired is forgotten a day later, when the next one is signed.

use crate::db::{Query, Row, Run};
use crate::{Error, Result, Work};
use model::{Certificate, InstanceId, Serial, SignedDuration, Timestamp, UserName};

/// Clocks of servers may run behind ours; so long an expired certificate may
/// still be good there.
const SLACK: SignedDuration = SignedDuration::from_hours(24);

pub async fn insert(work: &mut Work, instance: InstanceId, new: &Certificate) -> Result<()> {
    let query = Query::new(
        "INSERT INTO certificates (instance_id, serial, cn, issued_at, expires_at, revoked_at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(instance.0)
    .bind(new.serial.as_str())
    .bind(new.cn.as_str())
    .bind(new.issued_at)
    .bind(new.expires_at)
    .bind(new.revoked_at);
    work.execute(query).await.map(drop)
}

/// All of an instance, in the order in which they were issued.
pub async fn list(run: &mut impl Run, instance: InstanceId) -> Result<Vec<Certificate>> {
    let query =
        Query::new("SELECT * FROM certificates WHERE instance_id = $1 ORDER BY issued_at, serial");
    run.fetch(query.bind(instance.0)).await?.iter().map(certificate).collect()
}

pub async fn find(
    run: &mut impl Run,
    instance: InstanceId,
    serial: &Serial,
) -> Result<Option<Certificate>> {
    let query = Query::new("SELECT * FROM certificates WHERE instance_id = $1 AND serial = $2")
        .bind(instance.0)
        .bind(serial.as_str());
    run.fetch_one(query).await?.map(|row| certificate(&row)).transpose()
}

/// Whether somebody has a certificate of this name that is not revoked, and that a
/// broker could still take for good.
pub async fn is_issued(
    run: &mut impl Run,
    instance: InstanceId,
    cn: &str,
    now: Timestamp,
) -> Result<bool> {
    let query = Query::new(
        "SELECT 1 AS found FROM certificates \
         WHERE instance_id = $1 AND cn = $2 AND revoked_at IS NULL AND expires_at > $3 LIMIT 1",
    )
    .bind(instance.0)
    .bind(cn)
    .bind(now - SLACK);
    Ok(run.fetch_one(query).await?.is_some())
}

/// Names whose last certificate that is not revoked ends after `now` and by `until`, with
/// that end, the earliest first. One that was replaced by a later one is not among them.
pub async fn ending(
    run: &mut impl Run,
    instance: InstanceId,
    now: Timestamp,
    until: Timestamp,
) -> Result<Vec<(String, Timestamp)>> {
    let query = Query::new(
        "SELECT cn, MAX(expires_at) AS expires_at FROM certificates \
         WHERE instance_id = $1 AND revoked_at IS NULL GROUP BY cn \
         HAVING MAX(expires_at) > $2 AND MAX(expires_at) <= $3 ORDER BY 2, 1",
    )
    .bind(instance.0)
    .bind(now)
    .bind(until);
    let rows = run.fetch(query).await?;
    rows.iter().map(|row| Ok((row.text("cn")?, row.time("expires_at")?))).collect()
}

/// How many certificates of an instance have not expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count {
    /// A client can log in with them.
    pub good: i64,
    /// Brokers have to refuse each of them.
    pub revoked: i64,
}

pub async fn count(run: &mut impl Run, instance: InstanceId, now: Timestamp) -> Result<Count> {
    let query = Query::new(
        "SELECT COUNT(*) AS certificates, COUNT(revoked_at) AS revoked FROM certificates \
         WHERE instance_id = $1 AND expires_at > $2",
    )
    .bind(instance.0)
    .bind(now);
    let Some(row) = run.fetch_one(query).await? else { return Ok(Count { good: 0, revoked: 0 }) };
    let revoked = row.int("revoked")?;
    Ok(Count { good: row.int("certificates")? - revoked, revoked })
}

/// Forgets those that no broker could take for good any more, revoked or not.
pub async fn forget_expired(work: &mut Work, instance: InstanceId, now: Timestamp) -> Result<()> {
    let query = Query::new("DELETE FROM certificates WHERE instance_id = $1 AND expires_at <= $2")
        .bind(instance.0)
        .bind(now - SLACK);
    work.execute(query).await.map(drop)
}

/// False if it was revoked before, or was never issued.
pub async fn revoke(
    work: &mut Work,
    instance: InstanceId,
    serial: &Serial,
    at: Timestamp,
) -> Result<bool> {
    let query = Query::new(
        "UPDATE certificates SET revoked_at = $3 \
         WHERE instance_id = $1 AND serial = $2 AND revoked_at IS NULL",
    )
    .bind(instance.0)
    .bind(serial.as_str())
    .bind(at);
    Ok(work.execute(query).await? == 1)
}

/// Those of a name that were not revoked before, in the order in which they were issued.
pub async fn revoke_all(
    work: &mut Work,
    instance: InstanceId,
    cn: &str,
    at: Timestamp,
) -> Result<Vec<Certificate>> {
    let query = Query::new(
        "UPDATE certificates SET revoked_at = $3 \
         WHERE instance_id = $1 AND cn = $2 AND revoked_at IS NULL RETURNING *",
    )
    .bind(instance.0)
    .bind(cn)
    .bind(at);
    let rows = work.fetch(query).await?;
    let mut revoked = rows.iter().map(certificate).collect::<Result<Vec<Certificate>>>()?;
    revoked.sort_by(|a, b| (a.issued_at, &a.serial).cmp(&(b.issued_at, &b.serial)));
    Ok(revoked)
}

/// What brokers must refuse: the serials of revoked certificates that a broker
/// could still take for good, in order.
pub async fn revoked(
    run: &mut impl Run,
    instance: InstanceId,
    now: Timestamp,
) -> Result<Vec<String>> {
    let query = Query::new(
        "SELECT serial FROM certificates \
         WHERE instance_id = $1 AND expires_at > $2 AND revoked_at IS NOT NULL ORDER BY serial",
    )
    .bind(instance.0)
    .bind(now - SLACK);
    run.fetch(query).await?.iter().map(|row| row.text("serial")).collect()
}

/// Forgets them with their instance, whose authority is gone as well.
pub(crate) async fn remove(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new("DELETE FROM certificates WHERE instance_id = $1").bind(instance.0);
    work.execute(query).await.map(drop)
}

fn certificate(row: &Row) -> Result<Certificate> {
    let cn = row.text("cn")?;
    Ok(Certificate {
        serial: row.parse("serial")?,
        cn: UserName::parse(cn.as_str()).map_err(|_| Error::Corrupt { what: "cn", value: cn })?,
        issued_at: row.time("issued_at")?,
        expires_at: row.time("expires_at")?,
        revoked_at: row.time_or_none("revoked_at")?,
    })
}
