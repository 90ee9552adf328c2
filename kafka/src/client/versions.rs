//! Which version of each call both sides speak.

use kafka_protocol::messages::ApiKey;
use kafka_protocol::messages::api_versions_response::ApiVersion;
use kafka_protocol::protocol::{Message, Request, VersionRange};
use std::collections::HashMap;

/// What a broker said it speaks.
#[derive(Clone, Debug, Default)]
pub(super) struct Versions(HashMap<i16, VersionRange>);

impl Versions {
    pub(super) fn announced_by(announced: &[ApiVersion]) -> Self {
        let range = |api: &ApiVersion| VersionRange { min: api.min_version, max: api.max_version };
        Self(announced.iter().map(|api| (api.api_key, range(api))).collect())
    }

    pub(super) fn range(&self, key: i16) -> Option<VersionRange> {
        self.0.get(&key).copied()
    }

    /// The highest version both sides speak.
    pub(super) fn choose<R: Request>(&self) -> Option<i16> {
        let common = self.range(R::KEY)?.intersect(&ours::<R>());
        (!common.is_empty()).then_some(common.max)
    }
}

/// Flexible versions have all lengths as varints, which `checked_lengths` needs.
pub(super) fn is_flexible<R: Request>(version: i16) -> bool {
    // Their requests came with the second header.
    R::header_version(version) >= 2
}

/// What we speak: the flexible versions that the codec knows, but for a few calls. Every
/// supported release speaks some of each.
pub(super) fn ours<R: Request>() -> VersionRange {
    let codec = <R as Message>::VERSIONS;
    let limits = match ApiKey::try_from(R::KEY) {
        // Later versions name topics by id alone, and our callers by name.
        Ok(ApiKey::OffsetFetch) => VersionRange { min: 0, max: 9 },
        Ok(ApiKey::Produce | ApiKey::Fetch) => VersionRange { min: 0, max: 12 },
        // Version 0 switches the connection to bare SASL tokens. No version is flexible.
        Ok(ApiKey::SaslHandshake) => {
            return codec.intersect(&VersionRange { min: 1, max: i16::MAX });
        }
        // It is sent before the broker's versions are known; 3 is spoken by
        // every release since 2.4.
        Ok(ApiKey::ApiVersions) => VersionRange { min: 3, max: 3 },
        _ => codec,
    };
    let first = (codec.min..=codec.max).find(|version| is_flexible::<R>(*version));
    let flexible = VersionRange { min: first.unwrap_or(i16::MAX), max: codec.max };
    flexible.intersect(&limits)
}

/// The call's name as Kafka's documentation has it.
pub(super) fn name<R: Request>() -> String {
    ApiKey::try_from(R::KEY).map_or_else(|()| format!("call {}", R::KEY), |key| format!("{key:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kafka_protocol::messages::{
        DescribeClusterRequest, OffsetFetchRequest, SaslHandshakeRequest,
    };

    fn check<R: Request>(min: i16, max: i16, expected: Option<i16>) {
        let api =
            ApiVersion::default().with_api_key(R::KEY).with_min_version(min).with_max_version(max);
        assert_eq!(
            Versions::announced_by(&[api]).choose::<R>(),
            expected,
            "{} {min}..{max}",
            name::<R>()
        );
    }

    #[test]
    fn the_highest_common_version_is_chosen() {
        check::<DescribeClusterRequest>(0, 1, Some(1));
        check::<DescribeClusterRequest>(0, 2, Some(2));
        check::<DescribeClusterRequest>(1, 99, Some(2));
        check::<DescribeClusterRequest>(98, 99, None);
        assert_eq!(Versions::default().choose::<DescribeClusterRequest>(), None);
    }

    #[test]
    fn some_calls_have_limits_of_their_own() {
        check::<OffsetFetchRequest>(1, 10, Some(9));
        check::<SaslHandshakeRequest>(0, 0, None);
        check::<SaslHandshakeRequest>(0, 1, Some(1));
    }
}
