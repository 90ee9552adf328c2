//! A setting of a topic or of all brokers, and what Kafka says it is.

/// What values of a setting are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SettingKind {
    Flag,
    Number,
    Text,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    pub name: String,
    pub value: String,
    pub kind: SettingKind,
}

impl SettingKind {
    /// By Kafka's number for it.
    pub(crate) fn of(number: i8) -> Self {
        match number {
            1 => Self::Flag,
            3..=6 => Self::Number,
            _ => Self::Text,
        }
    }
}
