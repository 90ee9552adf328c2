//! Client quotas of a simulated cluster. It keeps them, and slows nobody.

use super::SimKafka;
use super::state::State;
use crate::client::quotas::{Quota, QuotaChange, QuotaEntity, QuotaKey, Quotas};
use crate::client::{Cluster, Error};
use async_trait::async_trait;
use kafka_protocol::ResponseError;

#[async_trait]
impl Quotas for SimKafka {
    async fn list_quotas(&self, cluster: &Cluster) -> Result<Vec<Quota>, Error> {
        self.ask("DescribeClientQuotas", &cluster.brokers, |asked| {
            let view = asked.view();
            let quotas = view
                .quotas
                .iter()
                .map(|(entity, limits)| Quota { entity: entity.clone(), limits: limits.clone() });
            Ok(quotas.collect())
        })
    }

    async fn alter_quota(
        &self,
        cluster: &Cluster,
        entity: &QuotaEntity,
        changes: &QuotaChange,
    ) -> Result<(), Error> {
        self.ask("AlterClientQuotas", &cluster.brokers, |asked| {
            asked.change(|state| state.alter_quota(entity, changes))
        })
    }
}

impl State {
    fn alter_quota(&mut self, entity: &QuotaEntity, changes: &QuotaChange) -> Result<(), Error> {
        let refused = |key: &QuotaKey| Error::Kafka {
            call: "AlterClientQuotas",
            subject: entity.to_string(),
            code: ResponseError::InvalidRequest,
            message: format!("Quota {} must be greater than 0", key.as_str()),
        };
        if let Some((key, _)) = changes.iter().find(|(_, value)| value.is_some_and(|it| it <= 0.0))
        {
            return Err(refused(key));
        }
        let quotas = &mut self.change().quotas;
        let limits = quotas.entry(entity.clone()).or_default();
        for (key, value) in changes {
            match value {
                Some(value) => limits.insert(*key, *value),
                None => limits.remove(key),
            };
        }
        quotas.retain(|_, limits| !limits.is_empty());
        Ok(())
    }
}
