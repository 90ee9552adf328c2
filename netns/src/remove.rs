//! Removing networks and members, links first: a namespace that is removed while a link leads
//! out of it goes some time later, and until then nothing can have the link's name.

use crate::kernel::{self, Kernel, Place, is_namespace, namespaces};
use crate::make::{Networks, unmake};
use crate::names::{Named, read_namespace};
use crate::{Error, Network, Slot, member};

impl Networks {
    /// Removes all of a network, if it is there. Its processes must have ended: with one that
    /// runs, nothing is touched.
    pub fn remove(&self, slot: Slot) -> Result<Vec<String>, Error> {
        let lock = self.lock(Some(slot));
        let _lock = lock.lock().expect("no holder of this lock panics");
        let kernel = self.kernel();
        let members = self.members(slot, |_| true)?;
        ended(&members)?;
        self.cut_off(&kernel, slot, &members)?;
        self.remove_namespaces(&kernel, members)?;
        let host = kernel::look(&Place::Host)?;
        unmake(&kernel, &Place::Host, &host, &self.tag.link(slot))?;
        self.remove_namespace(&kernel, &self.tag.network(slot))?;
        Ok(kernel.into_done())
    }

    /// Removes the host's part, when no network is left.
    pub fn remove_host(&self) -> Result<Vec<String>, Error> {
        let lock = self.lock(None);
        let _lock = lock.lock().expect("no holder of this lock panics");
        let kernel = self.kernel();
        let label = self.tag.address();
        let seen = kernel::look(&Place::Host)?;
        let labels = seen.link("lo").map(|lo| lo.labels.as_slice()).unwrap_or_default();
        let ours = labels.iter().filter(|(found, _)| *found == label);
        let commands: Vec<String> =
            ours.map(|(_, net)| format!("address del {net} dev lo")).collect();
        kernel.ip(&Place::Host, &commands)?;
        let table = self.tag.table();
        if kernel::rules(&Place::Host, &["table", "ip", &table])?.is_some() {
            let text = format!("delete table ip {table}\n");
            kernel.nft(&Place::Host, &format!("no rules of ip {table}"), &text)?;
        }
        self.lists.forget(&Place::Host);
        Ok(kernel.into_done())
    }

    /// Members that a network does not describe any more. One in which something runs is cut
    /// off at once, and removed when that has ended.
    pub(crate) fn remove_others(&self, kernel: &Kernel, network: &Network) -> Result<(), Error> {
        let described: Vec<u8> = network.places().map(|(number, ..)| number).collect();
        let others = self.members(network.slot, |number| !described.contains(&number))?;
        self.cut_off(kernel, network.slot, &others)?;
        ended(&others)?;
        self.remove_namespaces(kernel, others)
    }

    /// The names and places of those members that have a namespace.
    fn members(
        &self,
        slot: Slot,
        is_meant: impl Fn(u8) -> bool,
    ) -> Result<Vec<(String, u8)>, Error> {
        let named = namespaces()?.into_iter().filter_map(|name| {
            let Named { tag, slot: found, place } = read_namespace(&name)?;
            let place = place.filter(|_| tag == self.tag && found == slot)?;
            is_meant(place).then_some((name, place))
        });
        Ok(named.collect())
    }

    fn cut_off(&self, kernel: &Kernel, slot: Slot, members: &[(String, u8)]) -> Result<(), Error> {
        let around = self.tag.network(slot);
        if members.is_empty() || !is_namespace(&around) {
            return Ok(());
        }
        let around = Place::In(around);
        let inside = kernel::look(&around)?;
        for (_, number) in members {
            unmake(kernel, &around, &inside, &member::link(*number))?;
            drop_guard(kernel, &around, *number)?;
        }
        Ok(())
    }

    fn remove_namespaces(&self, kernel: &Kernel, members: Vec<(String, u8)>) -> Result<(), Error> {
        for (name, _) in members {
            self.remove_namespace(kernel, &name)?;
        }
        Ok(())
    }

    fn remove_namespace(&self, kernel: &Kernel, name: &str) -> Result<(), Error> {
        kernel.remove_namespace(name)?;
        self.lists.forget(&Place::In(name.to_owned()));
        Ok(())
    }
}

/// Refuses if something still runs in one of them.
fn ended(members: &[(String, u8)]) -> Result<(), Error> {
    for (name, _) in members {
        let pids = kernel::processes(name)?;
        if !pids.is_empty() {
            return Err(Error::InUse { namespace: name.clone(), pids });
        }
    }
    Ok(())
}

/// A guard whose link is gone has no effect, and would be in the way of the next one.
fn drop_guard(kernel: &Kernel, around: &Place, number: u8) -> Result<(), Error> {
    let guard = format!("guard_{number}");
    if kernel::rules(around, &["table", "netdev", &guard])?.is_none() {
        return Ok(());
    }
    let text = format!("delete table netdev {guard}\n");
    kernel.nft(around, &format!("no rules of netdev {guard}"), &text)
}
