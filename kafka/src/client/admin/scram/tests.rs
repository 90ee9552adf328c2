use super::*;
use crate::client::fake::{Asked, Reply, answer, connect};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kafka_protocol::messages::alter_user_scram_credentials_response::AlterUserScramCredentialsResult;
use kafka_protocol::messages::describe_user_scram_credentials_response::{
    CredentialInfo, DescribeUserScramCredentialsResult,
};
use kafka_protocol::messages::{
    AlterUserScramCredentialsResponse, ApiKey, DescribeUserScramCredentialsResponse,
};
use kafka_protocol::protocol::Decodable;
use model::SeededEntropy;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

const CALLS: &[(ApiKey, i16, i16)] =
    &[(ApiKey::AlterUserScramCredentials, 0, 0), (ApiKey::DescribeUserScramCredentials, 0, 0)];

/// A broker that shows each written credential one read later, and refuses to
/// alter a user twice in a request, as Kafka does.
#[derive(Default)]
struct Users {
    written: Vec<ScramCredentialUpsertion>,
    reads: usize,
}

impl Users {
    fn reply(&mut self, asked: &Asked) -> Reply {
        if asked.key == ApiKey::AlterUserScramCredentials as i16 {
            self.alter(asked)
        } else {
            self.describe(asked)
        }
    }

    fn alter(&mut self, asked: &Asked) -> Reply {
        let request =
            AlterUserScramCredentialsRequest::decode(&mut asked.body.clone(), asked.version)
                .unwrap();
        let names: HashSet<_> = request.upsertions.iter().map(|one| one.name.clone()).collect();
        let code = if names.len() < request.upsertions.len() { 92 } else { 0 };
        let result = AlterUserScramCredentialsResult::default()
            .with_user(StrBytes::from_static_str("ada"))
            .with_error_code(code);
        self.written.extend(request.upsertions);
        let response = AlterUserScramCredentialsResponse::default().with_results(vec![result]);
        answer::<AlterUserScramCredentialsRequest>(asked, &response)
    }

    fn describe(&mut self, asked: &Asked) -> Reply {
        let shown = self.written.iter().take(self.reads).filter(|one| &*one.name == "ada");
        let infos: Vec<_> =
            shown.map(|one| CredentialInfo::default().with_mechanism(one.mechanism)).collect();
        self.reads += 1;
        let result = DescribeUserScramCredentialsResult::default()
            .with_user(StrBytes::from_static_str("ada"))
            .with_error_code(if infos.is_empty() { 91 } else { 0 })
            .with_credential_infos(infos);
        let response = DescribeUserScramCredentialsResponse::default().with_results(vec![result]);
        answer::<DescribeUserScramCredentialsRequest>(asked, &response)
    }
}

#[tokio::test]
async fn every_mechanism_is_set_in_a_request_of_its_own_and_waited_for() {
    let users = Arc::new(Mutex::new(Users::default()));
    let broker = Arc::clone(&users);
    let mut connection = connect(CALLS, move |asked| broker.lock().unwrap().reply(asked)).await;
    let password = Secret::new("hunter2");
    let call = SetUsers { users: &[("ada", &password)], entropy: &SeededEntropy::new(7) };
    call.run(&mut connection).await.unwrap();
    let users = users.lock().unwrap();
    assert_eq!(users.reads, 3, "none, one, both");
    let sizes: Vec<_> = users
        .written
        .iter()
        .map(|one| (one.mechanism, one.iterations, one.salt.len(), one.salted_password.len()))
        .collect();
    assert_eq!(sizes, [(1, 4096, 24, 32), (2, 4096, 24, 64)]);
    assert_ne!(users.written[0].salt, users.written[1].salt);
}

#[tokio::test]
async fn several_users_share_the_request_of_a_mechanism() {
    let users = Arc::new(Mutex::new(Users::default()));
    let broker = Arc::clone(&users);
    let mut connection = connect(CALLS, move |asked| broker.lock().unwrap().reply(asked)).await;
    let password = Secret::new("hunter2");
    let both = [("bob", &password), ("ada", &password)];
    let call = SetUsers { users: &both, entropy: &SeededEntropy::new(7) };
    call.run(&mut connection).await.unwrap();
    let users = users.lock().unwrap();
    let sent: Vec<(&str, i8)> =
        users.written.iter().map(|one| (one.name.as_str(), one.mechanism)).collect();
    assert_eq!(sent, [("bob", 1), ("ada", 1), ("bob", 2), ("ada", 2)]);
}

#[test]
fn a_salted_password_is_pbkdf2_of_it() {
    // Python: b64encode(hashlib.pbkdf2_hmac("sha256", b"hunter2", b"salt", 4096))
    let salted = salt_password(&Secret::new("hunter2"), b"salt", Mechanism::ScramSha256);
    assert_eq!(STANDARD.encode(salted), "g2tfxtuFNB9nROQSUxQQGp0HAqV9Abs1Gcpe+y2spXA=");
}
