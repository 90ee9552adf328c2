//! Customers' machines: namespaces of our own, in a VPC beside its servers or outside of all.

use host::{run_within, within};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Refusals come at once; only what is dropped takes so long.
const PATIENCE: Duration = Duration::from_secs(3);
/// How a client of TLS begins a long record, which never comes to its end.
const GREETING: [u8; 6] = [0x16, 3, 1, 0x3f, 0xff, 1];
static COUNT: AtomicU32 = AtomicU32::new(0);

pub struct Machine {
    name: String,
    /// The other end of its link, and the namespace where that is.
    link: String,
    around: Option<String>,
    pub address: Ipv4Addr,
    /// How it knows the next machine: the VPC's gateway, or this host.
    pub gateway: Ipv4Addr,
}

impl Machine {
    /// In the VPC of that namespace.
    pub fn in_network(network: &str, address: Ipv4Addr, gateway: Ipv4Addr) -> Self {
        let machine = Self::named(Some(network.to_owned()), address, gateway);
        let Self { name, link, .. } = &machine;
        sh(&format!(
            "ip netns add {name}
             ip -n {network} link add {link} type veth peer name eth0 netns {name}
             ip -n {network} link set {link} master br0 up"
        ));
        machine.set_up(24)
    }

    /// A machine that knows the way to this host, and nothing of its networks.
    pub fn outside() -> Self {
        // Of the range for measuring networks, which nothing uses.
        let number = std::process::id() % (1 << 14);
        let first = Ipv4Addr::new(198, 18, 0, 0).to_bits() + number * 4;
        let [host, own] = [1, 2].map(|place| Ipv4Addr::from_bits(first + place));
        let machine = Self::named(None, own, host);
        let Self { name, link, .. } = &machine;
        sh(&format!(
            "ip netns add {name}
             ip link add {link} type veth peer name eth0 netns {name}
             ip address add {host}/30 dev {link}
             ip link set {link} up
             echo 1 > /proc/sys/net/ipv4/conf/{link}/forwarding"
        ));
        machine.set_up(30)
    }

    fn named(around: Option<String>, address: Ipv4Addr, gateway: Ipv4Addr) -> Self {
        let (pid, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let name = format!("customer-{pid}-{count}");
        Self { name, link: format!("ou{pid}-{count}"), around, address, gateway }
    }

    fn set_up(self, bits: u8) -> Self {
        let Self { name, address, gateway, .. } = &self;
        sh(&format!(
            "ip -n {name} link set lo up
             ip -n {name} address add {address}/{bits} dev eth0
             ip -n {name} link set eth0 up
             ip -n {name} route add default via {gateway}"
        ));
        self
    }

    pub fn path(&self) -> PathBuf {
        Path::new("/run/netns").join(&self.name)
    }

    /// Whether something listens there that lets this machine in.
    pub fn reaches(&self, to: SocketAddrV4) -> bool {
        self.connect(to).is_ok()
    }

    pub fn connect(&self, to: SocketAddrV4) -> io::Result<Held> {
        let to = SocketAddr::V4(to);
        let mut stream = within(Some(&self.path()), || TcpStream::connect_timeout(&to, PATIENCE))?;
        stream.set_read_timeout(Some(Duration::from_millis(100)))?;
        stream.write_all(&GREETING)?;
        Ok(Held(stream))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let Self { name, link, around, .. } = self;
        let within = around.as_ref().map_or_else(String::new, |around| format!("-n {around}"));
        let script = format!("ip {within} link del {link}; ip netns del {name}");
        // What it has left, the test sees.
        let _ = run_within(None, "sh", &["-c", &script], "");
    }
}

/// A connection to a broker that waits for the rest of a greeting.
pub struct Held(TcpStream);

impl Held {
    /// None while it is open.
    pub fn ended(&mut self) -> Option<ErrorKind> {
        if let Err(error) = self.0.write_all(&[0]) {
            return Some(error.kind());
        }
        match self.0.read(&mut [0]) {
            Ok(_) => Some(ErrorKind::UnexpectedEof),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                None
            }
            Err(error) => Some(error.kind()),
        }
    }
}

/// Runs a command of a shell, which must succeed.
pub fn sh(script: &str) -> String {
    let output = run_within(None, "sh", &["-ec", script], "").unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
