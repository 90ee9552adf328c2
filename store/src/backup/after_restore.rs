//! Prepares a restored store before anything works with it: its numbers are raised beyond
//! all that were given out since its backup, and it takes over what the store before knew of
//! the running servers.

use super::{Past, integrations};
use crate::db::{Query, Run as _};
use crate::{Error, Result, Work, actions, instances, servers};
use model::condition::Note;
use model::{ActionKind, InstanceId, ServerId, Timestamp};
use std::collections::BTreeSet;

/// Lets a restored store go on beyond everything before it: agents follow its
/// documents again, and no number is given a second time. Returns its epoch.
pub async fn go_beyond(work: &mut Work, past: &Past) -> Result<i64> {
    if past.is_lost {
        leave_a_gap(work).await?;
    }
    for (name, value) in &past.sequences {
        let query = Query::new(
            "INSERT INTO sequences (name, value) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET value = $2 WHERE sequences.value < $2",
        );
        work.execute(query.bind(name.as_str()).bind(*value)).await?;
    }
    take_over_node_ids(work, past).await?;
    integrations::take_over(work, past).await?;
    take_over_slowed(work, past).await?;
    take_over_certificates(work, past).await?;
    enrol_agents_anew(work, past).await?;
    take_over_mail_blocks(work, past).await?;
    // Kafka may have been given another password or other settings since. They are
    // written once more, so that what the store says is what lets customers in.
    let query = Query::new(
        "UPDATE instances SET kafka_generation = kafka_generation + 1 WHERE deleted_at IS NULL",
    );
    work.execute(query).await?;
    // No call of that time goes on. And what was not known of a user then would let one
    // that was made since be made again, with another password.
    work.execute(Query::new("DELETE FROM held_names")).await?;
    // Some may have been ended since. People sign in again.
    work.execute(Query::new("DELETE FROM sessions")).await?;
    work.execute(Query::new("DELETE FROM login_tokens")).await?;
    let query = Query::new(
        "UPDATE installation SET store_epoch = \
         CASE WHEN store_epoch < $1 THEN $1 ELSE store_epoch END + 1 RETURNING store_epoch",
    );
    let epoch = match work.fetch_one(query.bind(past.store_epoch)).await? {
        Some(row) => row.int("store_epoch")?,
        None => return Err(Error::Corrupt { what: "no installation", value: String::new() }),
    };
    integrations::have_fetched(work, epoch).await?;
    Ok(epoch)
}

/// Kafka may remember the brokers of servers that were added since, also of removed ones, and
/// would take another with the same node id for one that has all their data.
async fn take_over_node_ids(work: &mut Work, past: &Past) -> Result<()> {
    for (instance, last) in &past.node_ids {
        let query = Query::new(
            "UPDATE instances SET last_node_id = $2 WHERE id = $1 AND last_node_id < $2",
        );
        work.execute(query.bind(*instance).bind(*last)).await?;
    }
    Ok(())
}

/// Nobody knows what was given out, so all of that is leapt over. Invoices have no
/// gaps: a person who knows the last number has to say it.
async fn leave_a_gap(work: &mut Work) -> Result<()> {
    let query =
        Query::new("UPDATE sequences SET value = value + 1000000 WHERE name <> 'invoice_numbers'");
    work.execute(query).await?;
    let query = Query::new(
        "UPDATE instances SET last_node_id = 1000 + CASE WHEN last_node_id > \
         (SELECT COALESCE(MAX(node_id), 0) FROM servers WHERE instance_id = instances.id) \
         THEN last_node_id ELSE \
         (SELECT COALESCE(MAX(node_id), 0) FROM servers WHERE instance_id = instances.id) END, \
         last_integration = last_integration + 1000",
    );
    work.execute(query).await.map(drop)
}

