//! What of a connection is still on its way. The kernel knows it, and lists it with all other
//! connections in `/proc/net/tcp`; asking for one alone takes `unsafe` code.

use procfs::ProcResult;
use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
use std::io;
use std::net::SocketAddr;
use tokio::task::spawn_blocking;

/// How many bytes from here to there are not acknowledged. None: there is no such connection in
/// the list, which is read in pieces, so that one may be missed while others come and go.
pub async fn unacknowledged(local: SocketAddr, remote: SocketAddr) -> io::Result<Option<u32>> {
    // On a machine with many connections that is a long list.
    let listed = spawn_blocking(move || look(local, remote)).await;
    listed.map_err(io::Error::other)?.map_err(io::Error::other)
}

fn look(local: SocketAddr, remote: SocketAddr) -> ProcResult<Option<u32>> {
    let all = if local.is_ipv4() { tcp() } else { tcp6() }?;
    // Of version 6 the list has addresses without a scope.
    let is_same = |a: SocketAddr, b: SocketAddr| a.ip() == b.ip() && a.port() == b.port();
    let is_ours =
        |it: &TcpNetEntry| is_same(it.local_address, local) && is_same(it.remote_address, remote);
    let ours = all.into_iter().find(is_ours);
    let open = ours.filter(|it| !matches!(it.state, TcpState::Close | TcpState::TimeWait));
    Ok(open.map(|it| it.tx_queue))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpSocket};
    use tokio::time::{Duration, Instant, sleep};

    #[tokio::test]
    async fn bytes_on_their_way_are_counted() {
        for host in ["127.0.0.1:0", "[::1]:0"] {
            let address: SocketAddr = host.parse().unwrap();
            let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
            let socket = socket.unwrap();
            socket.set_recv_buffer_size(4096).unwrap();
            socket.bind(address).unwrap();
            let listener: TcpListener = socket.listen(1).unwrap();
            let there = listener.local_addr().unwrap();
            let mut ours = tokio::net::TcpStream::connect(there).await.unwrap();
            let (mut theirs, here) = listener.accept().await.unwrap();
            let begun = Instant::now();
            let until = async |expected: &dyn Fn(Option<u32>) -> bool| {
                loop {
                    let found = unacknowledged(here, there).await.unwrap();
                    if expected(found) {
                        return;
                    }
                    assert!(begun.elapsed() < Duration::from_mins(1), "{host}: {found:?}");
                    sleep(Duration::from_millis(5)).await;
                }
            };
            until(&|found| found == Some(0)).await;
            ours.write_all(&vec![0; 100_000]).await.unwrap();
            until(&|found| found.is_some_and(|bytes| (1..100_000).contains(&bytes))).await;
            theirs.read_exact(&mut vec![0; 100_000]).await.unwrap();
            until(&|found| found == Some(0)).await;
            theirs.set_zero_linger().unwrap();
            drop(theirs);
            until(&|found| found.is_none()).await;
        }
    }
}
