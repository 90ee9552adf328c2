//! Private networks of this host in namespaces, each with its servers.
//!
//! What is on record is made so: at once when it changes, and every while for all of them,
//! because somebody may have removed something by hand. One network that can't be made or
//! removed holds no other. A network that was made without a namespace never gets one.

mod book;
mod describe;

use crate::layout::Layout;
use crate::{LocalError, servers};
use book::{Book, OfHost, Vpc};
use describe::describe;
use ipnet::Ipv4Net;
use model::{ServerId, VpcId};
use netns::{Control, Network, Networks, Rule};
use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;
use tokio::time::sleep;

pub(crate) use book::{Newcomer, all, free_address, has_no_namespace, tag};

/// How long something that was removed by hand may be missing.
const INTERVAL: Duration = Duration::from_secs(15);

/// Asks for networks in namespaces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkOptions {
    /// Where agents call, at the control plane's address in the networks.
    pub agents_port: u16,
    /// Users of this host who may connect to servers' own addresses.
    pub uids: Vec<u32>,
    /// Whether others than the network itself reach new servers: where their places were
    /// proposed, which the host forwards.
    pub publishes: bool,
}

#[derive(Debug)]
pub(crate) struct Vpcs {
    layout: Layout,
    host: OfHost,
    control: Control,
    networks: Networks,
    /// Those that the kernel may have otherwise than they are on record.
    unmade: Mutex<HashSet<VpcId>>,
}

/// Where a server is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Seated {
    pub(crate) address: Ipv4Addr,
    pub(crate) alias: Ipv4Addr,
    pub(crate) namespace: PathBuf,
}

impl Vpcs {
    /// Has everything on record as it should be, before anybody is started in there. What
    /// can't be is tried again later.
    pub(crate) fn open(layout: &Layout, options: &NetworkOptions) -> Result<Self, LocalError> {
        let host = Book::open(layout)?.host()?;
        let address = netns::host_address(host.slot);
        let (ports, uids) = (vec![options.agents_port], options.uids.clone());
        let control = Control { address, ports, uids };
        let networks = Networks::new(host.tag.clone(), layout.root().display().to_string());
        let unmade = <_>::default();
        let vpcs = Self { layout: layout.clone(), host, control, networks, unmade };
        vpcs.make_all();
        Ok(vpcs)
    }

    /// Where agents inside call.
    pub(crate) fn control_plane(&self) -> SocketAddrV4 {
        let port = self.control.ports.first().copied().unwrap_or_default();
        SocketAddrV4::new(self.control.address, port)
    }

    /// Puts the network on record and makes it.
    pub(crate) fn ensure(&self, id: VpcId, subnet: Ipv4Net) -> Result<(), LocalError> {
        let book = Book::open(&self.layout)?;
        let vpc = if let Some(known) = book.vpc(id)? {
            known
        } else {
            let new = Vpc { slot: book.free_slot(&self.host)?, subnet, seats: <_>::default() };
            describe(&new, &self.control).check()?;
            book.write(id, &new)?;
            new
        };
        self.make(&book, id, &vpc)
    }

    /// Gives the server its place in the network, if that is one of ours.
    pub(crate) fn join(
        &self,
        id: VpcId,
        newcomer: &Newcomer,
    ) -> Result<Option<Seated>, LocalError> {
        let book = Book::open(&self.layout)?;
        let Some(mut vpc) = book.vpc(id)? else { return Ok(None) };
        let address = vpc.seat(newcomer).ok_or(LocalError::NoSeat(vpc.subnet))?;
        book.write(id, &vpc)?;
        self.make(&book, id, &vpc)?;
        let network = describe(&vpc, &self.control);
        let place = netns::alias(&network, address).zip(self.networks.namespace(&network, address));
        Ok(place.map(|(alias, namespace)| Seated { address, alias, namespace }))
    }

    /// Takes a server out whose processes have ended.
    pub(crate) fn leave(&self, server: ServerId) -> Result<(), LocalError> {
        let book = Book::open(&self.layout)?;
        for (id, mut vpc) in book.all()? {
            if vpc.seats.remove(&server).is_some() {
                // First on record: what is there without being on record is removed.
                book.write(id, &vpc)?;
                self.make(&book, id, &vpc)?;
            }
        }
        Ok(())
    }

    /// Who may connect besides its own instance. False if the server is in none of ours.
    pub(crate) fn open_to(&self, server: ServerId, openings: &[Rule]) -> Result<bool, LocalError> {
        let book = Book::open(&self.layout)?;
        for (id, mut vpc) in book.all()? {
            let Some(seat) = vpc.seats.get_mut(&server) else { continue };
            if seat.openings.as_deref() != Some(openings) {
                seat.openings = Some(openings.to_vec());
                book.write(id, &vpc)?;
            } else if !self.unmade().contains(&id) {
                return Ok(true);
            }
            self.make(&book, id, &vpc)?;
            return Ok(true);
        }
        Ok(false)
    }

