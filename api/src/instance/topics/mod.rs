//! `/api/topics`.

pub mod create;
pub mod delete;
pub mod list;
pub mod read;
pub mod update;

use app::topics::{self, Setting, SettingKind};
use wire::topics::Topic;
use serde_json::{Map, Value, json};

const READY: &str = "ready";
const CREATING: &str = "creating";

fn document(topic: &topics::Topic) -> Topic {
    Topic {
        name: topic.name.clone(),
        partitions: count(topic.partitions.len()),
        replicas: count(topic.replicas()),
        status: if topic.partitions.is_empty() { CREATING } else { READY }.into(),
        config: topic.settings.iter().map(|it| (it.name.clone(), value(it))).collect(),
    }
}

/// Numbers and flags as such, as far as JSON can write them.
fn value(setting: &Setting) -> Value {
    let text = setting.value.as_str();
    let typed = match setting.kind {
        SettingKind::Text => None,
        SettingKind::Flag => text.parse::<bool>().ok().map(Value::from),
        SettingKind::Number => {
            let whole = text.parse::<i64>().ok().map(Value::from);
            whole.or_else(|| text.parse::<f64>().ok().map(Value::from))
        }
    };
    typed.unwrap_or_else(|| text.into())
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn example() -> Topic {
    Topic {
        name: "orders".into(),
        partitions: 1,
        replicas: 1,
        status: READY.into(),
        config: example_config(),
    }
}

fn example_config() -> Map<String, Value> {
    Map::from_iter([
        ("cleanup.policy".to_owned(), json!("compact")),
        ("retention.ms".to_owned(), json!(86_400_000)),
    ])
}
