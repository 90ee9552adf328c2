//! Where a measured value stands against an alarm's threshold.
//!
//! On its way back a value has to be a twentieth better than the threshold
//! before it counts as well.

use super::judge::Level;
use model::{AlarmSpec, AlarmType, Series};
use series::Sample;

const GIGABYTE: f64 = 1e9;
/// The part of the threshold by which a value must be better.
const MARGIN: f64 = 0.05;

/// What a sample says to an alarm: nothing, or how much and where that stands.
pub fn of_sample(spec: &AlarmSpec, sample: &Sample) -> Option<(f64, Level)> {
    let value = |series: Series| sample.value(series).map(f64::from);
    let threshold = threshold(spec);
    let (value, level): (f64, fn(f64, f64) -> Level) = match spec.kind {
        AlarmType::Cpu => (value(Series::Cpu)?, above),
        AlarmType::Memory => (value(Series::Memory)?, above),
        AlarmType::Disk => (value(Series::DiskFree)? / GIGABYTE, below),
        AlarmType::CertificateExpiry => (value(Series::CertificateDays)?, below),
        AlarmType::UnderMinIsr => (value(Series::UnderMinIsr)?, any),
        AlarmType::OfflinePartitions => (value(Series::OfflinePartitions)?, any),
        AlarmType::Netsplit
        | AlarmType::ServerUnreachable
        | AlarmType::Notice
        | AlarmType::ConsumerLag
        | AlarmType::DiskForecast => return None,
    };
    Some((value, level(value, threshold)))
}

/// Where so many hours stand.
pub fn of_forecast(spec: &AlarmSpec, hours: f64) -> Level {
    below(hours, threshold(spec))
}

/// Where so many seconds stand.
pub fn of_lag(spec: &AlarmSpec, seconds: f64) -> Level {
    above(seconds, threshold(spec))
}

#[expect(clippy::cast_precision_loss, reason = "thresholds are small")]
fn threshold(spec: &AlarmSpec) -> f64 {
    spec.value_threshold.unwrap_or_default() as f64
}

fn above(value: f64, threshold: f64) -> Level {
    match value {
        value if value > threshold => Level::Beyond,
        value if value > threshold * (1.0 - MARGIN) => Level::Near,
        _ => Level::Clear,
    }
}

fn below(value: f64, threshold: f64) -> Level {
    match value {
        value if value < threshold => Level::Beyond,
        value if value < threshold * (1.0 + MARGIN) => Level::Near,
        _ => Level::Clear,
    }
}

fn any(value: f64, _: f64) -> Level {
    if value > 0.0 { Level::Beyond } else { Level::Clear }
}

/// Whether it is about the cluster as a whole: whoever counts it, counts for all.
pub fn is_of_cluster(kind: AlarmType) -> bool {
    kind == AlarmType::OfflinePartitions
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn values_stand_where_their_type_says() {
        use Level::{Beyond, Clear, Near};
        let check = |kind: AlarmType, threshold, series: Series, value: f32, expected: Level| {
            let spec = AlarmSpec::first(kind, threshold, Some(0));
            let values = BTreeMap::from([(series, value)]);
            let sample = Sample { at: 10, values, ..<_>::default() };
            let found = of_sample(&spec, &sample).map(|(_, level)| level);
            assert_eq!(found, Some(expected), "{kind} {value}");
        };
        check(AlarmType::Cpu, Some(90), Series::Cpu, 90.5, Beyond);
        check(AlarmType::Cpu, Some(90), Series::Cpu, 90.0, Near);
        check(AlarmType::Cpu, Some(90), Series::Cpu, 85.6, Near);
        check(AlarmType::Cpu, Some(90), Series::Cpu, 85.5, Clear);
        check(AlarmType::Memory, Some(1), Series::Memory, 100.0, Beyond);
        check(AlarmType::Disk, Some(5), Series::DiskFree, 4.9e9, Beyond);
        check(AlarmType::Disk, Some(5), Series::DiskFree, 5.1e9, Near);
        check(AlarmType::Disk, Some(5), Series::DiskFree, 5.3e9, Clear);
        check(AlarmType::UnderMinIsr, None, Series::UnderMinIsr, 0.0, Clear);
        check(AlarmType::OfflinePartitions, None, Series::OfflinePartitions, 1.0, Beyond);
        check(AlarmType::CertificateExpiry, Some(14), Series::CertificateDays, 13.9, Beyond);
    }

    #[test]
    fn what_was_not_measured_says_nothing() {
        let sample = Sample { at: 10, ..<_>::default() };
        for kind in AlarmType::ALL {
            let spec = AlarmSpec::first(kind, Some(1), Some(0));
            assert_eq!(of_sample(&spec, &sample), None);
        }
    }
}
