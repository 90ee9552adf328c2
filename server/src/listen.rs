//! Where the control plane listens, and whether it may do so in the clear.

use crate::config::{Config, Listen};
use anyhow::{Context, Result, bail};
use clap::Args;
use ipnet::IpNet;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;

const CUSTOMER: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);
const INSTANCE: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8081);
const AGENT: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8443);

/// Flags that win over the config file's `[listen]`.
#[derive(Args, Clone, Debug, Default)]
pub struct ListenArgs {
    /// Address of the Customer API [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR")]
    pub customer_listen: Option<SocketAddr>,
    /// Address of the Instance API [default: 127.0.0.1:8081]
    #[arg(long, value_name = "ADDR")]
    pub instance_listen: Option<SocketAddr>,
    /// Address that agents call, always with TLS [default: 127.0.0.1:8443]
    #[arg(long, value_name = "ADDR")]
    pub agent_listen: Option<SocketAddr>,
    /// Certificate chain (PEM) of both APIs
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// Private key (PEM) of both APIs
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// A proxy that ends TLS before us; its X-Forwarded-For is believed
    #[arg(long, value_name = "CIDR", conflicts_with = "tls_cert")]
    pub behind_proxy: Vec<IpNet>,
    /// Allow plain HTTP on addresses that others can reach
    #[arg(long, conflicts_with = "tls_cert")]
    pub insecure_http: bool,
}

impl ListenArgs {
    /// Lays the flags over the file's settings.
    pub fn apply(&self, config: &mut Config) {
        let listen = &mut config.listen;
        listen.customer = self.customer_listen.or(listen.customer);
        listen.instance = self.instance_listen.or(listen.instance);
        listen.agent = self.agent_listen.or(listen.agent);
        if self.tls_cert.is_some() {
            listen.tls_cert.clone_from(&self.tls_cert);
            listen.tls_key.clone_from(&self.tls_key);
        }
        listen.behind_proxy.extend(&self.behind_proxy);
        listen.insecure_http |= self.insecure_http;
    }
}

/// The three listeners, bound.
#[derive(Debug)]
pub struct Bound {
    pub customer: TcpListener,
    pub instance: TcpListener,
    pub agent: TcpListener,
}

/// Binds all three, or none and says why.
pub fn bind(listen: &Listen) -> Result<Bound> {
    let customer = listen.customer.unwrap_or(CUSTOMER);
    let instance = listen.instance.unwrap_or(INSTANCE);
    for address in [customer, instance] {
        check_plain(listen, address)?;
    }
    Ok(Bound {
        customer: bind_one(customer, "--customer-listen")?,
        instance: bind_one(instance, "--instance-listen")?,
        agent: bind_one(listen.agent.unwrap_or(AGENT), "--agent-listen")?,
    })
}

/// Keys travel in every request, so the clear is for this machine alone.
fn check_plain(listen: &Listen, address: SocketAddr) -> Result<()> {
    let allowed = listen.tls_cert.is_some()
        || listen.insecure_http
        || !listen.behind_proxy.is_empty()
        || address.ip().is_loopback();
    if !allowed {
        bail!(
            "{address} can be reached by others, so it needs --tls-cert and --tls-key, \
             --behind-proxy, or --insecure-http to allow plain HTTP"
        );
    }
    Ok(())
}

/// What to say where links in mails would name an address that nobody can open.
pub fn unreachable_links(customer: SocketAddr) -> Option<String> {
    customer.ip().is_unspecified().then(|| {
        format!("links in mails name {customer}, which nobody can open; set api.public_url")
    })
}

fn bind_one(address: SocketAddr, flag: &str) -> Result<TcpListener> {
    let listener = TcpListener::bind(address).with_context(|| {
        format!("{address} can't be listened on; free it, or choose another with {flag}")
    })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_loopback_unless_asked_for() {
        let check = |address: &str, change: fn(&mut Listen), allowed: bool| {
            let mut listen = Listen::default();
            change(&mut listen);
            let answer = check_plain(&listen, address.parse().unwrap());
            assert_eq!(answer.is_ok(), allowed, "{address}");
        };
        check("127.0.0.1:1", |_| {}, true);
        check("[::1]:1", |_| {}, true);
        check("0.0.0.0:1", |_| {}, false);
        check("192.0.2.1:1", |_| {}, false);
        check("0.0.0.0:1", |listen| listen.insecure_http = true, true);
        check("0.0.0.0:1", |listen| listen.tls_cert = Some("x".into()), true);
        check(
            "0.0.0.0:1",
            |listen| listen.behind_proxy = vec!["192.0.2.1/32".parse().unwrap()],
            true,
        );
    }

    #[test]
    fn a_taken_address_is_named_with_its_flag() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let refused = bind_one(taken.local_addr().unwrap(), "--agent-listen").unwrap_err();
        assert!(refused.to_string().contains("--agent-listen"), "{refused}");
    }
}
