//! Serving a router on a socket, plain or with TLS, until told to stop.

use crate::state::PeerCertificate;
use axum::middleware::AddExtension;
use axum::{Extension, Router};
use axum_server::Handle;
use axum_server::accept::Accept;
use futures::future::BoxFuture;
use hyper_util::rt::TokioTimer;
use rustls::ServerConfig;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tower::Layer as _;

/// A client that opens a connection and says nothing is dropped after this.
const SILENCE: Duration = Duration::from_secs(30);
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Calls that are under way at a stop get this long to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves until `stop` is cancelled, then lets running calls end within a
/// bound. Give the routers' `Options` the same token, so that held calls end
/// at once.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    tls: Option<Arc<ServerConfig>>,
    stop: CancellationToken,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let handle = Handle::new();
    tokio::spawn(stop_after(stop, handle.clone()));
    let mut server = axum_server::from_tcp(listener)?.handle(handle);
    server.http_builder().http1().timer(TokioTimer::new()).header_read_timeout(SILENCE);
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    match tls {
        None => server.serve(service).await,
        Some(config) => server.acceptor(TlsAcceptor(config.into())).serve(service).await,
    }
}

async fn stop_after(stop: CancellationToken, handle: Handle<SocketAddr>) {
    stop.cancelled().await;
    handle.graceful_shutdown(Some(PATIENCE));
}

/// Shakes hands, and hands the client's verified certificate to the handlers.
#[derive(Clone)]
struct TlsAcceptor(tokio_rustls::TlsAcceptor);

impl<S: Send + 'static> Accept<TcpStream, S> for TlsAcceptor {
    type Stream = TlsStream<TcpStream>;
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
            Ok((stream, Extension(PeerCertificate(leaf)).layer(service)))
        })
    }
}
