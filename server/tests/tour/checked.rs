//! The checker on the real cluster: both clients in both modes, all is as
//! promised; then the topic is made anew underneath, and everything is lost.

use checker::{
    Access, Event, History, Load, LoadSpec, TopicSpec, Wrong, judge, make_topic, read_back,
    remove_topic,
};
use serde_json::Value;
use std::time::{Duration, Instant};

const TOPIC: &str = "checked";
const PARTITIONS: i32 = 3;
const PATIENCE: Duration = Duration::from_mins(1);

pub async fn finds_nothing_and_then_what_was_planted(instance: &Value) {
    let directory = tempfile::tempdir().unwrap();
    let spec = LoadSpec {
        topic: TOPIC.into(),
        partitions: PARTITIONS,
        history: Some(directory.path().join("history")),
        ..customers(instance)
    };
    let began = Instant::now();
    let load = Load::start(&spec).await.unwrap();
    // Ten transactions at least, with aborted ones among them.
    load.goes_on(100, PATIENCE).await.unwrap();
    let history = load.stop().await.unwrap();

    let access = spec.access();
    let logs = read_back(&access, &history.run).await.unwrap();
    let report = judge(&history, &logs);
    assert!(report.is_clean() && report.whole, "{report}");
    assert!(report.acked >= 400 && report.committed > 20 && report.aborted > 6, "{report}");
    assert_eq!(logs.partitions.len(), usize::try_from(PARTITIONS).unwrap());
    for replicas in logs.partitions.values() {
        assert_eq!(replicas.len(), 3, "every replica is read");
    }
    let left = History::load(spec.history.as_deref().unwrap()).unwrap();
    assert_eq!(left, history, "the file has it all");
    eprintln!("{report}");

    make_anew(&access).await;
    let logs = read_back(&access, &history.run).await.unwrap();
    let report = judge(&history, &logs);
    assert_eq!(report.count(Wrong::Lost), promised(&history), "{report}");
    assert!(!report.is_true_to_its_word(), "{report}");
    eprintln!("checked twice in {:.1} s", began.elapsed().as_secs_f64());
}

/// Both clients in both modes, with what the API says a customer needs.
pub fn customers(instance: &Value) -> LoadSpec {
    let Access { brokers, auth } = Access::of_instance(instance).unwrap();
    LoadSpec { brokers, auth, rate_per_second: 200, ..LoadSpec::default() }
}

async fn make_anew(access: &Access) {
    remove_topic(access, TOPIC).await.unwrap();
    let (name, partitions) = (TOPIC.to_owned(), PARTITIONS);
    make_topic(access, &TopicSpec { name, partitions, replicas: 3, min_in_sync: 2 }).await.unwrap();
}

/// How many records were acknowledged, but for those of aborted transactions.
fn promised(history: &History) -> u64 {
    let aborted = |client: usize, wanted: u64| {
        history.events.iter().any(|event| {
            matches!(event, Event::Aborted { client: of, transaction, .. }
                if (*of, *transaction) == (client, wanted))
        })
    };
    let sent = history.events.iter().filter(|event| match event {
        Event::Sent { id, transaction, .. } => {
            transaction.is_none_or(|transaction| !aborted(id.client, transaction))
        }
        _ => false,
    });
    // All were acknowledged.
    sent.count() as u64
}
