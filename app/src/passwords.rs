//! Passwords of people: what is taken for one, and how it is kept.
//!
//! Only an Argon2id hash is stored. Hashing takes long on purpose, so it runs
//! apart from everything that answers requests, and few at a time.

use crate::{App, Error, Result};
use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use model::Secret;
use tokio::sync::Semaphore;

const SHORTEST: usize = 12;
const LONGEST: usize = 256;
const SALT: usize = 16;
/// Each takes 19 MiB and a core for a while.
const AT_ONCE: usize = 2;
static HASHING: Semaphore = Semaphore::const_new(AT_ONCE);

/// What is wrong with a password, as a sentence about the field.
pub(crate) fn check(password: &Secret, email: &str) -> std::result::Result<(), String> {
    let length = password.expose().chars().count();
    if length < SHORTEST {
        return Err(format!(
            "must be at least {SHORTEST} characters long; a sentence is a good one"
        ));
    }
    if length > LONGEST {
        return Err(format!("must be at most {LONGEST} characters long"));
    }
    if password.expose().eq_ignore_ascii_case(email) {
        return Err("must not be your e-mail address".into());
    }
    Ok(())
}

/// The hash to store, as a PHC string.
pub async fn hash(app: &App, password: &Secret) -> Result<Secret> {
    let mut salt = [0; SALT];
    app.entropy().fill(&mut salt);
    let password = password.clone();
    let _turn = HASHING.acquire().await.map_err(Error::internal)?;
    let hashed = tokio::task::spawn_blocking(move || {
        let text = password.expose().as_bytes();
        Argon2::default().hash_password_with_salt(text, &salt).map(|hash| hash.to_string())
    });
    let text = hashed.await.map_err(Error::internal)?.map_err(|error| error.to_string());
    text.map(Secret::new).map_err(Error::internal)
}

/// Whether it is the password that was hashed.
pub async fn verify(password: &Secret, hash: &Secret) -> Result<bool> {
    let (password, hash) = (password.clone(), hash.clone());
    let _turn = HASHING.acquire().await.map_err(Error::internal)?;
    let verified = tokio::task::spawn_blocking(move || {
        let hash = PasswordHash::new(hash.expose()).map_err(|error| error.to_string())?;
        Ok::<_, String>(
            Argon2::default().verify_password(password.expose().as_bytes(), &hash).is_ok(),
        )
    });
    verified.await.map_err(Error::internal)?.map_err(Error::internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_for_a_password() {
        let check = |password: &str, expected: &str| {
            let said = check(&Secret::new(password), "ada@example.com").err().unwrap_or_default();
            assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{said}");
        };
        check("correct horse", "");
        check("ünïcödé-wörd", "");
        check("short", "at least 12");
        check("éééééé", "at least 12");
        check(&"x".repeat(256), "");
        check(&"x".repeat(257), "at most 256");
        check("ADA@example.com", "your e-mail");
    }
}
