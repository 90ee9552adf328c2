//! A small client that keeps connections busy. It reads no more of an answer than
//! it must, so that it takes little from the servers it measures.

use anyhow::{Context, Result, bail};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// A request as it goes over the wire.
#[derive(Clone)]
pub struct Request {
    pub to: SocketAddr,
    pub bytes: Vec<u8>,
}

impl Request {
    pub fn to(&self, to: SocketAddr) -> Self {
        Self { to, bytes: self.bytes.clone() }
    }
}

/// What a run has done.
pub struct Load {
    latencies: Vec<Duration>,
    took: Duration,
}

impl Load {
    /// Requests a second.
    pub fn rate(&self) -> f64 {
        let count = u32::try_from(self.latencies.len()).unwrap_or(u32::MAX);
        f64::from(count) / self.took.as_secs_f64()
    }

    pub fn p99_ms(&self) -> f64 {
        let at = self.latencies.len() * 99 / 100;
        self.latencies.get(at).map_or(0.0, |latency| latency.as_secs_f64() * 1000.0)
    }
}

/// As fast as the answers come.
pub async fn closed(requests: &[Request], connections: u32, time: Duration) -> Result<Load> {
    run(requests, connections, None, time).await
}

/// So many requests a second, whatever the answers do. A latency counts from
/// when its request was due, so that waiting in line is not overlooked.
pub async fn paced(
    requests: &[Request],
    connections: u32,
    rate: f64,
    time: Duration,
) -> Result<Load> {
    let every = Duration::from_secs_f64(f64::from(connections) / rate);
    run(requests, connections, Some(every), time).await
}

async fn run(
    requests: &[Request],
    connections: u32,
    every: Option<Duration>,
    time: Duration,
) -> Result<Load> {
    let mut clients = JoinSet::new();
    let start = Instant::now();
    for number in 0..connections {
        // Each begins elsewhere in the list.
        let mut own = requests.to_vec();
        let turns = own.len() * number as usize / connections as usize;
        own.rotate_left(turns);
        let first = every.map(|every| start + every * number / connections);
        clients.spawn(client(own, first.zip(every), start + time));
    }
    let mut latencies = Vec::new();
    while let Some(done) = clients.join_next().await {
        latencies.extend(done??);
    }
    let took = start.elapsed();
    latencies.sort_unstable();
    Ok(Load { latencies, took })
}

async fn client(
    requests: Vec<Request>,
    pace: Option<(Instant, Duration)>,
    until: Instant,
) -> Result<Vec<Duration>> {
    let to = requests.first().context("there is a request")?.to;
    let mut stream = TcpStream::connect(to).await?;
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(64 * 1024);
    let mut latencies = Vec::new();
    let mut due = pace.map(|(first, _)| first);
    for request in requests.iter().cycle() {
        if let Some(at) = due {
            tokio::time::sleep_until(at.into()).await;
        }
        let began = due.unwrap_or_else(Instant::now);
        if Instant::now() >= until {
            break;
        }
        stream.write_all(&request.bytes).await?;
        answer(&mut stream, &mut buffer).await?;
        latencies.push(began.elapsed());
        due = pace.zip(due).map(|((_, every), at)| at + every);
    }
    Ok(latencies)
}

/// Reads one answer, which must be a success, and says where its body begins.
async fn answer(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<usize> {
    buffer.clear();
    loop {
        if let Some(head) = find(buffer, b"\r\n\r\n") {
            let text = std::str::from_utf8(&buffer[..head])?;
            if !text.starts_with("HTTP/1.1 2") {
                bail!("{}", String::from_utf8_lossy(buffer));
            }
            let length = text.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.context("its length is told")?.trim().parse()?;
            let whole = head + 4 + length;
            while buffer.len() < whole {
                read(stream, buffer).await?;
            }
            return Ok(head + 4);
        }
        read(stream, buffer).await?;
    }
}

async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<()> {
    if stream.read_buf(buffer).await? == 0 {
        bail!("the server hung up");
    }
    Ok(())
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// The body of the answer to one request.
pub async fn body(request: &Request) -> Result<Vec<u8>> {
    let mut stream = TcpStream::connect(request.to).await?;
    stream.write_all(&request.bytes).await?;
    let mut buffer = Vec::new();
    let start = answer(&mut stream, &mut buffer).await?;
    Ok(buffer.split_off(start))
}
