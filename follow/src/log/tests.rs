use super::*;

#[test]
fn bad_sectors_of_a_log_are_passed_and_leave_one_gap() {
    let directory = tempfile::tempdir().unwrap();
    let log = (LogSource::Broker, Format::Kafka, Path::new("server.log"));
    let mut log = Log::new(log, directory.path(), 1000, None);
    // Nothing is at the first addresses, and the system says so as of a bad sector.
    let file = File::open("/proc/self/mem").unwrap();
    let identity = Identity::new(&file.metadata().unwrap());
    let (before, modified) = (Vec::new(), (0, 0));
    log.place = Place::Open(Open { file, identity, offset: 0, before, modified });
    let seen = Seen { size: 10_000, modified, is_followed: false };
    let (mut buffer, mut out) = (vec![0; BUFFER], Frame::new());
    for (expected, is_last) in [(4096, false), (8192, false), (10_000, true)] {
        let step = log.read(seen, Timestamp::UNIX_EPOCH, &mut buffer, &mut out).unwrap();
        assert!(matches!(step, Step::Read { has_more } if has_more != is_last));
        let progress = log.progress(false).unwrap();
        assert_eq!(progress.mark.unwrap().offset, expected);
    }
    assert_eq!((log.gaps, out.count()), (1, 1));
}
