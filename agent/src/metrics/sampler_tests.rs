//! Samples of this very process, sent to a small control plane over real TLS.

use super::*;
use crate::identity::{self, Identity};
use crate::testing::{start, wait_for};
use model::SystemClock;
use std::collections::BTreeMap;
use tempfile::TempDir;
use test_support::control_plane::ControlPlane;

fn sampler(connection: Option<Connection>) -> (Sampler, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::open(directory.path()).unwrap();
    std::fs::create_dir(place.disk()).unwrap();
    let sampler = Sampler {
        place,
        clock: Arc::new(SystemClock),
        start: start(),
        board: Board::default(),
        desired: watch::channel(None).1,
        connection: watch::channel(connection).1,
        ledger: Ledger::default(),
    };
    (sampler, directory)
}

#[tokio::test]
async fn a_server_without_a_broker_tells_of_itself_alone() {
    let (sampler, _directory) = sampler(None);
    let mut last = Last { slow_due: true, ..<_>::default() };
    sampler.sample(&mut last).await;
    sleep(Duration::from_millis(5)).await;
    let sample = sampler.sample(&mut last).await;
    assert_eq!(sample.at % SAMPLE_SECONDS, 0);
    let values: BTreeMap<Series, f32> = sample.values.iter().copied().collect();
    for series in [Series::CpuCores, Series::MemoryUsed, Series::DiskUsed, Series::FileSystemFree] {
        assert!(values.contains_key(&series), "{series} is not in {values:?}");
    }
    assert!(values[&Series::MemoryUsed] > 1e6, "{values:?}");
    assert!(!values.contains_key(&Series::BytesIn), "{values:?}");
}

#[tokio::test]
async fn a_disk_that_hangs_leaves_a_gap_of_its_own() {
    let (sampler, _directory) = sampler(None);
    let (answer, answered) = std::sync::mpsc::channel::<()>();
    let values = tokio::task::spawn_blocking(move || {
        let _ = answered.recv();
        vec![(Series::DiskUsed, 5.0)]
    });
    let looking = Some(Looking { whole: true, values });
    let slow = vec![(Series::DiskUsed, 3.0)];
    let mut last = Last { slow, slow_due: true, looking, ..<_>::default() };
    let sample = sampler.sample(&mut last).await;
    let is_there = |sample: &Sample, series| sample.values.iter().any(|(it, _)| *it == series);
    assert!(is_there(&sample, Series::MemoryUsed));
    assert!(!is_there(&sample, Series::DiskUsed), "nobody knows");
    answer.send(()).unwrap();
    let sample = sampler.sample(&mut last).await;
    assert!(sample.values.contains(&(Series::DiskUsed, 5.0)), "{sample:?}");
}

#[tokio::test]
async fn a_look_that_was_slow_does_not_make_a_full_disk_look_empty() {
    let (sampler, _directory) = sampler(None);
    let values = tokio::task::spawn_blocking(|| vec![(Series::FileSystemFree, 9.0)]);
    let looking = Some(Looking { whole: false, values });
    let slow = vec![(Series::DiskUsed, 5.0), (Series::FileSystemFree, 7.0)];
    let mut last = Last { slow, slow_due: true, looking, ..<_>::default() };
    let of_disk = |sample: &Sample| -> Vec<(Series, f32)> {
        let is_meant = |it: &Series| [Series::DiskUsed, Series::FileSystemFree].contains(it);
        sample.values.iter().copied().filter(|(series, _)| is_meant(series)).collect()
    };
    let sample = sampler.sample(&mut last).await;
    assert_eq!(of_disk(&sample), [(Series::DiskUsed, 5.0), (Series::FileSystemFree, 9.0)]);
    // What was kept from before is looked at anew the next time.
    let sample = sampler.sample(&mut last).await;
    let anew = of_disk(&sample);
    assert_eq!(anew.len(), 2, "{anew:?}");
    assert!(!anew.contains(&(Series::DiskUsed, 5.0)), "{anew:?}");
}

#[tokio::test]
async fn what_waits_is_sent_once_and_again_to_a_control_plane_that_forgot() {
    let control_plane = ControlPlane::start().await;
    let parameters = AgentStart {
        control_plane: control_plane.url.clone(),
        fleet_ca: control_plane.authority.certificate.clone(),
        ..start()
    };
    let (sampler, _directory) = sampler(None);
    let key = identity::next_key(&sampler.place, 1).unwrap();
    let csr = pki::request(&key, "server-11").unwrap();
    let certificate = test_support::control_plane::sign(&control_plane.authority, &csr);
    identity::complete(&sampler.place, &key, &certificate).unwrap();
    let identity = Identity::load(&sampler.place).unwrap();
    let connection = Connection::open(&parameters, Some(&identity)).unwrap();
    let sampler = Sampler { connection: watch::channel(Some(connection)).1, ..sampler };

    let kept = Arc::new(Mutex::new(Kept::default()));
    let news = Arc::new(Notify::new());
    let push = |at: i64| {
        lock(&kept).push(Sample { at, values: vec![(Series::Connections, 1.0)], ..<_>::default() });
        news.notify_one();
    };
    let (waiting, announced) = (Arc::clone(&kept), Arc::clone(&news));
    tokio::spawn(async move { sampler.send(&waiting, &announced).await });
    let times = || control_plane.state().samples.iter().map(|s| s.at).collect::<Vec<_>>();

    push(10);
    wait_for(times, |times| *times == [10]).await;
    push(20);
    wait_for(times, |times| *times == [10, 20]).await;
    control_plane.state().window = "another".into();
    push(30);
    wait_for(times, |times| *times == [10, 20, 30, 10, 20]).await;
}
