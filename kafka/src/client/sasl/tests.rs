use super::*;
use crate::client::Remedy;
use crate::client::fake::{Asked, Reply, answer, connect};
use kafka_protocol::messages::{ApiKey, SaslAuthenticateResponse, SaslHandshakeResponse};
use kafka_protocol::protocol::Decodable;

const CALLS: &[(ApiKey, i16, i16)] =
    &[(ApiKey::SaslHandshake, 0, 1), (ApiKey::SaslAuthenticate, 0, 2)];

/// Logs in at a broker that takes the handshake and answers tokens like this.
async fn log_in_at(
    mut token: impl FnMut(&[u8]) -> SaslAuthenticateResponse + Send + 'static,
) -> Error {
    let reply = move |asked: &Asked| {
        if asked.key == ApiKey::SaslHandshake as i16 {
            assert_eq!(asked.version, 1);
            return answer::<SaslHandshakeRequest>(asked, &SaslHandshakeResponse::default());
        }
        let request =
            SaslAuthenticateRequest::decode(&mut asked.body.clone(), asked.version).unwrap();
        answer::<SaslAuthenticateRequest>(asked, &token(&request.auth_bytes))
    };
    let mut connection = connect(CALLS, reply).await;
    let password = Secret::new("hunter2");
    let error =
        log_in(&mut connection, "ada", &password, Mechanism::ScramSha256).await.unwrap_err();
    assert!(!format!("{error:?} {error}").contains("hunter2"));
    error
}

#[tokio::test]
async fn a_refused_password_is_told_apart() {
    let error = log_in_at(|_| {
        SaslAuthenticateResponse::default()
            .with_error_code(58)
            .with_error_message(Some(StrBytes::from_static_str("invalid credentials")))
    })
    .await;
    assert_eq!(error.to_string(), "b1:9091 refused the password of ada: invalid credentials");
    assert!(matches!(error, Error::WrongPassword { .. }));
    assert_eq!(error.remedy(), Remedy::Refused);
}

#[tokio::test]
async fn a_broker_that_does_not_know_the_password_is_found_out() {
    let mut first = true;
    let error = log_in_at(move |token| {
        let text = String::from_utf8(token.to_vec()).unwrap();
        let ours = if first {
            let nonce = text.split_once("r=").unwrap().1;
            format!("r={nonce}theirs,s=c2FsdA==,i=4096")
        } else {
            "v=bm90IHRoZSBzaWduYXR1cmU=".to_owned()
        };
        first = false;
        SaslAuthenticateResponse::default().with_auth_bytes(ours.into())
    })
    .await;
    assert_eq!(
        error.to_string(),
        "b1:9091 did not prove that it knows the password of ada: its signature is wrong"
    );
}

#[tokio::test]
async fn a_mechanism_that_is_off_is_named_with_those_that_are_on() {
    let reply = |asked: &Asked| -> Reply {
        let response = SaslHandshakeResponse::default()
            .with_error_code(33)
            .with_mechanisms(vec![StrBytes::from_static_str("PLAIN")]);
        answer::<SaslHandshakeRequest>(asked, &response)
    };
    let mut connection = connect(CALLS, reply).await;
    let error = log_in(&mut connection, "ada", &Secret::new("x"), Mechanism::ScramSha512)
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "b1:9091 does not offer SCRAM-SHA-512; it offers PLAIN");
}
