//! Opening a byte stream to a broker.
//!
//! This is the only place that assumes a route to a server. A cloud whose
//! networks can't be reached, or overlap, puts its own [`Dial`] here, through the
//! connection of the server's agent; TLS runs inside the stream, end to end.

use super::BrokerKey;
use crate::Endpoint;
use async_trait::async_trait;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Bytes both ways.
pub trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for T {}

/// Opens a byte stream to a server's listener. The key says which server; the endpoint
/// need be known in that server's network alone.
#[async_trait]
pub trait Dial: Send + Sync {
    async fn dial(&self, broker: BrokerKey, endpoint: &Endpoint) -> io::Result<Box<dyn Stream>>;
}

/// Over TCP from this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectDial;

#[async_trait]
impl Dial for DirectDial {
    async fn dial(&self, _: BrokerKey, endpoint: &Endpoint) -> io::Result<Box<dyn Stream>> {
        connect_tcp(endpoint).await
    }
}

/// To any listener that this machine can reach.
pub async fn connect_tcp(endpoint: &Endpoint) -> io::Result<Box<dyn Stream>> {
    let stream = TcpStream::connect((endpoint.host.as_str(), endpoint.port)).await?;
    // A request is one write and then a wait: holding it back for more
    // bytes would only add latency.
    stream.set_nodelay(true)?;
    Ok(Box::new(stream))
}

/// The end of a sentence that starts with the endpoint.
pub(super) fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "refused the connection".to_owned(),
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => "closed the connection".to_owned(),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            "has no route from here".to_owned()
        }
        _ => format!("could not be reached: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_read_as_addresses() {
        assert_eq!(Endpoint::new("127.64.0.2", 9091).to_string(), "127.64.0.2:9091");
        assert_eq!(Endpoint::new("::1", 9091).to_string(), "[::1]:9091");
    }

    #[tokio::test]
    async fn a_closed_port_refuses() {
        // Bound and dropped, so that nobody listens there.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let error = connect_tcp(&Endpoint::new("127.0.0.1", port)).await.err().unwrap();
        assert_eq!(in_words(&error), "refused the connection");
    }
}