/// Whether producers are slowed down is in Kafka, and the store before knows of it,
/// not this one. Where none knows, the engine is to look once for limits of ours:
/// that is what an empty list is for.
async fn take_over_slowed(work: &mut Work, past: &Past) -> Result<()> {
    if past.installation.is_some() {
        work.execute(Query::new("DELETE FROM slowed_quotas")).await?;
    }
    for (instance, quotas) in &past.slowed {
        let query = Query::new(
            "INSERT INTO slowed_quotas (instance_id, quotas) \
             SELECT id, CAST($2 AS TEXT) FROM instances WHERE id = $1",
        );
        work.execute(query.bind(*instance).bind(quotas.as_str())).await?;
    }
    let look = Query::new(
        "INSERT INTO slowed_quotas (instance_id, quotas) SELECT id, '[]' FROM instances \
         WHERE deleted_at IS NULL AND id NOT IN (SELECT instance_id FROM slowed_quotas)",
    );
    work.execute(look).await.map(drop)
}

/// What was revoked stays so, and what was signed since can be revoked: agents keep
/// revoked serials only until their servers are stopped.
async fn take_over_certificates(work: &mut Work, past: &Past) -> Result<()> {
    for signed in &past.certificates {
        let query = Query::new(
            "INSERT INTO certificates \
             (instance_id, serial, cn, issued_at, expires_at, revoked_at) \
             SELECT id, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT), \
             CAST($5 AS BIGINT), CAST($6 AS BIGINT) FROM instances WHERE id = $1 \
             ON CONFLICT (instance_id, serial) DO UPDATE SET revoked_at = excluded.revoked_at \
             WHERE certificates.revoked_at IS NULL",
        )
        .bind(signed.instance_id)
        .bind(signed.serial.as_str())
        .bind(signed.cn.as_str())
        .bind(signed.issued_at)
        .bind(signed.expires_at)
        .bind(signed.revoked_at);
        work.execute(query).await?;
    }
    Ok(())
}

/// No key of that time lets an agent in: it may have been replaced since because it was
/// stolen. Each agent gets a token of its present incarnation; brokers go on.
async fn enrol_agents_anew(work: &mut Work, past: &Past) -> Result<()> {
    for (server, incarnation) in &past.incarnations {
        let query =
            Query::new("UPDATE servers SET incarnation = $2 WHERE id = $1 AND incarnation < $2");
        work.execute(query.bind(server.0).bind(*incarnation)).await?;
    }
    let query = Query::new(
        "UPDATE servers SET enrolled_key = NULL, enrolled_at = NULL, token_hash = '', \
         token_expires_at = 0 WHERE token_hash IS NOT NULL",
    );
    work.execute(query).await.map(drop)
}

/// Who refused mail since the backup still gets none.
async fn take_over_mail_blocks(work: &mut Work, past: &Past) -> Result<()> {
    for (mailbox, at) in &past.mail_blocks {
        let query = Query::new(
            "INSERT INTO mail_blocks (mailbox_hash, blocked_at) VALUES ($1, $2) \
             ON CONFLICT (mailbox_hash) DO NOTHING",
        );
        work.execute(query.bind(mailbox.as_str()).bind(*at)).await?;
    }
    Ok(())
}

/// Has what this host holds run on, also where the restored store says that it was
/// stopped: it was started since, and nobody would look after brokers that should not
/// be there. Returns the instances of which that is so.
pub async fn run_on(
    work: &mut Work,
    held: &[ServerId],
    now: Timestamp,
) -> Result<BTreeSet<InstanceId>> {
    let mut started = BTreeSet::new();
    for id in held {
        // One that is not on record is an orphan.
        let Some(server) = servers::find_bare(work, *id).await? else { continue };
        let instance = instances::find(work, server.instance_id).await?;
        if instance.is_some_and(|it| it.stopped && it.deleted_at.is_none()) {
            servers::set_made(work, *id).await?;
            started.insert(server.instance_id);
        }
    }
    for id in &started {
        instances::set_stopped(work, *id, false, now).await?;
        take_back_stop(work, *id, now).await?;
    }
    Ok(started)
}

/// The journal does not say of a stop that it was carried out.
async fn take_back_stop(work: &mut Work, instance: InstanceId, now: Timestamp) -> Result<()> {
    for action in actions::open(work, instance).await? {
        if action.kind == ActionKind::ClusterStop {
            actions::note_on(work, action.id, &Note::RanOnAfterRestore, now).await?;
            actions::cancel(work, action.id, now).await?;
            actions::end_one(work, action.id, now).await?;
        }
    }
    Ok(())
}
