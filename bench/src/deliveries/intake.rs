//! Receivers that take everything: one over HTTP, of what is compressed with gzip and what is
//! not, and one of bytes over a connection.

use anyhow::Result;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_ENCODING;
use flate2::read::GzDecoder;
use std::io::Read as _;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::AsyncReadExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

const LOOPBACK: &str = "127.0.0.1:0";
/// No word that is looked for is longer.
const MOST_HELD: usize = 1 << 20;

/// Looks at what has come, which is never cut within a word.
pub type Look = Arc<dyn Fn(&[u8]) + Send + Sync>;

pub struct Intake {
    pub address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Drop for Intake {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Intake {
    /// Answers 200 and an empty document, which every system's own means as well.
    pub async fn of_calls(look: Look) -> Result<Self> {
        let listener = TcpListener::bind(LOOPBACK).await?;
        let address = listener.local_addr()?;
        let router =
            Router::new().fallback(take).layer(DefaultBodyLimit::disable()).with_state(look);
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                eprintln!("the receiver of calls failed: {error}");
            }
        });
        Ok(Self { address, serving })
    }

    pub async fn of_bytes(look: Look) -> Result<Self> {
        let listener = TcpListener::bind(LOOPBACK).await?;
        let address = listener.local_addr()?;
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let look = Arc::clone(&look);
                tokio::spawn(async move {
                    if let Err(error) = read(stream, &look).await {
                        eprintln!("a connection of lines broke off: {error}");
                    }
                });
            }
        });
        Ok(Self { address, serving })
    }
}

async fn take(State(look): State<Look>, headers: HeaderMap, body: Bytes) -> &'static str {
    if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding == "gzip") {
        let mut text = Vec::new();
        match GzDecoder::new(&*body).read_to_end(&mut text) {
            Ok(_) => look(&text),
            Err(error) => eprintln!("a body can't be decompressed: {error}"),
        }
    } else {
        look(&body);
    }
    "{}"
}

async fn read(mut stream: TcpStream, look: &Look) -> std::io::Result<()> {
    let mut held = Vec::new();
    while stream.read_buf(&mut held).await? > 0 {
        // What follows the last space may be the beginning of a word.
        let space = held.iter().rposition(|byte| *byte == b' ').map_or(0, |at| at + 1);
        let end = if held.len() > MOST_HELD { held.len() } else { space };
        look(&held[..end]);
        held.drain(..end);
    }
    look(&held);
    Ok(())
}
