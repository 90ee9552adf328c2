//! The certificate of the agents' listener: of the fleet's authority, and renewed while the
//! listener serves.

use anyhow::{Context, Result};
use model::{Entropy, SignedDuration, Timestamp};
use pki::{Authority, Facts, Leaf, Usage};
use rustls::ServerConfig;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::watch;
use url::Url;
use web::tls::{self, Served};

pub struct AgentListener {
    authority: Authority,
    leaf: Leaf,
    entropy: Arc<dyn Entropy>,
    present: Facts,
    served: watch::Sender<Arc<ServerConfig>>,
}

impl AgentListener {
    /// A fresh certificate for wherever agents call.
    pub fn open(
        authority: Authority,
        listens_at: &[IpAddr],
        agent_url: &str,
        valid_for: SignedDuration,
        entropy: Arc<dyn Entropy>,
        now: Timestamp,
    ) -> Result<Self> {
        let url = Url::parse(agent_url).ok();
        let called = url.and_then(|url| url.host_str().map(str::to_owned));
        let called = called
            .with_context(|| format!("listen.agent_url {agent_url:?} is no https address"))?;
        let mut hosts: Vec<String> = listens_at.iter().map(ToString::to_string).collect();
        hosts.push("localhost".to_owned());
        if !hosts.contains(&called) {
            hosts.push(called);
        }
        let leaf = Leaf {
            common_name: "castellan control plane".into(),
            hosts,
            usage: Usage::Server,
            valid_for,
        };
        let (present, config) = issue(&authority, &leaf, &*entropy, now)?;
        let served = watch::channel(config).0;
        Ok(Self { authority, leaf, entropy, present, served })
    }

    pub fn served(&self) -> Served {
        self.served.subscribe()
    }

    /// Renews the certificate once two thirds of its life are over, and after the clock
    /// was set back to before it began.
    pub fn look(&mut self, now: Timestamp) -> Result<()> {
        if (self.present.not_before..self.present.renew_at()).contains(&now) {
            return Ok(());
        }
        let (present, config) = issue(&self.authority, &self.leaf, &*self.entropy, now)?;
        self.served.send_replace(config);
        self.present = present;
        tracing::info!(until = %self.present.not_after, "renewed the agents' listener's certificate");
        Ok(())
    }
}

fn issue(
    authority: &Authority,
    leaf: &Leaf,
    entropy: &dyn Entropy,
    now: Timestamp,
) -> Result<(Facts, Arc<ServerConfig>)> {
    let (certificate, key) = authority.issue_with_key(leaf, now, entropy)?;
    let facts = Facts::read(&certificate).context("a certificate of ours can't be read")?;
    Ok((facts, tls::agents(&certificate, &key, &authority.certificate)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CertificateLife, SeededEntropy};
    use rustls::time_provider::TimeProvider;
    use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConnection};
    use rustls_pki_types::pem::PemObject as _;
    use rustls_pki_types::{CertificateDer, UnixTime};
    use std::time::Duration;

    #[derive(Debug)]
    struct At(Timestamp);

    impl TimeProvider for At {
        fn current_time(&self) -> Option<UnixTime> {
            let seconds = u64::try_from(self.0.as_second()).unwrap();
            Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
        }
    }

    fn beginning() -> Timestamp {
        "2026-11-15T00:00:00Z".parse().unwrap()
    }

    fn opened(life: &str) -> AgentListener {
        let entropy = Arc::new(SeededEntropy::new(3));
        let authority = Authority::create("fleet", beginning(), &*entropy).unwrap();
        let life: CertificateLife = life.parse().unwrap();
        let (at, url) = (["127.0.0.1".parse().unwrap()], "https://castellan.internal:8443");
        AgentListener::open(authority, &at, url, life.duration(), entropy, beginning()).unwrap()
    }

    /// What an agent whose clock says `now` makes of the listener, under a name it calls.
    fn shake_hands(listener: &AgentListener, name: &str, now: Timestamp) -> Result<()> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(listener.authority.certificate.as_bytes())?)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_details(provider, Arc::new(At(now)))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut agent = ClientConnection::new(Arc::new(config), name.to_owned().try_into()?)?;
        let mut plane = ServerConnection::new(listener.served().borrow().clone())?;
        while agent.is_handshaking() || plane.is_handshaking() {
            let mut sent = Vec::new();
            agent.write_tls(&mut sent)?;
            plane.read_tls(&mut &sent[..])?;
            plane.process_new_packets()?;
            let mut answered = Vec::new();
            plane.write_tls(&mut answered)?;
            agent.read_tls(&mut &answered[..])?;
            agent.process_new_packets()?;
        }
        Ok(())
    }

    #[test]
    fn over_a_hundred_days_agents_never_meet_an_expired_certificate() {
        for (life, hours) in [("30d", 6), ("36h", 1)] {
            let mut listener = opened(life);
            let mut renewals = 0;
            for hour in (0..24 * 100).step_by(hours) {
                let now = beginning() + SignedDuration::from_hours(hour);
                let before = listener.present.clone();
                listener.look(now).unwrap();
                renewals += usize::from(listener.present != before);
                for name in ["127.0.0.1", "localhost", "castellan.internal"] {
                    let shaken = shake_hands(&listener, name, now);
                    shaken.unwrap_or_else(|error| panic!("{life}, hour {hour}, {name}: {error}"));
                }
            }
            assert!(renewals >= 4, "{life}: {renewals} renewals");
        }
        let late = beginning() + SignedDuration::from_hours(24 * 31);
        assert!(shake_hands(&opened("30d"), "localhost", late).is_err(), "without a look");
    }

    #[test]
    fn a_clock_that_was_set_back_has_its_own_certificate() {
        let mut listener = opened("30d");
        let earlier = beginning() - SignedDuration::from_hours(24);
        assert!(shake_hands(&listener, "localhost", earlier).is_err());
        listener.authority = Authority::create("fleet", earlier, &SeededEntropy::new(4)).unwrap();
        listener.look(earlier).unwrap();
        shake_hands(&listener, "localhost", earlier).unwrap();
    }
}
