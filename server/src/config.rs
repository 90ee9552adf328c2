//! The config file: everything an operator can set, with its default.
//!
//! `castellan.example.toml` at the root of the repository shows every field;
//! a test keeps the two in step.

use crate::{catalogue, floor, separation};
use anyhow::{Context, Result, bail};
use clap::Args;
use cloud_local::addresses::AddressMode;
use ipnet::{IpNet, Ipv4Net};
use kafka::artifacts::default_cache_root;
use model::{Catalogue, CertificateLife, Secret, Seller};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use url::Url;
use web::ConnectionLimits;
use wire::agent::{HostSettings, StoreRoom};

/// Those below are people's and the system's own.
const LEAST_UID: u32 = 1000;
/// The two above it mean something else.
const MOST_UID: u32 = u32::MAX - 2;

/// Everything of the file. Flags win over it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// A file that replaces the built-in plans, regions and versions.
    pub catalogue: Option<PathBuf>,
    /// What makes servers. Tests and benches of the control plane alone set it;
    /// it is no setting for an operator, so the example does not show it.
    pub cloud: CloudKind,
    /// DNS suffix of instances' host names; none: addresses are used.
    pub domain: Option<String>,
    /// Where subnets come from when a create names none.
    pub subnet_pool: Option<Ipv4Net>,
    /// A PostgreSQL that several control planes share; none: a SQLite file in
    /// the data directory.
    pub database_url: Option<Secret>,
    pub api: Api,
    pub certificates: Certificates,
    pub listen: Listen,
    pub engine: Engine,
    pub mail: Mail,
    pub outbound: Outbound,
    pub local: Local,
    pub metrics: Metrics,
    /// How much an account may have.
    pub limits: app::Limits,
    pub audit: Audit,
    /// How often a key, an account and an unknown address may call.
    pub rate_limit: web::RateLimits,
    /// Who invoices are from.
    pub seller: Seller,
}

/// How others see the APIs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Api {
    /// Where people reach the Customer API, for links in mails; none: the
    /// address that it listens on.
    pub public_url: Option<Url>,
}

/// Certificates that Castellan issues for its own use and renews by itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Certificates {
    /// From issue to expiry; renewed at two thirds of it.
    pub lifetime: CertificateLife,
}

/// How notifications, metrics and logs leave, whoever they go to; agents send logs by the same
/// rules.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Outbound {
    /// Whether addresses that are not public may be called.
    pub allow_private_addresses: bool,
    /// A file with an authority of others' certificates, beside those that this
    /// machine trusts.
    pub ca: Option<PathBuf>,
    /// Everything goes through it, such as `http://user:password@proxy.example.com:3128`.
    pub proxy: Option<Secret>,
    /// Where services that people are notified by are called instead of where they say.
    pub pagerduty: Option<Url>,
    pub opsgenie: Option<Url>,
    pub opsgenie_eu: Option<Url>,
    pub victorops: Option<Url>,
    pub signl4: Option<Url>,
    /// Where systems that take metrics and logs are called.
    pub endpoints: ship::Endpoints,
}

/// The mail server that invitations go through; none: files in the data
/// directory.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mail {
    /// Such as `smtps://user:password@mail.example.com`.
    pub url: Option<Secret>,
    pub from: Option<String>,
    /// A file with the authority of the server's certificate, if that is a
    /// private one.
    pub ca: Option<PathBuf>,
    /// How long one mail may take.
    pub timeout_seconds: Option<u32>,
}

/// Where the APIs listen and how.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Listen {
    pub customer: Option<SocketAddr>,
    pub instance: Option<SocketAddr>,
    pub agent: Option<SocketAddr>,
    /// What agents call, if not the address they are listened for at.
    pub agent_url: Option<String>,
    pub tls_cert: Option<PathBuf>,
    pub tls_key: Option<PathBuf>,
    /// Proxies that end TLS before us and whose X-Forwarded-For we believe.
    pub behind_proxy: Vec<IpNet>,
    /// Plain HTTP on addresses that others can reach.
    pub insecure_http: bool,
    /// Connections to both APIs together.
    pub max_connections: Option<u32>,
    /// Of agents, which hold two or three each.
    pub max_agent_connections: Option<u32>,
    /// Of one address, or IPv6 /64, to the APIs; and of one agent.
    pub max_connections_per_address: Option<u32>,
}

