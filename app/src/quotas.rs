//! Client quotas of a cluster: what users and client ids may use of each broker.

pub use kafka::client::quotas::{Name, Quota, QuotaEntity, QuotaKey};

use crate::resources::{self, Cluster};
use crate::{App, Asked, Error, InstanceAccess, Problems, Result};
use kafka::client::CLIENT_ID;
use kafka::client::quotas::QuotaChange;
use model::{DiskLevel, is_reserved};
use std::collections::BTreeMap;
use store::{disk_guards, instances};

/// By user, then by client id.
pub async fn list(access: &InstanceAccess, app: &App) -> Result<Vec<Quota>> {
    let cluster = Cluster::of_its_own(access, app).await?;
    cluster.ask(|admin, at| admin.quotas().list_quotas(at)).await
}

/// Kafka keeps names of 1 to so many bytes.
const MAX_NAME: usize = 249;

const RESERVED: &str = "is reserved for the cluster itself";

/// What may be asked. A limit of null is removed, one that is not there stays.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct QuotaFields {
    pub user: Option<String>,
    pub client_id: Option<String>,
    pub limits: BTreeMap<QuotaKey, Option<f64>>,
}

/// Sets and removes limits; what the entity has from then on.
pub async fn set(access: &InstanceAccess, app: &App, asked: Asked<QuotaFields>) -> Result<Quota> {
    access.may_change()?;
    let (fields, mut problems) = asked.open()?;
    check_limits(&fields.limits, &mut problems);
    // That of our own calls. What it has had can still be removed.
    if fields.client_id.as_deref() == Some(CLIENT_ID) {
        problems.add("client_id", RESERVED);
    }
    let entity = entity(&fields, problems)?;
    if fields.limits.is_empty() {
        let all: Vec<&str> = QuotaKey::ALL.iter().map(|key| key.as_str()).collect();
        return Err(Error::Refused(format!("Give at least one limit: {}", all.join(", "))));
    }
    let cluster = Cluster::of_its_own(access, app).await?;
    if fields.limits.contains_key(&QuotaKey::ProducerByteRate)
        && let Some(why) = slowed(access, app).await?
    {
        return Err(Error::Refused(why.into()));
    }
    let before = cluster.ask(|admin, at| admin.quotas().list_quotas(at)).await?;
    if !cluster.may_show_old() && are_made(&before, &entity, &fields.limits) {
        until_all_show(&cluster, &entity, &fields.limits).await;
        let same = before.into_iter().find(|quota| quota.entity == entity);
        return Ok(same.unwrap_or(Quota { entity, limits: BTreeMap::new() }));
    }
    alter(access, app, &cluster, &entity, &fields.limits).await?;
    let found = find(&cluster.after_change(), &entity).await.ok().flatten();
    let mut quota = found.unwrap_or(Quota { entity, limits: BTreeMap::new() });
    // Kafka has confirmed them, though the broker that was asked may not show them yet.
    for (key, limit) in fields.limits {
        match limit {
            Some(limit) => drop(quota.limits.insert(key, limit)),
            None => drop(quota.limits.remove(&key)),
        }
    }
    Ok(quota)
}

/// Removes every limit of an entity that has any.
pub async fn remove(access: &InstanceAccess, app: &App, asked: Asked<QuotaFields>) -> Result<()> {
    access.may_change()?;
    let (fields, problems) = asked.open()?;
    let entity = entity(&fields, problems)?;
    let cluster = Cluster::of_its_own(access, app).await?;
    let quota = find(&cluster, &entity).await?.ok_or(Error::NotFound)?;
    let changes = quota.limits.into_keys().map(|key| (key, None)).collect();
    alter(access, app, &cluster, &entity, &changes).await
}

/// Why the limits of producers can't be changed now, if so. While a disk is nearly full they
/// are ours: those before are put back afterwards, and what is set meanwhile would be lost.
async fn slowed(access: &InstanceAccess, app: &App) -> Result<Option<&'static str>> {
    let mut reader = app.store().reader();
    let guards = disk_guards::list(&mut reader, access.instance.id).await?;
    let slowed = disk_guards::slowed(&mut reader, access.instance.id).await?;
    let is_slowed = guards.iter().any(|guard| guard.level >= DiskLevel::Slowed);
    Ok(match (is_slowed, slowed) {
        (false, None) => None,
        (false, Some(_)) => Some(
            "The quotas of producers are about to be put back as they were before a disk was \
             nearly full: try again in a moment",
        ),
        (true, _) => Some(
            "Producers are slowed down because a disk is nearly full, and their quotas are put \
             back as they were afterwards: make room on the disk first",
        ),
    })
}

