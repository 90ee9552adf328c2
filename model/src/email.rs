//! E-mail addresses that a person typed and that mail will go to.

use crate::words::checked_text;
use email_address::{EmailAddress, Options};
use serde::{Deserialize, Serialize};

const LENGTH: usize = 254;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an e-mail address such as ada@example.com")]
pub struct NoEmail;

/// An address in ASCII without quoted parts, comments and literals: it can
/// stand in a header, a page and a line of a log as it is. A host without a dot
/// is one, for mail on this machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Email(String);

impl Email {
    pub fn parse(text: impl Into<String>) -> Result<Self, NoEmail> {
        let text = text.into();
        let options = Options::default().without_display_text().without_domain_literal();
        let plain =
            text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"()<>,;:\\[]".contains(&byte));
        if text.len() > LENGTH
            || !plain
            || EmailAddress::parse_with_options(&text, options).is_err()
        {
            return Err(NoEmail);
        }
        Ok(Self(text))
    }
}

/// What e-mails are compared by.
pub fn email_key(email: &str) -> String {
    email.to_lowercase()
}

/// The mailbox that mail to an address ends up in, to limit how much goes there:
/// what follows a `+` in the first part makes no other mailbox.
pub fn mailbox_key(email: &str) -> String {
    let key = email_key(email);
    let Some((name, host)) = key.rsplit_once('@') else { return key };
    let name = name.split_once('+').map_or(name, |(name, _)| name);
    format!("{name}@{host}")
}

checked_text!(Email, NoEmail);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_an_address() {
        let check = |text: &str, valid: bool| {
            assert_eq!(Email::parse(text).is_ok(), valid, "{text:?}");
        };
        for good in [
            "ada@example.com",
            "Ada.Lovelace+kafka@mail.example.co.uk",
            "you@localhost",
            "o'brien@xn--bcher-kva.example",
            "=1+1@example.com",
        ] {
            check(good, true);
        }
        for bad in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "ada@@example.com",
            "ada@example..com",
            ".ada@example.com",
            "ada@example.com\r\nBcc: eve@example.com",
            "ada\r\n@example.com",
            "ada@example.com\0",
            " ada@example.com",
            "a da@example.com",
            "Ada <ada@example.com>",
            "\"ada\"@example.com",
            "\"<script>\"@example.com",
            "ada@[127.0.0.1]",
            "ada@example.com,eve@example.com",
            "ada@bücher.example",
            "àda@example.com",
        ] {
            check(bad, false);
        }
        check(&format!("ada@{}example.com", "x.".repeat(130)), false);
        check(&format!("{}@example.com", "x".repeat(65)), false);
    }

    #[test]
    fn case_does_not_tell_addresses_apart() {
        assert_eq!(email_key("Ada@Example.COM"), email_key("ada@example.com"));
    }

    #[test]
    fn a_tag_makes_no_other_mailbox() {
        let check = |email: &str, expected: &str| assert_eq!(mailbox_key(email), expected);
        check("Ada+kafka@Example.com", "ada@example.com");
        check("ada+a+b@example.com", "ada@example.com");
        check("ada@example.com", "ada@example.com");
    }
}