/// Enough for 5,000 agents. An agent whose connection is closed for another's connects again at
/// once, so with too few places agents would close each other's for ever.
const AGENT_CONNECTIONS: usize = 16_000;

impl Listen {
    pub fn connection_limits(&self) -> ConnectionLimits {
        self.limits(self.max_connections, ConnectionLimits::default().total)
    }

    pub fn agent_connection_limits(&self) -> ConnectionLimits {
        self.limits(self.max_agent_connections, AGENT_CONNECTIONS)
    }

    fn limits(&self, total: Option<u32>, otherwise: usize) -> ConnectionLimits {
        let set = |number: Option<u32>, otherwise: usize| {
            number.and_then(|number| number.try_into().ok()).unwrap_or(otherwise)
        };
        let ConnectionLimits { per_address, .. } = ConnectionLimits::default();
        ConnectionLimits {
            total: set(total, otherwise),
            per_address: set(self.max_connections_per_address, per_address),
        }
    }
}

/// How the control plane works.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Engine {
    /// How long a control plane that hangs keeps its instances from others.
    pub lease_seconds: u32,
}

impl Default for Engine {
    fn default() -> Self {
        Self { lease_seconds: 60 }
    }
}

/// The cloud on this machine.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Local {
    /// Where this host's servers and disks are, if not in the data directory:
    /// for several control planes on one host.
    pub directory: Option<PathBuf>,
    pub mode: Mode,
    /// None: what the host has already, and else what `castellan up` finds possible.
    pub network: Option<Network>,
    /// In namespaces: where others than the network itself reach servers.
    pub public: Option<Public>,
    /// For mode `addresses`: ranges of this host's own addresses.
    pub addresses: Vec<Ipv4Net>,
    /// For mode `shared-address`: the name clients use, the address to bind,
    /// and the ports to give out.
    pub shared_host: Option<String>,
    pub shared_bind: Option<IpAddr>,
    pub shared_ports: Option<(u16, u16)>,
    /// For the modes whose addresses others can reach: open 9092 there too, where
    /// nothing is encrypted and nobody logs in. Mode `loopback` always has it.
    pub plaintext: bool,
    pub cache: Option<PathBuf>,
    pub java: Option<PathBuf>,
    pub distributions: BTreeMap<String, PathBuf>,
    pub max_heap_mb: Option<u32>,
    /// Take creates that this host's memory and disk can't hold.
    pub overcommit: bool,
    /// Warm the next JVM up before a broker is stopped for a restart; none: yes.
    pub warm_rolls: Option<bool>,
    /// How many warm JVMs wait for servers that are started; with 0 none waits beside a broker
    /// either.
    pub warm: Warm,
    /// The first and the last uid that instances get if root starts us; empty: none.
    pub uids: Option<Vec<u32>>,
}

/// How many warm JVMs a host keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Warm {
    /// As the memory allows that is neither promised to servers nor kept for the host.
    #[default]
    Auto,
    #[serde(untagged)]
    Count(u8),
}

/// What serves the regions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloudKind {
    /// Processes of this machine.
    #[default]
    Local,
    /// Nothing but memory: no process is started, and no instance gets ready.
    Simulated,
}

/// How servers get their addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// An address of 127.64.0.0/10 for each server.
    #[default]
    Loopback,
    Addresses,
    SharedAddress,
}

/// What servers' networks are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Servers are at addresses of this host.
    Loopback,
    /// Each network is a namespace, where servers have addresses of its subnet.
    Namespaces,
    /// The latter where this host can have them. Nobody writes this.
    #[serde(skip)]
    Best,
}

/// Where servers in namespaces are reached by others than their own network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Public {
    /// Nowhere.
    #[default]
    None,
    /// At loopback addresses of this host, one for each server: for clients on it alone.
    Loopback,
    /// At addresses of this host, one for each server.
    Addresses,
    /// At ports of this host, under one name.
    SharedAddress,
}

/// Our own metrics, and the history of the servers'.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Metrics {
    /// Who may read `/metrics` besides this machine.
    pub allow: Vec<IpNet>,
    /// How large the history of what servers measured may grow; beyond that the
    /// oldest goes.
    pub history_mb: u32,
}

