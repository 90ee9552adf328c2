//! Calls and connections to servers of this machine: what is read of an answer, how many
//! connections are made, and what goes through a proxy.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use egress::{Caller, Calls, Destinations, Fault, Forbidden, HttpRequest, Lookup, Place, Proxy};
use model::{Secret, Timestamp};
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

fn now() -> Timestamp {
    "2026-11-19T10:00:00Z".parse().unwrap()
}

/// Knows what its names say: `10-0-0-1.test`. It does not know `unknown.test`, and never says
/// what `slow.test` is.
struct ByName;

#[async_trait::async_trait]
impl Lookup for ByName {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        if name == "slow.test" {
            std::future::pending::<()>().await;
        }
        let address = name.trim_end_matches(".test").replace('-', ".");
        let address = address.parse().map_err(|_| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(vec![address])
    }
}

fn caller(allow_private: bool, calls: &Calls) -> Caller {
    Caller::with(Destinations::new(allow_private, Arc::new(ByName)), calls).unwrap()
}

fn request(url: &str) -> HttpRequest {
    HttpRequest::new(url.parse().unwrap(), b"{}".to_vec())
}

/// Answers every call with the same, and counts connections. Keeps heads.
struct Server {
    port: u16,
    connections: Arc<AtomicUsize>,
    heads: Arc<Mutex<Vec<String>>>,
}

async fn server(answer: String) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = Server { port, connections: Arc::default(), heads: Arc::default() };
    let (connections, heads) = (Arc::clone(&server.connections), Arc::clone(&server.heads));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            connections.fetch_add(1, Ordering::SeqCst);
            let (answer, heads) = (answer.clone(), Arc::clone(&heads));
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                while let Some(head) = head(&mut stream).await {
                    if !head.starts_with("CONNECT ") {
                        stream.read_exact(&mut [0; 2]).await.unwrap();
                    }
                    heads.lock().unwrap().push(head);
                    if stream.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    server
}

async fn head(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        stream.read_line(&mut head).await.ok().filter(|read| *read > 0)?;
    }
    Some(head)
}

