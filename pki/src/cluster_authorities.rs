//! The four authorities of one cluster.

use crate::{Authority, Error, Usage};
use model::{Entropy, Timestamp};

/// Customers trust the root alone, so that its two intermediates can be replaced without
/// any client noticing. The internal authority is apart: nothing that customers hold or
/// trust leads to the brokers' own listeners.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClusterAuthorities {
    /// Brokers, controllers and the control plane.
    pub internal: Authority,
    /// What customers verify brokers with.
    pub root: Authority,
    /// Under the root: signs the certificates of the customers' listeners.
    pub server: Authority,
    /// Under the root: signs customers' requests, and is what their TLS listener trusts.
    pub client: Authority,
}

impl ClusterAuthorities {
    pub fn create(cluster: &str, now: Timestamp, entropy: &dyn Entropy) -> Result<Self, Error> {
        let name = |kind: &str| format!("Castellan {cluster} {kind} CA");
        let root = Authority::create_root(&name("root"), now, entropy)?;
        let under =
            |kind: &str, usage: Usage| root.create_intermediate(&name(kind), usage, now, entropy);
        Ok(Self {
            internal: Authority::create(&name("internal"), now, entropy)?,
            server: under("server", Usage::Server)?,
            client: under("client", Usage::Client)?,
            root,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClientRequest, Facts, KeyPair, Leaf};
    use model::{SeededEntropy, SignedDuration};
    use x509_parser::certificate::X509Certificate;
    use x509_parser::pem::Pem;
    use x509_parser::prelude::FromDer as _;

    fn now() -> Timestamp {
        "2026-11-15T00:00:00Z".parse().unwrap()
    }

    fn made() -> ClusterAuthorities {
        ClusterAuthorities::create("u7k2m9qa", now(), &SeededEntropy::new(1)).unwrap()
    }

    fn with_certificate<T>(pem: &str, look: impl Fn(&X509Certificate) -> T) -> Vec<T> {
        let all = Pem::iter_from_buffer(pem.as_bytes()).map(Result::unwrap);
        all.map(|pem| look(&pem.parse_x509().unwrap())).collect()
    }

    /// How many authorities may follow it, and as what its leaves may be used if that is bound:
    /// as servers, as clients.
    fn facts(authority: &Authority, signer: &Authority) -> (u32, Option<(bool, bool)>) {
        let key = with_certificate(&signer.certificate, |it| it.public_key().raw.to_vec());
        let found = with_certificate(&authority.certificate, |it| {
            let (_, key) = x509_parser::x509::SubjectPublicKeyInfo::from_der(&key[0]).unwrap();
            it.verify_signature(Some(&key)).unwrap();
            let constraints = it.basic_constraints().unwrap().unwrap();
            assert!(constraints.critical && constraints.value.ca);
            let usage = it.extended_key_usage().unwrap();
            let usage = usage.map(|it| (it.value.server_auth, it.value.client_auth));
            (constraints.value.path_len_constraint.unwrap(), usage)
        });
        found[0]
    }

    #[test]
    fn two_intermediates_are_under_the_root_and_the_internal_one_is_apart() {
        let all = made();
        assert_eq!(facts(&all.root, &all.root), (1, None));
        assert_eq!(facts(&all.server, &all.root), (0, Some((true, false))));
        assert_eq!(facts(&all.client, &all.root), (0, Some((false, true))));
        assert_eq!(facts(&all.internal, &all.internal), (0, None));
        let years = |authority: &Authority| {
            let end = Facts::read(&authority.certificate).unwrap().not_after;
            end.duration_since(now()).as_hours() / 24 / 365
        };
        assert_eq!([&all.root, &all.server, &all.client].map(years), [20, 10, 10]);
    }

    #[test]
    fn a_client_gets_its_certificate_and_the_intermediate_and_not_the_root() {
        let (all, entropy) = (made(), SeededEntropy::new(2));
        let csr = crate::request(&KeyPair::generate(), "orders").unwrap();
        let request = ClientRequest::parse(&csr).unwrap();
        let signed = all.client.issue_to_client(&request, now(), &entropy).unwrap();
        let names =
            with_certificate(&signed.pem, |it| (it.subject().to_string(), it.issuer().to_string()));
        let [root, client] = ["root", "client"].map(|it| format!("CN=Castellan u7k2m9qa {it} CA"));
        assert_eq!(names, [("CN=orders".into(), client.clone()), (client, root)]);
    }

    #[test]
    fn nothing_outlives_its_authority() {
        let (all, entropy) = (made(), SeededEntropy::new(2));
        let end = Facts::read(&all.server.certificate).unwrap().not_after;
        let late = end - SignedDuration::from_hours(24);
        let leaf = Leaf {
            common_name: "a".into(),
            hosts: vec![],
            usage: Usage::Server,
            valid_for: SignedDuration::from_hours(48),
        };
        let (pem, _) = all.server.issue_with_key(&leaf, late, &entropy).unwrap();
        assert_eq!(Facts::read(&pem).unwrap().not_after, end);
        let root_end = Facts::read(&all.root.certificate).unwrap().not_after;
        let under = all.root.create_intermediate(
            "b",
            Usage::Server,
            root_end - SignedDuration::from_hours(1),
            &entropy,
        );
        assert_eq!(Facts::read(&under.unwrap().certificate).unwrap().not_after, root_end);
    }
}
