use super::*;

/// Time, level, logger and message.
fn check(format: Format, text: &str, expected: (&str, Option<LogLevel>, &str, &str)) {
    let Parsed { at, level, logger, message } = format.parse(text.as_bytes());
    let at = at.map(|at| at.to_string()).unwrap_or_default();
    let message = String::from_utf8(message.concat()).unwrap();
    let logger = str::from_utf8(logger).unwrap();
    assert_eq!((&*at, level, logger, &*message), expected, "{text}");
}

const UNPARSED: &str = "";

#[test]
fn a_line_of_kafka_has_time_level_and_logger() {
    let check = |text, expected| check(Format::Kafka, text, expected);
    check(
        "2026-11-19T10:51:12.630Z INFO Registered kafka:type=kafka.Log4jController MBean \
         (kafka.utils.Log4jControllerRegistration$)",
        (
            "2026-11-19T10:51:12.63Z",
            Some(LogLevel::Info),
            "kafka.utils.Log4jControllerRegistration$",
            "Registered kafka:type=kafka.Log4jController MBean",
        ),
    );
    check(
        "2026-11-19T10:51:12.630Z WARN [Broker id=1] two (a.b)\nlines (state.change.logger)",
        (
            "2026-11-19T10:51:12.63Z",
            Some(LogLevel::Warn),
            "a.b",
            "[Broker id=1] two\nlines (state.change.logger)",
        ),
    );
    check(
        "2026-11-19T10:51:12.630Z DEBUG values (all of them)\n\ta = 1 (int)\n (kafka.Config)\n",
        (
            "2026-11-19T10:51:12.63Z",
            Some(LogLevel::Debug),
            "kafka.Config",
            "values (all of them)\n\ta = 1 (int)\n\n",
        ),
    );
    let root = ("2026-11-19T10:51:12.63Z", Some(LogLevel::Error), "root", "");
    check("2026-11-19T10:51:12.630Z ERROR  (root)", root);
    let cut = ("2026-11-19T10:51:12.63Z", Some(LogLevel::Fatal), "", "it has no end (kaf");
    check("2026-11-19T10:51:12.630Z FATAL it has no end (kaf", cut);
}

#[test]
fn what_is_no_line_of_kafka_is_a_message() {
    let check = |text| check(Format::Kafka, text, (UNPARSED, None, "", text));
    check("");
    check("2026-11-19T10:51:12.630Z");
    check("2026-11-19T10:51:12.630Z NOTICE what (a.b)");
    check("2026-13-19T10:51:12.630Z INFO a month too many (a.b)");
    check("java.lang.RuntimeException: No readable meta.properties files found.");
    check("\tat kafka.Kafka$.main(Kafka.scala:90)");
}

#[test]
fn a_stack_trace_does_not_hide_the_logger() {
    check(
        Format::Kafka,
        "2026-11-19T10:51:15.089Z ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)\n\
         java.lang.RuntimeException: none (found.here)\n\tat kafka.Kafka.main(Kafka.scala)",
        (
            "2026-11-19T10:51:15.089Z",
            Some(LogLevel::Error),
            "kafka.Kafka$",
            "Exiting Kafka due to fatal exception\njava.lang.RuntimeException: none \
             (found.here)\n\tat kafka.Kafka.main(Kafka.scala)",
        ),
    );
}

#[test]
fn a_line_of_the_agent_has_time_level_and_target() {
    let check = |text, expected| check(Format::Agent, text, expected);
    check(
        "2026-11-19T10:51:12.630123Z  INFO agent::link: reported revision=3",
        ("2026-11-19T10:51:12.630123Z", Some(LogLevel::Info), "agent::link", "reported revision=3"),
    );
    check(
        "2026-11-19T10:51:12.630123Z ERROR can't: go on",
        ("2026-11-19T10:51:12.630123Z", Some(LogLevel::Error), "", "can't: go on"),
    );
    check(
        "thread 'main' panicked at x.rs:1:1:",
        (UNPARSED, None, "", "thread 'main' panicked at x.rs:1:1:"),
    );
}

#[test]
fn a_line_of_the_jvm_has_what_its_decorations_say() {
    let check = |text, expected| check(Format::Jvm, text, expected);
    check("[0.048s][info][gc] Using G1", (UNPARSED, Some(LogLevel::Info), "gc", "Using G1"));
    check(
        "[2026-11-19T11:51:12.630+0100][0.465s][4711][warning][gc,start ] GC(0) Pause",
        ("2026-11-19T10:51:12.63Z", Some(LogLevel::Warn), "gc,start", "GC(0) Pause"),
    );
    check("[0.1s] nothing else", (UNPARSED, None, "", "[0.1s] nothing else"));
    check("[", (UNPARSED, None, "", "["));
}

#[test]
fn what_was_printed_is_as_bad_as_it_sounds() {
    let level = |text: &str| Format::Printed.parse(text.as_bytes()).level;
    assert_eq!(level("hello"), None);
    assert_eq!(level("The broker can't be started: in use"), Some(LogLevel::Error));
    let crash = "#\n# A fatal error has been detected by the Java Runtime Environment:\n#";
    assert_eq!(level(crash), Some(LogLevel::Fatal));
    let memory = "Terminating due to java.lang.OutOfMemoryError: Java heap space";
    assert_eq!(level(memory), Some(LogLevel::Fatal));
    let option = "OpenJDK 64-Bit Server VM warning: Option UseX was deprecated";
    assert_eq!(level(option), Some(LogLevel::Warn));
    assert_eq!(level("[0.004s][warning][cds] The shared archive"), Some(LogLevel::Warn));
}

#[test]
fn a_line_begins_an_event_or_goes_on_with_one() {
    let check = |format: Format, head: &str, open: &str, expected| {
        assert_eq!(format.begins(head.as_bytes(), open.as_bytes()), expected, "{head}");
    };
    check(Format::Kafka, "2026-11-19T10:51:12.630Z INFO a", "", true);
    check(Format::Kafka, "2026-11-19T10:51:12.630Z", "", false);
    check(Format::Kafka, "\tat kafka.Kafka.main", "", false);
    check(Format::Agent, "2026-11-19T10:51:12.630123Z  INFO", "", true);
    check(Format::Agent, "note: run with `RUST_BACKTRACE", "", false);
    check(Format::Jvm, "[0.1s]", "", true);
    check(Format::Jvm, "Heap", "", false);
    check(Format::Printed, "hello", "", true);
    check(Format::Printed, "\tat kafka.Kafka.main", "Exception in thread", false);
    check(Format::Printed, "Caused by: x", "Exception in thread", false);
    check(Format::Printed, "# A fatal error", "#", false);
    check(Format::Printed, "#", "hello", true);
}

#[test]
fn times_are_read_with_any_fraction_and_offset() {
    let check = |text: &str, expected: Option<&str>| {
        let taken = stamp::take(text.as_bytes()).map(|(at, _)| at.to_string());
        assert_eq!(taken.as_deref(), expected, "{text}");
    };
    check("2026-11-19T10:51:12Z", Some("2026-11-19T10:51:12Z"));
    check("2026-11-19T10:51:12.1234567891Z", Some("2026-11-19T10:51:12.123456789Z"));
    check("2026-11-19T10:51:12.630-01:30", Some("2026-11-19T12:21:12.63Z"));
    check("2026-11-19T10:51:60Z", Some("2026-11-19T10:51:59Z"));
    check("2026-11-19T10:51:12+9900", None);
    check("2026-11-31T10:51:12Z", None);
    check("2026-11-19T10:51:12", None);
    check("2026-11-19 10:51:12Z", None);
}