fn answering(status: u16, body: &str) -> String {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn the_beginning_of_an_answer_is_read() {
    let long = "x".repeat(100_000);
    let server = server(answering(400, &long)).await;
    let caller = caller(true, &Calls::default());
    let url = format!("http://127-0-0-1.test:{}/x", server.port);
    for most in [0, 10, 1 << 20] {
        let answer = caller.ask(request(&url), now(), most).await.unwrap();
        assert_eq!((answer.status, answer.body.len()), (400, most.min(long.len())));
        assert_eq!(answer.outcome(), Err(Fault::Status { status: 400, retry_after: None }));
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_connection_is_kept_where_that_is_wanted() {
    let server = server(answering(200, "fine")).await;
    let kept = Calls { kept_for: Duration::from_secs(20), ..Calls::default() };
    for (calls, connections) in [(&Calls::default(), 3), (&kept, 1)] {
        let caller = caller(true, calls);
        server.connections.store(0, Ordering::SeqCst);
        for _ in 0..3 {
            let url = format!("http://127-0-0-1.test:{}/x", server.port);
            assert_eq!(caller.ask(request(&url), now(), 100).await.unwrap().body, b"fine");
        }
        assert_eq!(server.connections.load(Ordering::SeqCst), connections);
    }
}

#[tokio::test]
async fn a_proxy_gets_what_may_be_called() {
    let proxy = server(answering(200, "passed on")).await;
    // The operator's own address is not asked about.
    let address = Secret::new(format!("http://ada:pw@127.0.0.1:{}", proxy.port));
    let proxy_of = Proxy::parse(&address).unwrap();
    let calls = Calls { proxy: Some(proxy_of), ..Calls::default() };
    let careful = caller(false, &calls);
    let asked = async |url: &str| careful.ask(request(url), now(), 100).await;
    for url in ["http://unknown.test/x", "http://1-1-1-1.test/x", "http://1.1.1.1/x"] {
        assert_eq!(asked(url).await.unwrap().body, b"passed on", "{url}");
        let head = proxy.heads.lock().unwrap().pop().unwrap();
        assert!(head.starts_with(&format!("POST {url} HTTP/1.1\r\n")), "{head}");
        assert!(head.to_lowercase().contains("proxy-authorization: basic ywrhonb3"), "{head}");
    }
    let private = Err(Fault::Forbidden(Forbidden::Private));
    for url in ["http://10-0-0-1.test/x", "http://127.0.0.1/x", "https://[::1]/x"] {
        assert_eq!(asked(url).await, private, "{url}");
    }
    assert!(proxy.heads.lock().unwrap().is_empty());
    // A proxy that adds something to its answer to CONNECT passes nothing on.
    let secure = asked("https://unknown.test/x").await;
    assert_eq!(secure, Err(Fault::NotPassedOn));
    let head = proxy.heads.lock().unwrap().pop().unwrap();
    assert!(head.starts_with("CONNECT unknown.test:443 HTTP/1.1\r\n"), "{head}");
}

#[tokio::test]
async fn a_name_that_this_machine_is_slow_to_find_goes_to_the_proxy() {
    let proxy = server(answering(200, "passed on")).await;
    let address = Secret::new(format!("http://127.0.0.1:{}", proxy.port));
    let calls = Calls { proxy: Some(Proxy::parse(&address).unwrap()), ..Calls::default() };
    let begun = Instant::now();
    let asked = caller(false, &calls).ask(request("http://slow.test/x"), now(), 100).await;
    assert_eq!(asked.unwrap().body, b"passed on");
    // A look-up of its own would last 8 seconds.
    assert!(begun.elapsed() < Duration::from_secs(7), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn an_unreachable_or_refusing_proxy_is_named_in_the_error() {
    let refusing = server(answering(403, "")).await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let unused = taken.local_addr().unwrap().port();
    drop(taken);
    for port in [refusing.port, unused] {
        let address = Secret::new(format!("http://127.0.0.1:{port}"));
        let calls = Calls { proxy: Some(Proxy::parse(&address).unwrap()), ..Calls::default() };
        let caller = caller(false, &calls);
        let asked = caller.ask(request("https://unknown.test/x"), now(), 0).await;
        assert_eq!(asked, Err(Fault::NotPassedOn));
        let place = Place { host: "unknown.test".into(), port: 514, tls: false };
        assert_eq!(caller.connect(&place).await.err(), Some(Fault::NotPassedOn));
    }
    let asking = server(answering(407, "")).await;
    let address = Secret::new(format!("http://127.0.0.1:{}", asking.port));
    let calls = Calls { proxy: Some(Proxy::parse(&address).unwrap()), ..Calls::default() };
    let asked = caller(false, &calls).ask(request("http://unknown.test/x"), now(), 0).await;
    assert_eq!(asked, Err(Fault::NotPassedOn));
}

#[tokio::test]
async fn connections_obey_the_rules_of_calls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let to = |host: &str| Place { host: host.into(), port, tls: false };
    let (careful, free) = (caller(false, &Calls::default()), caller(true, &Calls::default()));
    let hosts = ["127.0.0.1", "127.1", "2130706433", "::ffff:127.0.0.1", "127-0-0-1.test"];
    for host in hosts {
        let refused = careful.connect(&to(host)).await.err();
        assert_eq!(refused, Some(Fault::Forbidden(Forbidden::Private)), "{host}");
        assert!(free.connect(&to(host)).await.is_ok(), "{host}");
    }
    for host in ["unknown.test", "a b", ""] {
        assert_eq!(free.connect(&to(host)).await.err(), Some(Fault::UnknownName), "{host:?}");
    }
    drop(listener);
    assert_eq!(free.connect(&to("127.0.0.1")).await.err(), Some(Fault::Unreachable));
}
