//! A stream that can be handed from one HTTP connection to the next: with what was read
//! beyond the last request, and knowing whether the last answer is sent.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

pub struct Stream<S> {
    io: S,
    /// To be read before anything else.
    ahead: Vec<u8>,
    sent: Sent,
}

/// Whether everything that was written was flushed as well; hyper flushes only when it has
/// nothing left to write.
#[derive(Clone, Default)]
pub struct Sent(Arc<AtomicBool>);

impl Sent {
    pub fn is_all(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    fn note(&self, is_all: bool) {
        self.0.store(is_all, Ordering::Release);
    }
}

impl<S> Stream<S> {
    pub fn new(io: S) -> Self {
        Self { io, ahead: Vec::new(), sent: Sent::default() }
    }

    /// Whether something of the next request was read already.
    pub fn has_more(&self) -> bool {
        !self.ahead.is_empty()
    }

    pub fn put_back(&mut self, read: &[u8]) {
        self.ahead.splice(..0, read.iter().copied());
    }

    pub fn sent(&self) -> Sent {
        self.sent.clone()
    }
}

impl<S: AsyncRead + Unpin> Stream<S> {
    /// Waits for the first byte of a request. False if none comes any more.
    pub async fn fill(&mut self) -> io::Result<bool> {
        let mut first = [0];
        let count = self.io.read(&mut first).await?;
        self.ahead.extend(&first[..count]);
        Ok(count > 0)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            return Pin::new(&mut self.io).poll_read(context, buffer);
        }
        let count = self.ahead.len().min(buffer.remaining());
        buffer.put_slice(&self.ahead[..count]);
        self.ahead.drain(..count);
        if self.ahead.is_empty() {
            self.ahead = Vec::new();
            // The rest of a request most often came with its first byte. Read apart from it,
            // it would have hyper double its buffer.
            if let Poll::Ready(Err(error)) = Pin::new(&mut self.io).poll_read(context, buffer) {
                return Poll::Ready(Err(error));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.sent.note(false);
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(context);
        self.sent.note(matches!(flushed, Poll::Ready(Ok(()))));
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
