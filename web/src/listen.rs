//! Serving a router on a socket, plain or with TLS, until told to stop.

use crate::connections::{Connections, Counted, Place};
use crate::polite::Polite;
use crate::resting::Serving;
use crate::state::{Options, PeerCertificate};
use crate::tls::Served;
use axum::extract::ConnectInfo;
use axum::http::Extensions;
use axum::middleware::AddExtension;
use axum::{Extension, Router};
use axum_server::Handle;
use axum_server::accept::Accept;
use futures::future::BoxFuture;
use hyper_util::rt::TokioTimer;
use std::future::{Ready, ready};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Layer as _;

const HANDSHAKE: Duration = Duration::from_secs(10);
/// Calls that are under way at a stop get this long to end.
const PATIENCE: Duration = Duration::from_secs(5);
const FAREWELL: Duration = Duration::from_secs(1);
/// After a connection that could not be accepted.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Serves until a stop is asked for, then lets the calls under way end within a
/// bound; as long as there are any, new ones are told to come again. `options`
/// are those of the router. Each handshake is made with the TLS settings of its
/// moment; connections that are open go on with theirs.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    tls: Option<Served>,
    options: Options,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let handle = Handle::new();
    let connections = options.connections;
    tokio::spawn(stop_after(options.stopping, options.under_way, handle.clone()));
    let mut server = axum_server::from_tcp(listener)?.handle(handle);
    server.http_builder().http1().timer(TokioTimer::new()).header_read_timeout(options.silence);
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    // HTTP/1 alone: while the version is still open, silence is not timed. Said
    // last, because an acceptor takes it back.
    match tls {
        None => server.acceptor(PlainAcceptor(connections)).http1_only().serve(service).await,
        Some(tls) => {
            let acceptor = TlsAcceptor { tls, connections };
            server.acceptor(acceptor).http1_only().serve(service).await
        }
    }
}

async fn stop_after(stop: CancellationToken, under_way: TaskTracker, handle: Handle<SocketAddr>) {
    until_answered(&stop, &under_way).await;
    // What is left are connections that are idle, or calls that are lost.
    handle.graceful_shutdown(Some(FAREWELL));
}

/// Until a stop was asked for and the calls under way have ended, within a bound.
async fn until_answered(stop: &CancellationToken, under_way: &TaskTracker) {
    stop.cancelled().await;
    under_way.close();
    let _ = tokio::time::timeout(PATIENCE, under_way.wait()).await;
}

/// The same for agents, of whom there are thousands: a connection has HTTP's buffers only
/// while a call is under way.
pub async fn serve_agents(
    listener: TcpListener,
    router: Router,
    tls: Served,
    options: Options,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let acceptor = TlsAcceptor { tls, connections: options.connections };
    let (closing, open) = (CancellationToken::new(), TaskTracker::new());
    let cut = CancellationToken::new();
    // Whatever ends this ends every connection.
    let _cut = cut.clone().drop_guard();
    let answered = until_answered(&options.stopping, &options.under_way);
    let accept = async {
        loop {
            let Ok((stream, address)) = listener.accept().await else {
                // Too many open files, most likely: others have to go first.
                tokio::time::sleep(ACCEPT_AGAIN).await;
                continue;
            };
            let (router, closing, cut) = (router.clone(), closing.clone(), cut.clone());
            // In a place of its own, or the task would have room for it as long as it lives.
            let shaken = Box::pin(acceptor.shake_hands(stream));
            let connection = async move {
                let Ok((stream, certificate)) = shaken.await else { return };
                let mut known = Extensions::new();
                known.insert(ConnectInfo(address));
                known.insert(certificate);
                Serving { router, known, silence: options.silence, closing }.serve(stream).await;
            };
            open.spawn(cut.run_until_cancelled_owned(connection));
        }
    };
    tokio::select! {
        () = accept => {}
        () = answered => {}
    }
    drop(listener);
    closing.cancel();
    open.close();
    let _ = tokio::time::timeout(FAREWELL, open.wait()).await;
    Ok(())
}

/// Closes a connection that has no place, at once and without a word.
fn enter(connections: &Connections, stream: &TcpStream) -> io::Result<Place> {
    let place = connections.enter(stream.peer_addr()?.ip());
    place.ok_or_else(|| io::ErrorKind::ConnectionRefused.into())
}

#[derive(Clone)]
struct PlainAcceptor(Connections);

impl<S> Accept<TcpStream, S> for PlainAcceptor {
    type Stream = Polite<Counted<TcpStream>>;
    type Service = S;
    type Future = Ready<io::Result<(Self::Stream, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let place = enter(&self.0, &stream);
        ready(place.map(|place| (Polite::new(Counted::new(stream, place)), service)))
    }
}

/// Shakes hands, and hands the client's verified certificate to the handlers.
#[derive(Clone)]
struct TlsAcceptor {
    tls: Served,
    connections: Connections,
}

impl<S: Send + 'static> Accept<TcpStream, S> for TlsAcceptor {
    type Stream = TlsConnection;
    type Service = AddExtension<S, PeerCertificate>;
    type Future = BoxFuture<'static, io::Result<(Self::Stream, Self::Service)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let shaken = self.shake_hands(stream);
        Box::pin(async move {
            let (stream, certificate) = shaken.await?;
            Ok((stream, Extension(certificate).layer(service)))
        })
    }
}

/// In a place of its own: more than a kilobyte, which the tasks that hand it on would have
/// room for several times.
type TlsConnection = Box<Polite<Counted<TlsStream<TcpStream>>>>;
/// A stream with TLS, and who opened it.
type Shaken = (TlsConnection, PeerCertificate);

impl TlsAcceptor {
    fn shake_hands(&self, stream: TcpStream) -> impl Future<Output = io::Result<Shaken>> + use<> {
        let connections = self.connections.clone();
        let tls = tokio_rustls::TlsAcceptor::from(self.tls.borrow().clone());
        async move {
            let place = enter(&connections, &stream)?;
            let shaking = tokio::time::timeout(HANDSHAKE, tls.accept(stream));
            let stream = tokio::select! {
                shaken = shaking => {
                    shaken.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??
                }
                () = place.closed.cancelled() => {
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
            };
            let certificates = stream.get_ref().1.peer_certificates();
            let leaf = certificates.and_then(|chain| chain.first()).map(|leaf| leaf.to_vec());
            let place = match &leaf {
                Some(leaf) => connections.enter_certified(leaf),
                None => Some(place),
            };
            let place = place.ok_or(io::ErrorKind::ConnectionRefused)?;
            Ok((Box::new(Polite::new(Counted::new(stream, place))), PeerCertificate(leaf)))
        }
    }
}
