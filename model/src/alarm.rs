//! Alarms: what people want to be told of.

use crate::{AlarmId, RecipientId, words};

words! {
    /// What an alarm watches.
    #[derive(Hash)]
    pub enum AlarmType {
        Cpu = "cpu",
        Memory = "memory",
        Disk = "disk",
        Netsplit = "netsplit",
        ServerUnreachable = "server_unreachable",
        /// Maintenance that is planned or under way.
        Notice = "notice",
        ConsumerLag = "consumer_lag",
        UnderMinIsr = "under_min_isr",
        OfflinePartitions = "offline_partitions",
        CertificateExpiry = "certificate_expiry",
        DiskForecast = "disk_forecast",
    }
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