impl Default for Metrics {
    fn default() -> Self {
        Self { allow: Vec::new(), history_mb: 4096 }
    }
}

/// The audit logs of accounts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Audit {
    /// How much each account may write a day; lines beyond that are counted, and the
    /// counts are one line an hour.
    pub mb_per_day: u32,
}

impl Default for Audit {
    fn default() -> Self {
        Self { mb_per_day: 16 }
    }
}

/// Which database, for every command that opens the store.
#[derive(Args)]
pub struct DatabaseArgs {
    /// Keep everything in this PostgreSQL instead of the data directory, as
    /// postgres://user:password@host/database. Others on this machine can read
    /// arguments: rather set the variable, or database_url in the config file
    #[arg(long, value_name = "URL", env = "CASTELLAN_DATABASE_URL", hide_env_values = true)]
    #[arg(value_parser = |url: &str| Ok::<_, Infallible>(Secret::new(url)))]
    database_url: Option<Secret>,
}

impl DatabaseArgs {
    pub fn apply(&self, config: &mut Config) {
        if self.database_url.is_some() {
            config.database_url.clone_from(&self.database_url);
        }
    }
}

impl Config {
    /// The file's settings; the defaults if there is no file.
    pub fn load(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self::default()) };
        let text = fs::read_to_string(path)
            .with_context(|| format!("the config file {} can't be read", path.display()))?;
        Self::parse(&text).with_context(|| format!("the config file {} is bad", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let config: Self = toml::from_str(text)?;
        config.local.address_mode()?;
        config.local.check_network()?;
        config.local.check_uids()?;
        config.check_numbers()?;
        if config.listen.tls_cert.is_some() != config.listen.tls_key.is_some() {
            bail!("listen.tls_cert and listen.tls_key go together");
        }
        let public_url = config.api.public_url.as_ref();
        if public_url.is_some_and(|url| {
            !matches!(url.scheme(), "http" | "https") || !url.has_host() || url.query().is_some()
        }) {
            bail!("api.public_url is no address such as \"https://castellan.example.com\"");
        }
        Ok(config)
    }

    /// What is out of these bounds is a slip: it would start, and fail much later.
    fn check_numbers(&self) -> Result<()> {
        let (mail, heap) = (self.mail.timeout_seconds, self.local.max_heap_mb);
        let Listen { max_connections, max_agent_connections, max_connections_per_address, .. } =
            self.listen;
        let numbers = [
            ("engine.lease_seconds", Some(self.engine.lease_seconds), 2..=3600),
            ("listen.max_connections", max_connections, 16..=1_000_000),
            ("listen.max_agent_connections", max_agent_connections, 16..=1_000_000),
            ("listen.max_connections_per_address", max_connections_per_address, 4..=1_000_000),
            ("mail.timeout_seconds", mail, 1..=600),
            ("local.max_heap_mb", heap, 64..=1_048_576),
            ("audit.mb_per_day", Some(self.audit.mb_per_day), 1..=1_048_576),
            ("metrics.history_mb", Some(self.metrics.history_mb), 16..=1_048_576),
        ];
        for (name, number, bounds) in numbers {
            if number.is_some_and(|number| !bounds.contains(&number)) {
                bail!("{name} must be {} to {}", bounds.start(), bounds.end());
            }
        }
        Ok(())
    }

    pub fn catalogue(&self) -> Result<Catalogue> {
        self.catalogue.as_deref().map_or_else(|| Ok(Catalogue::built_in()), catalogue::load)
    }

    /// For the agents of a host whose control plane has its store in that directory.
    pub fn host_settings(&self, data: &Path) -> HostSettings {
        let Local { java, distributions, .. } = self.local.clone();
        let cache = Some(self.local.cache());
        let store = Some(StoreRoom { directory: data.into(), bytes: floor::KEPT });
        let warm_rolls = self.local.warm_rolls.unwrap_or(true);
        let standby = warm_rolls && self.local.warm != Warm::Count(0);
        HostSettings { cache, java, distributions, store, warm_rolls, standby }
    }
}

impl Local {
    /// Where Kafka and start-up caches are.
    pub fn cache(&self) -> PathBuf {
        self.cache.clone().unwrap_or_else(default_cache_root)
    }

