//! A connection to a host and a port that customers chose, for what is no HTTP. The rules
//! are those of calls: where a name leads is looked up and checked for each connection,
//! and certificates are checked against the same authorities.

use crate::call::Caller;
use crate::destinations::Forbidden;
use crate::fault::Fault;
use crate::queue::unacknowledged;
use rustix::net::sockopt::set_tcp_user_timeout;
use rustls_pki_types::ServerName;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use url::Host;

/// What the kernel may hold of what was written and is not acknowledged: it takes twice what
/// it is asked for. Also how much two sides that are far from each other exchange in one
/// round trip, so it must not be little.
const UNACKNOWLEDGED: usize = 256 << 10;
/// A connection whose other side has not acknowledged anything for that long is broken.
const UNACKNOWLEDGED_FOR: Duration = Duration::from_secs(20);
/// For one of the addresses that a name has: the next one may be reachable.
const ONE_ADDRESS: Duration = Duration::from_secs(3);
/// For our own look-up of a name that a proxy looks up as well.
const BEFORE_PROXY: Duration = Duration::from_secs(1);

/// Somewhere to connect to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Of version 6 without brackets.
    pub host: String,
    pub port: u16,
    pub tls: bool,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, .. } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

/// Bytes both ways.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Duplex for T {}

pub struct Connection {
    pub stream: Box<dyn Duplex>,
    local: SocketAddr,
    remote: SocketAddr,
}

impl Connection {
    /// How many of the bytes that were written the other side has not acknowledged; with a
    /// proxy, the proxy. None: it is not listed, for now or because it is no more.
    pub async fn unacknowledged(&self) -> io::Result<Option<u32>> {
        unacknowledged(self.local, self.remote).await
    }
}

impl Caller {
    /// Has no time limit of its own, as calls have none.
    pub async fn connect(&self, place: &Place) -> Result<Connection, Fault> {
        let host = place.parsed().ok_or(Fault::UnknownName)?;
        let stream = if self.proxy().is_some() {
            self.connect_through(place, &host).await?
        } else {
            let found = self.addresses(&host).await?;
            to_any(&found, place.port).await.map_err(|error| Fault::from_connect_error(&error))?
        };
        let ends = stream.local_addr().and_then(|local| Ok((local, stream.peer_addr()?)));
        let (local, remote) = ends.map_err(|error| Fault::from_connect_error(&error))?;
        if !place.tls {
            return Ok(Connection { stream: Box::new(stream), local, remote });
        }
        let name = match host {
            Host::Domain(name) => ServerName::try_from(name).map_err(|_| Fault::UnknownName)?,
            Host::Ipv4(address) => ServerName::from(IpAddr::from(address)),
            Host::Ipv6(address) => ServerName::from(IpAddr::from(address)),
        };
        let connector = TlsConnector::from(Arc::clone(self.tls()));
        let secure = connector.connect(name, stream).await;
        let stream = Box::new(secure.map_err(|error| Fault::from_handshake_error(&error))?);
        Ok(Connection { stream, local, remote })
    }

    async fn addresses(&self, host: &Host<String>) -> Result<Vec<IpAddr>, Fault> {
        let found = match host {
            Host::Domain(name) => {
                let found = self.destinations().to_call(name).await;
                found.map_err(|_| Fault::UnknownName)?
            }
            Host::Ipv4(address) => vec![IpAddr::from(*address)],
            Host::Ipv6(address) => vec![IpAddr::from(*address)],
        };
        self.destinations().check_all(&found).map_err(Fault::Forbidden)?;
        if found.is_empty() { Err(Fault::UnknownName) } else { Ok(found) }
    }

    async fn connect_through(
        &self,
        place: &Place,
        host: &Host<String>,
    ) -> Result<TcpStream, Fault> {
        self.check_before_proxy(host).await.map_err(Fault::Forbidden)?;
        let proxy = self.proxy().ok_or(Fault::NotPassedOn)?;
        let passed_on = async {
            let found = self.destinations().to_call(proxy.host()).await?;
            let mut stream = to_any(&found, proxy.port()).await?;
            let opened = proxy.open(&mut stream, &place.to_string()).await?;
            Ok::<_, io::Error>(opened.map(|()| stream))
        };
        passed_on.await.ok().flatten().ok_or(Fault::NotPassedOn)
    }

    /// Checks a destination whose name the proxy looks up: as it is written, and by its addresses
    /// if this machine can look the name up as well. If it can't, or not soon, it is up to the
    /// proxy to refuse private addresses.
    pub(crate) async fn check_before_proxy(&self, host: &Host<String>) -> Result<(), Forbidden> {
        let found = match host {
            Host::Domain(name) => {
                let found = timeout(BEFORE_PROXY, self.destinations().to_call(name)).await;
                found.ok().and_then(Result::ok).unwrap_or_default()
            }
            Host::Ipv4(address) => vec![IpAddr::from(*address)],
            Host::Ipv6(address) => vec![IpAddr::from(*address)],
        };
        self.destinations().check_all(&found)
    }
}

impl Place {
    /// As browsers read it: `127.1` and `2130706433` are addresses.
    fn parsed(&self) -> Option<Host<String>> {
        match self.host.parse::<Ipv6Addr>() {
            Ok(address) => Some(Host::Ipv6(address)),
            Err(_) => Host::parse(&self.host).ok(),
        }
    }
}

/// The first that takes the connection.
async fn to_any(found: &[IpAddr], port: u16) -> io::Result<TcpStream> {
    let mut outcome = Err(io::ErrorKind::NotFound.into());
    for address in found {
        let connected = timeout(ONE_ADDRESS, to_one(SocketAddr::new(*address, port))).await;
        outcome = connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

async fn to_one(address: SocketAddr) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_send_buffer_size(u32::try_from(UNACKNOWLEDGED / 2).unwrap_or(u32::MAX))?;
    socket.set_keepalive(true)?;
    socket.set_nodelay(true)?;
    let patience = u32::try_from(UNACKNOWLEDGED_FOR.as_millis()).unwrap_or(u32::MAX);
    set_tcp_user_timeout(&socket, patience)?;
    socket.connect(address).await
}
