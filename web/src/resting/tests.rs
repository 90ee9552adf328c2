//! Requests in every shape that a stream can bring them in, on one connection.

use super::Serving;
use axum::Router;
use axum::body::Bytes;
use axum::http::Extensions;
use axum::routing::{get, post};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(30);

struct Client {
    stream: DuplexStream,
    closing: CancellationToken,
    serving: JoinHandle<()>,
}

impl Client {
    /// With a stream that holds so many bytes on their way.
    fn new(room: usize, silence: Duration) -> Self {
        let router = Router::new()
            .route("/length", post(|body: Bytes| async move { body.len().to_string() }))
            .route("/unread", post(|| async { "unread" }))
            .route("/large", get(|| async { "x".repeat(100_000) }));
        let (stream, io) = duplex(room);
        let closing = CancellationToken::new();
        let known = Extensions::new();
        let serving = Serving { router, known, silence, closing: closing.clone() };
        Self { stream, closing, serving: tokio::spawn(serving.serve(io)) }
    }

    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// The head and the body of the next answer.
    async fn answer(&mut self) -> (String, String) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(timeout(PATIENCE, self.stream.read_u8()).await.expect("in time").unwrap());
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        timeout(PATIENCE, self.stream.read_exact(&mut body)).await.expect("in time").unwrap();
        (head, String::from_utf8(body).unwrap())
    }

    /// Whether nothing more comes, and the connection has ended.
    async fn closes(mut self) -> bool {
        let mut rest = Vec::new();
        let read = timeout(PATIENCE, self.stream.read_to_end(&mut rest)).await.expect("in time");
        timeout(PATIENCE, self.serving).await.expect("in time").unwrap();
        read.is_ok() && rest.is_empty()
    }
}

fn of_length(length: usize) -> String {
    let body = "x".repeat(length);
    format!("POST /length HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}")
}

#[tokio::test]
async fn requests_come_one_by_one_at_once_and_cut_anywhere() {
    let mut client = Client::new(1 << 20, PATIENCE);
    for length in [0, 5, 30_000] {
        client.send(&of_length(length)).await;
        assert_eq!(client.answer().await.1, length.to_string());
    }
    let lengths = [0, 7, 20_000, 3];
    client.send(&lengths.map(of_length).concat()).await;
    for length in lengths {
        assert_eq!(client.answer().await.1, length.to_string());
    }
    let two = of_length(40).repeat(2);
    for cut in 1..two.len() {
        client.send(&two[..cut]).await;
        tokio::task::yield_now().await;
        client.send(&two[cut..]).await;
        for _ in 0..2 {
            let (head, body) = client.answer().await;
            assert_eq!(body, "40", "cut at {cut}");
            assert!(!head.contains("close"), "{head}");
        }
    }
    drop(client.stream);
    timeout(PATIENCE, client.serving).await.expect("it ends with its client").unwrap();
}

#[tokio::test]
async fn an_answer_that_waits_for_its_reader_is_sent_whole() {
    let mut client = Client::new(100, PATIENCE);
    for _ in 0..3 {
        client.send("GET /large HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert_eq!(client.answer().await.1.len(), 100_000);
    }
}

#[tokio::test]
async fn a_body_that_is_not_read_is_never_taken_for_a_request() {
    for count in [1, 5000] {
        let mut client = Client::new(100, PATIENCE);
        let body = of_length(1).repeat(count);
        let length = body.len();
        let head = format!("POST /unread HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n");
        client.send(&head).await;
        assert_eq!(client.answer().await.1, "unread");
        // Either side may have given up by now.
        let _ = client.stream.write_all(body.as_bytes()).await;
        client.closing.cancel();
        assert!(client.closes().await, "{length}");
    }
}

#[tokio::test]
async fn it_ends_when_either_side_wants_it_and_after_silence() {
    for ask in ["POST /unread HTTP/1.1\r\nconnection: close\r\n", "POST /unread HTTP/1.0\r\n"] {
        let mut client = Client::new(1000, PATIENCE);
        client.send(&format!("{ask}host: x\r\ncontent-length: 0\r\n\r\n")).await;
        assert_eq!(client.answer().await.1, "unread");
        assert!(client.closes().await, "{ask}");
    }
    let mut client = Client::new(1000, PATIENCE);
    client.send(&of_length(2)).await;
    client.answer().await;
    client.closing.cancel();
    assert!(client.closes().await, "between two requests");
    for begun in ["", "P", "POST /unread HTTP/1.1\r\nhost: x\r\n"] {
        let mut client = Client::new(1000, Duration::from_millis(50));
        client.send(begun).await;
        assert!(client.closes().await, "{begun}");
    }
}
