//! The history of metrics, in a database of its own.

use crate::fixture::*;
use model::*;
use store::*;

fn window(server: i64, begins: i64, version: i64, body: &[u8]) -> MetricWindow {
    MetricWindow { server_id: ServerId(server), step: 10, begins, version, body: body.to_vec() }
}

pub async fn a_window_is_written_by_one_and_read_by_time(f: Fixture) {
    let history = MetricsHistory::open(&f.at).await.unwrap();
    let first = [window(1, 0, 0, &[0, 255, 7]), window(1, 600, 0, b"b"), window(2, 0, 0, b"c")];
    assert!(history.write(&first).await.unwrap());
    assert!(!history.write(&[window(1, 0, 0, b"d")]).await.unwrap(), "it is there already");

    let found = history.list(ServerId(1), 10, 0, 600).await.unwrap();
    assert_eq!(found, [window(1, 0, 1, &[0, 255, 7]), window(1, 600, 1, b"b")]);
    assert_eq!(history.list(ServerId(1), 10, 1, 599).await.unwrap(), []);
    assert_eq!(history.list(ServerId(1), 60, 0, 600).await.unwrap(), []);
    assert_eq!(history.last(ServerId(1), 10).await.unwrap(), Some(window(1, 600, 1, b"b")));
    assert_eq!(history.last(ServerId(3), 10).await.unwrap(), None);

    // Another control plane on the same database.
    let other = MetricsHistory::open(&f.at).await.unwrap();
    assert!(other.write(&[window(1, 0, 1, b"e")]).await.unwrap());
    let late = [window(1, 600, 1, b"f"), window(1, 0, 1, b"g")];
    assert!(!history.write(&late).await.unwrap(), "the second has changed");
    let found = history.find(ServerId(1), 10, 0).await.unwrap();
    assert_eq!(found, Some(window(1, 0, 2, b"e")));
    let found = history.find(ServerId(1), 10, 600).await.unwrap();
    assert_eq!(found, Some(window(1, 600, 1, b"b")), "all or none");
    other.close().await;
    history.close().await;
}

pub async fn the_first_windows_of_several_servers_are_found(f: Fixture) {
    let history = MetricsHistory::open(&f.at).await.unwrap();
    // More servers than one statement asks for, the earliest window among the last of them.
    let mut rows: Vec<_> = (1..=20).map(|server| window(server, 1200, 0, b"later")).collect();
    rows.extend([window(12, 600, 0, b"a"), window(19, 600, 0, b"b"), window(21, 0, 0, b"other")]);
    rows.push(MetricWindow { step: 60, ..window(3, 600, 0, b"thinner") });
    assert!(history.write(&rows).await.unwrap());
    let all: Vec<_> = (1..=20).map(ServerId).collect();
    let first = async |servers: &[ServerId], from, to| {
        let found = history.first(servers, 10, from, to).await.unwrap();
        let mut found: Vec<_> = found.iter().map(|it| (it.server_id.0, it.begins)).collect();
        found.sort_unstable();
        found
    };
    assert_eq!(first(&all, 0, 9999).await, [(12, 600), (19, 600)]);
    assert_eq!(first(&all, 601, 9999).await.len(), 20);
    assert_eq!(first(&all, 0, 599).await, []);
    assert_eq!(first(&all[..1], 0, 1200).await, [(1, 1200)]);
    assert_eq!(first(&[], 0, 9999).await, []);
    history.close().await;
}

pub async fn what_is_too_old_is_forgotten_and_counted(f: Fixture) {
    let history = MetricsHistory::open(&f.at).await.unwrap();
    assert_eq!(history.size(10).await.unwrap(), (0, None));
    let rows = [window(1, 0, 0, b"aa"), window(1, 600, 0, b"bbb"), window(2, 1200, 0, b"c")];
    assert!(history.write(&rows).await.unwrap());
    assert_eq!(history.size(10).await.unwrap(), (6, Some(0)));
    assert_eq!(history.forget(60, 9999).await.unwrap(), 0);
    assert_eq!(history.forget(10, 600).await.unwrap(), 1);
    assert_eq!(history.size(10).await.unwrap(), (4, Some(600)));
    let before = history.taken().await.unwrap();
    assert!(history.write(&[window(3, 0, 0, &vec![7; 100_000])]).await.unwrap());
    let taken = history.taken().await.unwrap() - before;
    assert!((90_000..120_000).contains(&taken), "{taken}");
    assert_eq!(history.forget(10, 600).await.unwrap(), 1);
    let taken = history.taken().await.unwrap() - before;
    assert!(taken < 20_000, "what is forgotten takes nothing: {taken}");
    // The store itself knows nothing of it.
    f.store.ping().await.unwrap();
    history.close().await;
}
