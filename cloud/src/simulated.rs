//! A cloud in memory, for tests of everything that uses a cloud.
//!
//! It does what it is told, including badly: answers can be late, refused or
//! lost after their effect, by script or by chance from a seed. It never
//! forgets an effect, so that a test can say that nothing was made twice.

mod faults;
mod state;

pub use faults::{Call, Fault};
pub use state::Effect;

use crate::{
    Addresses, Cloud, DiskSpec, Disruption, Enforcement, Inventory, Kind, NetworkSpec,
    ObservedServer, Outcome, Owner, ServerSpec,
};
use async_trait::async_trait;
use faults::Faults;
use model::{DiskId, InstanceId, Opening, ServerId, VpcId};
use state::State;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::broadcast;

/// How long a pending answer asks to wait.
const SOON: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub struct SimulatedCloud {
    state: Mutex<State>,
    faults: Mutex<Faults>,
    events: broadcast::Sender<Disruption>,
}

impl Default for SimulatedCloud {
    fn default() -> Self {
        Self::with_faults(Faults::default())
    }
}

impl SimulatedCloud {
    pub fn new() -> Self {
        Self::default()
    }

    /// Each call goes wrong with that chance in percent, the same way for the
    /// same seed. It never gives up by chance, so every retry ends well.
    pub fn seeded(seed: u64, percent: u8) -> Self {
        Self::with_faults(Faults::seeded(seed, percent))
    }

    fn with_faults(faults: Faults) -> Self {
        let (events, _) = broadcast::channel(256);
        Self { state: Mutex::default(), faults: Mutex::new(faults), events }
    }

    /// The next `times` calls of this kind go wrong like that.
    pub fn fail_next(&self, call: Call, fault: Fault, times: usize) {
        self.faults.lock().expect("no holder of this lock panics").script(call, fault, times);
    }

    /// Everything that was done, in order.
    pub fn effects(&self) -> Vec<Effect> {
        self.state().effects().to_vec()
    }

    /// The effects that happened again without their undoing in between.
    pub fn made_twice(&self) -> Vec<Effect> {
        self.state().made_twice()
    }

    /// What an agent's death looks like from outside.
    pub fn kill_agent(&self, server: ServerId) {
        if let Some(instance_id) = self.state().stop_agent(server) {
            // Nobody listening is no fault of the one who dies.
            let _ = self.events.send(Disruption { instance_id, server_id: server });
        }
    }

    pub fn agent_is_alive(&self, server: ServerId) -> bool {
        self.state().agent_is_alive(server)
    }

    /// The disk is gone, and nobody asked for it.
    pub fn lose_disk(&self, disk: DiskId) {
        self.state().lose_disk(disk);
    }

    /// Puts data on a disk; it stays for the disk's life.
    pub fn write_on_disk(&self, disk: DiskId) {
        self.state().write_on_disk(disk);
    }

    pub fn disk_has_data(&self, disk: DiskId) -> bool {
        self.state().disk_has_data(disk)
    }

    /// The spec the server was last ensured with, and the last token given.
    pub fn server(&self, server: ServerId) -> Option<ServerSpec> {
        self.state().server(server)
    }

    /// Gives a server addresses of the cloud's own choice, whatever is asked for.
    pub fn assign(&self, server: ServerId, addresses: Addresses) {
        self.state().assign(server, addresses);
    }

    /// Gigabytes of a disk.
    pub fn disk_gb(&self, disk: DiskId) -> Option<u32> {
        self.state().disk_gb(disk)
    }

    /// The instance a disk was made for.
    pub fn disk_owner(&self, disk: DiskId) -> Option<InstanceId> {
        self.state().disk_owner(disk)
    }

    /// Removals of this network that begin while it is blocked never come back.
    pub fn block_removal(&self, network: VpcId, is_blocked: bool) {
        self.state().block_removal(network, is_blocked);
    }

    /// Rules that are given to this server from here on never come back.
    pub fn block_firewall(&self, server: ServerId) {
        self.state().block_firewall(server);
    }

    /// Whether it enforces the rules of servers from here on; at first it does not.
    pub fn enforce_firewalls(&self, enforces: bool) {
        self.state().enforce_firewalls(enforces);
    }

    /// What a server was let be reached through, if it was ever said.
    pub fn openings(&self, server: ServerId) -> Option<Vec<Opening>> {
        self.state().openings(server)
    }

