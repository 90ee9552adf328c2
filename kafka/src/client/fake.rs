//! A broker of a few lines, for the tests of this module.

mod pki;

pub use pki::{FakeCa, accept};

use super::{Connection, Endpoint, Limits, Stream};
use bytes::{Bytes, BytesMut};
use kafka_protocol::messages::api_versions_response::ApiVersion;
use kafka_protocol::messages::{ApiKey, ApiVersionsRequest, ApiVersionsResponse, ResponseHeader};
use kafka_protocol::protocol::{
    Encodable, HeaderVersion, Request, decode_request_header_from_buffer,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A request, its header taken off.
pub struct Asked {
    pub key: i16,
    pub version: i16,
    pub correlation: i32,
    pub body: Bytes,
}

pub enum Reply {
    /// A whole frame, length and header included.
    Frame(Vec<u8>),
    /// These bytes, and then the end.
    Torn(Vec<u8>),
    /// Nothing, and the connection stays open.
    Silence,
    HangUp,
}

/// The answer a real broker would frame.
pub fn answer<R: Request>(asked: &Asked, response: &R::Response) -> Reply {
    answer_to::<R>(asked.correlation, asked.version, response)
}

pub fn answer_to<R: Request>(correlation: i32, version: i16, response: &R::Response) -> Reply {
    let mut body = BytesMut::new();
    ResponseHeader::default()
        .with_correlation_id(correlation)
        .encode(&mut body, R::Response::header_version(version))
        .unwrap();
    response.encode(&mut body, version).unwrap();
    let mut frame = i32::try_from(body.len()).unwrap().to_be_bytes().to_vec();
    frame.extend_from_slice(&body);
    Reply::Frame(frame)
}

/// The answer to ApiVersions of a broker that speaks these calls.
pub fn speaks(asked: &Asked, calls: &[(ApiKey, i16, i16)]) -> Reply {
    let announce = |(key, min, max): &(ApiKey, i16, i16)| {
        ApiVersion::default()
            .with_api_key(*key as i16)
            .with_min_version(*min)
            .with_max_version(*max)
    };
    let response =
        ApiVersionsResponse::default().with_api_keys(calls.iter().map(announce).collect());
    answer::<ApiVersionsRequest>(asked, &response)
}

/// A connection to a broker that speaks these calls and replies like this.
pub async fn connect(
    calls: &'static [(ApiKey, i16, i16)],
    reply: impl FnMut(&Asked) -> Reply + Send + 'static,
) -> Connection {
    connect_within(Limits::default(), calls, reply).await
}

/// The same with these limits.
pub async fn connect_within(
    limits: Limits,
    calls: &'static [(ApiKey, i16, i16)],
    mut reply: impl FnMut(&Asked) -> Reply + Send + 'static,
) -> Connection {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(serve(theirs, move |asked| {
        if asked.key == ApiVersionsRequest::KEY { speaks(asked, calls) } else { reply(asked) }
    }));
    Connection::negotiate(Box::new(ours), Endpoint::new("b1", 9091), limits).await.unwrap()
}

/// Answers requests until the client or a reply hangs up.
pub async fn serve(mut stream: impl Stream, mut reply: impl FnMut(&Asked) -> Reply) {
    while let Ok(length) = stream.read_i32().await {
        let mut request = BytesMut::zeroed(length.try_into().unwrap());
        stream.read_exact(&mut request).await.unwrap();
        let mut request = request.freeze();
        let header = decode_request_header_from_buffer(&mut request).unwrap();
        let asked = Asked {
            key: header.request_api_key,
            version: header.request_api_version,
            correlation: header.correlation_id,
            body: request,
        };
        match reply(&asked) {
            Reply::Frame(frame) => stream.write_all(&frame).await.unwrap(),
            Reply::Torn(bytes) => {
                stream.write_all(&bytes).await.unwrap();
                stream.flush().await.unwrap();
                return;
            }
            Reply::Silence => {}
            Reply::HangUp => return,
        }
        stream.flush().await.unwrap();
    }
}
