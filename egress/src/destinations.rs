//! What may be called. A name is looked up once for each connection, and what
//! was found is what is connected to, so that a name which means something else
//! a moment later leads nowhere else.

use crate::addresses::is_public;
use crate::lookup::{Bounded, Lookup};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use url::{Host, Url};

/// Names that are looked up at once to be called. More than there are calls at
/// once: a look-up that was given up may take a while to end.
const CALLS: usize = 256;
/// Names that are looked up at once when addresses are saved. They have permits of their own:
/// saving names whose servers don't answer does not hold up calls.
const SAVES: usize = 16;

/// Why something may not be called. The address of a name is not in it: a customer who
/// may not call it must not learn it from the error either.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Forbidden {
    #[error("its address must begin with https:// or http://")]
    Scheme,
    #[error(
        "its address is private, and those are called only where the operator has set \
         [outbound] allow_private_addresses = true"
    )]
    Private,
}

#[derive(Clone)]
pub struct Destinations {
    allow_private: bool,
    to_call: Arc<dyn Lookup>,
    to_save: Arc<dyn Lookup>,
}

impl Destinations {
    pub fn new(allow_private: bool, lookup: Arc<dyn Lookup>) -> Self {
        let to_call = Arc::new(Bounded::new(Arc::clone(&lookup), CALLS));
        let to_save = Arc::new(Bounded::new(lookup, SAVES));
        Self { allow_private, to_call, to_save }
    }

    /// What can be checked of an address as it is written. Of one in numbers that
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

    /// What can be checked now. A name that can't be found may be found later.
    pub async fn check_now(&self, url: &Url) -> Result<(), Forbidden> {
        self.check_written(url)?;
        if let Some(Host::Domain(name)) = url.host()
            && let Ok(found) = self.to_save.addresses(name).await
        {
            return self.check_all(&found);
        }
        Ok(())
    }

    /// The addresses that a name has now, private ones too.
    pub(crate) async fn to_call(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        match name.trim_matches(['[', ']']).parse() {
            Ok(address) => Ok(vec![address]),
            Err(_) => self.to_call.addresses(name).await,
        }
    }

    /// For what the operator alone chose.
    pub(crate) fn unchecked(&self) -> impl Resolve + 'static {
        Self { allow_private: true, ..self.clone() }
    }

    pub(crate) fn check_all(&self, found: &[IpAddr]) -> Result<(), Forbidden> {
        found.iter().try_for_each(|address| self.check(*address))
    }

    fn check(&self, address: IpAddr) -> Result<(), Forbidden> {
        if self.allow_private || is_public(address) { Ok(()) } else { Err(Forbidden::Private) }
    }
}

impl Resolve for Destinations {
    fn resolve(&self, name: Name) -> Resolving {
        let this = self.clone();
        Box::pin(async move {
            let found = this.to_call.addresses(name.as_str()).await?;
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
    use async_trait::async_trait;

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
        for url in [
            "http://127.0.0.1:8080/",
            // Other ways to write the same.
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://127.0.0.1./",
            "http://１２７.0.0.1/",
            "http://user:pass@10.0.0.1/",
            "http://169.254.169.254/latest/meta-data/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://[fd00::1]/",
            "http://localhost:9092/",
            "http://LOCALHOST./",
            "https://private.test/",
            "https://both.test/",
        ] {
            let expected = Forbidden::Private.to_string();
            assert!(expected.contains("[outbound] allow_private_addresses = true"), "{expected}");
            assert_eq!(said(url).await, [Some(expected), None], "{url}");
        }
        for url in ["ftp://1.1.1.1/", "file:///etc/passwd", "mailto:ada@example.com"] {
            let expected = Some(Forbidden::Scheme.to_string());
            assert_eq!(said(url).await, [expected.clone(), expected], "{url}");
        }
    }
}
