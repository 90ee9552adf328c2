//! Slowing producers down while a disk is nearly full, by Kafka's own quotas, and
//! letting them go afterwards.
//!
//! What was there before is in the store before anything is changed in Kafka, and
//! is put back value by value: dying at any point, the next one does the same. That our
//! limits are set is noted once Kafka has taken them all; until then it is told again. A worker
//! that stood still after its look at the lease may write one limit late. If that is
//! ours, it is known by its number: the next time it is taken for none. So are those
//! that a restored store does not know of: its empty list asks to look once, and
//! whatever is ours is put back then, or kept up if a disk is nearly full.

use crate::pass::Pass;
use crate::world::World;
use crate::{Engine, PassError};
use kafka::client::quotas::{Name, Quota, QuotaEntity, QuotaKey};
use kafka::client::{Cluster, Error, made};
use model::{SLOW_BYTES_PER_SECOND as SLOW, SlowedQuota};
use std::collections::{BTreeMap, BTreeSet};
use store::disk_guards;

const RATE: QuotaKey = QuotaKey::ProducerByteRate;
/// What producers may write, by whom; none: as much as they can.
type Limits = BTreeMap<QuotaEntity, Option<f64>>;

impl Engine {
    pub(super) async fn slow_or_let_go(
        &self,
        pass: &Pass,
        world: &World,
        cluster: &Cluster,
    ) -> Result<Result<(), Error>, PassError> {
        let kept = world.slowed.clone().map(read);
        match (world.slowed_for().next(), kept) {
            (None, None) => Ok(Ok(())),
            (Some(_), kept) => self.slow_down(pass, world, cluster, kept.unwrap_or_default()).await,
            (None, Some(kept)) => self.let_go(pass, world, cluster, kept).await,
        }
    }

    async fn slow_down(
        &self,
        pass: &Pass,
        world: &World,
        cluster: &Cluster,
        kept: Limits,
    ) -> Result<Result<(), Error>, PassError> {
        let present = match self.reach.admin().quotas().list_quotas(cluster).await {
            Ok(present) => present,
            Err(error) => return Ok(Err(error)),
        };
        let before = to_change(&present, kept);
        self.keep(pass, world, &written(&before, false)).await?;
        let slow = |(entity, was): (&QuotaEntity, &Option<f64>)| {
            (entity.clone(), Some(slow_limit(&present, entity, *was)))
        };
        let limits = before.iter().map(slow).collect();
        if let Err(error) = self.set_limits(pass, cluster, limits).await? {
            return Ok(Err(error));
        }
        self.keep(pass, world, &written(&before, true)).await?;
        Ok(Ok(()))
    }

    async fn keep(
        &self,
        pass: &Pass,
        world: &World,
        quotas: &[SlowedQuota],
    ) -> Result<(), PassError> {
        let mut work = self.guarded(pass).await?;
        disk_guards::set_slowed(&mut work, world.instance.id, quotas).await?;
        work.commit().await?;
        Ok(())
    }

    async fn let_go(
        &self,
        pass: &Pass,
        world: &World,
        cluster: &Cluster,
        kept: Limits,
    ) -> Result<Result<(), Error>, PassError> {
        let present = match self.reach.admin().quotas().list_quotas(cluster).await {
            Ok(present) => present,
            Err(error) => return Ok(Err(error)),
        };
        if let Err(error) = self.set_limits(pass, cluster, to_put_back(&present, kept)).await? {
            return Ok(Err(error));
        }
        let mut work = self.guarded(pass).await?;
        disk_guards::remove_slowed(&mut work, world.instance.id).await?;
        work.commit().await?;
        Ok(Ok(()))
    }