    /// Those for instances and for us; none if all shall share ours.
    pub fn uids(&self) -> Option<RangeInclusive<u32>> {
        match self.uids.as_deref() {
            None => Some(separation::DEFAULT),
            Some([first, last]) => Some(*first..=*last),
            Some(_) => None,
        }
    }

    fn check_uids(&self) -> Result<()> {
        match self.uids.as_deref() {
            None | Some([]) => Ok(()),
            Some([first, last]) if *first >= LEAST_UID && first < last && *last <= MOST_UID => {
                Ok(())
            }
            Some(_) => bail!(
                "local.uids must be the first and the last uid for instances, in this order and \
                 from {LEAST_UID} to {MOST_UID}, such as [1900000000, 1999999999], or []"
            ),
        }
    }

    fn check_network(&self) -> Result<()> {
        let is_apart = self.is_apart();
        if is_apart && self.mode != Mode::Loopback {
            bail!(
                "local.network \"namespaces\" and local.mode exclude each other: servers have \
                 addresses of their networks; use local.public"
            );
        }
        if !is_apart && self.public() != Public::None {
            bail!("local.public is for local.network = \"namespaces\"");
        }
        let is_ipv6 = self.shared_bind.is_some_and(|bind| bind.is_ipv6());
        if self.public() == Public::SharedAddress && is_ipv6 {
            bail!("local.shared_bind must be an IPv4 address: servers in namespaces have no IPv6");
        }
        Ok(())
    }

    /// Whether networks made from now on are namespaces.
    pub fn is_apart(&self) -> bool {
        self.network == Some(Network::Namespaces)
    }

    pub fn public(&self) -> Public {
        self.public.unwrap_or_default()
    }

    /// Whether servers keep the listener without a login that they were made with. Beside
    /// namespaces, those that have one are at loopback addresses.
    pub fn has_plaintext(&self) -> Result<bool> {
        Ok(self.is_apart() || self.address_mode()?.has_plaintext())
    }

