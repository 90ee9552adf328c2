use super::*;
use crate::record::Record;
use model::{LogLevel, Timestamp};
use std::fs;

const SMALL: Limits = Limits { spool: 4000, segment: 1000, event: 1000 };

fn open(directory: &Path) -> Spool {
    Spool::open(directory, SMALL).unwrap()
}

fn frame(messages: impl IntoIterator<Item = usize>) -> Frame {
    let mut frame = Frame::new();
    for message in messages {
        let message = format!("message {message:05}");
        let message = [message.as_bytes(), &b""[..], &b""[..]];
        let (at, level, source) = (Timestamp::UNIX_EPOCH, LogLevel::Info, LogSource::Broker);
        frame.push(&Record { at, level, source, logger: b"a.b", message });
    }
    frame
}

fn append(spool: &mut Spool, messages: impl IntoIterator<Item = usize>) {
    spool.append(&mut frame(messages), &BTreeMap::new()).unwrap();
}

fn numbers(batch: &Batch) -> Vec<usize> {
    let number = |message: &str| message.strip_prefix("message ").unwrap().parse().unwrap();
    batch.events.iter().map(|event| number(&event.message)).collect()
}

/// All that a reader gets, in batches of this many.
fn drain(spool: &mut Spool, id: i64, batch: usize) -> Vec<usize> {
    let mut all = Vec::new();
    loop {
        let read = spool.read(id, batch, usize::MAX).unwrap();
        if read.events.is_empty() {
            return all;
        }
        all.extend(numbers(&read));
        spool.ack(id, read.end());
        spool.save().unwrap();
    }
}

fn size(directory: &Path) -> u64 {
    let sizes = fs::read_dir(directory).unwrap().map(|it| it.unwrap().metadata().unwrap().len());
    sizes.sum()
}

#[test]
fn each_reader_gets_everything_since_it_came_at_its_own_pace() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = open(directory.path());
    spool.set_readers(&[1].into());
    append(&mut spool, 0..10);
    spool.set_readers(&[1, 2].into());
    append(&mut spool, 10..20);
    let read = spool.read(1, 3, usize::MAX).unwrap();
    assert_eq!(numbers(&read), [0, 1, 2]);
    assert_eq!(numbers(&spool.read(1, 4, usize::MAX).unwrap()), [0, 1, 2, 3], "none was taken");
    spool.ack(1, read.after(2));
    assert_eq!(spool.behind(1).0, 18);
    assert_eq!(drain(&mut spool, 1, 7), (2..20).collect::<Vec<_>>());
    assert_eq!(drain(&mut spool, 2, 100), (10..20).collect::<Vec<_>>());
    assert_eq!((spool.behind(1), spool.behind(2)), ((0, 0), (0, 0)));
    assert_eq!((spool.dropped(1), spool.dropped(2)), (0, 0));
    assert_eq!(spool.read(3, 1, 1).unwrap().events, [], "no such destination");
}

#[test]
fn what_a_reader_refused_is_counted_until_it_is_forgotten_also_through_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = open(directory.path());
    spool.set_readers(&[1, 2].into());
    append(&mut spool, 0..10);
    spool.refused(1, 2);
    spool.refused(1, 1);
    spool.refused(9, 1);
    assert_eq!((spool.dropped(1), spool.dropped(2), spool.dropped(9)), (3, 0, 0));
    spool.save().unwrap();
    drop(spool);
    let mut spool = open(directory.path());
    assert_eq!((spool.dropped(1), spool.dropped(2)), (3, 0));
    spool.forget_dropped(1);
    spool.save().unwrap();
    drop(spool);
    let mut spool = open(directory.path());
    assert_eq!(spool.dropped(1), 0);
    assert_eq!(drain(&mut spool, 1, 100), (0..10).collect::<Vec<_>>(), "none was taken");
}

#[test]
fn a_batch_has_as_many_bytes_as_are_wanted_and_at_least_one_event() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = open(directory.path());
    spool.set_readers(&[1].into());
    append(&mut spool, 0..10);
    assert_eq!(spool.read(1, 100, 0).unwrap().events.len(), 1);
    assert_eq!(spool.read(1, 0, 100).unwrap().events.len(), 1);
    assert_eq!(spool.read(1, 100, 200).unwrap().events.len(), 3);
}

