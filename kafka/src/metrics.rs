//! Reading a broker's metrics, as text in Prometheus' format.

use crate::Endpoint;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A broker that is well answers in a tenth of this.
const DEADLINE: Duration = Duration::from_secs(5);
/// Far beyond what the rendered list lets through.
const LARGEST: u64 = 8 * 1024 * 1024;

/// Where a broker with this `server.properties` serves its metrics; brokers that
/// were made before there were metrics serve none.
pub fn listener(properties: &str) -> Option<Endpoint> {
    let url = properties
        .lines()
        .find_map(|line| line.strip_prefix("prometheus.metrics.reporter.listener=http://"))?;
    let (host, port) = url.trim().rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Some(Endpoint::new(host, port.parse().ok()?))
}

/// Everything the broker at that listener serves now.
pub async fn scrape(listener: &Endpoint) -> io::Result<String> {
    tokio::time::timeout(DEADLINE, get(listener))
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// HTTP/1.0: the body is not in chunks, and ends with the connection.
async fn get(listener: &Endpoint) -> io::Result<String> {
    let mut stream = TcpStream::connect((listener.host.as_str(), listener.port)).await?;
    let request = format!("GET /metrics HTTP/1.0\r\nHost: {listener}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.take(LARGEST).read_to_string(&mut answer).await?;
    let Some((head, body)) = answer.split_once("\r\n\r\n") else {
        return Err(io::Error::other("the answer is not whole"));
    };
    let status = head.lines().next().unwrap_or_default();
    if status.split(' ').nth(1) == Some("200") {
        return Ok(body.to_owned());
    }
    Err(io::Error::other(format!("the broker answered {status}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    /// What we make of an answer.
    async fn scraped(answer: &'static str) -> Result<String, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = Endpoint::new("127.0.0.1", listener.local_addr().unwrap().port());
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let length = stream.read(&mut request).await.unwrap();
            assert!(request[..length].starts_with(b"GET /metrics HTTP/1.0\r\n"));
            stream.write_all(answer.as_bytes()).await.unwrap();
        };
        let (scraped, ()) = tokio::join!(scrape(&endpoint), serve);
        scraped.map_err(|error| error.to_string())
    }

    #[test]
    fn the_listener_stands_in_the_configuration() {
        let check = |properties: &str, expected: Option<Endpoint>| {
            assert_eq!(listener(properties), expected, "{properties}");
        };
        let line = "prometheus.metrics.reporter.listener=http://";
        let text = format!("node.id=1\n{line}127.64.0.2:9404\nnode.id=1\n");
        check(&text, Some(Endpoint::new("127.64.0.2", 9404)));
        check(&format!("{line}[::1]:9405"), Some(Endpoint::new("::1", 9405)));
        check(&format!("{line}127.64.0.2"), None);
        check("node.id=1\n", None);
    }

    #[tokio::test]
    async fn only_a_whole_good_answer_counts() {
        let text = scraped("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\na 1.0\nb 2.0\n");
        assert_eq!(text.await.unwrap(), "a 1.0\nb 2.0\n");
        let error = scraped("HTTP/1.1 503 Service Unavailable\r\n\r\n").await.unwrap_err();
        assert_eq!(error, "the broker answered HTTP/1.1 503 Service Unavailable");
        assert_eq!(scraped("HTTP/1.1 200 OK\r\n").await.unwrap_err(), "the answer is not whole");
    }
}
