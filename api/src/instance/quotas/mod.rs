//! `/api/quotas`.

pub mod list;
pub mod remove;
pub mod set;

use app::quotas::{self, Name, QuotaKey};
use wire::quotas::Quota;

fn document(quota: &quotas::Quota) -> Quota {
    let limit = |key| quota.limits.get(&key).copied();
    let name = |name: &Option<Name>| name.as_ref().map(ToString::to_string);
    Quota {
        user: name(&quota.entity.user),
        client_id: name(&quota.entity.client_id),
        producer_byte_rate: limit(QuotaKey::ProducerByteRate),
        consumer_byte_rate: limit(QuotaKey::ConsumerByteRate),
        request_percentage: limit(QuotaKey::RequestPercentage),
        controller_mutation_rate: limit(QuotaKey::ControllerMutationRate),
    }
}

fn example() -> Quota {
    Quota {
        user: Some("ada".into()),
        client_id: Some("reports".into()),
        producer_byte_rate: Some(1_048_576.0),
        consumer_byte_rate: Some(2_097_152.0),
        request_percentage: Some(12.5),
        controller_mutation_rate: Some(5.5),
    }
}
