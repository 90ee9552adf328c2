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
use std::collections::BTreeMap;
use store::disk_guards;

const RATE: QuotaKey = QuotaKey::ProducerByteRate;
/// Every user who has no limit of their own, all client ids together.
const DEFAULT_USER: QuotaEntity = QuotaEntity { user: Some(Name::Default), client_id: None };
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
        if let Err(error) = self.set_limits(pass, cluster, slow_limits(&before)).await? {
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

    /// Sets limits before it takes others away, so that no producer is without one in
    /// between.
    async fn set_limits(
        &self,
        pass: &Pass,
        cluster: &Cluster,
        limits: Limits,
    ) -> Result<Result<(), Error>, PassError> {
        let (set, removed): (Vec<_>, Vec<_>) =
            limits.into_iter().partition(|(_, rate)| rate.is_some());
        for (entity, rate) in set.into_iter().chain(removed) {
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

/// The limits that have to be changed so that no user's producers are faster together, as
/// they were before. Kafka goes by the most specific limit: first that of a user under a
/// client id, then the user's, then that of the default user under a client id, then the
/// default user's, and last those of client ids alone. A limit under a client id is for
/// each such client by itself, so a user could have it many times over: all of these go,
/// and the users' own and the default user's are left. The default user's is always among
/// them, even if it is strict enough: an empty list would say that it is unknown whether
/// producers are slowed down.
fn to_change(present: &[Quota], kept: Limits) -> Limits {
    let mut before = kept;
    for Quota { entity, limits } in present {
        let Some(rate) = limits.get(&RATE) else { continue };
        let is_to_change = match (&entity.user, &entity.client_id) {
            (Some(_), Some(_)) => true,
            (Some(_), None) => *rate >= SLOW,
            (None, _) => false,
        };
        if is_to_change {
            before.entry(entity.clone()).or_insert((*rate != SLOW).then_some(*rate));
        }
    }
    let default = DEFAULT_USER;
    let was = rate(present, &default);
    before.entry(default).or_insert(was);
    before
}

/// What was kept, and nothing where a limit of ours stands of which nothing was. Ours
/// are those of users without a client id.
fn to_put_back(present: &[Quota], kept: Limits) -> Limits {
    let is_ours =
        |quota: &&Quota| quota.entity.user.is_some() && quota.limits.get(&RATE) == Some(&SLOW);
    let ours = present.iter().filter(is_ours);
    let mut limits: Limits = ours.map(|quota| (quota.entity.clone(), None)).collect();
    limits.extend(kept);
    limits
}

/// The limits while producers are slowed down, made of those before: none under a client
/// id, and the stricter of the customer's and ours for users.
fn slow_limits(before: &Limits) -> Limits {
    let limit = |(entity, was): (&QuotaEntity, &Option<f64>)| {
        let slow = match entity {
            QuotaEntity { client_id: Some(_), .. } => None,
            QuotaEntity { user: Some(Name::Default), .. } => Some(of_default_user(before)),
            _ => Some(was.unwrap_or(SLOW).min(SLOW)),
        };
        (entity.clone(), slow)
    };
    before.iter().map(limit).collect()
}

/// As much as the fastest client of a user without limits of their own had, and no more
/// than ours.
fn of_default_user(before: &Limits) -> f64 {
    let was = |entity: &QuotaEntity| before.get(entity).copied().flatten();
    let any_client = QuotaEntity { client_id: Some(Name::Default), ..DEFAULT_USER };
    let Some(usual) = was(&any_client).or_else(|| was(&DEFAULT_USER)) else { return SLOW };
    let of_clients = before.iter().filter(|(entity, _)| entity.user == DEFAULT_USER.user);
    let of_clients = of_clients.filter(|(entity, _)| entity.client_id.is_some());
    of_clients.filter_map(|(_, rate)| *rate).fold(usual, f64::max).min(SLOW)
}

fn rate(present: &[Quota], entity: &QuotaEntity) -> Option<f64> {
    let found = present.iter().find(|quota| quota.entity == *entity)?;
    found.limits.get(&RATE).copied()
}

fn written(before: &Limits, is_set: bool) -> Vec<SlowedQuota> {
    let quota = |(entity, rate): (&QuotaEntity, &Option<f64>)| SlowedQuota {
        user: entity.user.as_ref().unwrap_or(&Name::Default).to_string(),
        client_id: entity.client_id.as_ref().map(Name::to_string),
        producer_byte_rate: *rate,
        is_set,
    };
    before.iter().map(quota).collect()
}

fn read(kept: Vec<SlowedQuota>) -> Limits {
    let limit = |quota: SlowedQuota| {
        let user = Some(Name::from(&*quota.user));
        let client_id = quota.client_id.as_deref().map(Name::from);
        (QuotaEntity { user, client_id }, quota.producer_byte_rate)
    };
    kept.into_iter().map(limit).collect()
}

#[cfg(test)]
mod tests;