    /// Somebody has taken a server's rules away.
    pub fn flush_firewall(&self, server: ServerId) {
        self.state().flush_firewall(server);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder of this lock panics")
    }

    /// Does `effect` for its owner, if that is not an earlier one.
    fn owned<T>(
        &self,
        by: &Owner,
        (call, kind): (Call, Kind),
        subject: &str,
        effect: impl FnOnce(&mut State) -> Outcome<T>,
    ) -> Outcome<T> {
        self.answer(call, subject, |state| match state.admit(by, kind) {
            Ok(()) => effect(state),
            Err(refusal) => Outcome::refused(refusal),
        })
    }

    /// Does `effect` unless a fault comes first; a lost reply comes after.
    fn answer<T>(
        &self,
        call: Call,
        subject: &str,
        effect: impl FnOnce(&mut State) -> Outcome<T>,
    ) -> Outcome<T> {
        let fault = self.faults.lock().expect("no holder of this lock panics").next(call);
        match fault {
            None => effect(&mut self.state()),
            Some(Fault::Pending) => {
                Outcome::Pending { reason: format!("{subject} takes its time"), after: SOON }
            }
            Some(Fault::Retry) => Outcome::retry(format!("{subject} failed for now")),
            Some(Fault::GiveUp) => Outcome::give_up(format!("{subject} is refused")),
            Some(Fault::LostReply) => {
                effect(&mut self.state());
                Outcome::retry(format!("the reply about {subject} was lost"))
            }
        }
    }
}

#[async_trait]
impl Cloud for SimulatedCloud {
    async fn take_over(&self, by: &Owner) -> Outcome<()> {
        let subject = format!("take-over of instance {}", by.instance_id);
        self.owned(by, (Call::TakeOver, Kind::Remove), &subject, |_| Outcome::Ready(()))
    }

    async fn ensure_network(&self, by: &Owner, network: &NetworkSpec) -> Outcome<()> {
        let subject = format!("network {}", network.vpc_id);
        let call = (Call::EnsureNetwork, Kind::Make);
        self.owned(by, call, &subject, |state| state.ensure_network(network))
    }

    async fn ensure_disk(&self, by: &Owner, disk: &DiskSpec) -> Outcome<()> {
        let subject = format!("disk {}", disk.id);
        self.owned(by, (Call::EnsureDisk, Kind::Make), &subject, |state| state.ensure_disk(disk))
    }

    async fn ensure_server(&self, by: &Owner, server: &ServerSpec) -> Outcome<ObservedServer> {
        let subject = format!("server {}", server.id);
        let call = (Call::EnsureServer, Kind::Make);
        self.owned(by, call, &subject, |state| state.ensure_server(server))
    }

    async fn remove_server(&self, by: &Owner, server: ServerId) -> Outcome<()> {
        let subject = format!("removal of server {server}");
        let call = (Call::RemoveServer, Kind::Remove);
        self.owned(by, call, &subject, |state| state.remove_server(server))
    }

    async fn remove_disk(&self, by: &Owner, disk: DiskId) -> Outcome<()> {
        let subject = format!("removal of disk {disk}");
        self.owned(by, (Call::RemoveDisk, Kind::Remove), &subject, |state| state.remove_disk(disk))
    }

    async fn apply_firewall(&self, server: ServerId, openings: &[Opening]) -> Outcome<Enforcement> {
        if self.state().is_firewall_blocked(server) {
            std::future::pending::<()>().await;
        }
        let subject = format!("firewall of server {server}");
        self.answer(Call::ApplyFirewall, &subject, |state| state.apply_firewall(server, openings))
    }

    async fn remove_network(&self, network: VpcId) -> Outcome<()> {
        if self.state().is_removal_blocked(network) {
            std::future::pending::<()>().await;
        }
        let subject = format!("removal of network {network}");
        self.answer(Call::RemoveNetwork, &subject, |state| state.remove_network(network))
    }

    async fn retire(&self, by: &Owner) -> Outcome<()> {
        let subject = format!("the end of instance {}", by.instance_id);
        self.owned(by, (Call::Retire, Kind::Remove), &subject, |state| state.retire(by))
    }

    async fn inventory(&self) -> Outcome<Inventory> {
        self.answer(Call::Inventory, "the inventory", |state| Outcome::Ready(state.inventory()))
    }

    fn events(&self) -> broadcast::Receiver<Disruption> {
        self.events.subscribe()
    }
}
