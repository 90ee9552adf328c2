//! What clients may use: DescribeClientQuotas and AlterClientQuotas.

use super::text;
use crate::client::ask::until_readable;
use crate::client::error::check;
use crate::client::quotas::{Name, Quota, QuotaChange, QuotaEntity, QuotaKey};
use crate::client::{Call, Connection, Error};
use kafka_protocol::messages::alter_client_quotas_request::{EntityData, EntryData, OpData};
use kafka_protocol::messages::describe_client_quotas_response::EntryData as Described;
use kafka_protocol::messages::{AlterClientQuotasRequest, DescribeClientQuotasRequest};
use kafka_protocol::protocol::StrBytes;

const USER: &str = "user";
const CLIENT_ID: &str = "client-id";

/// Every quota of users and client ids; those of addresses are left out.
pub struct DescribeQuotas;

impl Call for DescribeQuotas {
    type Answer = Vec<Quota>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<Quota>, Error> {
        let answer = connection.call(&DescribeClientQuotasRequest::default()).await?;
        let message = answer.error_message.as_ref();
        check("DescribeClientQuotas", "all quotas", answer.error_code, message)?;
        let entries = answer.entries.unwrap_or_default();
        let mut quotas: Vec<Quota> = entries.iter().filter_map(quota).collect();
        quotas.retain(|quota| !quota.limits.is_empty());
        quotas.sort_by(|a, b| a.entity.cmp(&b.entity));
        Ok(quotas)
    }
}

fn quota(entry: &Described) -> Option<Quota> {
    let mut entity = QuotaEntity::default();
    for part in &entry.entity {
        let name = part.entity_name.as_ref().map(ToString::to_string);
        let name = Some(name.map_or(Name::Default, Name::Of));
        match &*part.entity_type {
            USER => entity.user = name,
            CLIENT_ID => entity.client_id = name,
            _ => return None,
        }
    }
    let value = |value: &kafka_protocol::messages::describe_client_quotas_response::ValueData| {
        Some((value.key.parse().ok()?, value.value))
    };
    Some(Quota { entity, limits: entry.values.iter().filter_map(value).collect() })
}

/// Sets some limits of one entity and removes others. On return the broker that
/// was asked shows it.
pub struct AlterQuota<'a> {
    pub entity: &'a QuotaEntity,
    pub changes: &'a QuotaChange,
}

impl Call for AlterQuota<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        let subject = self.entity.to_string();
        let request = AlterClientQuotasRequest::default().with_entries(vec![self.entry()]);
        let answer = connection.call(&request).await?;
        for entry in &answer.entries {
            let message = entry.error_message.as_ref();
            check("AlterClientQuotas", &subject, entry.error_code, message)?;
        }
        let is_shown_by = |all: Vec<Quota>| {
            let found = all.iter().find(|quota| quota.entity == *self.entity);
            let limit = |key| found.and_then(|quota| quota.limits.get(key));
            self.changes.iter().all(|(key, value)| limit(key) == value.as_ref())
        };
        let what = format!("the quota of {subject}");
        until_readable(connection, &what, &DescribeQuotas, is_shown_by).await
    }
}

impl AlterQuota<'_> {
    fn entry(&self) -> EntryData {
        let part = |kind: &'static str, name: &Name| {
            let name = match name {
                Name::Default => None,
                Name::Of(name) => Some(text(name)),
            };
            EntityData::default()
                .with_entity_type(StrBytes::from_static_str(kind))
                .with_entity_name(name)
        };
        let user = self.entity.user.iter().map(|name| part(USER, name));
        let client = self.entity.client_id.iter().map(|name| part(CLIENT_ID, name));
        let change = |(key, value): (&QuotaKey, &Option<f64>)| {
            OpData::default()
                .with_key(StrBytes::from_static_str(key.as_str()))
                .with_value(value.unwrap_or_default())
                .with_remove(value.is_none())
        };
        EntryData::default()
            .with_entity(user.chain(client).collect())
            .with_ops(self.changes.iter().map(change).collect())
    }
}
