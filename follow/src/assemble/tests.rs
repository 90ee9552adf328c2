use super::*;
use crate::frame::{HEAD as FRAME_HEAD, Head};
use crate::record;
use crate::state::State;
use model::LogEvent;

const LIMIT: usize = 200;

fn now() -> Timestamp {
    "2026-11-19T12:00:00Z".parse().unwrap()
}

fn assembler(format: Format) -> Assembler {
    Assembler::new(LogSource::Broker, format, LIMIT)
}

fn piece(bytes: &[u8]) -> Piece<'_> {
    let found = std::fs::metadata("/").unwrap();
    Piece { file: Identity::new(&found), bytes, from: 0, offset: 0 }
}

fn events(mut frame: Frame) -> Vec<LogEvent> {
    let bytes = frame.bytes(0, &State::default()).to_vec();
    let head = Head::parse(bytes[..FRAME_HEAD].try_into().unwrap()).unwrap();
    let (mut events, _) = head.split(&bytes[FRAME_HEAD..]).unwrap();
    std::iter::from_fn(|| record::take(&mut events)).collect()
}

/// Fed in pieces of so many bytes.
fn assembled(format: Format, text: &[u8], length: usize) -> Vec<LogEvent> {
    let (mut assembler, mut out) = (assembler(format), Frame::new());
    for bytes in text.chunks(length) {
        assembler.feed(&piece(bytes), now(), &mut out);
    }
    assembler.flush(now(), &mut out);
    events(out)
}

fn messages(format: Format, text: &[u8]) -> Vec<String> {
    let whole = assembled(format, text, text.len());
    for length in 1..text.len().min(70) {
        assert_eq!(assembled(format, text, length), whole, "in pieces of {length}");
    }
    whole.into_iter().map(|event| event.message).collect()
}

#[test]
fn a_stack_trace_is_one_event_however_it_comes() {
    let text = "2026-11-19T10:51:12.630Z INFO one (a.b)\r\n\
        2026-11-19T10:51:12.631Z ERROR two (a.b)\n\
        java.lang.RuntimeException: none\r\n\n\tat kafka.Kafka.main(Kafka.scala)\n\
        2026-11-19T10:51:12.632Z INFO three (a.b)";
    let two = "two\njava.lang.RuntimeException: none\n\n\tat kafka.Kafka.main(Kafka.scala)";
    assert_eq!(messages(Format::Kafka, text.as_bytes()), ["one", two, "three"]);
}

#[test]
fn printed_lines_are_events_but_for_traces_and_crashes() {
    let text = "one\ntwo\n  goes on\n\nException in thread \"main\" x\n\tat y\nCaused by: z\n\
        #\n# A fatal error\n#\nthree\n";
    let expected = [
        "one",
        "two\n  goes on\n",
        "Exception in thread \"main\" x\n\tat y\nCaused by: z",
        "#\n# A fatal error\n#",
        "three",
    ];
    assert_eq!(messages(Format::Printed, text.as_bytes()), expected);
}

#[test]
fn what_can_not_be_parsed_has_the_time_and_level_of_the_event_before() {
    let (mut assembler, mut out) = (assembler(Format::Kafka), Frame::new());
    let mut feed = |text: &[u8]| {
        assembler.feed(&piece(text), now(), &mut out);
        assembler.flush(now(), &mut out);
    };
    feed(b"out of nothing\n");
    feed(b"2026-11-19T10:51:12.630Z WARN one (a.b)\n");
    feed(b"\tat late.Trace\n");
    let found: Vec<_> = events(out).into_iter().map(|it| (it.at.to_string(), it.level)).collect();
    let now = ("2026-11-19T12:00:00Z".to_owned(), LogLevel::Info);
    let then = ("2026-11-19T10:51:12.63Z".to_owned(), LogLevel::Warn);
    assert_eq!(found, [now, then.clone(), then]);
}

#[test]
fn a_log_without_times_has_those_at_which_it_was_read() {
    let (mut assembler, mut out) = (assembler(Format::Jvm), Frame::new());
    assembler.feed(&piece(b"[0.1s][info][gc] one\n[0.2s][info][gc] two\n"), now(), &mut out);
    let later = now() + model::SignedDuration::from_secs(1);
    assembler.flush(later, &mut out);
    let times: Vec<_> = events(out).into_iter().map(|event| event.at).collect();
    assert_eq!(times, [now(), later]);
}

#[test]
fn a_long_event_is_cut_at_a_character_with_a_mark() {
    let mut text = "ä".repeat(LIMIT).into_bytes();
    text.insert(0, b'x');
    text.push(b'\n');
    let expected = format!("x{} … [202 bytes cut off]", "ä".repeat(LIMIT / 2 - 1));
    assert_eq!(messages(Format::Printed, &text), [expected]);
    // What goes on with it is cut off too, and the next is whole again.
    let text = [&text[..], b"\tat x\nnext\n"].concat();
    let expected = format!("x{} … [208 bytes cut off]", "ä".repeat(LIMIT / 2 - 1));
    assert_eq!(messages(Format::Printed, &text), [&*expected, "next"]);
}

#[test]
fn bytes_that_are_no_text_are_replaced() {
    assert_eq!(messages(Format::Printed, b"a\xff\xfeb\0\n"), ["a\u{fffd}\u{fffd}b\0"]);
}

#[test]
fn lines_without_words_are_no_events() {
    assert_eq!(messages(Format::Kafka, b"\n \n\r\n"), [""; 0]);
}

#[test]
fn it_knows_where_the_first_byte_is_that_is_in_no_event() {
    let (mut assembler, mut out) = (assembler(Format::Printed), Frame::new());
    let offset = |assembler: &Assembler| assembler.began().map(|mark| mark.offset);
    let bytes = b"one\ntwo\nth";
    assembler.feed(&piece(bytes), now(), &mut out);
    assert_eq!(offset(&assembler), Some(4), "two may go on");
    assembler.flush(now(), &mut out);
    assert_eq!(offset(&assembler), None);
}
