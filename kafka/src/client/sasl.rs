//! SCRAM login on a fresh connection.
//!
//! The exchange itself is rsasl's; it also checks that the broker knows the
//! password, so a stranger who answers "welcome" is found out.

use super::{Connection, Error};
use bytes::Bytes;
use kafka_protocol::ResponseError;
use kafka_protocol::messages::{SaslAuthenticateRequest, SaslHandshakeRequest};
use kafka_protocol::protocol::StrBytes;
use model::{Secret, words};
use rsasl::callback::{Context, Request, SessionCallback, SessionData};
use rsasl::mechanisms::scram::{SCRAM_SHA256, SCRAM_SHA512};
use rsasl::prelude::{
    Mechanism as SaslMechanism, Mechname, Registry, SASLClient, SASLConfig, Session, SessionError,
};
use rsasl::property::{AuthId, Password};
use serde::{Deserialize, Serialize};

static MECHANISMS: &[SaslMechanism] = &[SCRAM_SHA256, SCRAM_SHA512];

words! {
    #[derive(Serialize, Deserialize)]
    pub enum Mechanism {
        #[serde(rename = "SCRAM-SHA-256")]
        ScramSha256 = "SCRAM-SHA-256",
        #[serde(rename = "SCRAM-SHA-512")]
        ScramSha512 = "SCRAM-SHA-512",
    }
}

/// Logs in. Until this is done the broker answers no other call.
pub async fn log_in(
    connection: &mut Connection,
    username: &str,
    password: &Secret,
    mechanism: Mechanism,
) -> Result<(), Error> {
    shake_hands(connection, mechanism).await?;
    let unproven = |connection: &Connection, reason: String| Error::Unproven {
        endpoint: connection.endpoint().clone(),
        username: username.to_owned(),
        reason,
    };
    let mut session =
        session(username, password, mechanism).map_err(|reason| unproven(connection, reason))?;
    let mut received: Option<Bytes> = None;
    loop {
        let mut ours = Vec::new();
        let state = session
            .step(received.as_deref(), &mut ours)
            .map_err(|error| unproven(connection, in_words(&error)))?;
        if state.is_finished() && !state.has_sent_message() {
            return Ok(());
        }
        received = Some(authenticate(connection, username, ours).await?);
    }
}

async fn shake_hands(connection: &mut Connection, mechanism: Mechanism) -> Result<(), Error> {
    let request = SaslHandshakeRequest::default()
        .with_mechanism(StrBytes::from_static_str(mechanism.as_str()));
    let answer = connection.call(&request).await?;
    if answer.error_code == 0 {
        return Ok(());
    }
    Err(Error::MechanismNotOffered {
        endpoint: connection.endpoint().clone(),
        mechanism,
        offered: answer.mechanisms.iter().map(ToString::to_string).collect(),
    })
}

async fn authenticate(
    connection: &mut Connection,
    username: &str,
    ours: Vec<u8>,
) -> Result<Bytes, Error> {
    let request = SaslAuthenticateRequest::default().with_auth_bytes(ours.into());
    let answer = connection.call(&request).await?;
    if ResponseError::try_from_code(answer.error_code)
        == Some(ResponseError::SaslAuthenticationFailed)
    {
        return Err(Error::WrongPassword {
            endpoint: connection.endpoint().clone(),
            username: username.to_owned(),
            reason: answer.error_message.unwrap_or_default().to_string(),
        });
    }
    super::error::check(
        "SaslAuthenticate",
        username,
        answer.error_code,
        answer.error_message.as_ref(),
    )?;
    Ok(answer.auth_bytes)
}

struct Credentials {
    username: String,
    password: Secret,
}

impl SessionCallback for Credentials {
    fn callback(
        &self,
        _: &SessionData,
        _: &Context<'_>,
        request: &mut Request<'_>,
    ) -> Result<(), SessionError> {
        request
            .satisfy::<AuthId>(&self.username)?
            .satisfy::<Password>(self.password.expose().as_bytes())?;
        Ok(())
    }
}

fn session(username: &str, password: &Secret, mechanism: Mechanism) -> Result<Session, String> {
    let credentials = Credentials { username: username.to_owned(), password: password.clone() };
    let config = SASLConfig::builder()
        .with_registry(Registry::with_mechanisms(MECHANISMS))
        .with_callback(credentials)
        .map_err(|error| error.to_string())?;
    let name = Mechname::parse(mechanism.as_str().as_bytes()).map_err(|error| error.to_string())?;
    SASLClient::new(config).start_suggested_iter([name]).map_err(|error| error.to_string())
}

fn in_words(error: &SessionError) -> String {
    match error {
        SessionError::MutualAuthenticationFailed => "its signature is wrong".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
