//! Where servers of this machine may listen, and which networks it is in.

use crate::addresses::{self, AddressMode};
use crate::layout::Layout;
use crate::vpcs;
use async_trait::async_trait;
use cloud::{Addresses, Neighbourhood, NoPlace, Place, Places};
use ipnet::Ipv4Net;
use model::{HostId, Region, VpcId};
use std::collections::HashSet;
use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use uuid::Uuid;

/// The local cloud's addresses, as the operator set them.
#[derive(Clone, Debug)]
pub struct LocalPlaces {
    pub mode: AddressMode,
    /// Keeps the addresses of installations on one machine apart.
    pub installation: Uuid,
    pub host_id: HostId,
    /// None: no server is in a network of its own.
    pub private: Option<PrivatePlaces>,
}

/// Servers of networks made from now on are in namespaces.
#[derive(Clone, Debug)]
pub struct PrivatePlaces {
    /// Where the host's networks are on record.
    pub directory: PathBuf,
    /// Whether the host forwards the places that were proposed.
    pub publishes: bool,
}

impl PrivatePlaces {
    /// Whether servers of this network are in a namespace, or will be.
    fn has(&self, network: VpcId) -> bool {
        Layout::of(&self.directory).is_ok_and(|layout| !vpcs::has_no_namespace(&layout, network))
    }
}

#[async_trait]
impl Places for LocalPlaces {
    async fn propose(
        &self,
        region: &Region,
        taken: &[(String, u16)],
        count: usize,
    ) -> Result<Vec<Place>, NoPlace> {
        let taken: HashSet<(&str, u16)> =
            taken.iter().map(|(host, port)| (host.as_str(), *port)).collect();
        let is_taken = |host: &str, port: u16| taken.contains(&(host, port));
        let found = addresses::propose(&self.mode, self.installation, &is_taken, count)
            .map_err(|error| NoPlace(error.to_string()))?;
        // One machine is one zone, whatever the region is called.
        let zone = &region.region;
        let place =
            |addresses: Addresses| Place { host_id: self.host_id, zone: zone.clone(), addresses };
        Ok(found.into_iter().map(place).collect())
    }

    fn settle(&self, network: Neighbourhood<'_>, mut places: Vec<Place>) -> Vec<Place> {
        let Some(private) = self.private.as_ref().filter(|it| it.has(network.vpc)) else {
            return places;
        };
        let taken = network.taken.iter().filter_map(|it| it.parse().ok());
        let mut taken: HashSet<Ipv4Addr> = taken.collect();
        for place in &mut places {
            // Without one the server can't be made, which its instance's status says then.
            let free = vpcs::free_address(network.subnet, None, |it| taken.contains(&it));
            let Some(address) = free else { break };
            taken.insert(address);
            let published = addresses::published(&place.addresses.listeners);
            let published = private.publishes.then_some(published);
            place.addresses = addresses::private(address, None, published);
        }
        places
    }

    fn host_networks(&self) -> Vec<Ipv4Net> {
        fs::read_to_string("/proc/net/route").map(|table| networks(&table)).unwrap_or_default()
    }
}

/// The networks in the kernel's routing table, without the default route.
fn networks(table: &str) -> Vec<Ipv4Net> {
    table.lines().skip(1).filter_map(network).collect()
}

fn network(line: &str) -> Option<Ipv4Net> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let number = |at: usize| u32::from_str_radix(fields.get(at)?, 16).ok().map(u32::swap_bytes);
    let (destination, mask) = (number(1)?, number(7)?);
    let net = Ipv4Net::with_netmask(destination.into(), mask.into()).ok()?;
    (net.prefix_len() > 0).then_some(net)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(number: u8) -> Addresses {
        let mode = AddressMode::SharedAddress {
            host: "127.0.0.1".into(),
            bind: [127, 0, 0, 1].into(),
            ports: 1..=u16::MAX,
            plaintext: false,
        };
        let taken = |_: &str, port: u16| port < 2000 * u16::from(number);
        addresses::propose(&mode, Uuid::nil(), &taken, 1).unwrap().remove(0)
    }

    #[test]
    fn places_in_a_network_have_its_addresses_and_are_published_where_they_were() {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::make(directory.path()).unwrap();
        let check = |vpc: i64, publishes: bool, expected: [&str; 2]| {
            let host_id = HostId(Uuid::nil());
            let private = PrivatePlaces { directory: directory.path().into(), publishes };
            let places = LocalPlaces {
                mode: AddressMode::Loopback,
                installation: Uuid::nil(),
                host_id,
                private: Some(private),
            };
            let proposed = [1, 2].map(addresses);
            let place = |addresses: &Addresses| Place {
                host_id,
                zone: "a".into(),
                addresses: addresses.clone(),
            };
            let network = Neighbourhood {
                vpc: VpcId(vpc),
                subnet: "10.1.2.0/24".parse().unwrap(),
                taken: &["10.1.2.4".into(), "127.64.0.1".into()],
            };
            let found = places.settle(network, proposed.iter().map(place).collect());
            let private_ips = found.iter().map(|it| it.addresses.private_ip.as_str());
            assert_eq!(private_ips.collect::<Vec<_>>(), expected, "{vpc}");
            for (place, proposed) in found.iter().zip(&proposed) {
                let told = place.addresses.listeners.public_sasl_scram();
                let is_there = told == proposed.listeners.sasl_scram;
                assert_eq!(is_there, publishes || expected[0] == "127.0.0.1", "{told:?}");
            }
        };
        check(7, true, ["10.1.2.5", "10.1.2.6"]);
        check(7, false, ["10.1.2.5", "10.1.2.6"]);
        // One that was made before there were namespaces.
        fs::write(layout.network(VpcId(8)), "10.1.2.0/24").unwrap();
        check(8, true, ["127.0.0.1"; 2]);
        fs::write(layout.vpc(VpcId(8)), "{}").unwrap();
        check(8, true, ["10.1.2.5", "10.1.2.6"]);
    }

    #[test]
    fn the_kernels_table_is_read_without_the_default_route() {
        let table = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\n\
                     eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\n\
                     eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\n";
        assert_eq!(networks(table), ["192.168.0.0/24".parse::<Ipv4Net>().unwrap()]);
    }
}
