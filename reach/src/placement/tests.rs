use super::*;
use kafka::client::UnderWay;

const GB: u64 = 1_000_000_000;

fn broker(id: i32, own: impl Into<Option<OwnWords>>) -> PlacedBroker {
    let own = own.into();
    PlacedBroker { id, rack: Some("r".into()), is_registered: true, is_fenced: false, own }
}

fn words(log: u64, disk: Option<(u64, u64)>) -> OwnWords {
    let (total_bytes, usable_bytes) = (disk.map(|it| it.0), disk.map(|it| it.1));
    OwnWords { log_bytes: log, total_bytes, usable_bytes, ..OwnWords::default() }
}

fn rooms(own: impl Into<Option<OwnWords>>, disk: Option<u64>) -> (u64, u64) {
    let view = PlacementView { brokers: vec![broker(1, own)], topics: vec![] };
    let disk_bytes = disk.map(|bytes| (1, bytes)).into_iter().collect();
    let ours = Ours { disk_bytes, ..Ours::default() };
    let found = for_mover(&view, &[1].into(), &ours).brokers.remove(0);
    (found.disk_bytes, found.free_bytes)
}

#[test]
fn the_smaller_of_two_disks_counts() {
    assert_eq!(rooms(words(GB, Some((100 * GB, 80 * GB))), Some(10 * GB)), (10 * GB, 9 * GB));
    assert_eq!(rooms(words(GB, Some((10 * GB, 2 * GB))), Some(100 * GB)), (10 * GB, 2 * GB));
    assert_eq!(rooms(words(GB, None), Some(10 * GB)), (10 * GB, 9 * GB));
    assert_eq!(rooms(words(GB, Some((10 * GB, 2 * GB))), None), (10 * GB, 2 * GB));
    assert_eq!(rooms(words(GB, None), None), (0, 0));
    assert_eq!(
        rooms(None::<OwnWords>, Some(10 * GB)),
        (10 * GB, 0),
        "it does not tell what it holds"
    );
}

#[test]
fn brokers_leave_that_are_told_to_or_are_none_of_ours() {
    let silent = PlacedBroker { is_fenced: true, ..broker(3, words(0, None)) };
    let absent = PlacedBroker { is_registered: false, ..broker(4, None::<OwnWords>) };
    let brokers = vec![broker(1, words(0, None)), broker(2, words(0, None)), silent, absent];
    let view = PlacementView { brokers, topics: vec![] };
    let ours = Ours { leaving: [2].into(), ..Ours::default() };
    let cluster = for_mover(&view, &[1, 2, 4].into(), &ours);
    let found: Vec<(i32, bool, bool)> =
        cluster.brokers.iter().map(|it| (it.node, it.is_leaving, it.is_up)).collect();
    assert_eq!(found, [(1, false, true), (2, true, true), (3, true, false), (4, false, false)]);
}

#[test]
fn a_partition_keeps_what_the_mover_asks_about() {
    let under_way = UnderWay { adding: vec![4], removing: vec![1], copied_bytes: 7 };
    let partition = PlacedPartition {
        index: 2,
        leader: Some(1),
        replicas: vec![4, 1],
        in_sync: vec![1],
        elr: vec![9],
        bytes: 20,
        reassignment: Some(under_way),
    };
    let topic = PlacedTopic {
        name: "t".into(),
        min_in_sync: 2,
        partitions: vec![partition],
        ..PlacedTopic::default()
    };
    let view = PlacementView { brokers: vec![], topics: vec![topic] };
    let cluster = for_mover(&view, &BTreeSet::new(), &Ours::default());
    let found = &cluster.partitions[0];
    assert_eq!((&*found.topic, found.index, found.min_isr, found.bytes), ("t", 2, 2, 20));
    assert_eq!((found.settled(), found.original()), (vec![4], vec![1]));
    assert_eq!((found.elr_outside(&found.replicas), found.bytes_under_way()), (vec![9], 13));
}
