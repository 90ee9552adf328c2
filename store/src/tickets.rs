//! Leave to stop servers, claimed by agents at the moment of stopping.
//!
//! A fence that ends at the database can't keep a broker from being stopped too
//! late. So a stop is asked for right when it would happen, and [`claim`] looks
//! anew: there is a ticket, it has not expired, nobody else has taken the
//! instance since it was opened, and the servers shall still stop. An instance
//! has one open ticket at most. The database's clock counts, as for leases.

use crate::db::{Query, Row, Run};
use crate::{Lease, Result, Work};
use model::{InstanceId, ServerId, SignedDuration, Timestamp, words};

/// How long a ticket is good for without being opened anew, and, at most, how long an
/// agent takes to act on leave that it was given.
pub const LIFE: SignedDuration = SignedDuration::from_secs(10);

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ticket {
    pub id: i64,
    pub instance_id: InstanceId,
    /// None: every server of the instance.
    pub server_id: Option<ServerId>,
    /// Of the lease that it was opened under.
    pub epoch: i64,
    /// None: opened by an earlier release, which kept words.
    pub purpose: Option<Purpose>,
    pub opened_at: Timestamp,
    /// How long it is still good for; less than nothing once it has expired.
    pub left: SignedDuration,
}

words! {
    /// What servers are let stop for.
    pub enum Purpose {
        ClusterStop = "cluster-stop",
        Stop = "stop",
        Restart = "restart",
    }
}

/// Why a server may not stop, in words for people that complete "waiting for leave
/// to stop: …". They know of no tickets.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    #[error("its turn has not come yet")]
    NoTicket,
    #[error("it is another server's turn")]
    OtherServer,
    #[error("the other servers are looked at anew")]
    Expired,
    #[error("the other servers are looked at once more")]
    OtherOwner,
    #[error("the cluster shall run")]
    NotWanted,
    #[error("the cluster is being deleted")]
    Deleted,
}

impl Refusal {
    /// Whether the next look of the worker on the instance ends it: every pass
    /// has to make the ticket its own first.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::NoTicket | Self::Expired | Self::OtherOwner)
    }
}

/// The instance's open ticket, expired or not.
pub async fn find(
    run: &mut impl Run,
    instance: InstanceId,
    now: Timestamp,
) -> Result<Option<Ticket>> {
    let query = Query::new("SELECT * FROM tickets WHERE instance_id = $1").bind(instance.0);
    let Some(row) = run.fetch_one(query).await? else { return Ok(None) };
    let now = run.now(now).await?;
    ticket(&row, now).map(Some)
}