    pub fn address_mode(&self) -> Result<AddressMode> {
        let mode = match self.public() {
            Public::None | Public::Loopback => self.mode,
            Public::Addresses => Mode::Addresses,
            Public::SharedAddress => Mode::SharedAddress,
        };
        match mode {
            Mode::Loopback => Ok(AddressMode::Loopback),
            Mode::Addresses if self.addresses.is_empty() => {
                bail!(
                    "\"addresses\" under [local] needs local.addresses, such as [\"192.0.2.16/28\"]"
                )
            }
            Mode::Addresses => {
                let (nets, plaintext) = (self.addresses.clone(), self.plaintext);
                Ok(AddressMode::Addresses { nets, plaintext })
            }
            Mode::SharedAddress => {
                let (Some(host), Some((first, last))) = (&self.shared_host, self.shared_ports)
                else {
                    bail!(
                        "\"shared-address\" under [local] needs local.shared_host and \
                         local.shared_ports, such as [20000, 20999]"
                    );
                };
                if first == 0 || first > last {
                    bail!("local.shared_ports must be the first and the last port, in this order");
                }
                let bind = self.shared_bind.unwrap_or(IpAddr::from([0, 0, 0, 0]));
                Ok(AddressMode::SharedAddress {
                    host: host.clone(),
                    bind,
                    ports: first..=last,
                    plaintext: self.plaintext,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_shows_the_defaults_and_every_field() {
        let example = include_str!("../../castellan.example.toml");
        Config::parse(example).unwrap();
        // With every comment taken off a setting it must still parse.
        let uncommented: Vec<&str> =
            example.lines().map(|line| line.strip_prefix("#= ").unwrap_or(line)).collect();
        Config::parse(&uncommented.join("\n")).unwrap();
    }

    #[test]
    fn servers_in_namespaces_are_published_or_not() {
        let check = |local: &str, expected: &str| {
            let said = Config::parse(&format!("[local]\n{local}")).err();
            assert_eq!(said.map(|it| it.to_string()).unwrap_or_default(), expected, "{local}");
        };
        let shared = "shared_host = \"x\"\nshared_ports = [8, 99]";
        let apart = "network = \"namespaces\"";
        check(apart, "");
        check(&format!("{apart}\npublic = \"shared-address\"\n{shared}"), "");
        check(
            &format!("{apart}\npublic = \"addresses\""),
            "\"addresses\" under [local] needs local.addresses, such as [\"192.0.2.16/28\"]",
        );
        check(
            &format!("{apart}\npublic = \"shared-address\"\nshared_bind = \"::\"\n{shared}"),
            "local.shared_bind must be an IPv4 address: servers in namespaces have no IPv6",
        );
        check(
            &format!("public = \"shared-address\"\n{shared}"),
            "local.public is for local.network = \"namespaces\"",
        );
        check(
            &format!("{apart}\nmode = \"shared-address\"\n{shared}"),
            "local.network \"namespaces\" and local.mode exclude each other: servers have \
             addresses of their networks; use local.public",
        );
    }

    #[test]
    fn plaintext_is_for_loopback_unless_it_is_asked_for() {
        let check = |local: &str, expected: bool| {
            let config = Config::parse(&format!("[local]\n{local}")).unwrap();
            assert_eq!(config.local.address_mode().unwrap().has_plaintext(), expected, "{local}");
        };
        let addresses = "mode = \"addresses\"\naddresses = [\"192.0.2.16/28\"]";
        let shared = "mode = \"shared-address\"\nshared_host = \"x\"\nshared_ports = [8, 99]";
        check("", true);
        check(addresses, false);
        check(&format!("{addresses}\nplaintext = true"), true);
        check(shared, false);
        check(&format!("{shared}\nplaintext = true"), true);
    }

    #[test]
    fn warm_jvms_are_a_number_or_auto() {
        let check = |local: &str, expected: Warm| {
            let config = Config::parse(&format!("[local]\n{local}")).unwrap();
            assert_eq!(config.local.warm, expected, "{local}");
        };
        check("", Warm::Auto);
        check("warm = \"auto\"", Warm::Auto);
        check("warm = 0", Warm::Count(0));
        check("warm = 5", Warm::Count(5));
        Config::parse("[local]\nwarm = \"many\"").unwrap_err();
    }

    #[test]
    fn agents_know_what_the_store_needs() {
        let settings = Config::default().host_settings(Path::new("/data"));
        let store = StoreRoom { directory: "/data".into(), bytes: 128 << 20 };
        assert_eq!(settings.store, Some(store));
    }

    #[test]
    fn a_bad_file_is_refused_with_its_reason() {
        let check = |text: &str, expected: &str| {
            let error = format!("{:#}", Config::parse(text).unwrap_err());
            assert!(error.contains(expected), "{error}");
        };
        check("listne = 1", "listne");
        check("[local]\nmode = \"cloud\"", "line 2");
        check("[local]\nmode = \"addresses\"", "local.addresses");
        check("[local]\nmode = \"shared-address\"", "local.shared_host");
        check("[listen]\ntls_cert = \"x\"", "go together");
        check("[engine]\nlease_seconds = 1", "engine.lease_seconds must be 2 to 3600");
        check("[listen]\nmax_connections = 1", "listen.max_connections must be 16 to");
        check("[listen]\nmax_agent_connections = 1", "max_agent_connections must be 16 to");
        check("[mail]\ntimeout_seconds = 0", "mail.timeout_seconds must be 1 to 600");
        check("[local]\nmax_heap_mb = 1", "local.max_heap_mb must be 64 to");
        check("[audit]\nmb_per_day = 0", "audit.mb_per_day must be 1 to");
        for uids in ["[5]", "[1000000, 5]", "[10, 20]", "[70000, 70000]", "[70000, 4294967295]"] {
            check(&format!("[local]\nuids = {uids}"), "local.uids must be the first and the last");
        }
        check("[metrics]\nhistory_mb = 0", "metrics.history_mb must be 16 to");
        check(
            "[local]\nmode = \"shared-address\"\nshared_host = \"x\"\nshared_ports = [9, 8]",
            "in this order",
        );
        check("[certificates]\nlifetime = \"1m\"", "from \"2m\" to \"825d\"");
        check("[outbound.endpoints]\nloggly = \"loggly.test\"", "must begin with https://");
        check("[outbound.endpoints]\nlogly = \"https://loggly.test\"", "logly");
        check("[seller]\nvat = \"x\"", "vat");
        check("[api]\npublic_url = \"castellan.example.com\"", "line 2");
        check("[api]\npublic_url = \"ftp://example.com\"", "api.public_url");
    }
}
