//! What may be called. A name is looked up once for each connection, and what
//! was found is what is connected to, so that a name which means something else
//! a moment later leads nowhere else.

use crate::addresses::is_public;
use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use url::{Host, Url};

/// Why something may not be called.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Forbidden {
    #[error("its address must begin with https:// or http://")]
    Scheme,
    #[error("its address {0} is private, and the operator has not allowed those")]
    Private(IpAddr),
}

/// What names mean.
#[async_trait]
pub trait Lookup: Send + Sync {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// As this machine is set up to know it.
pub struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
    }
}

#[derive(Clone)]
pub struct Destinations {
    allow_private: bool,
    lookup: Arc<dyn Lookup>,
}

impl Destinations {
    pub fn new(allow_private: bool, lookup: Arc<dyn Lookup>) -> Self {
        Self { allow_private, lookup }
    }

    /// What can be said of an address as it is written. Of one in numbers that
    /// is all: no resolver is ever asked for it.
    pub fn check_written(&self, url: &Url) -> Result<(), Forbidden> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Forbidden::Scheme);
        }
        match url.host() {
            Some(Host::Ipv4(address)) => self.check(address.into()),
            Some(Host::Ipv6(address)) => self.check(address.into()),
            Some(Host::Domain(_)) => Ok(()),
            None => Err(Forbidden::Scheme),
        }
    }

    /// What can be said now. A name that nobody knows may be known later.
    pub async fn check_now(&self, url: &Url) -> Result<(), Forbidden> {
        self.check_written(url)?;
        if let Some(Host::Domain(name)) = url.host()
            && let Ok(found) = self.lookup.addresses(name).await
        {
            return self.check_all(&found);
        }
        Ok(())
    }

    fn check_all(&self, found: &[IpAddr]) -> Result<(), Forbidden> {
        found.iter().try_for_each(|address| self.check(*address))
    }

    fn check(&self, address: IpAddr) -> Result<(), Forbidden> {
        if self.allow_private || is_public(address) {
            Ok(())
        } else {
            Err(Forbidden::Private(address))
        }
    }
}

impl Resolve for Destinations {
    fn resolve(&self, name: Name) -> Resolving {
        let this = self.clone();
        Box::pin(async move {
            let found = this.lookup.addresses(name.as_str()).await?;
            this.check_all(&found)?;
            if found.is_empty() {
                return Err(io::Error::from(io::ErrorKind::NotFound).into());
            }
            // The port is the one of the URL.
            let all = found.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(all) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    #[async_trait]
    impl Lookup for Fixed {
        async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
            let found: &[&str] = match name {
                "public.test" => &["1.1.1.1", "2606:4700::1111"],
                "private.test" => &["10.0.0.1"],
                "both.test" => &["1.1.1.1", "fd00::1"],
                "localhost" | "localhost." => &["127.0.0.1", "::1"],
                _ => return Err(io::ErrorKind::NotFound.into()),
            };
            Ok(found.iter().map(|address| address.parse().unwrap()).collect())
        }
    }

    /// What is said of an address, without leave for private ones and with it.
    async fn said(url: &str) -> [Option<String>; 2] {
        let url: Url = url.parse().unwrap();
        let mut said = [const { None }; 2];
        for (allow_private, said) in [false, true].into_iter().zip(&mut said) {
            let destinations = Destinations::new(allow_private, Arc::new(Fixed));
            *said = destinations.check_now(&url).await.err().map(|error| error.to_string());
        }
        said
    }

    #[tokio::test]
    async fn what_may_be_called() {
        for good in [
            "https://1.1.1.1/x",
            "http://[2606:4700::1111]:8080",
            "https://public.test/x",
            "https://unknown.test/",
        ] {
            assert_eq!(said(good).await, [None, None], "{good}");
        }
        for (url, address) in [
            ("http://127.0.0.1:8080/", "127.0.0.1"),
            // Other ways to write the same.
            ("http://127.1/", "127.0.0.1"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f.0.0.1/", "127.0.0.1"),
            ("http://0177.0.0.1/", "127.0.0.1"),
            ("http://127.0.0.1./", "127.0.0.1"),
            ("http://１２７.0.0.1/", "127.0.0.1"),
            ("http://user:pass@10.0.0.1/", "10.0.0.1"),
            ("http://169.254.169.254/latest/meta-data/", "169.254.169.254"),
            ("http://[::1]/", "::1"),
            ("http://[::ffff:10.0.0.1]/", "::ffff:10.0.0.1"),
            ("http://[fd00::1]/", "fd00::1"),
            ("http://localhost:9092/", "127.0.0.1"),
            ("http://LOCALHOST./", "127.0.0.1"),
            ("https://private.test/", "10.0.0.1"),
            ("https://both.test/", "fd00::1"),
        ] {
            let expected = Forbidden::Private(address.parse().unwrap()).to_string();
            assert!(expected.contains(address), "{expected}");
            assert_eq!(said(url).await, [Some(expected), None], "{url}");
        }
        for url in ["ftp://1.1.1.1/", "file:///etc/passwd", "mailto:ada@example.com"] {
            let expected = Some(Forbidden::Scheme.to_string());
            assert_eq!(said(url).await, [expected.clone(), expected], "{url}");
        }
    }
}
