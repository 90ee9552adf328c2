//! The one source of randomness, and the things we make from it.

use crate::Secret;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Mutex;
use uuid::Uuid;

const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
const LOWER_LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
/// 64 characters, so that six random bits pick one without bias.
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// Fills buffers with unpredictable bytes.
pub trait Entropy: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);

    fn uuid(&self) -> Uuid {
        let mut bytes = [0; 16];
        self.fill(&mut bytes);
        uuid::Builder::from_random_bytes(bytes).into_uuid()
    }

    /// A broker credential name: 8 lowercase alphanumerics. It starts with a
    /// letter, because it is also the first label of a host name.
    fn username(&self) -> String {
        let mut name = pick(self, LOWER_LETTERS, 1);
        name.push_str(&pick(self, LOWER, 7));
        name
    }

    /// A broker password: 32 of `[A-Za-z0-9_-]`.
    fn password(&self) -> Secret {
        Secret::new(pick_argument(self, 32))
    }

    /// An API key or token of 256 bits, as 43 URL-safe characters.
    fn key(&self) -> Secret {
        Secret::new(pick_argument(self, 43))
    }
}

/// URL-safe characters that no command line takes for an option.
fn pick_argument<E: Entropy + ?Sized>(entropy: &E, length: usize) -> String {
    loop {
        let text = pick(entropy, URL_SAFE, length);
        if !text.starts_with('-') {
            return text;
        }
    }
}

fn pick<E: Entropy + ?Sized>(entropy: &E, alphabet: &[u8], length: usize) -> String {
    // Bytes past the last whole multiple of the alphabet are thrown away: the
    // remainder would favour its first letters.
    let limit = 256 - 256 % alphabet.len();
    let mut text = String::with_capacity(length);
    let mut bytes = [0; 64];
    while text.len() < length {
        entropy.fill(&mut bytes);
        for byte in bytes.map(usize::from) {
            if byte < limit && text.len() < length {
                text.push(char::from(alphabet[byte % alphabet.len()]));
            }
        }
    }
    text
}

/// A UUID as Kafka writes it: URL-safe base64 without padding, and never with
/// a leading `-`, which Kafka's own tools take for an option.
pub fn kafka_uuid<E: Entropy + ?Sized>(entropy: &E) -> String {
    loop {
        let id = URL_SAFE_NO_PAD.encode(entropy.uuid());
        if !id.starts_with('-') {
            return id;
        }
    }
}

/// The operating system's generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    #[expect(clippy::disallowed_methods, reason = "this is randomness' one home")]
    fn fill(&self, bytes: &mut [u8]) {
        rand::rng().fill_bytes(bytes);
    }
}

/// The same bytes for the same seed, for tests.
#[derive(Debug)]
pub struct SeededEntropy(Mutex<StdRng>);

impl SeededEntropy {
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }
}

impl Entropy for SeededEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.lock().expect("no holder of this lock panics").fill_bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kafka_uuid_is_no_option() {
        let entropy = SeededEntropy::new(7);
        for _ in 0..500 {
            let id = kafka_uuid(&entropy);
            assert_eq!(id.len(), 22);
            assert!(!id.starts_with('-'), "{id}");
        }
    }

    #[test]
    fn names_and_passwords_have_the_promised_shape() {
        let entropy = SeededEntropy::new(7);
        for _ in 0..200 {
            let name = entropy.username();
            assert_eq!(name.len(), 8);
            assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
            assert!(name.bytes().all(|b| LOWER.contains(&b)), "{name}");
            let password = entropy.password();
            assert_eq!(password.expose().len(), 32);
            assert!(password.expose().bytes().all(|b| URL_SAFE.contains(&b)));
            for secret in [password, entropy.key()] {
                assert!(!secret.expose().starts_with('-'), "a command line takes it for an option");
            }
        }
    }
}