#[test]
fn everything_is_known_after_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = open(directory.path());
    spool.set_readers(&[1, 2].into());
    for from in (0..50).step_by(5) {
        append(&mut spool, from..from + 5);
    }
    let read = spool.read(1, 33, usize::MAX).unwrap();
    spool.ack(1, read.end());
    spool.save().unwrap();
    drop(spool);
    let mut spool = open(directory.path());
    assert_eq!(drain(&mut spool, 1, 100), (33..50).collect::<Vec<_>>());
    assert_eq!(drain(&mut spool, 2, 100), (0..50).collect::<Vec<_>>());
    append(&mut spool, [50]);
    assert_eq!(drain(&mut spool, 1, 100), [50]);
}

#[test]
fn a_torn_end_is_cut_off_and_written_over() {
    let directory = tempfile::tempdir().unwrap();
    let whole = {
        let mut spool = open(directory.path());
        spool.set_readers(&[1].into());
        append(&mut spool, 0..3);
        append(&mut spool, 3..5);
        spool.segments[0].length
    };
    let path = segment::path(directory.path(), 0);
    let bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len() as u64, whole);
    for length in 0..bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        let mut spool = open(directory.path());
        spool.set_readers(&[1].into());
        let kept = usize::try_from(spool.end).unwrap();
        assert!([0, 3].contains(&kept), "{length} bytes have {kept} events");
        append(&mut spool, kept..5);
        drop(spool);
        let read = drain(&mut open(directory.path()), 1, 100);
        // A reader that was never written is new.
        assert_eq!(read, (0..5).collect::<Vec<_>>(), "with {length} bytes");
        for entry in fs::read_dir(directory.path()).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
}

#[test]
fn what_no_room_is_left_for_is_dropped_oldest_first_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = open(directory.path());
    spool.set_readers(&[1, 2].into());
    let mut of_second = Vec::new();
    for from in (0..1000).step_by(10) {
        append(&mut spool, from..from + 10);
        of_second.extend(drain(&mut spool, 2, 100));
        assert!(size(directory.path()) <= SMALL.spool, "{}", size(directory.path()));
    }
    assert_eq!((of_second.len(), spool.dropped(2)), (1000, 0));
    let dropped = spool.dropped(1);
    assert!((900..990).contains(&dropped), "{dropped}");
    let rest: Vec<_> = (usize::try_from(dropped).unwrap()..1000).collect();
    assert_eq!(spool.behind(1).0, rest.len() as u64);
    assert_eq!(drain(&mut spool, 1, 7), rest);
    assert_eq!(spool.dropped(1), dropped);
    drop(spool);
    assert_eq!(open(directory.path()).dropped(1), dropped);
}

#[test]
fn what_a_reader_was_given_and_takes_later_was_not_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = open(directory.path());
    spool.set_readers(&[1].into());
    append(&mut spool, 0..10);
    let given = spool.read(1, 10, usize::MAX).unwrap();
    let mut next = 10;
    while spool.floor() < 10 {
        append(&mut spool, next..next + 10);
        next += 10;
    }
    let floor = spool.floor();
    assert_eq!(spool.dropped(1), floor - 10);
    spool.ack(1, given.end());
    let read = spool.read(1, 1, usize::MAX).unwrap();
    assert_eq!(numbers(&read), [usize::try_from(floor).unwrap()]);
    assert_eq!(spool.dropped(1), floor - 10);
}

#[test]
fn what_every_reader_has_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = open(directory.path());
    spool.set_readers(&[1, 2].into());
    append(&mut spool, 0..60);
    append(&mut spool, 60..61);
    let before = size(directory.path());
    drain(&mut spool, 1, 100);
    assert!(size(directory.path()) >= before);
    spool.set_readers(&[1].into());
    spool.save().unwrap();
    assert_eq!(spool.segments.len(), 1, "the other one has gone");
    assert!(size(directory.path()) < before);
    spool.clear();
    assert_eq!(size(directory.path()), 0);
}

