//! One connection of a simulated agent: HTTP over TLS, and no more of it than agents
//! use, so that thousands of them take little from the control plane beside them.

use anyhow::{Context, Result, bail};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use wire::agent::LONG_POLL_SECONDS;

/// As agents have it.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most answers are shorter.
const ANSWER: usize = 1024;
const LATE: &str = "the control plane did not answer in time";

pub struct Line {
    stream: TlsStream<TcpStream>,
    /// The answer to the last call.
    buffer: Vec<u8>,
}

impl Line {
    pub async fn open(to: SocketAddr, tls: &Arc<ClientConfig>) -> Result<Self> {
        let opening = async {
            let stream = TcpStream::connect(to).await?;
            stream.set_nodelay(true)?;
            let connector = TlsConnector::from(Arc::clone(tls));
            anyhow::Ok(connector.connect(ServerName::from(to.ip()), stream).await?)
        };
        let stream = timeout(PATIENCE, opening).await.context(LATE)??;
        Ok(Self { stream, buffer: Vec::with_capacity(ANSWER) })
    }

    /// How long the answer took.
    pub async fn post(&mut self, path: &str, body: &str) -> Result<Duration> {
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        let began = Instant::now();
        timeout(PATIENCE, self.call(&request)).await.context(LATE)??;
        Ok(began.elapsed())
    }

    /// A long poll: how many bytes were told, none in the end of its time.
    pub async fn poll(&mut self, path: &str) -> Result<usize> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
        let longest = Duration::from_secs(LONG_POLL_SECONDS) + PATIENCE;
        timeout(longest, self.call(&request)).await.context(LATE)?
    }

    /// The length of what was answered, which must be a success.
    async fn call(&mut self, request: &str) -> Result<usize> {
        self.stream.write_all(request.as_bytes()).await?;
        self.stream.flush().await?;
        self.buffer.clear();
        let head = loop {
            if let Some(head) = end_of_head(&self.buffer) {
                break head;
            }
            self.read().await?;
        };
        let text = std::str::from_utf8(&self.buffer[..head])?;
        if !text.starts_with("HTTP/1.1 2") {
            bail!("{}", String::from_utf8_lossy(&self.buffer));
        }
        let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
        let length = length.map_or(Ok(0), str::parse::<usize>)?;
        while self.buffer.len() < head + length {
            self.read().await?;
        }
        Ok(length)
    }

    async fn read(&mut self) -> Result<()> {
        if self.stream.read_buf(&mut self.buffer).await? == 0 {
            bail!("the control plane hung up");
        }
        Ok(())
    }
}

/// Where the body begins, once all of the head is there.
fn end_of_head(text: &[u8]) -> Option<usize> {
    let end = b"\r\n\r\n";
    let at = text.windows(end.len()).position(|window| window == end)?;
    Some(at + end.len())
}
