//! What comes over a real socket and is no proper request: whatever it is, the
//! answer is JSON with a status of the contract, and never a 500.

use crate::call::Call;
use crate::world::World;
use serde_json::Value;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use web::{Options, RateLimit, RateLimits};

const PATIENCE: Duration = Duration::from_secs(20);

struct Served {
    world: World,
    at: SocketAddr,
    /// The value of the header that lets the owner in.
    authorization: String,
    stop: CancellationToken,
    task: JoinHandle<std::io::Result<()>>,
}

async fn serve(body_timeout: Duration) -> Served {
    serve_with(Options { body_timeout, ..Options::default() }).await
}

async fn serve_with(options: Options) -> Served {
    let world = World::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let stop = options.stopping.clone();
    let options = Options { rate_limit: RateLimit::new(RateLimits::OFF), ..options };
    let router = api::customer_router(world.app.clone(), options.clone());
    let task = tokio::spawn(web::listen::serve(listener, router, None, options));
    let authorization = Call::get("/").key(&world.key).sent_header("authorization").to_owned();
    Served { world, at, authorization, stop, task }
}

struct Heard {
    status: u16,
    head: String,
    body: String,
}

impl Heard {
    fn error(&self) -> String {
        assert!(self.head.contains("content-type: application/json"), "{}", self.head);
        let body: Value = serde_json::from_str(&self.body).unwrap();
        body["error"].as_str().unwrap().to_owned()
    }
}

/// One answer, of as many bytes as it announces.
async fn hear(stream: &mut TcpStream) -> Heard {
    let mut bytes = Vec::new();
    let reading = async {
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
                let length: usize = length.map_or(0, |length| length.parse().unwrap());
                if body.len() >= length {
                    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
                    return Heard { status, head: head.into(), body: body.into() };
                }
            }
            let read = stream.read_buf(&mut bytes).await.unwrap();
            assert!(read > 0, "the connection ended after {text:?}");
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("there is an answer")
}

impl Served {
    async fn send(&self, request: &[u8]) -> Heard {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        stream.write_all(request).await.unwrap();
        hear(&mut stream).await
    }

    fn head(&self, line: &str, headers: &str) -> String {
        let authorization = &self.authorization;
        format!("{line} HTTP/1.1\r\nhost: x\r\nauthorization: {authorization}\r\n{headers}\r\n")
    }

    async fn end(self) {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.task).await.unwrap().unwrap().unwrap();
    }
}

#[tokio::test]
async fn what_is_no_request_is_a_400_in_json() {
    let served = serve(Duration::from_secs(30)).await;
    let long = "x".repeat(100_000);
    let many = "h: x\r\n".repeat(500);
    let plans = "GET /api/plans HTTP/1.1\r\nhost: x\r\n";
    for (request, expected) in [
        (format!("GET /{long} HTTP/1.1\r\n\r\n"), "The address is too long"),
        (format!("GET /api/plans?a={long} HTTP/1.1\r\n\r\n"), "The address is too long"),
        (format!("{plans}{many}\r\n"), "The headers are too long, or too many"),
        (format!("{plans}junk\r\n\r\n"), "The request is not valid HTTP"),
        (format!("{plans}a b: c\r\n\r\n"), "The request is not valid HTTP"),
        (format!("{plans}content-length: many\r\n\r\n"), "The request is not valid HTTP"),
        ("GET /api/\u{1} HTTP/1.1\r\n\r\n".into(), "The request is not valid HTTP"),
        ("\u{16}\u{3}\u{1}\u{2} TLS\r\n\r\n".into(), "The request is not valid HTTP"),
    ] {
        let heard = served.send(request.as_bytes()).await;
        let start = &request[..request.len().min(40)];
        assert_eq!((heard.status, heard.error().as_str()), (400, expected), "{start:?}");
    }
    served.end().await;
}

#[tokio::test]
async fn an_accepted_restart_says_that_nothing_follows() {
    let served = serve(Duration::from_secs(30)).await;
    let instance = served.world.create("orders", &[]).await;
    served.world.make_ready(instance.id).await;
    let restart = format!("POST /api/instances/{}/cluster/restart", instance.id);
    let heard = served.send(served.head(&restart, "content-length: 0\r\n").as_bytes()).await;
    assert_eq!((heard.status, heard.body.as_str()), (201, ""), "{}", heard.head);
    let said = heard.head.to_ascii_lowercase();
    assert!(said.contains("\r\ncontent-length: 0"), "{said}");
    assert!(!said.contains("\r\ncontent-type:"), "{said}");
    served.end().await;
}