/// Opens a ticket under a lease that the transaction has guarded. A conflict if
/// there is one.
pub async fn open(
    work: &mut Work,
    lease: &Lease,
    server: Option<ServerId>,
    purpose: Purpose,
    now: Timestamp,
) -> Result<()> {
    let now = work.now(now).await?;
    let id = work.next("tickets").await?;
    let query = Query::new(
        "INSERT INTO tickets (id, instance_id, server_id, epoch, why, opened_at, expires_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .bind(id)
    .bind(lease.instance_id.0)
    .bind(server.map(|server| server.0))
    .bind(lease.epoch)
    .bind(purpose.as_str())
    .bind(now)
    .bind(now + LIFE);
    work.execute(query).await.map(drop)
}

/// Makes a ticket good for its whole life again, under the present lease.
pub async fn renew(work: &mut Work, lease: &Lease, ticket: &Ticket, now: Timestamp) -> Result<()> {
    let now = work.now(now).await?;
    let query = Query::new("UPDATE tickets SET epoch = $2, expires_at = $3 WHERE id = $1")
        .bind(ticket.id)
        .bind(lease.epoch)
        .bind(now + LIFE);
    work.execute(query).await.map(drop)
}

/// Takes the leave back. Who has claimed it may have stopped by now, or does so yet.
pub async fn close(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new(
        "DELETE FROM claims WHERE ticket_id IN (SELECT id FROM tickets WHERE instance_id = $1)",
    );
    work.execute(query.bind(instance.0)).await?;
    let query = Query::new("DELETE FROM tickets WHERE instance_id = $1").bind(instance.0);
    work.execute(query).await.map(drop)
}

/// Lets a server stop right now, or says why not. Asked again by the same server
/// it looks again, and answers the same while nothing has changed.
pub async fn claim(
    work: &mut Work,
    instance: InstanceId,
    server: ServerId,
    now: Timestamp,
) -> Result<std::result::Result<(), Refusal>> {
    let ticket = match check(work, instance, server, now).await? {
        Ok(ticket) => ticket,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let now = work.now(now).await?;
    let query = Query::new(
        "INSERT INTO claims (ticket_id, server_id, claimed_at) VALUES ($1, $2, $3) \
         ON CONFLICT (ticket_id, server_id) DO NOTHING",
    )
    .bind(ticket.id)
    .bind(server.0)
    .bind(now);
    work.execute(query).await?;
    let query = Query::new("UPDATE servers SET leaves_until = $2 WHERE id = $1")
        .bind(server.0)
        .bind(now + LIFE);
    work.execute(query).await?;
    Ok(Ok(()))
}

/// The ticket under which the server may stop, as far as the store knows.
pub async fn check(
    run: &mut impl Run,
    instance: InstanceId,
    server: ServerId,
    now: Timestamp,
) -> Result<std::result::Result<Ticket, Refusal>> {
    let Some(ticket) = find(run, instance, now).await? else { return Ok(Err(Refusal::NoTicket)) };
    if ticket.server_id.is_some_and(|only| only != server) {
        return Ok(Err(Refusal::OtherServer));
    }
    if ticket.left <= SignedDuration::ZERO {
        return Ok(Err(Refusal::Expired));
    }
    let query = Query::new(
        "SELECT instances.stopped AS stopped, instances.deleted_at AS deleted_at, \
         leases.epoch AS epoch FROM instances \
         JOIN leases ON leases.instance_id = instances.id WHERE instances.id = $1",
    );
    let Some(row) = run.fetch_one(query.bind(instance.0)).await? else {
        return Ok(Err(Refusal::Deleted));
    };
    if row.time_or_none("deleted_at")?.is_some() {
        return Ok(Err(Refusal::Deleted));
    }
    if row.int("epoch")? != ticket.epoch {
        return Ok(Err(Refusal::OtherOwner));
    }
    // One server alone stops to be started again, whatever the instance shall.
    if ticket.server_id.is_none() && !row.flag("stopped")? {
        return Ok(Err(Refusal::NotWanted));
    }
    Ok(Ok(ticket))
}

/// The servers that were let stop: under the open ticket, or so lately that they may
/// be about to, whatever became of the ticket.
pub async fn claimed(
    run: &mut impl Run,
    instance: InstanceId,
    now: Timestamp,
) -> Result<Vec<ServerId>> {
    let now = run.now(now).await?;
    let query = Query::new(
        "SELECT id FROM servers WHERE instance_id = $1 AND (leaves_until > $2 OR id IN \
         (SELECT claims.server_id FROM claims JOIN tickets ON tickets.id = claims.ticket_id \
         WHERE tickets.instance_id = $1)) ORDER BY id",
    )
    .bind(instance.0)
    .bind(now);
    let rows = run.fetch(query).await?;
    rows.iter().map(|row| Ok(ServerId(row.int("id")?))).collect()
}

fn ticket(row: &Row, now: Timestamp) -> Result<Ticket> {
    Ok(Ticket {
        id: row.int("id")?,
        instance_id: InstanceId(row.int("instance_id")?),
        server_id: row.int_or_none("server_id")?.map(ServerId),
        epoch: row.int("epoch")?,
        purpose: row.text("why")?.parse().ok(),
        opened_at: row.time("opened_at")?,
        left: row.time("expires_at")?.duration_since(now),
    })
}

#[cfg(test)]
mod tests {
    use super::Refusal;

    #[test]
    fn people_read_of_servers_and_not_of_how_leave_is_given() {
        let passing = [Refusal::NoTicket, Refusal::Expired, Refusal::OtherOwner];
        let others = [Refusal::OtherServer, Refusal::NotWanted, Refusal::Deleted];
        for refusal in passing.iter().chain(&others) {
            let words = refusal.to_string();
            assert!(!words.contains("ticket") && !words.contains("worker"), "{words}");
            assert_eq!(refusal.is_passing(), passing.contains(refusal), "{words}");
        }
    }
}
