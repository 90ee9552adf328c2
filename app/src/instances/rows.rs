//! The rows of new servers, the same for a create and for a cluster that grows.

use crate::{App, Place};
use model::agent::FIRST_GENERATION;
use model::{
    Disk, DiskId, DiskState, Instance, Membership, Server, ServerId, ServerRole, ServerState,
    Wanted, kafka_uuid,
};

/// The quorum has three voters; further servers are brokers only.
const CONTROLLERS: usize = 3;

/// A server that is to be added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Newcomer {
    /// The lowest that is free: names stay the first ones, however often a cluster changes.
    pub number: u32,
    pub roles: Vec<ServerRole>,
}

impl Newcomer {
    /// What it will be called.
    pub fn name(&self, username: &str) -> String {
        format!("{username}-{:02}", self.number)
    }
}

/// So many more beside these.
pub(crate) fn newcomers(servers: &[Server], count: usize) -> Vec<Newcomer> {
    let is_free = |number: &u32| servers.iter().all(|server| server.number != *number);
    let controllers = servers.iter().filter(|server| server.is_controller()).count();
    let newcomer = |(number, controllers): (u32, usize)| {
        let mut roles = vec![ServerRole::Broker];
        if controllers < CONTROLLERS {
            roles.push(ServerRole::Controller);
        }
        Newcomer { number, roles }
    };
    (1..).filter(is_free).zip(controllers..).take(count).map(newcomer).collect()
}

pub(crate) fn server(
    instance: &Instance,
    place: &Place,
    newcomer: &Newcomer,
    (id, node_id): (ServerId, i32),
    membership: Membership,
) -> Server {
    Server {
        id,
        instance_id: instance.id,
        number: newcomer.number,
        node_id,
        incarnation: 1,
        roles: newcomer.roles.clone(),
        name: newcomer.name(&instance.username),
        kafka_version: instance.kafka_version,
        host_id: place.host_id,
        zone: place.zone.clone(),
        private_ip: place.addresses.private_ip.clone(),
        listeners: place.addresses.listeners.clone(),
        state: ServerState::Planned,
        membership,
        enrolled_at: None,
        last_seen: None,
        certificate_generation: FIRST_GENERATION,
        wanted: Wanted::default(),
    }
}

/// Its disk. `founding` are those that the cluster begins with.
pub(crate) fn disk(app: &App, server: &Server, size_gb: u32, founding: bool) -> Disk {
    Disk {
        id: DiskId(app.entropy().uuid()),
        instance_id: server.instance_id,
        server_id: server.id,
        size_gb,
        made_gb: size_gb,
        founding,
        directory_id: kafka_uuid(app.entropy()),
        state: DiskState::Planned,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_servers_control_and_the_lowest_free_numbers_are_taken() {
        let told = |newcomers: &[Newcomer]| -> Vec<(u32, usize)> {
            newcomers.iter().map(|it| (it.number, it.roles.len())).collect()
        };
        assert_eq!(told(&newcomers(&[], 5)), [(1, 2), (2, 2), (3, 2), (4, 1), (5, 1)]);
        assert_eq!(told(&newcomers(&[], 0)), []);
    }
}
