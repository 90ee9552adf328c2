//! Codes of six digits, as authenticator apps make them (RFC 6238), and recovery codes.

use crate::{App, Error, Result};
use model::{Secret, Timestamp};
use totp_rs::{Builder, Secret as Seed, Totp};

/// As apps show it beside the e-mail.
const ISSUER: &str = "Castellan";
const RECOVERY_CODES: usize = 10;
/// Without letters and digits that are taken for each other.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// 80 bits: nobody finds one by its hash.
const LENGTH: usize = 16;
const GROUP: usize = 4;

/// What codes are made from: 160 random bits, in base32.
pub(super) fn new_seed(app: &App) -> Secret {
    let mut bytes = [0; 20];
    app.entropy().fill(&mut bytes);
    Secret::new(Seed::new_stack(bytes).to_base32())
}

/// What an app reads from a QR code.
pub(super) fn uri(seed: &Secret, email: &str) -> Result<Secret> {
    // The one character that a label can't hold.
    let email = email.replace(':', "");
    let uri = totp(seed, &email)?.to_url().map_err(Error::internal)?;
    Ok(Secret::new(uri))
}

/// The step of 30 seconds that a code is of, if it is one of now or of the steps beside that.
pub(super) fn step_of(seed: &Secret, code: &str, now: Timestamp) -> Result<Option<i64>> {
    let seconds = u64::try_from(now.as_second()).unwrap_or_default();
    let step = totp(seed, "x")?.check(code, seconds);
    Ok(step.and_then(|step| i64::try_from(step).ok()))
}

fn totp(seed: &Secret, account: &str) -> Result<Totp> {
    let seed = Seed::try_from_base32(seed.expose()).map_err(Error::internal)?;
    let builder = Builder::new().with_secret(seed).with_issuer(Some(ISSUER));
    builder.with_account_name(account).build().map_err(Error::internal)
}

/// Ten of them, as they are shown.
pub(super) fn new_recovery_codes(app: &App) -> Vec<Secret> {
    (0..RECOVERY_CODES).map(|_| new_recovery_code(app)).collect()
}

fn new_recovery_code(app: &App) -> Secret {
    let mut bytes = [0; LENGTH];
    app.entropy().fill(&mut bytes);
    let letters = bytes.map(|byte| char::from(ALPHABET[usize::from(byte) % ALPHABET.len()]));
    let groups: Vec<String> = letters.chunks(GROUP).map(|group| group.iter().collect()).collect();
    Secret::new(groups.join("-"))
}

/// A code as it was typed: of six digits, or a recovery code as it is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Code {
    Digits(String),
    Recovery(Secret),
}

impl Code {
    pub fn read(text: &str) -> Self {
        let plain: String =
            text.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect();
        if plain.len() == 6 && plain.bytes().all(|byte| byte.is_ascii_digit()) {
            Self::Digits(plain)
        } else {
            Self::Recovery(Secret::new(plain))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6238, appendix B, with the last six of its eight digits.
    #[test]
    fn codes_are_those_of_the_rfc() {
        let seed = Secret::new(Seed::new_stack(*b"12345678901234567890").to_base32());
        let check = |code: &str, second: i64, expected: Option<i64>| {
            let at = Timestamp::from_second(second).unwrap();
            assert_eq!(step_of(&seed, code, at).unwrap(), expected, "{code} {second}");
        };
        check("287082", 59, Some(1));
        check("081804", 1_111_111_109, Some(37_037_036));
        check("050471", 1_111_111_111, Some(37_037_037));
        check("005924", 1_234_567_890, Some(41_152_263));
        check("279037", 2_000_000_000, Some(66_666_666));
        // One step early and late is let pass, and no more.
        check("279037", 2_000_000_000 + 30, Some(66_666_666));
        check("279037", 2_000_000_000 - 30, Some(66_666_666));
        check("279037", 2_000_000_000 + 60, None);
        check("279037", 2_000_000_000 - 60, None);
        check("279038", 2_000_000_000, None);
        check("", 2_000_000_000, None);
        check("27903", 2_000_000_000, None);
    }

    #[test]
    fn an_app_reads_what_it_needs() {
        let seed = Secret::new(Seed::new_stack(*b"12345678901234567890").to_base32());
        let uri = uri(&seed, "ada@example.com").unwrap();
        assert_eq!(
            uri.expose(),
            "otpauth://totp/Castellan:ada%40example.com?\
             secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Castellan"
        );
    }

    #[test]
    fn codes_are_read_however_they_are_typed() {
        let check = |text: &str, expected: Code| assert_eq!(Code::read(text), expected, "{text:?}");
        let recovery = |text: &str| Code::Recovery(Secret::new(text));
        check("123456", Code::Digits("123456".into()));
        check(" 123 456\n", Code::Digits("123456".into()));
        check("ABCD-efgh-2345-6789", recovery("abcdefgh23456789"));
        check("abcd efgh 2345 6789", recovery("abcdefgh23456789"));
        check("12345", recovery("12345"));
        check("", recovery(""));
        check("١٢٣٤٥٦", recovery("١٢٣٤٥٦"));
    }
}
