//! Mail through a mail server.

use crate::letter::{Sender, letter};
use crate::{Mailer, Outgoing, SendError, Sent};
use async_trait::async_trait;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use model::Secret;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use std::time::Duration;
use url::{Host, Url};

/// Which server, as the operator says it.
#[derive(Clone, Debug)]
pub struct SmtpSettings {
    /// `smtps://user:password@host`, `smtp://host?tls=required` for STARTTLS,
    /// or `smtp://host` in the clear.
    pub url: Secret,
    pub from: Sender,
    /// An authority of the server's certificate, as PEM, beside those that this
    /// machine trusts.
    pub authority_pem: Option<String>,
    /// For one mail as a whole.
    pub timeout: Duration,
}

/// Why the settings can't be used. Never repeats the address: it may hold a
/// password.
#[derive(Debug, thiserror::Error)]
pub enum BadServer {
    #[error(
        "it is no address of a mail server; give one such as smtps://user:password@mail.example.com"
    )]
    Address,
    #[error("it would send the password in the clear; add ?tls=required to it, or use smtps://")]
    PasswordInTheClear,
    #[error("the authority of its certificate is no certificate in PEM")]
    Authority,
}

/// Hands every mail over on a connection of its own.
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Sender,
    timeout: Duration,
}

impl Smtp {
    /// Connects to nothing yet: a server that is away is no reason not to start.
    pub fn new(settings: SmtpSettings) -> Result<Self, BadServer> {
        let url: Url = settings.url.expose().parse().map_err(|_| BadServer::Address)?;
        let encryption = encryption(&url)?;
        if encryption == Encryption::None && url.password().is_some() && !is_this_machine(&url) {
            return Err(BadServer::PasswordInTheClear);
        }
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.as_str());
        let mut builder = builder.map_err(|_| BadServer::Address)?;
        if let Some(pem) = &settings.authority_pem {
            let host = url.host_str().ok_or(BadServer::Address)?;
            let tls = tls_parameters(host, pem)?;
            builder = match encryption {
                Encryption::None => builder,
                Encryption::StartTls => builder.tls(Tls::Required(tls)),
                Encryption::Whole => builder.tls(Tls::Wrapper(tls)),
            };
        }
        let transport = builder.timeout(Some(settings.timeout)).build();
        Ok(Self { transport, from: settings.from, timeout: settings.timeout })
    }
}

#[async_trait]
impl Mailer for Smtp {
    async fn send(&self, outgoing: Outgoing<'_>) -> Result<Sent, SendError> {
        let letter = letter(&self.from, outgoing)?;
        // The transport's own timeout is for each step; a server that is slow
        // at all of them would hold this one for minutes.
        let sent = tokio::time::timeout(self.timeout, self.transport.send(letter)).await;
        sent.map_err(|_| SendError::Silent(self.timeout.as_secs()))??;
        Ok(Sent::Taken)
    }
}

fn tls_parameters(host: &str, authority_pem: &str) -> Result<TlsParameters, BadServer> {
    // A text without any certificate would be taken for an empty list.
    let mut found = CertificateDer::pem_slice_iter(authority_pem.as_bytes()).peekable();
    if found.peek().is_none() || found.any(|certificate| certificate.is_err()) {
        return Err(BadServer::Authority);
    }
    let authority = Certificate::from_pem(authority_pem.as_bytes());
    let authority = authority.map_err(|_| BadServer::Authority)?;
    let tls = TlsParameters::builder(host.into()).add_root_certificate(authority);
    tls.build().map_err(|_| BadServer::Authority)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Encryption {
    None,
    StartTls,
    Whole,
}

/// Opportunistic encryption is none: whoever is in between takes it away.
fn encryption(url: &Url) -> Result<Encryption, BadServer> {
    let tls = url.query_pairs().find(|(name, _)| name == "tls").map(|(_, value)| value);
    match (url.scheme(), tls.as_deref()) {
        _ if !url.has_host() => Err(BadServer::Address),
        ("smtps", None) => Ok(Encryption::Whole),
        ("smtp", Some("required")) => Ok(Encryption::StartTls),
        ("smtp", None) => Ok(Encryption::None),
        _ => Err(BadServer::Address),
    }
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        // Of a scheme that the URL standard does not know, hosts are texts.
        Some(Host::Domain(name)) => {
            name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|it| it.is_loopback())
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_mail_server() {
        let check = |url: &str, expected: &str| {
            let from = Sender::parse("c@example.com").unwrap();
            let timeout = Duration::from_secs(1);
            let url = Secret::new(url);
            let settings = SmtpSettings { url: url.clone(), from, authority_pem: None, timeout };
            let said = Smtp::new(settings).err().map_or(String::new(), |error| error.to_string());
            assert!(said.contains(expected), "{}: {said}", url.expose());
            assert_eq!(said.is_empty(), expected.is_empty(), "{}: {said}", url.expose());
            assert!(!said.contains("s3cret"), "{said}");
        };
        check("smtp://127.0.0.1:2525", "");
        check("smtp://mail.example.com", "");
        check("smtp://u:s3cret@mail.example.com?tls=required", "");
        check("smtps://u:s3cret@mail.example.com:465", "");
        check("smtp://u:s3cret@localhost:2525", "");
        check("smtp://u:s3cret@127.0.0.1:2525", "");
        check("smtp://u:s3cret@mail.example.com", "in the clear");
        check("smtp://u:s3cret@mail.example.com?tls=opportunistic", "no address");
        check("http://u:s3cret@mail.example.com", "no address");
        check("smtp:mail.example.com", "no address");
        check("s3cret", "no address");
    }

    #[test]
    fn a_broken_authority_is_refused() {
        let settings = SmtpSettings {
            url: Secret::new("smtps://mail.example.com"),
            from: Sender::parse("c@example.com").unwrap(),
            authority_pem: Some("no PEM".into()),
            timeout: Duration::from_secs(1),
        };
        assert!(matches!(Smtp::new(settings), Err(BadServer::Authority)));
    }
}
