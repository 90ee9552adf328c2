//! A network's address range: the one asked for, if it is free, or a free one
//! of the pool.

use ipnet::Ipv4Net;
use model::Subnet;
use std::net::Ipv4Addr;
use store::vpcs::TakenSubnet;

/// What a new range must keep clear of.
pub struct Occupied {
    pub vpcs: Vec<TakenSubnet>,
    pub host_networks: Vec<Ipv4Net>,
}

impl Occupied {
    /// Why the range can't be used, as a sentence about the field. The customer's own
    /// networks are named, and those of the host are not.
    pub fn refuse(&self, subnet: Subnet) -> Option<String> {
        if let Some(taken) = self.vpcs.iter().find(|taken| taken.subnet.overlaps(subnet)) {
            let of = if taken.is_deleted {
                "a VPC that was deleted and is still being removed; try again in a moment"
            } else {
                "a VPC you have"
            };
            return Some(format!("overlaps {}, the subnet of {of}", taken.subnet));
        }
        let host = self.host_networks.iter().find(|host| overlap(**host, subnet.net()))?;
        tracing::info!(%subnet, %host, "a subnet overlaps a network of the host");
        Some("is not free here; choose another".into())
    }

    /// The first free /24 of the pool. Takes one look at each range that is
    /// occupied, because this runs while nobody else can write.
    pub fn first_free(&self, pool: Ipv4Net) -> Option<Subnet> {
        let length = pool.prefix_len().max(24);
        let size = u64::from(u32::MAX >> length) + 1;
        let end = u64::from(pool.broadcast().to_bits());
        let mut start = u64::from(pool.network().to_bits());
        for (first, last) in self.ranges() {
            if last < start {
                continue;
            }
            if first >= start + size {
                break;
            }
            // All of them are aligned to their size, and so is the next one.
            start = (last / size + 1) * size;
        }
        let fits = start + size - 1 <= end;
        let address = Ipv4Addr::from_bits(u32::try_from(start).ok().filter(|_| fits)?);
        format!("{address}/{length}").parse().ok()
    }

    /// First and last address of everything that is occupied, in order.
    fn ranges(&self) -> Vec<(u64, u64)> {
        let vpcs = self.vpcs.iter().map(|taken| taken.subnet.net());
        let range = |net: Ipv4Net| {
            (u64::from(net.network().to_bits()), u64::from(net.broadcast().to_bits()))
        };
        let mut ranges: Vec<_> =
            vpcs.chain(self.host_networks.iter().copied()).map(range).collect();
        ranges.sort_unstable();
        ranges
    }
}

fn overlap(a: Ipv4Net, b: Ipv4Net) -> bool {
    a.contains(&b.network()) || b.contains(&a.network())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(subnet: &str) -> TakenSubnet {
        TakenSubnet { subnet: subnet.parse().unwrap(), is_deleted: false }
    }

    fn occupied() -> Occupied {
        Occupied {
            vpcs: vec![
                taken("10.192.0.0/24"),
                taken("10.192.2.16/28"),
                TakenSubnet { is_deleted: true, ..taken("10.195.0.0/24") },
            ],
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
        check("10.192.0.64/28", Some("10.192.0.0/24, the subnet of a VPC you have"));
        check("10.195.0.0/24", Some("10.195.0.0/24, the subnet of a VPC that was deleted"));
        check("172.17.3.0/24", Some("is not free here; choose another"));
    }

    #[test]
    fn the_pool_gives_the_first_range_that_overlaps_nothing() {
        let pool = "10.192.0.0/12".parse().unwrap();
        assert_eq!(occupied().first_free(pool).unwrap().to_string(), "10.192.3.0/24");
        assert!(occupied().first_free("10.192.0.0/24".parse().unwrap()).is_none());
        let nothing = Occupied { vpcs: vec![], host_networks: vec![] };
        assert_eq!(nothing.first_free(pool).unwrap().to_string(), "10.192.0.0/24");
        let small = "10.9.9.16/28".parse().unwrap();
        assert_eq!(nothing.first_free(small).unwrap().to_string(), "10.9.9.16/28");
        // The host is everywhere.
        let everything = vec!["0.0.0.0/1".parse().unwrap()];
        let full = Occupied { vpcs: vec![], host_networks: everything };
        assert!(full.first_free(pool).is_none());
        assert!(full.first_free("255.255.255.0/24".parse().unwrap()).is_none(), "not private");
    }

    #[test]
    fn what_the_pool_gives_is_what_looking_at_each_range_would_find() {
        let pool: Ipv4Net = "10.192.0.0/20".parse().unwrap();
        let entropy = model::SeededEntropy::new(5);
        for _ in 0..300 {
            let mut dice = [0; 24];
            model::Entropy::fill(&entropy, &mut dice);
            let net = |pair: &[u8]| {
                let length = 20 + pair[0] % 9;
                let address = u32::from(pair[1] % 16) << 8 | u32::from(pair[0]);
                let base = Ipv4Addr::from_bits(0x0ac0_0000 | address);
                Ipv4Net::new(base, length).unwrap().trunc()
            };
            let nets: Vec<Ipv4Net> = dice.chunks(2).map(net).collect();
            let occupied = Occupied {
                vpcs: nets[..6].iter().map(|net| taken(&net.to_string())).collect(),
                host_networks: nets[6..].to_vec(),
            };
            let one_by_one = pool
                .subnets(24)
                .unwrap()
                .map(|net| net.to_string().parse::<Subnet>().unwrap())
                .find(|subnet| occupied.refuse(*subnet).is_none());
            assert_eq!(occupied.first_free(pool), one_by_one, "{nets:?}");
        }
    }
}
