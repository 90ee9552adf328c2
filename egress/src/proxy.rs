//! The operator's proxy, through which everything goes out where there is one.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use model::Secret;
use percent_encoding::percent_decode_str;
use reqwest::header::HeaderValue;
use std::fmt;
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use url::Url;

/// An answer to CONNECT is its head alone, and those are short.
const LONGEST_HEAD: usize = 8 << 10;

/// An HTTP proxy. It looks up the names of destinations itself, so which
/// addresses those lead to is up to its operator.
#[derive(Clone)]
pub struct Proxy {
    /// Without a name and a password.
    address: Url,
    authorization: Option<HeaderValue>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the proxy must be an address such as http://proxy.example.com:3128")]
pub struct BadProxy;

impl Proxy {
    /// Of `http://proxy.example.com:3128`, or with `user:password@` before the host.
    pub fn parse(text: &Secret) -> Result<Self, BadProxy> {
        let mut address = Url::parse(text.expose()).map_err(|_| BadProxy)?;
        if address.scheme() != "http" || !address.has_host() || address.path() != "/" {
            return Err(BadProxy);
        }
        let user = percent_decode_str(address.username()).collect::<Vec<u8>>();
        let password = percent_decode_str(address.password().unwrap_or_default());
        let pair = [user.as_slice(), b":", &password.collect::<Vec<u8>>()].concat();
        let authorization = (pair.len() > 1).then(|| {
            let mut value =
                HeaderValue::try_from(format!("Basic {}", BASE64_STANDARD.encode(pair)))
                    .expect("Base64 fits into a header");
            value.set_sensitive(true);
            value
        });
        address
            .set_username("")
            .and_then(|()| address.set_password(None))
            .map_err(|()| BadProxy)?;
        Ok(Self { address, authorization })
    }

    pub(crate) fn for_calls(&self) -> Result<reqwest::Proxy, reqwest::Error> {
        let proxy = reqwest::Proxy::all(self.address.clone())?;
        Ok(match &self.authorization {
            Some(value) => proxy.custom_http_auth(value.clone()),
            None => proxy,
        })
    }

    pub(crate) fn host(&self) -> &str {
        self.address.host_str().unwrap_or_default()
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port().unwrap_or(80)
    }

    /// Has the proxy pass on what follows. None: it does not want to.
    pub(crate) async fn open<S>(&self, stream: &mut S, authority: &str) -> io::Result<Option<()>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let mut head =
            format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n").into_bytes();
        if let Some(value) = &self.authorization {
            head.extend_from_slice(b"Proxy-Authorization: ");
            head.extend_from_slice(value.as_bytes());
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        stream.write_all(&head).await?;
        let answer = read_head(stream).await?;
        let status = answer.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..5));
        Ok(status.filter(|status| status.starts_with(b"2")).map(|_| ()))
    }
}

/// Byte by byte: what follows is the destination's.
async fn read_head<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == LONGEST_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        head.push(stream.read_u8().await?);
    }
    Ok(head)
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({})", self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<(String, u16, Option<String>)> {
        let proxy = Proxy::parse(&Secret::new(text)).ok()?;
        let said = |value: &HeaderValue| value.to_str().unwrap().to_owned();
        Some((proxy.host().to_owned(), proxy.port(), proxy.authorization.as_ref().map(said)))
    }

    #[test]
    fn what_a_proxy_is() {
        let check = |text: &str, host: &str, port: u16, authorization: Option<&str>| {
            let expected = (host.to_owned(), port, authorization.map(str::to_owned));
            assert_eq!(parse(text), Some(expected), "{text}");
        };
        check("http://10.0.0.1:3128", "10.0.0.1", 3128, None);
        check("http://proxy.test/", "proxy.test", 80, None);
        check("http://[::1]:8080", "[::1]", 8080, None);
        // Of RFC 7617.
        let aladdin = Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        check("http://Aladdin:open%20sesame@proxy.test:1", "proxy.test", 1, aladdin);
        for bad in ["", "proxy.test:3128", "socks5://proxy.test", "https://p.test", "http://p/x"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
        let proxy = Proxy::parse(&Secret::new("http://user:s3cret@proxy.test")).unwrap();
        assert_eq!(format!("{proxy:?}"), "Proxy(http://proxy.test/)");
    }

    #[tokio::test]
    async fn what_a_proxy_answers() {
        let check = async |answer: &str, expected: Result<bool, io::ErrorKind>| {
            let (mut ours, mut theirs) = tokio::io::duplex(64 << 10);
            theirs.write_all(answer.as_bytes()).await.unwrap();
            let proxy = Proxy::parse(&Secret::new("http://a:b@proxy.test")).unwrap();
            theirs.shutdown().await.unwrap();
            let opened = proxy.open(&mut ours, "logs.test:514").await;
            let opened = opened.map(|opened| opened.is_some()).map_err(|error| error.kind());
            assert_eq!(opened, expected, "{answer:?}");
            drop(ours);
            let mut asked = String::new();
            theirs.read_to_string(&mut asked).await.unwrap();
            let head = "CONNECT logs.test:514 HTTP/1.1\r\nHost: logs.test:514\r\n\
                        Proxy-Authorization: Basic YTpi\r\n\r\n";
            assert_eq!(asked, head);
        };
        check("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\nmore", Ok(true)).await;
        check("HTTP/1.0 200 OK\r\n\r\n", Ok(true)).await;
        check("HTTP/1.1 407 No\r\n\r\n", Ok(false)).await;
        check("SPAM\r\n\r\n", Ok(false)).await;
        check("HTTP/1.1 200 OK\r\n", Err(io::ErrorKind::UnexpectedEof)).await;
        let endless = format!("HTTP/1.1 200 OK\r\n{}", "X: y\r\n".repeat(2000));
        check(&endless, Err(io::ErrorKind::InvalidData)).await;
    }
}
