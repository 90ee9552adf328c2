use super::*;
use crate::client::fake::{FakeCa, accept};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Shakes hands with a broker whose certificate holds `hosts`; what the client
/// sees, up to the first byte from the broker.
async fn meet(
    dialled: &str,
    hosts: &[&str],
    trust: &str,
    ca: &FakeCa,
    identity: Option<&Identity>,
) -> Result<(), String> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let endpoint = Endpoint::new(dialled, 9091);
    let config = client_config(trust, identity).map_err(|error| error.to_string())?;
    let broker = ca.issue(hosts);
    let server = async {
        if let Ok(mut stream) = accept(theirs, ca, &broker).await {
            stream.write_all(b"!").await.unwrap();
            stream.flush().await.unwrap();
        }
    };
    let client = async {
        let mut stream = handshake(Box::new(ours), &endpoint, &config)
            .await
            .map_err(|error| error.to_string())?;
        let first = stream.read_u8().await;
        first.map(drop).map_err(|error| reason(&error).unwrap_or_else(|| error.to_string()))
    };
    tokio::join!(server, client).1
}

#[tokio::test]
async fn names_and_addresses_are_checked() {
    let ca = FakeCa::new("internal");
    let us = ca.issue(&[]);
    let check =
        async |dialled: &str, hosts: &[&str]| meet(dialled, hosts, &ca.pem(), &ca, Some(&us)).await;
    assert_eq!(check("b1.example", &["b1.example"]).await, Ok(()));
    assert_eq!(check("127.64.0.2", &["b1.example", "127.64.0.2"]).await, Ok(()));
    for (dialled, hosts) in [("127.64.0.3", ["127.64.0.2"]), ("b2.example", ["b1.example"])] {
        let error = check(dialled, &hosts).await.unwrap_err();
        assert!(
            error.starts_with(&format!("the TLS handshake with {dialled}:9091 failed")),
            "{error}"
        );
        assert!(error.contains("not valid for name"), "{error}");
    }
    assert!(check("no host", &["b1.example"]).await.unwrap_err().contains("neither a DNS name"));
}

#[tokio::test]
async fn any_ca_of_the_list_is_trusted_and_no_other() {
    let (ca, other) = (FakeCa::new("internal"), FakeCa::new("other"));
    let us = ca.issue(&[]);
    let both = format!("{}{}", other.pem(), ca.pem());
    assert_eq!(meet("b1", &["b1"], &both, &ca, Some(&us)).await, Ok(()));
    let error = meet("b1", &["b1"], &other.pem(), &ca, Some(&us)).await.unwrap_err();
    assert!(error.contains("UnknownIssuer"), "{error}");
}

#[tokio::test]
async fn the_broker_s_no_to_our_certificate_is_a_tls_error() {
    let (ca, other) = (FakeCa::new("internal"), FakeCa::new("other"));
    let error = meet("b1", &["b1"], &ca.pem(), &ca, Some(&other.issue(&[]))).await.unwrap_err();
    assert!(error.contains("fatal alert"), "{error}");
    let error = meet("b1", &["b1"], &ca.pem(), &ca, None).await.unwrap_err();
    assert!(error.contains("fatal alert"), "{error}");
}

#[test]
fn unusable_pem_is_named_and_keys_are_not_quoted() {
    let ca = FakeCa::new("internal");
    let error = client_config("", None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the list of trusted CAs can't be used: there is no certificate in it"
    );
    let mut us = ca.issue(&[]);
    us.key_pem = Secret::new("-----BEGIN hunter2");
    let error = client_config(&ca.pem(), Some(&us)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "our private key can't be used: it is not a private key in PEM form"
    );
    us.key_pem = ca.issue(&[]).key_pem;
    let error = client_config(&ca.pem(), Some(&us)).unwrap_err();
    assert!(matches!(error, Error::BadPem { what: "our certificate and key", .. }), "{error}");
    assert!(!format!("{us:?}").contains("PRIVATE"));
}
