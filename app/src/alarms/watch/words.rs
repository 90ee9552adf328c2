//! What people are told, in sentences.

use model::{AlarmSpec, AlarmType};

/// What is going on.
pub fn triggered(spec: &AlarmSpec, about: &str, value: Option<f64>) -> String {
    let threshold = spec.value_threshold.unwrap_or_default();
    let held = match spec.time_threshold {
        None | Some(0) => String::new(),
        Some(seconds) => format!(" for {seconds} s"),
    };
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
        AlarmType::UnderMinIsr => format!(
            "{now:.0} partitions led by {about} have had fewer replicas in sync than they \
             need{held}; writes with acks=all to them fail"
        ),
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
