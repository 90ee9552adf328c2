//! A VPC's address range.

use crate::words::written_as_text;
use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Why a range is refused, as a sentence about the field.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubnetError {
    #[error("must be an IPv4 range in CIDR notation, such as 10.56.72.0/24")]
    Syntax,
    #[error("must lie inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16")]
    NotPrivate,
    #[error("must be between /16 and /28")]
    Size,
    #[error("has host bits set; the range that holds it is {0}")]
    HostBits(Ipv4Net),
}

/// RFC 1918, /16 to /28, host bits zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Subnet(Ipv4Net);

impl Subnet {
    pub fn overlaps(self, other: Subnet) -> bool {
        self.0.contains(&other.0.network()) || other.0.contains(&self.0.network())
    }

    pub fn net(self) -> Ipv4Net {
        self.0
    }
}

impl FromStr for Subnet {
    type Err = SubnetError;
    fn from_str(text: &str) -> Result<Self, SubnetError> {
        let net: Ipv4Net = text.parse().map_err(|_| SubnetError::Syntax)?;
        // Written otherwise, as with leading zeros, it may mean another one.
        if net.to_string() != text {
            return Err(SubnetError::Syntax);
        }
        let private = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]
            .map(|range| range.parse::<Ipv4Net>().expect("the three ranges of RFC 1918 parse"));
        if !private.iter().any(|range| range.contains(&net.addr())) {
            return Err(SubnetError::NotPrivate);
        }
        if !(16..=28).contains(&net.prefix_len()) {
            return Err(SubnetError::Size);
        }
        if net.addr() != net.network() {
            return Err(SubnetError::HostBits(net.trunc()));
        }
        Ok(Self(net))
    }
}

written_as_text!(Subnet);

impl fmt::Display for Subnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let check = |text: &str, expected: Result<(), SubnetError>| {
            assert_eq!(text.parse::<Subnet>().map(drop), expected, "{text}");
        };
        check("10.56.72.0/24", Ok(()));
        check("172.31.0.0/16", Ok(()));
        check("192.168.1.16/28", Ok(()));
        check("8.8.8.0/24", Err(SubnetError::NotPrivate));
        check("172.32.0.0/16", Err(SubnetError::NotPrivate));
        check("10.0.0.0/8", Err(SubnetError::Size));
        check("10.0.0.0/29", Err(SubnetError::Size));
        check("10.0.0.1/24", Err(SubnetError::HostBits("10.0.0.0/24".parse().unwrap())));
        check("10.0.0.0", Err(SubnetError::Syntax));
        check("010.3.0.0/24", Err(SubnetError::Syntax));
        check("fd00::/64", Err(SubnetError::Syntax));
    }

    #[test]
    fn overlap_is_symmetric() {
        let wide: Subnet = "10.1.0.0/16".parse().unwrap();
        let inside: Subnet = "10.1.7.0/24".parse().unwrap();
        let beside: Subnet = "10.2.0.0/24".parse().unwrap();
        assert!(wide.overlaps(inside) && inside.overlaps(wide));
        assert!(!wide.overlaps(beside) && !beside.overlaps(wide));
    }
}
