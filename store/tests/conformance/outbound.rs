//! How the operator has calls to integrations leave, as agents were last given it.

use crate::fixture::*;
use crate::pauses::install;
use model::agent::Outbound;
use model::*;
use store::*;

async fn set(f: &Fixture, rules: &Outbound) -> bool {
    let mut work = f.store.begin().await.unwrap();
    let differ = outbound::set_rules(&mut work, rules).await.unwrap();
    work.commit().await.unwrap();
    differ
}

async fn add(f: &Fixture, instance: InstanceId, kind: IntegrationKind) {
    let system = IntegrationSystem::Datadog;
    let config = system.config([("api_key", "k")]).unwrap();
    let mut work = f.store.begin().await.unwrap();
    let new = NewIntegration { kind, system, config };
    integrations::insert(&mut work, instance, &new, now()).await.unwrap();
    work.commit().await.unwrap();
}

pub async fn agents_that_send_logs_hear_of_other_rules(f: Fixture) {
    const PASSWORD: &str = "the-password-of-a-proxy";
    install(&f).await;
    let account = f.account().await.account.id;
    let (logging, first, _) = f.instance(account, 9000).await;
    let (other, second, _) = f.instance(account, 9100).await;
    add(&f, logging.id, IntegrationKind::Logs).await;
    add(&f, other.id, IntegrationKind::Metrics).await;
    let revisions = async || {
        let mut reader = f.store.reader();
        let first = servers::find_agent(&mut reader, first.id).await.unwrap().unwrap();
        let second = servers::find_agent(&mut reader, second.id).await.unwrap().unwrap();
        (first.integrations_revision, second.integrations_revision)
    };
    assert!(set(&f, &Outbound::default()).await, "none were kept");
    assert_eq!(revisions().await, (2, 0));
    assert!(!set(&f, &Outbound::default()).await, "the same");
    assert_eq!(revisions().await, (2, 0));
    let mut changes = f.store.changes();
    let proxy = |password: &str| Outbound {
        proxy: Some(Secret::new(format!("http://user:{password}@proxy.test:3128"))),
        ..Outbound::default()
    };
    for (rules, expected) in [
        (proxy(PASSWORD), 3),
        (proxy("another"), 4),
        (Outbound { allow_private_addresses: true, ..proxy("another") }, 5),
        (Outbound { authority_pem: Some("pem".into()), ..Outbound::default() }, 6),
        (Outbound { endpoints: [("loggly".into(), "x".into())].into(), ..Outbound::default() }, 7),
    ] {
        assert!(set(&f, &rules).await);
        assert_eq!(revisions().await, (expected, 0), "{rules:?}");
        assert_eq!(changes.try_recv().unwrap(), Change::Integrations(logging.id));
        assert!(!set(&f, &rules).await);
    }
    assert!(set(&f, &proxy(PASSWORD)).await);
    let stored = f.everything().await;
    assert!(!stored.windows(PASSWORD.len()).any(|it| it == PASSWORD.as_bytes()), "sealed");
}
