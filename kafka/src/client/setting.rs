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
    pub(crate) fn from_config_type(number: i8) -> Self {
        match number {
            1 => Self::Flag,
            3..=6 => Self::Number,
            _ => Self::Text,
        }
    }
}

impl Setting {
    /// Whether Kafka takes this text for the value it has: it reads what it is given,
    /// and tells it in a spelling of its own.
    pub fn means(&self, text: &str) -> bool {
        let (is, text) = (self.value.trim(), text.trim());
        match self.kind {
            SettingKind::Flag => is.eq_ignore_ascii_case(text),
            SettingKind::Number => is == text || is_same_number(is, text),
            // Lists are texts here, and a text without commas is a list of one.
            SettingKind::Text => items(is).eq(items(text)),
        }
    }
}

fn is_same_number(one: &str, other: &str) -> bool {
    if let (Ok(one), Ok(other)) = (one.parse::<i64>(), other.parse::<i64>()) {
        return one == other;
    }
    match (one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other)) => one.total_cmp(&other).is_eq(),
        _ => false,
    }
}

fn items(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_value() {
        use SettingKind::{Flag, Number, Text};
        let check = |kind, value: &str, text: &str, expected: bool| {
            let setting = Setting { name: "it".into(), value: value.into(), kind };
            assert_eq!(setting.means(text), expected, "{value:?} {text:?}");
        };
        check(Number, "60000", "0060000", true);
        check(Number, "60000", " 60000 ", true);
        check(Number, "60000", "60001", false);
        check(Number, "9223372036854775807", "9223372036854775806", false);
        check(Number, "1.0", "1", true);
        check(Number, "0.5", ".5", true);
        check(Number, "0.5", "0.6", false);
        check(Number, "1", "one", false);
        check(Text, "compact,delete", "compact, delete", true);
        check(Text, "compact,delete", "delete,compact", false);
        check(Text, "compact,delete", "compact", false);
        check(Text, "gzip", " gzip", true);
        check(Text, "gzip", "GZIP", false);
        check(Flag, "true", "TRUE", true);
        check(Flag, "true", "false", false);
    }
}
