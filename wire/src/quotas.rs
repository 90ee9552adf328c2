//! Bodies of `/api/quotas`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// One element of `GET quotas`, and what `PUT quotas` takes and answers. In a
/// request a limit of null is removed and one that is not there stays.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Quota {
    /// `<default>` stands for users without a quota of their own.
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default)]
    pub client_id: Option<String>,
    /// Bytes a second and broker.
    #[serde(default, serialize_with = "rate")]
    #[schemars(with = "Option<f64>")]
    pub producer_byte_rate: Option<f64>,
    #[serde(default, serialize_with = "rate")]
    #[schemars(with = "Option<f64>")]
    pub consumer_byte_rate: Option<f64>,
    /// Percent of one thread's time on each broker.
    #[serde(default, serialize_with = "rate")]
    #[schemars(with = "Option<f64>")]
    pub request_percentage: Option<f64>,
    /// Partitions made or deleted a second.
    #[serde(default, serialize_with = "rate")]
    #[schemars(with = "Option<f64>")]
    pub controller_mutation_rate: Option<f64>,
}

/// A whole number is written as one, so that what is read is what was sent.
#[expect(clippy::ref_option, reason = "serde hands out a reference to the field")]
#[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
fn rate<S: Serializer>(rate: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match rate {
        None => serializer.serialize_none(),
        Some(rate) if rate.fract() == 0.0 && rate.abs() <= EXACT => {
            serializer.serialize_i64(*rate as i64)
        }
        Some(rate) => serializer.serialize_f64(*rate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_written_as_they_were_sent() {
        let check = |rate: f64, expected: &str| {
            let quota = Quota { request_percentage: Some(rate), ..Quota::default() };
            let text = serde_json::to_value(&quota).unwrap()["request_percentage"].to_string();
            assert_eq!(text, expected);
        };
        check(1_048_576.0, "1048576");
        check(12.5, "12.5");
        check(1e300, "1e+300");
    }
}
