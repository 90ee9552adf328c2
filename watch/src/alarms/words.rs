//! Notifications of alarms, in sentences. Pure.

use model::{AlarmSpec, AlarmType, SignedDuration};

/// What is going on, for as long as it takes to be notified of it.
pub fn triggered(spec: &AlarmSpec, about: &str, value: Option<f64>) -> String {
    sentence(spec, about, value, spec.time_threshold.unwrap_or_default())
}

/// What still is going on, for so long.
pub fn goes_on(spec: &AlarmSpec, about: &str, value: Option<f64>, held: SignedDuration) -> String {
    sentence(spec, about, value, held.as_secs())
}

fn sentence(spec: &AlarmSpec, about: &str, value: Option<f64>, seconds: i64) -> String {
    let threshold = spec.value_threshold.unwrap_or_default();
    let held = if seconds > 0 { format!(" for {seconds} s") } else { String::new() };
    let now = value.unwrap_or_default();
    match spec.kind {
        AlarmType::Cpu => {
            format!("The cpu of {about} has been used beyond {threshold} %{held}; now {now:.0} %")
        }
        AlarmType::Memory => {
            format!(
                "The memory of {about} has been used beyond {threshold} %{held}; now {now:.0} %"
            )
        }
        AlarmType::Disk => format!(
            "The disk of {about} has had less than {threshold} GB free{held}; now {now:.1} GB"
        ),
        AlarmType::DiskForecast => {
            format!("The disk of {about} is full in {now:.1} hours, if it goes on like this")
        }
        AlarmType::ServerUnreachable => format!("{about} has not answered{held}"),
        AlarmType::ConsumerLag => format!(
            "The group {about} has been more than {threshold} s behind{held}; now {now:.0} s"
        ),
        AlarmType::CertificateExpiry => {
            format!("A certificate of {about} expires in {now:.0} days")
        }
        AlarmType::UnderMinIsr if is_one(now) => format!(
            "1 partition led by {about} has had fewer replicas in sync than it needs{held}; \
             writes with acks=all to it fail"
        ),
        AlarmType::UnderMinIsr => format!(
            "{now:.0} partitions led by {about} have had fewer replicas in sync than they \
             need{held}; writes with acks=all to them fail"
        ),
        AlarmType::OfflinePartitions if is_one(now) => {
            format!("1 partition has had no leader{held}; nobody can use it")
        }
        AlarmType::OfflinePartitions => {
            format!("{now:.0} partitions have had no leader{held}; nobody can use them")
        }
        kind => format!("{kind} of {about}: {now}"),
    }
}

/// What is over.
pub fn resolved(spec: &AlarmSpec, about: &str, value: Option<f64>) -> String {
    let now = value.unwrap_or_default();
    match spec.kind {
        AlarmType::Cpu => format!("The cpu of {about} is fine again; now {now:.0} %"),
        AlarmType::Memory => format!("The memory of {about} is fine again; now {now:.0} %"),
        AlarmType::Disk => format!("The disk of {about} has room again; {now:.1} GB are free"),
        AlarmType::DiskForecast => format!("The disk of {about} does not fill so fast any more"),
        AlarmType::ServerUnreachable => format!("{about} answers again"),
        AlarmType::ConsumerLag => {
            format!("The group {about} has caught up; it is {now:.0} s behind")
        }
        AlarmType::CertificateExpiry => {
            format!("The certificates of {about} are good for {now:.0} days again")
        }
        AlarmType::UnderMinIsr => {
            format!("Every partition led by {about} has the replicas it needs in sync again")
        }
        AlarmType::OfflinePartitions => "Every partition has a leader again".into(),
        kind => format!("{kind} of {about} is over"),
    }
}

/// Of things that are counted.
fn is_one(count: f64) -> bool {
    (0.5..1.5).contains(&count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(kind: AlarmType, time: i64) -> AlarmSpec {
        AlarmSpec::first(kind, Some(90), Some(time))
    }

    #[test]
    fn a_reminder_says_how_long_it_really_is() {
        let held = SignedDuration::from_secs(200);
        let silent = spec(AlarmType::ServerUnreachable, 30);
        assert_eq!(triggered(&silent, "a-01", None), "a-01 has not answered for 30 s");
        assert_eq!(goes_on(&silent, "a-01", None, held), "a-01 has not answered for 200 s");
        let at_once = spec(AlarmType::ServerUnreachable, 0);
        assert_eq!(triggered(&at_once, "a-01", None), "a-01 has not answered");
        let busy = goes_on(&spec(AlarmType::Cpu, 0), "a-01", Some(97.0), held);
        assert_eq!(busy, "The cpu of a-01 has been used beyond 90 % for 200 s; now 97 %");
    }

    #[test]
    fn one_partition_is_no_partitions() {
        let check = |kind, count: f64, expected: &str| {
            let words = triggered(&spec(kind, 30), "a-01", Some(count));
            assert!(words.starts_with(expected), "{words}");
        };
        let offline = AlarmType::OfflinePartitions;
        check(offline, 1.0, "1 partition has had no leader for 30 s; nobody can use it");
        check(offline, 2.0, "2 partitions have had no leader for 30 s; nobody can use them");
        check(AlarmType::UnderMinIsr, 1.0, "1 partition led by a-01 has had fewer");
        check(AlarmType::UnderMinIsr, 12.0, "12 partitions led by a-01 have had fewer");
    }
}
