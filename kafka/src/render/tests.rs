//! What brokers are started with, word for word.

use super::*;
use model::{KafkaVersion, Listener, Published};

fn listener(host: &str, port: u16) -> Listener {
    Listener { bind_host: host.into(), advertised_host: host.into(), port }
}

fn spec(version: KafkaVersion, node_id: i32, servers: u32) -> BrokerSpec {
    let host = |number: i32| format!("127.64.0.{number}");
    let own = host(node_id);
    BrokerSpec {
        release: crate::versions::release(version).unwrap(),
        node_id,
        roles: vec![ServerRole::Broker, ServerRole::Controller],
        listeners: Listeners {
            plaintext: Some(listener(&own, 9092)),
            ssl: listener(&own, 9093),
            sasl_scram: listener(&own, 9094),
            internal: listener(&own, 9095),
            controller: listener(&own, 9096),
            metrics: Some(listener(&own, 9404)),
            reached_at: None,
            published: None,
        },
        private_ip: own,
        controllers: (1..)
            .take(servers as usize)
            .map(|number| Endpoint { host: host(number), port: 9096 })
            .collect(),
        servers,
        zone: "local-1".into(),
        cores: 1,
        memory_mb: 2048,
        max_heap_mb: None,
        shared: false,
        settings: BTreeMap::new(),
    }
}

fn shown(spec: &BrokerSpec) -> String {
    let Rendered { properties, logging_file, logging, jvm_flags, .. } = render(spec);
    let flags = jvm_flags.join("\n");
    format!("{properties}\n== {logging_file}\n{logging}\n== JVM\n{flags}\n")
}

#[test]
fn one_server() {
    insta::assert_snapshot!(shown(&spec(KafkaVersion::new(4, 3, 1), 1, 1)));
}

#[test]
fn one_of_three_servers() {
    let mut spec = spec(KafkaVersion::new(4, 3, 1), 2, 3);
    spec.cores = 4;
    spec.memory_mb = 16 * 1024;
    insta::assert_snapshot!(shown(&spec));
}

#[test]
fn one_server_of_the_oldest_release() {
    insta::assert_snapshot!(shown(&spec(KafkaVersion::new(3, 9, 2), 1, 1)));
}

#[test]
fn a_server_without_a_listener_for_metrics_serves_none() {
    for release in crate::versions::all() {
        let mut spec = spec(release.version, 1, 1);
        spec.listeners.metrics = None;
        let text = render(&spec).properties;
        assert!(!text.contains("metric") && !text.contains("jmx"), "{text}");
    }
}

#[test]
fn a_server_opens_only_the_listeners_of_its_roles() {
    let check = |roles: &[ServerRole], expected: &str| {
        let mut spec = spec(KafkaVersion::new(4, 3, 1), 1, 1);
        spec.roles = roles.to_vec();
        let text = render(&spec).properties;
        let line = text.lines().find(|line| line.starts_with("listeners=")).unwrap();
        assert_eq!(line, expected);
    };
    check(&[ServerRole::Controller], "listeners=CONTROLLER://127.64.0.1:9096");
    check(
        &[ServerRole::Broker],
        "listeners=PLAINTEXT://127.64.0.1:9092,SSL://127.64.0.1:9093,\
         SASL_SSL://127.64.0.1:9094,INTERNAL://127.64.0.1:9095",
    );
}

#[test]
fn every_listener_of_every_release_has_limits() {
    for release in crate::versions::all() {
        let spec = spec(release.version, 1, 3);
        let rendered = render(&spec);
        let number = |name: &str| -> u64 {
            let line = rendered.properties.lines().find_map(|it| it.strip_prefix(name));
            line.and_then(|it| it.strip_prefix('=')).expect(name).parse().expect(name)
        };
        for listener in ["plaintext", "ssl", "sasl_ssl", "internal", "controller"] {
            for limit in ["max.connections", "max.connection.creation.rate"] {
                assert!(number(&format!("listener.name.{listener}.{limit}")) > 0);
            }
        }
        assert!(number("socket.request.max.bytes") <= number("queued.max.request.bytes"));
        assert!(number("max.connections.per.ip") < number("max.connections"));
        let flag = |it: &String| it.starts_with("-Dcastellan.request.small.bytes=");
        assert!(rendered.jvm_flags.iter().any(flag), "{:?}", rendered.jvm_flags);
    }
}

#[test]
fn a_server_without_plaintext_does_not_listen_there() {
    let mut spec = spec(KafkaVersion::new(4, 3, 1), 1, 1);
    spec.listeners.plaintext = None;
    let text = render(&spec).properties;
    assert!(!text.contains("PLAINTEXT://") && !text.contains("listener.name.plaintext"), "{text}");
    assert!(text.contains("\nlisteners=SSL://127.64.0.1:9093,SASL_SSL://"), "{text}");
}

#[test]
fn a_server_tells_customers_where_it_is_published() {
    let mut spec = spec(KafkaVersion::new(4, 3, 1), 1, 1);
    spec.listeners.published = Some(Published {
        bind_host: "0.0.0.0".into(),
        advertised_host: "kafka.example.com".into(),
        ssl: 20001,
        sasl_scram: 20002,
    });
    let text = render(&spec).properties;
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
    let (own, told) = (line("listeners="), line("advertised.listeners="));
    assert!(own.contains("SSL://127.64.0.1:9093,SASL_SSL://127.64.0.1:9094"), "{own}");
    let published = "SSL://kafka.example.com:20001,SASL_SSL://kafka.example.com:20002,INTERNAL";
    assert!(told.contains(published), "{told}");
    assert!(told.contains("PLAINTEXT://127.64.0.1:9092,"), "{told}");
}

#[test]
fn what_the_customer_set_wins_and_stays_one_line() {
    let mut spec = spec(KafkaVersion::new(4, 3, 1), 1, 1);
    spec.shared = true;
    spec.zone = "zürich\nnode.id=2".into();
    spec.settings.insert("num.io.threads".into(), "9".into());
    let text = render(&spec).properties;
    assert!(text.contains("\nnum.io.threads=9\n") && !text.contains("num.io.threads=4"), "{text}");
    assert!(text.contains("\nbroker.rack=z\\u00fcrich\\u000anode.id=2\n"), "{text}");
    assert!(text.contains("\nauto.create.topics.enable=false\n"), "{text}");
}

#[test]
fn the_hash_changes_with_anything_a_broker_is_started_with() {
    let first = spec(KafkaVersion::new(4, 2, 1), 1, 1);
    assert_eq!(render(&first).config_hash, render(&first.clone()).config_hash);
    for change in [
        |spec: &mut BrokerSpec| spec.memory_mb = 4096,
        |spec: &mut BrokerSpec| spec.zone = "local-2".into(),
        |spec: &mut BrokerSpec| {
            spec.release = crate::versions::release(KafkaVersion::new(4, 3, 1)).unwrap();
        },
    ] {
        let mut other = first.clone();
        change(&mut other);
        assert_ne!(render(&first).config_hash, render(&other).config_hash);
    }
}
