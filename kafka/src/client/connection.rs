//! One connection to one broker: negotiation, then calls one after another.
//!
//! A connection on which a call failed, ran out of time or was cancelled is
//! never used again: the answer to that call could be taken for the next one's.

use super::dial::{connect_tcp, in_words};
use super::frame::{self, FrameError};
use super::versions::{self, Versions};
use super::{BrokerKey, Dial, Endpoint, Error, Stream, checked_lengths, tls};
use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::{ApiVersionsRequest, RequestHeader, ResponseHeader};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, Request, StrBytes};
use rustls::ClientConfig;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::time::timeout;

/// What every call of ours comes with.
pub const CLIENT_ID: &str = "castellan";

/// How long we wait and how much we read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// For the stream and the TLS handshake, each.
    pub connect: Duration,
    /// For one request and its answer.
    pub call: Duration,
    /// For a write to become readable on the broker that took it.
    pub readable: Duration,
    /// The largest answer taken.
    pub frame_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            call: Duration::from_secs(10),
            readable: Duration::from_secs(10),
            frame_bytes: 32 << 20,
        }
    }
}

pub struct Connection {
    endpoint: Endpoint,
    /// Taken out while a call runs and put back when its whole answer was
    /// read, so that every other end of a call leaves the connection unusable.
    stream: Option<Box<dyn Stream>>,
    versions: Versions,
    correlation: i32,
    limits: Limits,
}

impl Connection {
    /// Dials, proves the broker's certificate and ours, and negotiates.
    pub async fn open(
        dial: &dyn Dial,
        broker: BrokerKey,
        endpoint: &Endpoint,
        tls: &Arc<ClientConfig>,
        limits: Limits,
    ) -> Result<Self, Error> {
        Self::secure(dial.dial(broker, endpoint), endpoint, tls, limits).await
    }

    /// The same over TCP from this machine, to any broker.
    pub async fn open_tcp(
        endpoint: &Endpoint,
        tls: &Arc<ClientConfig>,
        limits: Limits,
    ) -> Result<Self, Error> {
        Self::secure(connect_tcp(endpoint), endpoint, tls, limits).await
    }

    async fn secure(
        dialled: impl Future<Output = io::Result<Box<dyn Stream>>> + Send,
        endpoint: &Endpoint,
        tls: &Arc<ClientConfig>,
        limits: Limits,
    ) -> Result<Self, Error> {
        let unreachable = |reason| Error::Unreachable { endpoint: endpoint.clone(), reason };
        let late = |what| unreachable(format!("did not {what} within {:?}", limits.connect));
        let stream = timeout(limits.connect, dialled)
            .await
            .map_err(|_| late("accept a connection"))?
            .map_err(|error| unreachable(in_words(&error)))?;
        let stream = timeout(limits.connect, tls::handshake(stream, endpoint, tls))
            .await
            .map_err(|_| late("finish the TLS handshake"))??;
        Self::negotiate(stream, endpoint.clone(), limits).await
    }

    /// Asks the broker at the other end of a stream what it speaks.
    pub async fn negotiate(
        stream: Box<dyn Stream>,
        endpoint: Endpoint,
        limits: Limits,
    ) -> Result<Self, Error> {
        let mut connection = Self {
            endpoint,
            stream: Some(stream),
            versions: Versions::default(),
            correlation: 0,
            limits,
        };
        let version = versions::ours::<ApiVersionsRequest>().max;
        let request = ApiVersionsRequest::default()
            .with_client_software_name(StrBytes::from_static_str("castellan"))
            .with_client_software_version(StrBytes::from_static_str(env!("CARGO_PKG_VERSION")));
        let body = connection.exchange(&request, version).await?;
        // A broker too old for our version answers in version 0, which only
        // starts alike: with the error code.
        if body.get(..2).is_some_and(|code| code != [0, 0]) {
            return Err(connection.unsupported::<ApiVersionsRequest>());
        }
        let answer = connection.decode::<ApiVersionsRequest>(&body, version)?;
        connection.versions = Versions::announced_by(&answer.api_keys);
        Ok(connection)
    }

    /// Whether the last call left it fit for another.
    pub(super) fn is_usable(&self) -> bool {
        self.stream.is_some()
    }

