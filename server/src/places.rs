//! Where servers of this machine may listen, for the use case that creates.

use crate::room::Room;
use anyhow::Result;
use app::{NoRoom, Placement, Places};
use async_trait::async_trait;
use cloud_local::addresses::{self, AddressMode};
use ipnet::Ipv4Net;
use model::{HostId, Plan, Region};
use std::collections::HashSet;
use std::fs;
use uuid::Uuid;

/// The local cloud's addresses, as the operator set them.
pub struct LocalPlaces {
    mode: AddressMode,
    /// Keeps the addresses of installations on one machine apart.
    installation: Uuid,
    host_id: HostId,
    /// None: whether there is room is not asked.
    room: Option<Room>,
}

impl LocalPlaces {
    pub fn new(mode: AddressMode, installation: Uuid, host_id: HostId) -> Self {
        Self { mode, installation, host_id, room: None }
    }

    /// From here on, only what the host can hold is given a place.
    pub fn within(self, room: Room) -> Self {
        Self { room: Some(room), ..self }
    }
}

#[async_trait]
impl Places for LocalPlaces {
    async fn check_room(&self, plan: &Plan, disk_gb: u32) -> Result<(), NoRoom> {
        match &self.room {
            Some(room) => room.check(plan, disk_gb).await,
            None => Ok(()),
        }
    }

    async fn propose(
        &self,
        region: &Region,
        taken: &[(String, u16)],
        plan: &Plan,
    ) -> Result<Vec<Placement>, NoRoom> {
        let taken: HashSet<(&str, u16)> =
            taken.iter().map(|(host, port)| (host.as_str(), *port)).collect();
        let count = plan.nodes as usize;
        let is_taken = |host: &str, port: u16| taken.contains(&(host, port));
        let placements = addresses::propose(&self.mode, self.installation, &is_taken, count)
            .map_err(|error| NoRoom::Refused(error.to_string()))?;
        let place = |placement: addresses::Placement| Placement {
            host_id: self.host_id,
            // One machine is one zone, whatever the region is called.
            zone: region.region.clone(),
            private_ip: placement.private_ip,
            listeners: placement.listeners,
        };
        Ok(placements.into_iter().map(place).collect())
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
    use crate::installation::{self, Opened};
    use crate::testing::TestInstallation;
    use app::instances::{NewInstance, create};
    use app::{App, Asked, Source, SourceKind};
    use model::{Catalogue, OsEntropy, SystemClock};
    use std::sync::{Arc, Mutex};

    /// Has room for nothing, and notes for what it was asked.
    #[derive(Default)]
    struct Full(Mutex<Vec<String>>);

    #[async_trait]
    impl Places for Full {
        async fn check_room(&self, plan: &Plan, disk_gb: u32) -> Result<(), NoRoom> {
            self.0.lock().unwrap().push(format!("{} with {disk_gb} GB", plan.name));
            Err(NoRoom::Refused("7 of 8 MiB are promised to 3 servers".into()))
        }

        async fn propose(
            &self,
            _: &Region,
            _: &[(String, u16)],
            _: &Plan,
        ) -> Result<Vec<Placement>, NoRoom> {
            Err(NoRoom::Refused("there is no place in this test".into()))
        }

        fn host_networks(&self) -> Vec<Ipv4Net> {
            Vec::new()
        }
    }

    #[tokio::test]
    async fn room_is_asked_for_disks_of_the_size_that_they_get() {
        let here = TestInstallation::make(None).await;
        let Opened { store, installation, .. } =
            installation::open(&here.data, None).await.unwrap();
        let full = Arc::new(Full::default());
        let app = App::new(app::Parts {
            store,
            admin: crate::control_plane::admin(),
            catalogue: Arc::new(Catalogue::built_in()),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
            places: full.clone(),
            destinations: Arc::new(app::Anywhere),
            settings: app::Settings::default(),
            installation,
        });
        let key = here.data.load_customer_key().unwrap();
        let source = Source { kind: SourceKind::Cli, address: None };
        let caller = app::apikeys::authenticate(source, &app, &key).await.unwrap();
        for (disk_size, expected) in [(None, 25), (Some(10), 25), (Some(400), 400)] {
            let new = NewInstance {
                name: Some("orders".into()),
                plan: Some("mouse-3".into()),
                region: Some("local::this-machine".into()),
                disk_size,
                ..NewInstance::default()
            };
            let refused = create(&caller, &app, Asked::given(new)).await.unwrap_err();
            let refused = refused.to_string();
            assert!(refused.starts_with("This region has no room for that plan now"), "{refused}");
            assert!(!refused.contains("MiB"), "a customer hears nothing of the host: {refused}");
            let asked = full.0.lock().unwrap().pop();
            assert_eq!(asked, Some(format!("mouse-3 with {expected} GB")));
        }
    }

    #[test]
    fn the_kernels_table_is_read_without_the_default_route() {
        let table = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\n\
                     eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\n\
                     eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\n";
        assert_eq!(networks(table), ["192.168.0.0/24".parse::<Ipv4Net>().unwrap()]);
    }
}
