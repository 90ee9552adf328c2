//! The requests of one connection, and whether they are all answered.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::Extensions;
use axum::response::Response;
use futures::future::BoxFuture;
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HeaderMap};
use hyper::service::Service;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tower::ServiceExt as _;

/// How far the requests of one connection are.
#[derive(Default)]
pub struct Progress {
    asked: AtomicUsize,
    answered: AtomicUsize,
    /// A request was not read to its end, or somebody wants the connection closed.
    ends: AtomicBool,
}

impl Progress {
    /// Whether there was a request, none is under way, and another may follow.
    pub fn rests(&self) -> bool {
        let asked = self.asked.load(Ordering::Acquire);
        asked > 0
            && asked == self.answered.load(Ordering::Acquire)
            && !self.ends.load(Ordering::Acquire)
    }

    fn end_if(&self, ends: bool) {
        if ends {
            self.ends.store(true, Ordering::Release);
        }
    }
}

/// Hands requests to a router.
pub struct Calls {
    pub router: Router,
    /// What is known of the connection, for every request on it.
    pub known: Extensions,
    pub progress: Arc<Progress>,
}

impl Service<hyper::Request<Incoming>> for Calls {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn call(&self, mut request: hyper::Request<Incoming>) -> Self::Future {
        let progress = Arc::clone(&self.progress);
        progress.asked.fetch_add(1, Ordering::AcqRel);
        progress
            .end_if(is_close(request.headers()) || request.version() != hyper::Version::HTTP_11);
        request.extensions_mut().extend(self.known.clone());
        let router = self.router.clone();
        Box::pin(async move {
            let received = |body| Body::new(Received { body, progress: Arc::clone(&progress) });
            let request: Request = request.map(received);
            let response = router.oneshot(request).await?;
            progress.end_if(is_close(response.headers()));
            let answered = Answered(progress);
            // Nothing is done with an error, but whatever looks at it lives as long as the
            // body does.
            Ok(response.map(|body| {
                Body::new(body.map_err(move |error| {
                    let _ = &answered;
                    error
                }))
            }))
        })
    }
}

fn is_close(headers: &HeaderMap) -> bool {
    let says = |value: &[u8]| value.windows(5).any(|word| word.eq_ignore_ascii_case(b"close"));
    headers.get_all(CONNECTION).iter().any(|value| says(value.as_bytes()))
}

/// Dropped with the answer's body, once all of it is hyper's.
struct Answered(Arc<Progress>);

impl Drop for Answered {
    fn drop(&mut self) {
        self.0.answered.fetch_add(1, Ordering::AcqRel);
    }
}

/// A request's body. One that is given up before its end ends the connection.
struct Received {
    body: Incoming,
    progress: Arc<Progress>,
}

impl HttpBody for Received {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        self.progress.end_if(!self.is_end_stream());
    }
}
