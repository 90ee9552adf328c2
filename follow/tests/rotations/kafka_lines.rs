//! What real brokers wrote, of the oldest release and of the newest, with our configuration
//! of log4j 1 and log4j 2.

use crate::server::{GC_LOG, SERVER_LOG, Server};
use model::{LogEvent, LogLevel, LogSource};

/// Time, level, logger, and message.
type Expected<'a> = (&'a str, LogLevel, &'a str, &'a str);

fn check(log: &str, source: LogSource, text: &str, expected: &[Expected<'_>]) {
    let mut server = Server::followed();
    let now = server.now;
    server.append(log, text);
    server.settle();
    let expected: Vec<LogEvent> = expected
        .iter()
        .map(|(at, level, logger, message)| LogEvent {
            at: if at.is_empty() { now } else { at.parse().unwrap() },
            level: *level,
            source,
            logger: (*logger).into(),
            message: (*message).into(),
        })
        .collect();
    assert_eq!(server.got, expected);
}

#[test]
fn kafka_3_9_through_log4j_1() {
    let text = "\
2026-11-19T10:51:12.630Z INFO Registered kafka:type=kafka.Log4jController MBean (kafka.utils.Log4jControllerRegistration$)
2026-11-19T10:51:13.069Z INFO Setting -D jdk.tls.rejectClientInitiatedRenegotiation=true to disable client-initiated TLS renegotiation (org.apache.zookeeper.common.X509Util)
2026-11-19T10:51:13.258Z ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)
java.lang.RuntimeException: No readable meta.properties files found.
\tat org.apache.kafka.metadata.properties.MetaPropertiesEnsemble.verify(MetaPropertiesEnsemble.java:480)
\tat kafka.server.KafkaRaftServer$.initializeLogDirs(KafkaRaftServer.scala:144)
\tat kafka.server.KafkaRaftServer.<init>(KafkaRaftServer.scala:60)
\tat kafka.Kafka$.buildServer(Kafka.scala:82)
\tat kafka.Kafka$.main(Kafka.scala:90)
\tat kafka.Kafka.main(Kafka.scala)
";
    let fatal = "\
Exiting Kafka due to fatal exception
java.lang.RuntimeException: No readable meta.properties files found.
\tat org.apache.kafka.metadata.properties.MetaPropertiesEnsemble.verify(MetaPropertiesEnsemble.java:480)
\tat kafka.server.KafkaRaftServer$.initializeLogDirs(KafkaRaftServer.scala:144)
\tat kafka.server.KafkaRaftServer.<init>(KafkaRaftServer.scala:60)
\tat kafka.Kafka$.buildServer(Kafka.scala:82)
\tat kafka.Kafka$.main(Kafka.scala:90)
\tat kafka.Kafka.main(Kafka.scala)";
    let expected = [
        (
            "2026-11-19T10:51:12.630Z",
            LogLevel::Info,
            "kafka.utils.Log4jControllerRegistration$",
            "Registered kafka:type=kafka.Log4jController MBean",
        ),
        (
            "2026-11-19T10:51:13.069Z",
            LogLevel::Info,
            "org.apache.zookeeper.common.X509Util",
            "Setting -D jdk.tls.rejectClientInitiatedRenegotiation=true to disable \
             client-initiated TLS renegotiation",
        ),
        ("2026-11-19T10:51:13.258Z", LogLevel::Error, "kafka.Kafka$", fatal),
    ];
    check(SERVER_LOG, LogSource::Broker, text, &expected);
}

#[test]
fn kafka_4_3_through_log4j_2() {
    let text = "\
2026-11-19T10:51:14.721Z INFO Registered `kafka:type=kafka.Log4jController` MBean (kafka.utils.Log4jControllerRegistration$)
2026-11-19T10:51:15.089Z ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)
java.lang.RuntimeException: No readable meta.properties files found.
\tat org.apache.kafka.metadata.properties.MetaPropertiesEnsemble.verify(MetaPropertiesEnsemble.java:480)
\tat kafka.Kafka.main(Kafka.scala)
";
    let fatal = "\
Exiting Kafka due to fatal exception
java.lang.RuntimeException: No readable meta.properties files found.
\tat org.apache.kafka.metadata.properties.MetaPropertiesEnsemble.verify(MetaPropertiesEnsemble.java:480)
\tat kafka.Kafka.main(Kafka.scala)";
    let expected = [
        (
            "2026-11-19T10:51:14.721Z",
            LogLevel::Info,
            "kafka.utils.Log4jControllerRegistration$",
            "Registered `kafka:type=kafka.Log4jController` MBean",
        ),
        ("2026-11-19T10:51:15.089Z", LogLevel::Error, "kafka.Kafka$", fatal),
    ];
    check(SERVER_LOG, LogSource::Broker, text, &expected);
}

#[test]
fn the_garbage_collector_of_java_17() {
    let text = "\
[0.048s][info][gc] Using G1
[0.465s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 9M->5M(192M) 10.053ms
";
    let pause = "GC(0) Pause Young (Normal) (G1 Evacuation Pause) 9M->5M(192M) 10.053ms";
    let mut server = Server::followed();
    server.append(GC_LOG, text);
    server.settle();
    let got: Vec<_> = server.got.iter().map(|it| (it.level, &*it.logger, &*it.message)).collect();
    assert_eq!(got, [(LogLevel::Info, "gc", "Using G1"), (LogLevel::Info, "gc", pause)]);
}
