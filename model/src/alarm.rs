//! Alarms: what people want to be told of.

use crate::{AlarmId, RecipientId};
use std::fmt;
use std::str::FromStr;

/// What an alarm watches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AlarmType {
    Cpu,
    Memory,
    Disk,
    Netsplit,
    ServerUnreachable,
    /// Maintenance that is planned or under way.
    Notice,
    ConsumerLag,
    UnderMinIsr,
    OfflinePartitions,
    CertificateExpiry,
    DiskForecast,
}

/// What an alarm's `value_threshold` counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Measure {
    /// It fires above that many percent of what the plan gives.
    Percent,
    /// It fires below that many gigabytes that are free.
    Gigabytes,
    /// It fires above that many seconds.
    Seconds,
    /// It fires below that many days.
    Days,
    /// It fires below that many hours.
    Hours,
}

impl AlarmType {
    pub const ALL: [Self; 11] = [
        Self::Cpu,
        Self::Memory,
        Self::Disk,
        Self::Netsplit,
        Self::ServerUnreachable,
        Self::Notice,
        Self::ConsumerLag,
        Self::UnderMinIsr,
        Self::OfflinePartitions,
        Self::CertificateExpiry,
        Self::DiskForecast,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::Netsplit => "netsplit",
            Self::ServerUnreachable => "server_unreachable",
            Self::Notice => "notice",
            Self::ConsumerLag => "consumer_lag",
            Self::UnderMinIsr => "under_min_isr",
            Self::OfflinePartitions => "offline_partitions",
            Self::CertificateExpiry => "certificate_expiry",
            Self::DiskForecast => "disk_forecast",
        }
    }

    /// What its `value_threshold` counts; none: it has no such threshold.
    pub fn measure(self) -> Option<Measure> {
        match self {
            Self::Cpu | Self::Memory => Some(Measure::Percent),
            Self::Disk => Some(Measure::Gigabytes),
            Self::ConsumerLag => Some(Measure::Seconds),
            Self::CertificateExpiry => Some(Measure::Days),
            Self::DiskForecast => Some(Measure::Hours),
            Self::Netsplit
            | Self::ServerUnreachable
            | Self::Notice
            | Self::UnderMinIsr
            | Self::OfflinePartitions => None,
        }
    }

    /// For how many seconds it must hold where nobody says; none: whoever makes
    /// the alarm has to say.
    pub fn default_time(self) -> Option<i64> {
        match self {
            Self::Cpu | Self::Memory | Self::Disk => None,
            Self::Netsplit
            | Self::ServerUnreachable
            | Self::ConsumerLag
            | Self::UnderMinIsr
            | Self::OfflinePartitions => Some(30),
            Self::Notice | Self::CertificateExpiry | Self::DiskForecast => Some(0),
        }
    }

    /// Whether a `time_threshold` means anything to it.
    pub fn takes_time(self) -> bool {
        !matches!(self, Self::Notice)
    }
}

impl fmt::Display for AlarmType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it is no type of alarm this Castellan knows")]
pub struct UnknownAlarmType;

impl FromStr for AlarmType {
    type Err = UnknownAlarmType;

    fn from_str(text: &str) -> Result<Self, UnknownAlarmType> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or(UnknownAlarmType)
    }
}

/// An alarm of an instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alarm {
    pub id: AlarmId,
    pub what: AlarmSpec,
}

/// What an alarm watches for and whom it tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AlarmSpec {
    pub kind: AlarmType,
    pub enabled: bool,
    /// The level, counted as its type's [`Measure`] says.
    pub value_threshold: Option<i64>,
    /// Seconds for which the level must hold.
    pub time_threshold: Option<i64>,
    /// The one consumer group it is about; none: every group.
    pub group: Option<String>,
    /// Empty: everybody that the instance can tell.
    pub recipients: Vec<RecipientId>,
    /// Seconds between reminders while it goes on; none: there are none.
    pub reminder_interval: Option<i64>,
}

impl AlarmSpec {
    /// As every instance begins with it.
    pub fn first(kind: AlarmType, value_threshold: Option<i64>, time: Option<i64>) -> Self {
        Self {
            kind,
            enabled: true,
            value_threshold,
            time_threshold: time,
            group: None,
            recipients: Vec::new(),
            reminder_interval: None,
        }
    }

    /// Whether somebody is to hear of it. Without a list everybody is.
    pub fn names(&self, recipient: RecipientId) -> bool {
        self.recipients.is_empty() || self.recipients.contains(&recipient)
    }
}
