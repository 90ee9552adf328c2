//! Where servers of this machine may listen, and which networks it is in.

use crate::addresses::{self, AddressMode};
use async_trait::async_trait;
use cloud::{Addresses, NoPlace, Place, Places};
use ipnet::Ipv4Net;
use model::{HostId, Region};
use std::collections::HashSet;
use std::fs;
use uuid::Uuid;

/// The local cloud's addresses, as the operator set them.
#[derive(Clone, Debug)]
pub struct LocalPlaces {
    pub mode: AddressMode,
    /// Keeps the addresses of installations on one machine apart.
    pub installation: Uuid,
    pub host_id: HostId,
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

    #[test]
    fn the_kernels_table_is_read_without_the_default_route() {
        let table = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\n\
                     eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\n\
                     eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\n";
        assert_eq!(networks(table), ["192.168.0.0/24".parse::<Ipv4Net>().unwrap()]);
    }
}