    /// Whether the broker has neither closed it nor said anything unasked.
    pub(super) fn is_quiet(&mut self) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        let mut byte = [0; 1];
        let mut unasked = ReadBuf::new(&mut byte);
        let mut context = Context::from_waker(Waker::noop());
        Pin::new(stream).poll_read(&mut context, &mut unasked).is_pending()
    }

    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// How long a broker may take for a request, as requests say it.
    pub(super) fn timeout_ms(&self) -> i32 {
        i32::try_from(self.limits.call.as_millis()).unwrap_or(i32::MAX)
    }

    /// The version a call will have. A request must not hold fields it lacks.
    pub fn version_of<R: Request>(&self) -> Result<i16, Error> {
        self.versions.choose::<R>().ok_or_else(|| self.unsupported::<R>())
    }

    /// One request and its answer, in the highest version both sides speak.
    pub async fn call<R: Request>(&mut self, request: &R) -> Result<R::Response, Error> {
        let version = self.version_of::<R>()?;
        let body = self.exchange(request, version).await?;
        let answer = self.decode::<R>(&body, version);
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    /// The answer's body, its header checked and taken off.
    async fn exchange<R: Request>(&mut self, request: &R, version: i16) -> Result<Bytes, Error> {
        self.correlation = self.correlation.wrapping_add(1);
        let sent = encode(request, version, self.correlation)?;
        let Some(mut stream) = self.stream.take() else {
            return Err(self.broken::<R>("was given up after an earlier error".to_owned()));
        };
        let limit = self.limits.frame_bytes;
        let received =
            timeout(self.limits.call, frame::exchange(stream.as_mut(), &sent, limit)).await;
        let mut body = match received {
            Ok(Ok(body)) => body,
            Ok(Err(error)) => return Err(self.failed::<R>(&error)),
            Err(_) => {
                return Err(Error::Deadline {
                    endpoint: self.endpoint.clone(),
                    call: versions::name::<R>(),
                    after: self.limits.call,
                });
            }
        };
        let header = ResponseHeader::decode(&mut body, R::Response::header_version(version))
            .map_err(|error| self.malformed::<R>(error.to_string()))?;
        if header.correlation_id != self.correlation {
            let reason =
                format!("it answers request {}, not {}", header.correlation_id, self.correlation);
            return Err(self.malformed::<R>(reason));
        }
        self.stream = Some(stream);
        Ok(body)
    }

    fn decode<R: Request>(&self, body: &Bytes, version: i16) -> Result<R::Response, Error> {
        checked_lengths::decode::<R>(body, version).map_err(|reason| self.malformed::<R>(reason))
    }

    fn failed<R: Request>(&self, error: &FrameError) -> Error {
        match error {
            // With TLS 1.3 a broker's no to our certificate arrives as an
            // alert where the first answer should be.
            FrameError::Io(error) => match tls::reason(error) {
                Some(reason) => Error::Tls { endpoint: self.endpoint.clone(), reason },
                None => self.broken::<R>(in_words(error)),
            },
            FrameError::Oversize(size) => Error::Oversize {
                endpoint: self.endpoint.clone(),
                call: versions::name::<R>(),
                size: *size,
                limit: self.limits.frame_bytes,
            },
        }
    }

    fn broken<R: Request>(&self, reason: String) -> Error {
        Error::Broken { endpoint: self.endpoint.clone(), call: versions::name::<R>(), reason }
    }

    /// An answer that says what it can't.
    pub(crate) fn malformed<R: Request>(&self, reason: String) -> Error {
        Error::Malformed { endpoint: self.endpoint.clone(), call: versions::name::<R>(), reason }
    }

    fn unsupported<R: Request>(&self) -> Error {
        Error::Unsupported {
            endpoint: self.endpoint.clone(),
            call: versions::name::<R>(),
            ours: versions::ours::<R>(),
            theirs: self.versions.range(R::KEY),
        }
    }
}

fn encode<R: Request>(request: &R, version: i16, correlation: i32) -> Result<BytesMut, Error> {
    let header = RequestHeader::default()
        .with_request_api_key(R::KEY)
        .with_request_api_version(version)
        .with_correlation_id(correlation)
        .with_client_id(Some(StrBytes::from_static_str(CLIENT_ID)));
    let mut bytes = BytesMut::new();
    header
        .encode(&mut bytes, R::header_version(version))
        .and_then(|()| request.encode(&mut bytes, version))
        .map_err(|error| Error::Unencodable {
            call: versions::name::<R>(),
            version,
            reason: error.to_string(),
        })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
