//! What the authorities of a cluster sign, and who takes it.

use crate::served::Server;
use model::{Clock as _, InstanceId, OsEntropy, Secret, SignedDuration, SystemClock};
use pki::{Authority, Leaf, Usage};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use store::{AuthorityKind, Location, MasterKey, Store, authorities};
use test_support::clients::{Clients, P256, REFUSED};
use test_support::installation::Installation;

const TOPIC: &str = "trusted";
const USER: &str = "orders";

/// Everything verifies by the one root that customers have. At the listener of clients
/// with certificates none but the authority that signs their requests is trusted.
pub async fn is_where_it_should_be(castellan: &Installation, instance: &Value, all: &[Server]) {
    let clients = Clients::new(castellan, instance, TOPIC).await;
    clients.request(castellan, USER, &P256, USER).await;
    let root = clients.file("ca", "pem");
    let signed = clients.file(USER, "pem");
    verifies(&root, &signed, "sslclient").await;
    let served = clients.file("served", "pem");
    fs::write(&served, all[0].pem("server")).unwrap();
    verifies(&root, &served, "sslserver").await;

    let ssl = all[0].listener("SSL").to_string();
    clients.allow(castellan, USER).await;
    clients.write(USER).await;
    // The same user by every other authority of the cluster, with all that leads to it.
    for kind in [AuthorityKind::Root, AuthorityKind::Server, AuthorityKind::Internal] {
        let name = kind.as_str();
        forge(castellan, instance, kind, &clients, name).await;
        is_refused(&clients, &ssl, name).await;
    }
    // And what a broker shows itself.
    for kind in ["pem", "key", "chain"] {
        fs::write(clients.file("broker", kind), all[0].pem("server")).unwrap();
    }
    is_refused(&clients, &ssl, "broker").await;
    clients.write(USER).await;
}

/// By openssl, which shows a certificate also where the other side says that it trusts
/// none of its kind, and what leads to it.
async fn is_refused(clients: &Clients, listener: &str, name: &str) {
    let [certificate, key, chain] = ["pem", "key", "chain"].map(|kind| clients.file(name, kind));
    let shown = ["-cert", &certificate, "-key", &key, "-cert_chain", &chain];
    let arguments = [&["s_client", "-ign_eof", "-connect", listener][..], &shown].concat();
    let ran = host::run_output(Path::new("openssl"), &arguments, None).await.unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    let is_refused = !ran.status.success() && said.contains(REFUSED);
    assert!(is_refused, "the certificate of {name} at {listener}: {} {said}", ran.status);
}

/// By openssl, with what came behind the certificate and the root.
async fn verifies(root: &str, certificate: &str, purpose: &str) {
    let arguments =
        ["verify", "-CAfile", root, "-purpose", purpose, "-untrusted", certificate, certificate];
    let ran = host::run_output(Path::new("openssl"), &arguments, None).await.unwrap();
    let said = String::from_utf8_lossy(&[&ran.stdout[..], &ran.stderr].concat()).into_owned();
    assert!(ran.status.success(), "{certificate}: {said}");
}

/// A client's certificate as one who has that authority's key would make it.
async fn forge(
    castellan: &Installation,
    instance: &Value,
    kind: AuthorityKind,
    clients: &Clients,
    name: &str,
) {
    let master = fs::read_to_string(castellan.data().join("master.key")).unwrap();
    let master = MasterKey::parse(&Secret::new(master.trim()), Arc::new(OsEntropy)).unwrap();
    let at = Location::Sqlite(castellan.data().join("castellan.db"));
    let store = Store::open(&at, master).await.unwrap();
    let id = InstanceId(instance["id"].as_i64().unwrap());
    let found = authorities::find(&mut store.reader(), id, kind).await.unwrap();
    let (certificate, key) = found.unwrap();
    let authority = Authority { certificate, key };
    let leaf = Leaf {
        common_name: USER.into(),
        hosts: vec![],
        usage: Usage::Client,
        valid_for: SignedDuration::from_hours(1),
    };
    let (pem, key) = authority.issue_with_key(&leaf, SystemClock.now(), &OsEntropy).unwrap();
    let root = instance["ca"].as_str().unwrap();
    fs::write(clients.file(name, "pem"), pem).unwrap();
    fs::write(clients.file(name, "chain"), authority.certificate + root).unwrap();
    fs::write(clients.file(name, "key"), key.expose()).unwrap();
}
