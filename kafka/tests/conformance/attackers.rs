//! Clients that mean harm: they hold connections and memory, and do nothing with them.

use kafka::Endpoint;
use kafka::client::{Connection, Identity, Limits, Mechanism, Stream, connect_tcp, sasl, tls};
use model::Secret;
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// How far an attacker comes before it does harm.
#[derive(Clone)]
pub enum Entry {
    /// Bytes as they are, whatever the listener.
    Bare,
    /// TLS, and no login.
    Tls,
    Certificate(Identity),
    Password(&'static str, Secret),
}

#[derive(Clone)]
pub enum Harm {
    /// Says that a request of so many bytes comes, and sends none of them.
    Announces(u32),
    /// Sends the beginning of a TLS handshake.
    HalfHandshake,
    /// Asks the same again and again, and reads no answer.
    NeverReads(Vec<u8>),
}

/// So many of one kind, at each of the endpoints.
pub struct Attack {
    pub at: Vec<Endpoint>,
    pub count: usize,
    pub entry: Entry,
    pub harm: Harm,
}

/// They go on until they are dropped, on a thread of their own: what they compute must
/// not keep the writers of the test from reading their answers.
pub struct Attackers {
    runtime: Option<Runtime>,
    /// How often an attacker of each kind came as far as its harm.
    entered: Vec<Arc<AtomicUsize>>,
}

impl Attackers {
    pub fn begin(attacks: Vec<Attack>, trust_pem: &str) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut all = Vec::new();
        for Attack { at, count, entry, harm } in attacks {
            let entered = Arc::new(AtomicUsize::new(0));
            all.push(Arc::clone(&entered));
            for endpoint in at.iter().flat_map(|it| std::iter::repeat_n(it, count)) {
                let (endpoint, trust) = (endpoint.clone(), trust_pem.to_owned());
                let (entry, harm, entered) = (entry.clone(), harm.clone(), Arc::clone(&entered));
                runtime.spawn(async move {
                    loop {
                        // Whatever the broker refuses or closes is tried again.
                        let _ = once(&endpoint, &trust, &entry, &harm, &entered).await;
                        tokio::time::sleep(PAUSE).await;
                    }
                });
            }
        }
        Self { runtime: Some(runtime), entered: all }
    }

    /// Fails if a kind of attack never took place.
    pub fn assert_all_entered(&self) {
        let entered: Vec<usize> =
            self.entered.iter().map(|it| it.load(Ordering::Relaxed)).collect();
        assert!(entered.iter().all(|times| *times > 0), "{entered:?}");
    }
}

impl Drop for Attackers {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

const PAUSE: Duration = Duration::from_secs(2);
/// For one that waits to be let in.
const PATIENCE: Duration = Duration::from_secs(20);
/// Of a connection that nobody closes.
const HOLD: Duration = Duration::from_mins(1);

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Returns once the broker has closed the connection.
async fn once(
    endpoint: &Endpoint,
    trust: &str,
    entry: &Entry,
    harm: &Harm,
    entered: &AtomicUsize,
) -> Outcome<()> {
    let mut stream = timeout(PATIENCE, enter(endpoint, trust, entry)).await??;
    entered.fetch_add(1, Ordering::Relaxed);
    timeout(HOLD, act(&mut *stream, harm)).await??;
    Ok(())
}

async fn enter(endpoint: &Endpoint, trust: &str, entry: &Entry) -> Outcome<Box<dyn Stream>> {
    let stream = connect_tcp(endpoint).await?;
    let identity = match entry {
        Entry::Bare => return Ok(stream),
        Entry::Certificate(identity) => Some(identity),
        Entry::Tls | Entry::Password(..) => None,
    };
    let config = tls::client_config(trust, identity)?;
    let stream = tls::handshake(stream, endpoint, &config).await?;
    let Entry::Password(user, password) = entry else { return Ok(stream) };
    let kept = Kept(Arc::new(Mutex::new(stream)));
    let (copy, limits) = (Box::new(kept.clone()), Limits { call: PATIENCE, ..Limits::default() });
    let mut connection = Connection::negotiate(copy, endpoint.clone(), limits).await?;
    sasl::log_in(&mut connection, user, password, Mechanism::ScramSha256).await?;
    Ok(Box::new(kept))
}

async fn act(stream: &mut dyn Stream, harm: &Harm) -> io::Result<()> {
    match harm {
        Harm::Announces(bytes) => stream.write_all(&bytes.to_be_bytes()).await?,
        // A record of 512 bytes with a ClientHello of 508.
        Harm::HalfHandshake => {
            stream.write_all(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]).await?;
        }
        Harm::NeverReads(frame) => loop {
            stream.write_all(frame).await?;
            stream.flush().await?;
        },
    }
    stream.flush().await?;
    let mut end = Vec::new();
    stream.read_to_end(&mut end).await.map(drop)
}

/// A stream that is still at hand once a connection was made of it.
#[derive(Clone)]
struct Kept(Arc<Mutex<Box<dyn Stream>>>);

impl AsyncRead for Kept {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.lock().unwrap()).poll_read(context, into)
    }
}

impl AsyncWrite for Kept {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.lock().unwrap()).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.lock().unwrap()).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.lock().unwrap()).poll_shutdown(context)
    }
}
