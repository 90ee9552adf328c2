//! Certificates that clients of a cluster log in with.

use crate::{Timestamp, UserName};
use std::fmt;
use std::str::FromStr;

/// What an instance's client authority has signed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    pub serial: Serial,
    /// The user that its holder is.
    pub cn: UserName,
    pub issued_at: Timestamp,
    pub expires_at: Timestamp,
    /// From then on brokers refuse it.
    pub revoked_at: Option<Timestamp>,
}

/// What tells a certificate from all others of its authority: 128 bits in hex,
/// lower case.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Serial(String);

const DIGITS: usize = 32;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 32 hexadecimal digits")]
pub struct NoSerial;

impl Serial {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Serial {
    type Err = NoSerial;

    /// As it is printed by us, by openssl and by keytool: in any case, with or
    /// without colons.
    fn from_str(text: &str) -> Result<Self, NoSerial> {
        let digits = text.replace(':', "").to_ascii_lowercase();
        if digits.len() != DIGITS || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(NoSerial);
        }
        Ok(Self(digits))
    }
}

impl fmt::Display for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_serial_is_read_as_tools_print_it() {
        let plain = "4f1c0000000000000000000000000a7b";
        let check = |text: &str, expected: Option<&str>| {
            let serial = text.parse::<Serial>().ok();
            assert_eq!(serial.as_ref().map(Serial::as_str), expected, "{text:?}");
        };
        check(plain, Some(plain));
        check(&plain.to_uppercase(), Some(plain));
        check("4F:1C:00:00:00:00:00:00:00:00:00:00:00:00:0A:7B", Some(plain));
        for bad in ["", "7", "4f1c", &plain[1..], &format!("{plain}0"), &plain.replace('4', "g")] {
            check(bad, None);
        }
    }
}
