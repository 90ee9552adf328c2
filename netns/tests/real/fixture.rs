//! A host with networks, servers in them, and a machine outside.

use host::{run_within, within};
use ipnet::Ipv4Net;
use netns::{Control, Member, Network, Networks, Published, Rule, Slot, Tag};
use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Refusals come at once; only what is dropped takes so long.
const PATIENCE: Duration = Duration::from_secs(3);
pub const PORT: u16 = 9094;

pub fn anyone() -> Ipv4Net {
    Ipv4Net::default()
}

pub struct Host {
    pub networks: Networks,
    pub control: Control,
    taken: Vec<Slot>,
    before: BTreeSet<String>,
}

impl Host {
    /// None if the test is left out.
    pub fn new(test: &str) -> Option<Self> {
        if !netns::testing::has_networks() {
            return None;
        }
        let tag = Tag::from_seed(format!("{test} {}", std::process::id()).as_bytes());
        let before = state();
        let networks = Networks::new(tag, format!("the test {test}"));
        let mut host =
            Self { networks, control: control(Ipv4Addr::UNSPECIFIED), taken: vec![], before };
        let slot = host.slot();
        host.control = control(netns::host_address(slot));
        Some(host)
    }

    fn slot(&mut self) -> Slot {
        let host = netns::host_networks().unwrap();
        let is_taken = |slot| self.taken.contains(&slot);
        let slot = netns::choose_slot(self.networks.tag(), is_taken, &host).unwrap();
        self.taken.push(slot);
        slot
    }

    /// A description, with these members of 10.90.0.0/24; anybody may connect to their port.
    pub fn network(&mut self, members: &[u8]) -> Network {
        let open = Member { rules: vec![Rule::new(anyone(), PORT)], published: vec![] };
        let members = members.iter().map(|last| (own(*last), open.clone())).collect();
        Network { slot: self.slot(), subnet: "10.90.0.0/24".parse().unwrap(), members }
    }

    /// Has everything as described, and says so if anything was to be done.
    pub fn make(&self, all: &[Network]) -> Vec<String> {
        let mut done = self.networks.make_host(&self.control, all).unwrap();
        for network in all {
            done.extend(self.networks.make(network, &self.control).unwrap());
        }
        done
    }

    pub fn inside(&self, network: &Network, last: u8) -> PathBuf {
        self.networks.namespace(network, own(last)).unwrap()
    }

    /// A server of that member.
    pub fn serve(&self, network: &Network, last: u8) {
        serve(Some(&self.inside(network, last)), SocketAddrV4::new(own(last), PORT));
    }

    pub fn alias(network: &Network, last: u8) -> SocketAddrV4 {
        SocketAddrV4::new(netns::alias(network, own(last)).unwrap(), PORT)
    }

    /// Removes all, and looks at what is left.
    pub fn end(self) {
        let tag = self.networks.tag();
        let (_, errors) = netns::remove_found(tag, &[]).unwrap();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(self.left(), Vec::<String>::new());
        let found = netns::found().unwrap();
        assert!(!found.iter().any(|found| found.tag == *tag), "{found:?}");
    }

    /// What is different from before, but for what other tests do meanwhile.
    fn left(&self) -> Vec<String> {
        let after = state();
        let tag = self.networks.tag().to_string();
        let blocks = self.taken.iter().map(|slot| {
            let block = netns::block(*slot, "10.90.0.0/24".parse().unwrap());
            block.network().to_string().trim_end_matches('0').to_owned()
        });
        let marks: Vec<String> = blocks.chain([tag]).collect();
        let is_ours = |line: &&String| marks.iter().any(|mark| line.contains(mark));
        let mut left: Vec<String> =
            after.difference(&self.before).filter(is_ours).cloned().collect();
        // Those of networks come and go with other tests; the host's own stay.
        let is_hosts = |line: &&String| {
            !["cn", "ou", "100.", "castellan"].iter().any(|word| line.contains(word))
        };
        left.extend(self.before.difference(&after).filter(is_hosts).cloned());
        left
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // A test that fails leaves nothing either.
        let _ = netns::remove_found(self.networks.tag(), &[]);
    }
}

fn control(address: Ipv4Addr) -> Control {
    Control { address, ports: vec![7003], uids: vec![0] }
}

/// A member's address.
pub fn own(last: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 90, 0, last)
}

pub fn published(at: Ipv4Addr, port: u16) -> Published {
    Published { at: Some(at), port, to: PORT }
}

/// Everything on the host that a network could leave behind.
fn state() -> BTreeSet<String> {
    let asked = [
        ("ip", "-o address"),
        ("ip", "-br link"),
        ("ip", "route show table all"),
        ("ip", "rule"),
        ("ip", "netns list"),
        ("nft", "list tables"),
        ("ls", "-1 /run/netns"),
    ];
    let mut lines = BTreeSet::new();
    for (program, arguments) in asked {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = run_within(None, program, &arguments, "").unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        lines.extend(said.lines().map(|line| format!("{program} {}: {line}", arguments[0])));
    }
    lines
}

/// Runs a command of a shell, which must succeed.
pub fn sh(namespace: Option<&Path>, script: &str) -> String {
    let output = run_within(namespace, "sh", &["-ec", script], "").unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Answers each byte with the next one, until the connection ends. It serves until the test
/// program ends: its namespace may be removed before.
pub fn serve(namespace: Option<&Path>, at: SocketAddrV4) {
    let listener = match within(namespace, || TcpListener::bind(at)) {
        // It is there since before.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => return,
        other => other.unwrap(),
    };
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut byte = [0];
                while client.read_exact(&mut byte).is_ok() {
                    if client.write_all(&[byte[0].wrapping_add(1)]).is_err() {
                        return;
                    }
                }
            });
        }
    });
}

/// A connection from there, and who it says it is.
pub struct Connection(TcpStream);

impl Connection {
    pub fn open(namespace: Option<&Path>, to: SocketAddrV4) -> io::Result<Self> {
        let to = SocketAddr::V4(to);
        let stream = within(namespace, || TcpStream::connect_timeout(&to, PATIENCE))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let mut connection = Self(stream);
        connection.ask()?;
        Ok(connection)
    }

    pub fn ask(&mut self) -> io::Result<()> {
        self.0.write_all(&[7])?;
        let mut byte = [0];
        self.0.read_exact(&mut byte)?;
        assert_eq!(byte, [8]);
        Ok(())
    }

    /// Nobody hears of it.
    pub fn end(self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// Whether a server answers there.
pub fn reaches(namespace: Option<&Path>, to: SocketAddrV4) -> bool {
    Connection::open(namespace, to).map(Connection::end).is_ok()
}
