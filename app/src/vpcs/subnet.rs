//! A network's address range: the one asked for, if it is free, or a free one
//! of the pool.

use ipnet::Ipv4Net;
use model::Subnet;

/// What a new range must keep clear of.
pub struct Occupied {
    pub vpcs: Vec<Subnet>,
    pub host_networks: Vec<Ipv4Net>,
}

impl Occupied {
    /// Why the range can't be used, as a sentence about the field.
    pub fn refuse(&self, subnet: Subnet) -> Option<String> {
        if let Some(vpc) = self.vpcs.iter().find(|vpc| vpc.overlaps(subnet)) {
            return Some(format!("overlaps {vpc}, the subnet of a VPC you have"));
        }
        let host = self.host_networks.iter().find(|host| overlap(**host, subnet.net()))?;
        Some(format!("overlaps {host}, a network of the servers' host"))
    }

    /// The first free /24 of the pool.
    pub fn first_free(&self, pool: Ipv4Net) -> Option<Subnet> {
        let length = pool.prefix_len().max(24);
        pool.subnets(length)
            .ok()?
            .filter_map(|net| net.to_string().parse::<Subnet>().ok())
            .find(|subnet| self.refuse(*subnet).is_none())
    }
}

fn overlap(a: Ipv4Net, b: Ipv4Net) -> bool {
    a.contains(&b.network()) || b.contains(&a.network())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn occupied() -> Occupied {
        Occupied {
            vpcs: vec!["10.192.0.0/24".parse().unwrap(), "10.192.2.16/28".parse().unwrap()],
            host_networks: vec!["10.192.1.0/30".parse().unwrap(), "172.17.0.0/16".parse().unwrap()],
        }
    }

    #[test]
    fn a_range_that_overlaps_is_refused_with_what_it_overlaps() {
        let check = |subnet: &str, expected: Option<&str>| {
            let refused = occupied().refuse(subnet.parse().unwrap());
            match expected {
                None => assert_eq!(refused, None, "{subnet}"),
                Some(text) => assert!(refused.unwrap().contains(text), "{subnet}"),
            }
        };
        check("10.192.3.0/24", None);
        check("10.192.0.0/16", Some("10.192.0.0/24"));
        check("10.192.0.64/28", Some("10.192.0.0/24"));
        check("172.17.3.0/24", Some("172.17.0.0/16"));
    }

    #[test]
    fn the_pool_gives_the_first_range_that_overlaps_nothing() {
        let pool = "10.192.0.0/12".parse().unwrap();
        assert_eq!(occupied().first_free(pool).unwrap().to_string(), "10.192.3.0/24");
        assert!(occupied().first_free("10.192.0.0/24".parse().unwrap()).is_none());
    }
}