    pub(crate) fn remove(&self, id: VpcId) -> Result<(), LocalError> {
        let book = Book::open(&self.layout)?;
        let Some(vpc) = book.vpc(id)? else { return Ok(()) };
        self.networks.remove(vpc.slot)?;
        book.remove(id)?;
        self.unmade().remove(&id);
        self.networks.make_host(&self.control, &self.described(&book)?)?;
        Ok(())
    }

    fn described(&self, book: &Book<'_>) -> Result<Vec<Network>, LocalError> {
        Ok(book.all()?.values().map(|vpc| describe(vpc, &self.control)).collect())
    }

    fn make(&self, book: &Book<'_>, id: VpcId, vpc: &Vpc) -> Result<(), LocalError> {
        self.unmade().insert(id);
        self.networks.make_host(&self.control, &self.described(book)?)?;
        self.make_alone(vpc)?;
        self.unmade().remove(&id);
        Ok(())
    }

    fn unmade(&self) -> MutexGuard<'_, HashSet<VpcId>> {
        self.unmade.lock().expect("no holder of this lock panics")
    }

    /// Puts right what is not as it is on record.
    fn make_all(&self) {
        let networks = match self.make_host() {
            Ok(networks) => networks,
            Err(error) => return tracing::warn!(%error, "networks can't be looked after"),
        };
        for id in networks {
            match self.make_again(id) {
                Ok(0) => {}
                Ok(changes) => tracing::info!(vpc = %id, changes, "put a network right"),
                Err(error) => {
                    tracing::warn!(vpc = %id, %error, "a network is not as it should be");
                }
            }
        }
    }

    /// Which networks there are, with the host's part of them made.
    fn make_host(&self) -> Result<Vec<VpcId>, LocalError> {
        let book = Book::open(&self.layout)?;
        // Also without any: the control plane listens at its address.
        self.networks.make_host(&self.control, &self.described(&book)?)?;
        Ok(book.all()?.into_keys().collect())
    }

    /// Read anew under the book's lock: it may have changed since the last one was made.
    fn make_again(&self, id: VpcId) -> Result<usize, LocalError> {
        let book = Book::open(&self.layout)?;
        let Some(vpc) = book.vpc(id)? else { return Ok(0) };
        self.unmade().insert(id);
        let done = self.make_alone(&vpc)?;
        self.unmade().remove(&id);
        Ok(done.len())
    }

    /// A server that runs keeps its namespace, whatever became of that one's name: in another
    /// one it would be reached by nobody.
    fn make_alone(&self, vpc: &Vpc) -> Result<Vec<String>, LocalError> {
        let network = describe(vpc, &self.control);
        for (server, seat) in &vpc.seats {
            let namespace = self.networks.namespace(&network, seat.address);
            let is_there = namespace.is_some_and(|path| path.exists());
            let agent = || servers::live_agent(&self.layout.server(*server));
            if let Some(agent) = (!is_there).then(agent).flatten() {
                self.networks.adopt(&network, seat.address, agent.pid)?;
            }
        }
        Ok(self.networks.make(&network, &self.control)?)
    }

    /// Looks after networks until the cloud is dropped.
    pub(crate) async fn keep(vpcs: Weak<Self>) {
        loop {
            sleep(INTERVAL).await;
            let Some(vpcs) = vpcs.upgrade() else { return };
            if tokio::task::spawn_blocking(move || vpcs.make_all()).await.is_err() {
                tracing::error!("looking after networks has failed");
            }
        }
    }
}

/// Removes a network without a control plane, by an operator's word. The host's part goes
/// with the last one when it is cleaned, or when the next control plane starts and stops.
pub(crate) fn remove(layout: &Layout, id: VpcId) -> Result<(), LocalError> {
    let book = Book::open(layout)?;
    let Some(vpc) = book.vpc(id)? else { return Ok(()) };
    Networks::new(book.host()?.tag, "").remove(vpc.slot)?;
    book.remove(id)
}

/// Runs something that blocks, apart from the runtime's threads.
pub(crate) async fn blocking<T: Send + 'static>(
    vpcs: &Arc<Vpcs>,
    work: impl FnOnce(&Vpcs) -> Result<T, LocalError> + Send + 'static,
) -> Result<T, LocalError> {
    let vpcs = Arc::clone(vpcs);
    let done = tokio::task::spawn_blocking(move || work(&vpcs)).await;
    done.unwrap_or(Err(LocalError::Interrupted))
}
