//! A connection that has HTTP's buffers only while a request is under way.
//!
//! Thousands of agents hold connections on which a call comes every few seconds. An HTTP
//! connection of hyper takes 20 KiB whether anything is said on it or not, so between two
//! requests there is none: only the stream is kept, and the first byte of the next request
//! makes a new one. What was read beyond a request is handed on to the next.
//!
//! A stream is used again only if hyper itself was ready for another request on it: the
//! request was read and the answer written to their ends, and neither side said `close`.

mod call;
mod stream;

use axum::Router;
use axum::http::Extensions;
use call::{Calls, Progress};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use stream::Stream;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// What requests on a connection are answered with.
pub struct Serving {
    pub router: Router,
    /// What is known of the connection, for every request on it.
    pub known: Extensions,
    /// How long to wait where a request is due.
    pub silence: Duration,
    /// Ends the connection between two requests.
    pub closing: CancellationToken,
}

impl Serving {
    /// Serves until the client goes or is silent for too long, or until it shall close.
    pub async fn serve<S>(self, io: S)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut stream = Stream::new(io);
        loop {
            if !stream.has_more() {
                let more = timeout(self.silence, stream.fill());
                let more = self.closing.run_until_cancelled(more).await;
                if !matches!(more, Some(Ok(Ok(true)))) {
                    break;
                }
            }
            match Box::pin(self.requests(stream)).await {
                Some(next) => stream = next,
                None => return,
            }
        }
        let _ = stream.shutdown().await;
    }

    /// Answers the request that begins, and what follows it at once. Gives the stream back
    /// between two requests; none if it was closed.
    async fn requests<S>(&self, stream: Stream<S>) -> Option<Stream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (progress, sent) = (Arc::new(Progress::default()), stream.sent());
        let (router, known) = (self.router.clone(), self.known.clone());
        let calls = Calls { router, known, progress: Arc::clone(&progress) };
        let mut connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.silence)
            .serve_connection(TokioIo::new(stream), calls);
        let mut closed = Box::pin(self.closing.cancelled());
        let mut is_ending = false;
        let rests = poll_fn(|context| {
            if !is_ending && closed.as_mut().poll(context).is_ready() {
                is_ending = true;
                Pin::new(&mut connection).graceful_shutdown();
            }
            if Pin::new(&mut connection).poll(context).is_ready() {
                return Poll::Ready(false);
            }
            if is_ending || !progress.rests() || !sent.is_all() {
                return Poll::Pending;
            }
            // Hyper ends a connection at once that is ready for another request, and only that.
            is_ending = true;
            Pin::new(&mut connection).graceful_shutdown();
            connection.poll_without_shutdown(context).map(|ended| ended.is_ok())
        });
        if !rests.await {
            return None;
        }
        let parts = connection.into_parts();
        let mut stream = parts.io.into_inner();
        stream.put_back(&parts.read_buf);
        Some(stream)
    }
}

#[cfg(test)]
mod tests;