    async fn set_limits(
        &self,
        pass: &Pass,
        cluster: &Cluster,
        limits: Limits,
    ) -> Result<Result<(), Error>, PassError> {
        for (entity, rate) in limits {
            self.look_at_lease(pass).await?;
            let change = BTreeMap::from([(RATE, rate)]);
            let quotas = self.reach.admin().quotas();
            if let Err(error) = made(quotas.alter_quota(cluster, &entity, &change).await) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }
}

/// The limits that have to be changed so that no producer is faster, as they were
/// before. Kafka goes by the most particular limit: a user's under a client id, then
/// a user's, then that of any user under a client id, then that of all, then those of
/// client ids. So one for all catches whoever has none that is more particular, and a
/// user's own is outdone by one of his under any client id. Whoever is slower than
/// that stays so. The one for all is always among them, be it strict enough: an empty
/// list would say that nobody knows whether producers are slowed down.
fn to_change(present: &[Quota], kept: Limits) -> Limits {
    let is_fast = |entity: &QuotaEntity| rate(present, entity).is_none_or(|rate| rate > SLOW);
    let is_ours = |entity: &QuotaEntity| rate(present, entity) == Some(SLOW);
    let limiting = present.iter().filter(|quota| quota.limits.contains_key(&RATE));
    let everybody = of(&Name::Default, &Name::Default);
    let mut entities = BTreeSet::from([everybody.clone()]);
    for Quota { entity, .. } in limiting {
        match (&entity.user, &entity.client_id) {
            (Some(user), None) if is_fast(entity) => {
                entities.insert(of(user, &Name::Default));
            }
            (None, Some(client)) if !is_fast(entity) => {
                entities.insert(of(&Name::Default, client));
            }
            (Some(_), Some(_)) => {
                entities.insert(entity.clone());
            }
            _ => {}
        }
    }
    let mut before = kept;
    let is_to_change = |it: &QuotaEntity| *it == everybody || is_fast(it) || is_ours(it);
    for entity in entities.into_iter().filter(is_to_change) {
        let was = rate(present, &entity).filter(|_| !is_ours(&entity));
        before.entry(entity).or_insert(was);
    }
    before
}

/// What was kept, and nothing where a limit of ours stands of which nothing was. Ours
/// are always of a user under a client id.
fn to_put_back(present: &[Quota], kept: Limits) -> Limits {
    let is_ours = |quota: &&Quota| {
        let QuotaEntity { user, client_id } = &quota.entity;
        user.is_some() && client_id.is_some() && quota.limits.get(&RATE) == Some(&SLOW)
    };
    let ours = present.iter().filter(is_ours);
    let mut limits: Limits = ours.map(|quota| (quota.entity.clone(), None)).collect();
    limits.extend(kept);
    limits
}

/// What a limit becomes that was as given. One that outdoes a stricter one is as strict,
/// and one that is strict enough stays.
fn slow_limit(present: &[Quota], entity: &QuotaEntity, was: Option<f64>) -> f64 {
    let any_user = QuotaEntity { user: Some(Name::Default), client_id: None };
    let outdone = match (was, &entity.user) {
        (None, Some(Name::Default)) => {
            let of_client = QuotaEntity { user: None, client_id: entity.client_id.clone() };
            rate(present, &any_user).or_else(|| rate(present, &of_client))
        }
        _ => None,
    };
    outdone.or(was).unwrap_or(SLOW).min(SLOW)
}

fn rate(present: &[Quota], entity: &QuotaEntity) -> Option<f64> {
    let found = present.iter().find(|quota| quota.entity == *entity)?;
    found.limits.get(&RATE).copied()
}

fn of(user: &Name, client_id: &Name) -> QuotaEntity {
    QuotaEntity { user: Some(user.clone()), client_id: Some(client_id.clone()) }
}

fn written(before: &Limits, is_set: bool) -> Vec<SlowedQuota> {
    let name = |name: &Option<Name>| name.as_ref().unwrap_or(&Name::Default).to_string();
    let quota = |(entity, rate): (&QuotaEntity, &Option<f64>)| SlowedQuota {
        user: name(&entity.user),
        client_id: name(&entity.client_id),
        producer_byte_rate: *rate,
        is_set,
    };
    before.iter().map(quota).collect()
}

fn read(kept: Vec<SlowedQuota>) -> Limits {
    let limit = |quota: SlowedQuota| {
        let (user, client_id) = (Name::from(&*quota.user), Name::from(&*quota.client_id));
        (of(&user, &client_id), quota.producer_byte_rate)
    };
    kept.into_iter().map(limit).collect()
}

#[cfg(test)]
mod tests;
