//! Answers to what is no HTTP request that a router could be shown.
//!
//! A request line, address or header that can't be read is answered by the HTTP
//! library itself, with a bare status and no body. Clients are promised a JSON
//! error whatever they send, and no status but those of the contract; so such an
//! answer is replaced on its way out. Every answer of ours has a request id,
//! which tells the two apart.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wire::customer::ErrorBody;

/// A stream whose bare refusals get a body.
pub struct Polite<S> {
    stream: S,
    /// Of a refusal that is being sent: what is left of it.
    instead: Option<Vec<u8>>,
}

impl<S> Polite<S> {
    pub fn new(stream: S) -> Self {
        Self { stream, instead: None }
    }
}

/// What to say instead of a bare refusal; none if it is none.
fn instead_of(answer: &[u8]) -> Option<Vec<u8>> {
    let status = answer.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let sentence = match status {
        b"400" => "The request is not valid HTTP",
        b"414" => "The address is too long",
        b"431" => "The headers are too long, or too many",
        _ => return None,
    };
    let text = String::from_utf8_lossy(answer).to_ascii_lowercase();
    if !text.ends_with("\r\n\r\n") || text.contains("\r\nx-request-id:") {
        return None;
    }
    let error = ErrorBody { error: sentence.into(), ..ErrorBody::default() };
    let body = serde_json::to_string(&error).ok()?;
    let head = format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         cache-control: no-cache\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n",
        body.len()
    );
    Some((head + &body).into_bytes())
}

impl<S: AsyncWrite + Unpin> Polite<S> {
    /// Sends what is left of a refusal.
    fn poll_instead(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while let Some(rest) = self.instead.as_mut().filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut self.stream).poll_write(context, rest) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(Ok(sent)) => drop(rest.drain(..sent)),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        self.instead = None;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Polite<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Polite<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.instead.is_none() {
            self.instead = instead_of(bytes);
            if self.instead.is_none() {
                return Pin::new(&mut self.stream).poll_write(context, bytes);
            }
        }
        // Called again with the same bytes until they count as written.
        self.poll_instead(context).map_ok(|()| bytes.len())
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.poll_instead(context) {
            Poll::Ready(Ok(())) => Pin::new(&mut self.stream).poll_flush(context),
            waiting => waiting,
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.poll_instead(context) {
            Poll::Ready(Ok(())) => Pin::new(&mut self.stream).poll_shutdown(context),
            waiting => waiting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bare_refusals_are_replaced() {
        let check = |answer: &str, expected: Option<&str>| {
            let found = instead_of(answer.as_bytes()).map(|text| String::from_utf8(text).unwrap());
            match expected {
                None => assert_eq!(found, None, "{answer}"),
                Some(text) => assert!(found.unwrap().ends_with(text), "{answer}"),
            }
        };
        let bare = "content-length: 0\r\ndate: Sun, 15 Nov 2026 12:00:00 GMT\r\n\r\n";
        let long = r#"{"error":"The address is too long"}"#;
        check(&format!("HTTP/1.1 414 URI Too Long\r\n{bare}"), Some(long));
        let no_http = r#"{"error":"The request is not valid HTTP"}"#;
        check(&format!("HTTP/1.1 400 Bad Request\r\n{bare}"), Some(no_http));
        check(&format!("HTTP/1.1 200 OK\r\n{bare}"), None);
        check(&format!("HTTP/1.1 400 Bad Request\r\nX-Request-Id: a\r\n{bare}"), None);
        check("HTTP/1.1 400 Bad Request\r\nx-request-id: a\r\n\r\n{\"error\":\"x\"}", None);
        check("{\"text\":\"HTTP/1.1 414 \"}", None);
    }
}
