//! The certificates of a server: what its agent has on disk, and what its listeners show.

use model::Timestamp;
use pki::Facts;
use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use test_support::installation::Installation;

/// One server by its directory.
pub struct Server {
    directory: PathBuf,
    /// By name, those that speak TLS.
    listeners: BTreeMap<String, SocketAddr>,
}

impl Server {
    /// In the order of their ids.
    pub fn all(castellan: &Installation) -> Vec<Self> {
        let entries = fs::read_dir(castellan.data().join("servers")).unwrap();
        let mut directories: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
        directories.sort();
        directories.into_iter().map(Self::at).collect()
    }

    fn at(directory: PathBuf) -> Self {
        let settings = fs::read_to_string(directory.join("server.properties")).unwrap();
        let all = settings.lines().find_map(|line| line.strip_prefix("listeners=")).unwrap();
        let read = |it: &str| {
            let (name, address) = it.split_once("://").unwrap();
            (name != "PLAINTEXT").then(|| (name.to_owned(), address.parse().unwrap()))
        };
        let listeners: BTreeMap<_, _> = all.split(',').filter_map(read).collect();
        assert_eq!(listeners.len(), 4, "{all}");
        Self { directory, listeners }
    }

    pub fn listener(&self, name: &str) -> SocketAddr {
        self.listeners[name]
    }

    /// Where brokers, controllers and the control plane meet.
    pub fn listeners_of_ours(&self) -> Vec<SocketAddr> {
        ["INTERNAL", "CONTROLLER"].map(|name| self.listener(name)).to_vec()
    }

    /// Key and chain, as the listeners read them.
    pub fn pem(&self, name: &str) -> String {
        fs::read_to_string(self.directory.join(format!("tls/{name}.pem"))).unwrap()
    }

    /// When the last of the certificates that are in place now ends.
    pub fn end(&self) -> Timestamp {
        let of = |name: &str| Facts::read(&self.pem(name)).unwrap().not_after;
        of("internal").max(of("server"))
    }

    /// Waits until every listener shows what is on disk, and that ends later than then.
    pub async fn until_everything_is_served_anew(&self, castellan: &Installation, then: Timestamp) {
        for (name, address) in &self.listeners {
            castellan
                .until("a listener shows a new certificate", async || match shown(*address).await {
                    Some(shown) if shown.not_after > then => Ok(()),
                    shown => Err(format!("{name} at {address}: {shown:?}, not after {then}")),
                })
                .await;
        }
    }
}

/// What a listener shows first, whether it lets us in or not.
async fn shown(address: SocketAddr) -> Option<Facts> {
    let address = address.to_string();
    let arguments = ["s_client", "-connect", &address, "-showcerts"];
    let ran = host::run_output(Path::new("openssl"), &arguments, None).await.unwrap();
    Facts::read(&String::from_utf8_lossy(&ran.stdout))
}
