//! TCP connections reset from outside, by `ss -K`.

use crate::{FaultError, Undo};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;

const WHAT: &str = "cutting connections";

/// On return none of the connections to or from these addresses is there any more; who
/// needs one has to dial anew. There is nothing to undo.
pub async fn inject(addresses: &[SocketAddr]) -> Result<Undo, FaultError> {
    let before = established(addresses, false).await?;
    established(addresses, true).await?;
    let left = established(addresses, false).await?;
    if let Some(left) = before.intersection(&left).next() {
        let reason = format!("{left} stays; it takes root, and a kernel with INET_DIAG_DESTROY");
        return Err(FaultError::unavailable(WHAT, reason));
    }
    Ok(Box::new(|| Ok(())))
}

/// Both ends of each. Ports of clients are not given again within moments.
async fn established(addresses: &[SocketAddr], kill: bool) -> Result<BTreeSet<String>, FaultError> {
    let mut arguments = vec![if kill { "-KtnH" } else { "-tnH" }, "state", "established"];
    let each: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    arguments.push("(");
    for (at, address) in each.iter().enumerate() {
        if at > 0 {
            arguments.push("or");
        }
        arguments.extend(["src", address, "or", "dst", address]);
    }
    arguments.push(")");
    let ran = host::run_output(Path::new("ss"), &arguments, None).await;
    let ran = ran.map_err(|source| FaultError::Io { what: "ss".into(), source })?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        return Err(FaultError::unavailable(WHAT, said.trim()));
    }
    let ends = |line: &str| {
        // Both queues, then both ends.
        let words: Vec<&str> = line.split_whitespace().skip(2).take(2).collect();
        words.join(" to ")
    };
    Ok(String::from_utf8_lossy(&ran.stdout).lines().map(ends).collect())
}

#[cfg(test)]
mod tests {
    use crate::Fault;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    #[tokio::test]
    async fn connections_of_an_address_end_and_others_stay() {
        let (cut, kept) = (
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
        );
        let connect = async |listener: &TcpListener| {
            let dialled = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
            (dialled, listener.accept().await.unwrap().0)
        };
        let (mut ours, mut theirs) = connect(&cut).await;
        let (mut spared, mut other) = connect(&kept).await;
        let fault = Fault::CutConnections(vec![cut.local_addr().unwrap()]);
        drop(fault.inject().await.unwrap());
        assert!(ours.write_all(b"x").await.is_err() || ours.read_u8().await.is_err());
        assert!(theirs.read_u8().await.is_err());
        spared.write_all(b"x").await.unwrap();
        assert_eq!(other.read_u8().await.unwrap(), b'x');
        connect(&cut).await;
    }
}