#[tokio::test]
async fn junk_in_paths_queries_and_headers_is_refused_by_the_contract() {
    let served = serve(Duration::from_secs(30)).await;
    let long = "x".repeat(60_000);
    for (line, headers, status) in [
        ("GET /api/instances/%zz", "", 404),
        ("GET /api/instances/%FF%FE", "", 404),
        ("GET /api/instances/1%00", "", 404),
        ("GET /api/%70lans", "", 404),
        ("GET //api/plans", "", 404),
        ("GET /api/plans/", "", 404),
        ("GET /api/plans?backend=%zz", "", 200),
        ("GET /api/plans?backend=%FF", "", 400),
        ("GET /api/plans?backend=%00", "", 400),
        ("GET /api/plans?&&=&%", "", 200),
        (&format!("GET /api/plans?backend={long}"), "", 200),
        ("GET /api/plans", "x-request-id: \u{e9}\u{e9}\r\n", 200),
        ("GET /api/plans", "content-type: \u{e9}\r\naccept: ;;;\r\ncookie: =\r\n", 200),
        ("DELETE /api/instances/1", "content-length: 3\r\n\r\nabc", 404),
        ("POST /api/instances", "idempotency-key: \u{e9}\r\n", 400),
        ("POST /api/instances", "transfer-encoding: chunked\r\n\r\nzz\r\n", 400),
        // Beside the key's own.
        ("GET /api/plans", "authorization: Basic ####\r\n", 401),
        ("BREW /api/plans", "", 405),
        ("get /api/plans", "", 405),
        ("OPTIONS *", "", 404),
        ("CONNECT x:80", "", 404),
    ] {
        let heard = served.send(served.head(line, headers).as_bytes()).await;
        let start = &line[..line.len().min(40)];
        assert_eq!(heard.status, status, "{start} {headers:?}: {} {}", heard.head, heard.body);
        let _: Value = serde_json::from_str(&heard.body).unwrap();
    }
    served.end().await;
}

#[tokio::test]
async fn a_body_beyond_all_measure_is_a_413_that_its_sender_hears() {
    let served = serve(Duration::from_secs(30)).await;
    let large = 10 * 1024 * 1024;
    let announced = served.head("POST /api/instances", &format!("content-length: {large}\r\n"));
    let mut request = announced.into_bytes();
    request.resize(request.len() + large, b'x');
    let heard = served.send(&request).await;
    assert_eq!((heard.status, heard.error().as_str()), (413, TOO_LARGE));

    // Without a word about its size.
    let chunk = format!("{:x}\r\n{}\r\n", 64 * 1024, "y".repeat(64 * 1024));
    let opening = served.head("POST /api/instances", "transfer-encoding: chunked\r\n");
    let request = opening + &chunk.repeat(160) + "0\r\n\r\n";
    assert_eq!(served.send(request.as_bytes()).await.status, 413);

    // A client that asks first is told before it sends.
    let asks = format!("content-length: {large}\r\nexpect: 100-continue\r\n");
    let heard = served.send(served.head("POST /api/instances", &asks).as_bytes()).await;
    assert_eq!(heard.status, 413);
    served.end().await;
}

const TOO_LARGE: &str = "The request body is larger than 1024 KiB";

#[tokio::test]
async fn a_slow_body_is_not_waited_for() {
    let served = serve(Duration::from_millis(200)).await;
    let opening = served.head("POST /api/instances", "content-length: 100\r\n");
    let heard = served.send(format!("{opening}name=slow").as_bytes()).await;
    assert_eq!(heard.status, 400);
    assert_eq!(heard.error(), "The body did not arrive within 0 seconds");
    served.end().await;
}

#[tokio::test]
async fn a_connection_without_a_request_is_dropped() {
    let silence = Duration::from_millis(100);
    let served = serve_with(Options { silence, ..Options::default() }).await;
    // Nothing at all, a beginning of HTTP/2, a beginning of a request.
    for said in ["", "PRI * HTT", "GET /api/plans HT"] {
        let mut stream = TcpStream::connect(served.at).await.unwrap();
        stream.write_all(said.as_bytes()).await.unwrap();
        let mut heard = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut heard)).await;
        assert!(ended.is_ok(), "the connection is held open after {said:?}");
        assert!(heard.is_empty(), "{said:?}: {heard:?}");
    }
    served.end().await;
}

#[tokio::test]
async fn a_stop_lets_calls_end_and_turns_new_ones_away() {
    let served = serve(Duration::from_secs(30)).await;
    // Under way: its body is still to come.
    let mut held = TcpStream::connect(served.at).await.unwrap();
    let body = "name=orders&plan=mouse-1&region=local::this-machine";
    let kind = "content-type: application/x-www-form-urlencoded\r\n";
    let length = format!("{kind}content-length: {}\r\n", body.len());
    let opening = served.head("POST /api/instances", &length);
    held.write_all(opening.as_bytes()).await.unwrap();
    let mut idle = TcpStream::connect(served.at).await.unwrap();
    let plans = served.head("GET /api/plans", "");
    idle.write_all(plans.as_bytes()).await.unwrap();
    assert_eq!(hear(&mut idle).await.status, 200);

    served.stop.cancel();
    // On a connection that is there, and on a new one.
    idle.write_all(plans.as_bytes()).await.unwrap();
    for heard in [hear(&mut idle).await, served.send(plans.as_bytes()).await] {
        assert_eq!(heard.status, 503, "{}", heard.body);
        assert_eq!(heard.error(), "Castellan is stopping; try again in a few seconds");
        assert!(heard.head.contains("retry-after: 5"), "{}", heard.head);
    }
    let health = served.send(served.head("GET /healthz", "").as_bytes()).await;
    assert_eq!(health.status, 200);
    held.write_all(body.as_bytes()).await.unwrap();
    let heard = hear(&mut held).await;
    assert_eq!(heard.status, 200, "{}", heard.body);
    tokio::time::timeout(PATIENCE, served.task).await.unwrap().unwrap().unwrap();
    let mut reader = served.world.app.store().reader();
    let instances = store::instances::list(&mut reader, served.world.account).await.unwrap();
    assert_eq!(instances.len(), 1);
    assert!(TcpStream::connect(served.at).await.is_err(), "nobody listens any more");
}