/// Changes limits, unless they are of producers and those are slowed down.
async fn alter(
    access: &InstanceAccess,
    app: &App,
    cluster: &Cluster<'_>,
    entity: &QuotaEntity,
    changes: &QuotaChange,
) -> Result<()> {
    if !changes.contains_key(&QuotaKey::ProducerByteRate) {
        return alter_now(access, app, cluster, entity, changes).await;
    }
    if let Some(why) = slowed(access, app).await? {
        return Err(Error::Refused(why.into()));
    }
    let altered = alter_now(access, app, cluster, entity, changes).await;
    // A disk may have become nearly full while Kafka was asked, and this change come after
    // the limits that slow producers down: the engine is to set them once more.
    if slowed(access, app).await?.is_some() {
        let mut work = app.store().begin().await?;
        instances::raise_kafka_generation(&mut work, access.instance.id, app.now()).await?;
        work.commit().await?;
    }
    altered
}

async fn alter_now(
    access: &InstanceAccess,
    app: &App,
    cluster: &Cluster<'_>,
    entity: &QuotaEntity,
    changes: &QuotaChange,
) -> Result<()> {
    let name = |name: &Option<Name>| name.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut about = vec![("user", name(&entity.user)), ("client_id", name(&entity.client_id))];
    about.extend(changes.iter().map(|(key, value)| {
        (key.as_str(), value.map_or_else(|| "none".to_owned(), |value| value.to_string()))
    }));
    let effect =
        cluster.alter(
            "GET quotas tells the limits, and the same call can be repeated",
            |admin, at| admin.quotas().alter_quota(at, entity, changes),
            |admin, at| async move {
                Ok(are_made(&admin.quotas().list_quotas(at).await?, entity, changes))
            },
        );
    resources::change(access, app, "quota.update", &about, effect).await?;
    until_all_show(cluster, entity, changes).await;
    Ok(())
}

async fn until_all_show(cluster: &Cluster<'_>, entity: &QuotaEntity, changes: &QuotaChange) {
    cluster
        .until_all_show(|admin, alone| async move {
            Ok(are_made(&admin.quotas().list_quotas(&alone).await?, entity, changes))
        })
        .await;
}

fn are_made(all: &[Quota], entity: &QuotaEntity, changes: &QuotaChange) -> bool {
    let quota = all.iter().find(|quota| quota.entity == *entity);
    let limit = |key: &QuotaKey| quota.and_then(|quota| quota.limits.get(key));
    changes.iter().all(|(key, wanted)| match (limit(key), wanted) {
        (Some(is), Some(wanted)) => is.total_cmp(wanted).is_eq(),
        (is, wanted) => is.is_none() && wanted.is_none(),
    })
}

async fn find(cluster: &Cluster<'_>, entity: &QuotaEntity) -> Result<Option<Quota>> {
    let all = cluster.ask(|admin, at| admin.quotas().list_quotas(at)).await?;
    Ok(all.into_iter().find(|quota| quota.entity == *entity))
}

/// Brokers and the control plane log in to the cluster, too: a quota of theirs
/// would slow down the cluster itself.
fn entity(fields: &QuotaFields, mut problems: Problems) -> Result<QuotaEntity> {
    let name = |name: &Option<String>| name.as_deref().map(Name::from);
    let entity = QuotaEntity { user: name(&fields.user), client_id: name(&fields.client_id) };
    if entity == QuotaEntity::default() {
        let what = "name a user, a client_id, or both; <default> stands for those without a quota of their own";
        problems.add("user", what);
    }
    for (field, name) in [("user", &fields.user), ("client_id", &fields.client_id)] {
        if name.as_ref().is_some_and(|name| name.len() > MAX_NAME) {
            problems.add(field, format!("must be at most {MAX_NAME} bytes long"));
        }
    }
    if fields.user.as_deref().is_some_and(is_reserved) {
        problems.add("user", RESERVED);
    }
    problems.finish()?;
    Ok(entity)
}

fn check_limits(limits: &QuotaChange, problems: &mut Problems) {
    for (key, value) in limits {
        let Some(value) = value else { continue };
        let whole = matches!(key, QuotaKey::ProducerByteRate | QuotaKey::ConsumerByteRate);
        if !value.is_finite() || *value <= 0.0 {
            problems.add(key.as_str(), "must be greater than 0; null removes the limit");
        } else if whole && value.fract() != 0.0 {
            problems.add(key.as_str(), "must be a whole number of bytes a second");
        }
    }
}
