//! Serving a router on a socket, plain or with TLS, until told to stop.

use crate::polite::Polite;
use crate::state::{Options, PeerCertificate};
use axum::middleware::AddExtension;
use axum::{Extension, Router};
use axum_server::Handle;
use axum_server::accept::Accept;
use futures::future::BoxFuture;
use hyper_util::rt::TokioTimer;
use rustls::ServerConfig;
use std::future::{Ready, ready};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
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

/// Serves until a stop is asked for, then lets the calls under way end within a
/// bound; as long as there are any, new ones are told to come again. `options`
/// are those of the router.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    tls: Option<Arc<ServerConfig>>,
    options: Options,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let handle = Handle::new();
    tokio::spawn(stop_after(options.stopping, options.under_way, handle.clone()));
    let mut server = axum_server::from_tcp(listener)?.handle(handle);
    server.http_builder().http1().timer(TokioTimer::new()).header_read_timeout(options.silence);
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    // HTTP/1 alone: while the version is still open, silence is not timed. Said
    // last, because an acceptor takes it back.
    match tls {
        None => server.acceptor(PlainAcceptor).http1_only().serve(service).await,
        Some(config) => {
            server.acceptor(TlsAcceptor(config.into())).http1_only().serve(service).await
        }
    }
}

async fn stop_after(stop: CancellationToken, under_way: TaskTracker, handle: Handle<SocketAddr>) {
    stop.cancelled().await;
    under_way.close();
    let _ = tokio::time::timeout(PATIENCE, under_way.wait()).await;
    // What is left are connections that are idle, or calls that are lost.
    handle.graceful_shutdown(Some(FAREWELL));
}

#[derive(Clone, Copy)]
struct PlainAcceptor;

impl<S> Accept<TcpStream, S> for PlainAcceptor {
    type Stream = Polite<TcpStream>;
    type Service = S;
    type Future = Ready<io::Result<(Self::Stream, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        ready(Ok((Polite::new(stream), service)))
    }
}

/// Shakes hands, and hands the client's verified certificate to the handlers.
#[derive(Clone)]
struct TlsAcceptor(tokio_rustls::TlsAcceptor);

impl<S: Send + 'static> Accept<TcpStream, S> for TlsAcceptor {
    type Stream = Polite<TlsStream<TcpStream>>;
    type Service = AddExtension<S, PeerCertificate>;
    type Future = BoxFuture<'static, io::Result<(Self::Stream, Self::Service)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let shaking = self.0.accept(stream);
        Box::pin(async move {
            let stream = tokio::time::timeout(HANDSHAKE, shaking)
                .await
                .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
            let certificates = stream.get_ref().1.peer_certificates();
            let leaf = certificates.and_then(|chain| chain.first()).map(|leaf| leaf.to_vec());
            Ok((Polite::new(stream), Extension(PeerCertificate(leaf)).layer(service)))
        })
    }
}
