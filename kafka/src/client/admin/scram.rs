//! Users with passwords: AlterUserScramCredentials and its reading.

use crate::client::ask::until_readable;
use crate::client::error::check;
use crate::client::{Call, Connection, Error, Mechanism};
use kafka_protocol::ResponseError;
use kafka_protocol::messages::alter_user_scram_credentials_request::{
    ScramCredentialDeletion, ScramCredentialUpsertion,
};
use kafka_protocol::messages::describe_user_scram_credentials_request::UserName;
use kafka_protocol::messages::{
    AlterUserScramCredentialsRequest, DescribeUserScramCredentialsRequest,
};
use kafka_protocol::protocol::StrBytes;
use model::{Entropy, Secret};
use pbkdf2::pbkdf2_hmac;
use sha2::{Sha256, Sha512};

/// Kafka's least. Our passwords are 190 random bits, which no number of rounds
/// makes harder to guess, and every login of every client pays for them.
const ITERATIONS: u16 = 4096;
const SALT_BYTES: usize = 24;

/// Makes users, or changes their passwords, for every mechanism.
pub struct SetUsers<'a> {
    /// Each name once, with the password.
    pub users: &'a [(&'a str, &'a Secret)],
    pub entropy: &'a dyn Entropy,
}

impl Call for SetUsers<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        // Kafka alters a user once in a request, so each mechanism has its own.
        // Between the two the passwords may differ; a repeat mends that.
        for mechanism in Mechanism::ALL {
            let credential =
                |(user, password): &(&str, &Secret)| self.credential(user, password, mechanism);
            let request = AlterUserScramCredentialsRequest::default()
                .with_upsertions(self.users.iter().map(credential).collect());
            let answer = connection.call(&request).await?;
            for result in &answer.results {
                let message = result.error_message.as_ref();
                check("AlterUserScramCredentials", &result.user, result.error_code, message)?;
            }
        }
        let is_shown_by = |known: Vec<Mechanism>| known.len() == Mechanism::ALL.len();
        // Those of one request are readable together.
        let Some((user, _)) = self.users.last() else { return Ok(()) };
        let what = format!("user {user}");
        until_readable(connection, &what, &DescribeUser { user }, is_shown_by).await
    }
}

impl SetUsers<'_> {
    /// Kafka is sent the salted password, never the password.
    fn credential(
        &self,
        user: &str,
        password: &Secret,
        mechanism: Mechanism,
    ) -> ScramCredentialUpsertion {
        let mut salt = [0; SALT_BYTES];
        self.entropy.fill(&mut salt);
        let salted = salt_password(password, &salt, mechanism);
        ScramCredentialUpsertion::default()
            .with_name(StrBytes::from_string(user.to_owned()))
            .with_mechanism(code(mechanism))
            .with_iterations(ITERATIONS.into())
            .with_salt(salt.to_vec().into())
            .with_salted_password(salted.into())
    }
}

fn salt_password(password: &Secret, salt: &[u8], mechanism: Mechanism) -> Vec<u8> {
    let password = password.expose().as_bytes();
    match mechanism {
        Mechanism::ScramSha256 => {
            let mut salted = vec![0; 32];
            pbkdf2_hmac::<Sha256>(password, salt, ITERATIONS.into(), &mut salted);
            salted
        }
        Mechanism::ScramSha512 => {
            let mut salted = vec![0; 64];
            pbkdf2_hmac::<Sha512>(password, salt, ITERATIONS.into(), &mut salted);
            salted
        }
    }
}

fn code(mechanism: Mechanism) -> i8 {
    match mechanism {
        Mechanism::ScramSha256 => 1,
        Mechanism::ScramSha512 => 2,
    }
}

/// The mechanisms a user can log in with; none if there is no such user.
pub struct DescribeUser<'a> {
    pub user: &'a str,
}

impl Call for DescribeUser<'_> {
    type Answer = Vec<Mechanism>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<Mechanism>, Error> {
        const CALL: &str = "DescribeUserScramCredentials";
        let user = UserName::default().with_name(StrBytes::from_string(self.user.to_owned()));
        let request = DescribeUserScramCredentialsRequest::default().with_users(Some(vec![user]));
        let answer = connection.call(&request).await?;
        check(CALL, self.user, answer.error_code, answer.error_message.as_ref())?;
        let Some(found) = answer.results.iter().find(|result| result.user == *self.user) else {
            return Ok(Vec::new());
        };
        if found.error_code == ResponseError::ResourceNotFound.code() {
            return Ok(Vec::new());
        }
        check(CALL, self.user, found.error_code, found.error_message.as_ref())?;
        let has =
            |mechanism| found.credential_infos.iter().any(|info| info.mechanism == code(mechanism));
        Ok(Mechanism::ALL.into_iter().filter(|mechanism| has(*mechanism)).collect())
    }
}

/// Everybody who has a password, by name.
pub struct ListUsers;

impl Call for ListUsers {
    type Answer = Vec<String>;

    async fn run(&self, connection: &mut Connection) -> Result<Vec<String>, Error> {
        const CALL: &str = "DescribeUserScramCredentials";
        let request = DescribeUserScramCredentialsRequest::default().with_users(None);
        let answer = connection.call(&request).await?;
        check(CALL, "everybody", answer.error_code, answer.error_message.as_ref())?;
        let mut names: Vec<String> =
            answer.results.iter().map(|result| result.user.to_string()).collect();
        names.sort();
        Ok(names)
    }
}

/// Removes a user, if it is there.
pub struct RemoveUser<'a> {
    pub user: &'a str,
}

impl Call for RemoveUser<'_> {
    type Answer = ();

    async fn run(&self, connection: &mut Connection) -> Result<(), Error> {
        for mechanism in Mechanism::ALL {
            let credential = ScramCredentialDeletion::default()
                .with_name(StrBytes::from_string(self.user.to_owned()))
                .with_mechanism(code(mechanism));
            let request =
                AlterUserScramCredentialsRequest::default().with_deletions(vec![credential]);
            let answer = connection.call(&request).await?;
            for result in &answer.results {
                // Somebody was faster, or only one mechanism was there.
                if result.error_code != ResponseError::ResourceNotFound.code() {
                    let message = result.error_message.as_ref();
                    check("AlterUserScramCredentials", &result.user, result.error_code, message)?;
                }
            }
        }
        let what = format!("the removal of user {}", self.user);
        let question = DescribeUser { user: self.user };
        until_readable(connection, &what, &question, |known| known.is_empty()).await
    }
}

#[cfg(test)]
mod tests;
