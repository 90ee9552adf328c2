//! The protocol client against a real broker of the oldest and of the newest
//! release.

mod client_story;
use client_story::Running;
use kafka::Endpoint;
use kafka::client::{self, Cluster, Identity};
use kafka::versions;
use model::{InstanceId, Secret};
use test_support::broker::{Authority, Broker};

#[tokio::test]
async fn the_client_keeps_its_promises() {
    let releases = versions::all();
    for release in [&releases[0], &releases[releases.len() - 1]] {
        let authority = Authority::new();
        let broker = Broker::start(release.version, &authority, false).await;
        let (key_and_certificate, _) = authority.issue();
        let cluster = Cluster {
            instance: InstanceId(1),
            brokers: vec![client::Broker::new(1, Endpoint::from(&broker.listeners.internal))],
            trust_pem: authority.pem(),
            identity: Identity {
                certificate_chain_pem: key_and_certificate.clone(),
                key_pem: Secret::new(key_and_certificate),
            },
        };
        let running = Running {
            cluster,
            sasl: vec![Endpoint::from(&broker.listeners.sasl_scram)],
            sasl_trust_pem: authority.pem(),
        };
        client_story::tell(&running).await;
        assert_eq!(broker.stop().await, "exit status: 143");
    }
}