#[test]
fn what_a_reader_has_is_not_counted_as_dropped_after_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = open(directory.path());
    spool.set_readers(&[1].into());
    for from in [0, 20, 40] {
        append(&mut spool, from..from + 20);
    }
    let read = spool.read(1, 45, usize::MAX).unwrap();
    spool.ack(1, read.end());
    drop(spool);
    let mut spool = open(directory.path());
    assert_eq!(drain(&mut spool, 1, 100), (0..60).collect::<Vec<_>>());
    assert_eq!(spool.dropped(1), 0);
}

#[test]
fn what_the_disk_spoiled_is_passed_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = open(directory.path());
    spool.set_readers(&[1].into());
    append(&mut spool, 0..10);
    append(&mut spool, 10..60);
    append(&mut spool, 60..70);
    let damage = |number: u64| {
        let path = segment::path(directory.path(), number);
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
    };
    damage(1);
    assert_eq!(drain(&mut spool, 1, 100), (0..10).chain(60..70).collect::<Vec<_>>());
    assert_eq!(spool.dropped(1), 50);

    append(&mut spool, 70..72);
    damage(2);
    append(&mut spool, 72..74);
    let rest = drain(&mut spool, 1, 100);
    assert!(rest.is_empty(), "what follows in that segment can't be found: {rest:?}");
    append(&mut spool, 74..80);
    assert_eq!(drain(&mut spool, 1, 100), (74..80).collect::<Vec<_>>());
    assert_eq!(spool.dropped(1), 54);
}

#[test]
fn a_segment_that_begins_on_a_bad_sector_is_removed() {
    let check = |bad: &[u64], expected: Vec<usize>, dropped| {
        let directory = tempfile::tempdir().unwrap();
        let mut spool = open(directory.path());
        spool.set_readers(&[1].into());
        for from in [0, 20, 40] {
            append(&mut spool, from..from + 20);
        }
        assert_eq!(spool.segments.len(), 3);
        drop(spool);
        for number in bad {
            // Nothing is at the first addresses, and the system says so as of a bad sector.
            let path = segment::path(directory.path(), *number);
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("/proc/self/mem", path).unwrap();
        }
        let mut spool = open(directory.path());
        assert_eq!(drain(&mut spool, 1, 100), expected, "without {bad:?}");
        assert_eq!(spool.dropped(1), dropped, "without {bad:?}");
    };
    check(&[1], (0..20).chain(40..60).collect(), 20);
    check(&[2], (0..40).collect(), 0);
    check(&[1, 2], (0..20).collect(), 0);
    check(&[0, 1, 2], Vec::new(), 0);
}

#[test]
fn a_full_disk_drops_nothing_that_was_kept() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = open(directory.path());
    spool.set_readers(&[1].into());
    for from in [0, 20, 40] {
        append(&mut spool, from..from + 20);
    }
    assert!(spool.segments.len() > 1);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let last = spool.last.replace(full);
    let mut waiting = frame([60]);
    for _ in 0..3 {
        let error = spool.append(&mut waiting, &BTreeMap::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
    spool.last = last;
    spool.append(&mut waiting, &BTreeMap::new()).unwrap();
    assert_eq!(drain(&mut spool, 1, 100), (0..61).collect::<Vec<_>>());
    assert_eq!(spool.dropped(1), 0);
}

#[test]
fn other_users_may_not_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let within = directory.path().join("spool");
    let mut spool = open(&within);
    spool.set_readers(&[1].into());
    append(&mut spool, 0..1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&within), 0o700);
    assert_eq!(mode(&segment::path(&within, 0)), 0o600);
}

#[test]
fn a_spool_that_can_not_be_written_returns_a_fault_and_goes_on_later() {
    let directory = tempfile::tempdir().unwrap();
    let mut spool = open(directory.path());
    spool.set_readers(&[1].into());
    fs::remove_dir(directory.path()).unwrap();
    let mut waiting = frame(0..3);
    spool.append(&mut waiting, &BTreeMap::new()).unwrap_err();
    spool.append(&mut waiting, &BTreeMap::new()).unwrap_err();
    fs::create_dir(directory.path()).unwrap();
    spool.append(&mut waiting, &BTreeMap::new()).unwrap();
    assert_eq!(drain(&mut spool, 1, 100), [0, 1, 2]);
}
