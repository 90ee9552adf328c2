//! Systems that take lines over a connection and say nothing. Nothing may be lost by a receiver
//! that goes away, and little may come twice.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod fixture;

use egress::{Calls, Proxy};
use fixture::{PATIENCE, ago, calling, config, event, events, logs, now, origin};
use model::{IntegrationKind, IntegrationSystem, LogEvent, Secret};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls_pki_types::PrivateKeyDer;
use ship::{Endpoints, Outcome, Shipper, Verdict};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsAcceptor;

/// What came over each connection.
type Came = Arc<Mutex<Vec<Vec<u8>>>>;

/// What a receiver does with a connection, by its number.
#[derive(Clone, Copy)]
enum Manner {
    ReadAll,
    /// It closes it in good order once so much came.
    CloseAfter(usize),
    /// It goes away with bytes unread.
    ResetAfter(usize),
    NeverRead,
}

/// One that has little room for what it has not read.
fn narrow_listener() -> TcpListener {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    socket.listen(8).unwrap()
}

async fn receiver(manner: impl Fn(usize) -> Manner + Send + 'static) -> (u16, Came) {
    receiver_at(TcpListener::bind("127.0.0.1:0").await.unwrap(), manner)
}

fn receiver_at(
    listener: TcpListener,
    manner: impl Fn(usize) -> Manner + Send + 'static,
) -> (u16, Came) {
    let (port, came) = (listener.local_addr().unwrap().port(), Came::default());
    let kept = Arc::clone(&came);
    tokio::spawn(async move {
        let mut silent = Vec::new();
        for number in 0.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            kept.lock().unwrap().push(Vec::new());
            let kept = Arc::clone(&kept);
            match manner(number) {
                Manner::ReadAll => {
                    tokio::spawn(async move { read(&mut stream, &kept, number, usize::MAX).await });
                }
                Manner::CloseAfter(most) => read(&mut stream, &kept, number, most).await,
                Manner::ResetAfter(most) => {
                    read(&mut stream, &kept, number, most).await;
                    stream.set_zero_linger().unwrap();
                }
                Manner::NeverRead => silent.push(stream),
            }
        }
    });
    (port, came)
}

async fn read(stream: &mut (impl AsyncRead + Unpin), came: &Came, number: usize, most: usize) {
    let mut space = vec![0; 16 << 10];
    let mut all = 0;
    while all < most {
        let room = space.len().min(most - all);
        match stream.read(&mut space[..room]).await {
            Ok(0) | Err(_) => return,
            Ok(read) => {
                all += read;
                came.lock().unwrap()[number].extend_from_slice(&space[..read]);
            }
        }
    }
}

/// The whole messages of one connection; the last may be cut off.
fn frames(bytes: &[u8]) -> Vec<String> {
    let (mut rest, mut found) = (bytes, Vec::new());
    while let Some(space) = rest.iter().position(|byte| *byte == b' ') {
        let length: usize = std::str::from_utf8(&rest[..space]).unwrap().parse().unwrap();
        let Some(frame) = rest.get(space + 1..space + 1 + length) else { break };
        found.push(String::from_utf8(frame.to_vec()).unwrap());
        rest = &rest[space + 1 + length..];
    }
    found
}

/// The text of a message, after the last element that holds data.
fn text(frame: &str) -> &str {
    frame.split_once("\"] ").map_or("", |(_, text)| text)
}

fn texts(came: &Came) -> Vec<String> {
    let came = came.lock().unwrap();
    let all = came.iter().flat_map(|bytes| frames(bytes));
    all.map(|frame| text(&frame).to_owned()).collect()
}

/// Waits for the last of them to come.
async fn until_there(came: &Came, last: &str) -> Vec<String> {
    let begun = Instant::now();
    loop {
        let texts = texts(came);
        if texts.last().is_some_and(|text| text == last) {
            return texts;
        }
        let waited = begun.elapsed();
        assert!(
            waited < Duration::from_mins(1),
            "{} came, at last {:?}",
            texts.len(),
            texts.last()
        );
        sleep(Duration::from_millis(20)).await;
    }
}

fn papertrail(port: u16) -> Shipper {
    let url = format!("tcp://127.0.0.1:{port}");
    logs(IntegrationSystem::Papertrail, &[("url", &url)], Endpoints::default())
}

fn numbered(from: usize, to: usize) -> Vec<LogEvent> {
    (from..to).map(|at| event(ago(60), format!("event {at} {}", "x".repeat(100)))).collect()
}

async fn all_done(shipper: &mut Shipper, events: &[LogEvent]) {
    let outcome = shipper.send_logs(&origin(), events, now(), PATIENCE).await;
    assert_eq!(outcome, Outcome { done: events.len(), ..Outcome::default() });
}

/// Nothing is missing, and the order is kept but for what came again.
fn at_least_once(came: &[String], events: &[LogEvent]) -> usize {
    let mut next = 0;
    for text in came {
        if next < events.len() && *text == events[next].message {
            next += 1;
        } else {
            assert!(events[..next].iter().any(|event| event.message == *text), "{text}");
        }
    }
    assert_eq!(next, events.len(), "all came");
    came.len() - events.len()
}

#[tokio::test]
async fn messages_are_as_the_standard_has_them() {
    let (port, came) = receiver(|_| Manner::ReadAll).await;
    let mut shipper = papertrail(port);
    let mut one = event(ago(60), "it\n\tat \u{1b}x");
    one.at = "2026-11-19T09:00:00.123456789Z".parse().unwrap();
    all_done(&mut shipper, &[one]).await;
    until_there(&came, "it\n\tat #033x").await;
    let said = frames(&came.lock().unwrap()[0]);
    let expected = "<134>1 2026-11-19T09:00:00.123Z mouse-01.prod.example.com kafka - - \
                    [castellan@32473 instance=\"prod <öst>, \\\"1\\\"\" instance-id=\"7\" \
                    server=\"mouse-01\" logger=\"kafka.server.KafkaServer\"] it\n\tat #033x";
    assert_eq!(said, [expected]);
}

#[tokio::test]
async fn every_event_comes_over_one_connection() {
    let (port, came) = receiver(|_| Manner::ReadAll).await;
    let mut shipper = papertrail(port);
    let events = events(2000);
    for part in events.chunks(700) {
        all_done(&mut shipper, part).await;
    }
    let last = &events[events.len() - 1].message;
    let texts = until_there(&came, last).await;
    assert_eq!(came.lock().unwrap().len(), 1);
    assert_eq!(texts.len(), events.len());
    for (text, event) in texts.iter().zip(&events) {
        let kept = text.split(" … [").next().unwrap();
        let shown = event.message.contains(|c: char| c.is_control() && !"\t\n".contains(c));
        assert!(shown || event.message.starts_with(kept), "{text}");
        assert!(text.len() <= 100_000);
    }
}

#[tokio::test]
async fn lines_of_logentries_begin_with_the_token() {
    let (port, came) = receiver(|_| Manner::ReadAll).await;
    let address = format!("tcp://127.0.0.1:{port}");
    let logentries = ship::Address::try_from(address).unwrap();
    let endpoints = Endpoints { logentries, ..Endpoints::default() };
    let token = "2bfbea1e-10c3-4419-bdad-7e6435882e1f";
    let mut shipper = logs(IntegrationSystem::Logentries, &[("token", token)], endpoints);
    let events = events(1000);
    all_done(&mut shipper, &events).await;
    let begun = Instant::now();
    let lines = loop {
        let all = String::from_utf8(came.lock().unwrap()[0].clone()).unwrap_or_default();
        let lines: Vec<_> = all.lines().map(str::to_owned).collect();
        if lines.len() == events.len() && all.ends_with('\n') {
            break lines;
        }
        assert!(begun.elapsed() < Duration::from_mins(1), "{} lines", lines.len());
        sleep(Duration::from_millis(20)).await;
    };
    let head = format!("{token} 2026-11-19T");
    for line in &lines {
        assert!(line.starts_with(&head) && line.len() < 65_536, "{}", line.len());
    }
    let expected = format!(
        "{token} 2026-11-19T09:58:21.000Z instance=\"prod <öst>, _1_\" server=mouse-01 \
         source=output DEBUG kafka.log.Log: 1 a stack trace\u{2028}\tat \
         kafka.Kafka$.main(Kafka.scala)\u{2028}\tat x"
    );
    assert_eq!(lines[1], expected);
}

/// How many bytes these are on their way.
async fn length(events: &[LogEvent]) -> usize {
    let (port, came) = receiver(|_| Manner::ReadAll).await;
    all_done(&mut papertrail(port), events).await;
    until_there(&came, &events[events.len() - 1].message).await;
    let came = came.lock().unwrap();
    came[0].len()
}

#[tokio::test]
async fn a_receiver_that_reads_all_and_closes_gets_nothing_twice() {
    let events = numbered(0, 400);
    let first = length(&events[..300]).await;
    let (port, came) = receiver(move |number| match number {
        0 => Manner::CloseAfter(first),
        _ => Manner::ReadAll,
    })
    .await;
    let mut shipper = papertrail(port);
    all_done(&mut shipper, &events[..300]).await;
    until_there(&came, &events[299].message).await;
    all_done(&mut shipper, &events[300..]).await;
    let texts = until_there(&came, &events[399].message).await;
    assert_eq!(at_least_once(&texts, &events), 0);
    assert_eq!(came.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_receiver_that_closes_half_way_gets_one_batch_twice() {
    let (port, came) = receiver(|number| match number {
        0 => Manner::CloseAfter(60_000),
        _ => Manner::ReadAll,
    })
    .await;
    let mut shipper = papertrail(port);
    let events = numbered(0, 400);
    let outcome = shipper.send_logs(&origin(), &events[..300], now(), PATIENCE).await;
    // Whether the end is seen while it is sent is a matter of time.
    all_done(&mut shipper, &events[outcome.done..]).await;
    let texts = until_there(&came, &events[399].message).await;
    let twice = at_least_once(&texts, &events);
    assert!(twice <= 300, "{twice} came twice");
}

#[tokio::test]
async fn lines_that_are_not_acknowledged_are_not_done() {
    let (port, came) = receiver_at(narrow_listener(), |number| match number {
        0 => Manner::NeverRead,
        _ => Manner::ReadAll,
    });
    let mut shipper = papertrail(port);
    // More than the receiver has room for, and less than the kernel of this side has.
    let events = numbered(0, 400);
    let patience = Duration::from_secs(2);
    let outcome = shipper.send_logs(&origin(), &events, now(), patience).await;
    let said = outcome.trouble.unwrap().to_string();
    assert_eq!(said, format!("127.0.0.1:{port} did not take all of it within 2 s"));
    assert_eq!(outcome.done, 0);
    all_done(&mut shipper, &events).await;
    let texts = until_there(&came, &events[399].message).await;
    assert_eq!(at_least_once(&texts, &events), 0);
}

#[tokio::test]
async fn what_a_receiver_had_not_read_when_it_died_comes_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut shipper = papertrail(port);
    let events = numbered(0, 200);
    all_done(&mut shipper, &events[..100]).await;
    // It goes away with bytes unread, which resets the connection.
    drop(listener.accept().await.unwrap());
    let (port_again, came) = receiver_at(listener, |_| Manner::ReadAll);
    assert_eq!(port_again, port);
    all_done(&mut shipper, &events[100..]).await;
    let texts = until_there(&came, &events[199].message).await;
    assert_eq!(at_least_once(&texts, &events), 0);
}

#[tokio::test]
async fn what_a_reset_swallowed_comes_again() {
    let (port, came) = receiver(|number| match number {
        0..3 => Manner::ResetAfter(100_000 * (number + 1)),
        _ => Manner::ReadAll,
    })
    .await;
    let mut shipper = papertrail(port);
    let events = numbered(0, 12_000);
    let (mut done, mut failures) = (0, 0);
    while done < events.len() {
        let batch = &events[done..events.len().min(done + 1000)];
        let outcome = shipper.send_logs(&origin(), batch, now(), PATIENCE).await;
        done += outcome.done;
        if let Some(trouble) = outcome.trouble {
            assert_eq!(trouble.verdict, Verdict::Retry { after: None });
            failures += 1;
            assert!(failures <= 3, "{trouble}");
        }
    }
    let texts = until_there(&came, &events[events.len() - 1].message).await;
    let twice = at_least_once(&texts, &events);
    // Two batches of 128 KiB, for each of three connections.
    assert!(twice <= 3 * 1000, "{twice} came twice");
}

#[tokio::test]
async fn a_receiver_that_does_not_read_is_left() {
    let (port, came) = receiver(|number| match number {
        0 => Manner::NeverRead,
        _ => Manner::ReadAll,
    })
    .await;
    let mut shipper = papertrail(port);
    let events = numbered(0, 60_000);
    let begun = Instant::now();
    let outcome = shipper.send_logs(&origin(), &events, now(), PATIENCE).await;
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}", begun.elapsed());
    let said = outcome.trouble.unwrap().to_string();
    assert_eq!(said, format!("127.0.0.1:{port} did not answer within 10 s"));
    assert!(outcome.done < 50_000, "{} done", outcome.done);
    all_done(&mut shipper, &events[outcome.done..]).await;
    let texts = until_there(&came, &events[events.len() - 1].message).await;
    let begins_at = events.iter().position(|event| event.message == texts[0]).unwrap();
    // What its kernel acknowledged is done.
    assert_eq!(begins_at, outcome.done);
    at_least_once(&texts, &events[begins_at..]);
}

fn acceptor(cert: &CertifiedKey<rcgen::KeyPair>) -> TlsAcceptor {
    let key = PrivateKeyDer::try_from(cert.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.cert.der().clone()], key)
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}

async fn tls_receiver(cert: &CertifiedKey<rcgen::KeyPair>) -> (u16, Came) {
    tls_receiver_at(TcpListener::bind("127.0.0.1:0").await.unwrap(), acceptor(cert))
}

fn tls_receiver_at(listener: TcpListener, acceptor: TlsAcceptor) -> (u16, Came) {
    let (port, came) = (listener.local_addr().unwrap().port(), Came::default());
    let kept = Arc::clone(&came);
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let number = kept.lock().unwrap().len();
            kept.lock().unwrap().push(Vec::new());
            let kept = Arc::clone(&kept);
            tokio::spawn(async move { read(&mut stream, &kept, number, usize::MAX).await });
        }
    });
    (port, came)
}

fn trusting(calls: &Calls, url: &str) -> Shipper {
    let (kind, system) = (IntegrationKind::Logs, IntegrationSystem::Papertrail);
    let settings = config(&[("url", url)]);
    Shipper::new(calling(calls), Arc::default(), kind, system, settings)
}

#[tokio::test]
async fn certificates_are_checked() {
    let cert = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (port, came) = tls_receiver(&cert).await;
    let events = numbered(0, 3000);
    let trusted = Calls { authority_pem: Some(cert.cert.pem()), ..Calls::default() };
    let mut shipper = trusting(&trusted, &format!("localhost:{port}"));
    for part in events.chunks(1000) {
        all_done(&mut shipper, part).await;
    }
    let texts = until_there(&came, &events[events.len() - 1].message).await;
    assert_eq!(at_least_once(&texts, &events), 0);
    assert_eq!(came.lock().unwrap().len(), 1);

    let (plain, _) = receiver(|_| Manner::CloseAfter(1)).await;
    for (calls, host, port, said) in [
        (Calls::default(), "localhost", port, "its certificate is not trusted"),
        (trusted.clone(), "127.0.0.1", port, "its certificate is not trusted"),
        (trusted, "localhost", plain, "can't be reached"),
    ] {
        let mut shipper = trusting(&calls, &format!("tls://{host}:{port}"));
        let outcome = shipper.send_logs(&origin(), &events[..1], now(), PATIENCE).await;
        let trouble = outcome.trouble.unwrap();
        let told = trouble.to_string();
        assert!(told.starts_with(&format!("{host}:{port} ")) && told.ends_with(said), "{told}");
        assert_eq!(trouble.verdict, Verdict::Retry { after: None });
    }
}

/// What a test accepts connections with itself, and a shipper that trusts it.
async fn tls_listener() -> (TcpListener, TlsAcceptor, Shipper) {
    let cert = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, acceptor) = (listener.local_addr().unwrap().port(), acceptor(&cert));
    let calls = Calls { authority_pem: Some(cert.cert.pem()), ..Calls::default() };
    let shipper = trusting(&calls, &format!("localhost:{port}"));
    (listener, acceptor, shipper)
}

#[tokio::test]
async fn what_a_receiver_had_not_read_when_it_said_farewell_comes_again() {
    let (listener, acceptor, mut shipper) = tls_listener().await;
    let port = listener.local_addr().unwrap().port();
    let events = numbered(0, 400);
    let accepted = async {
        let (stream, _) = listener.accept().await.unwrap();
        acceptor.accept(stream).await.unwrap()
    };
    let (mut stream, ()) = tokio::join!(accepted, all_done(&mut shipper, &events[..200]));
    // A reader finds a clean end, and the kernel resets the connection for what is unread.
    stream.shutdown().await.unwrap();
    drop(stream);
    let (port_again, came) = tls_receiver_at(listener, acceptor);
    assert_eq!(port_again, port);
    all_done(&mut shipper, &events[200..]).await;
    let texts = until_there(&came, &events[399].message).await;
    assert_eq!(at_least_once(&texts, &events), 0);
}

#[tokio::test]
async fn a_tls_receiver_that_reads_all_and_closes_gets_nothing_twice() {
    let (listener, acceptor, mut shipper) = tls_listener().await;
    let events = numbered(0, 200);
    let first = Came::new(Mutex::new(vec![Vec::new()]));
    let all = length(&events[..100]).await;
    let reads = async {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = acceptor.accept(stream).await.unwrap();
        read(&mut stream, &first, 0, all).await;
        stream
    };
    let (mut stream, ()) = tokio::join!(reads, all_done(&mut shipper, &events[..100]));
    stream.shutdown().await.unwrap();
    drop(stream);
    let (_, came) = tls_receiver_at(listener, acceptor);
    all_done(&mut shipper, &events[100..]).await;
    until_there(&came, &events[199].message).await;
    assert_eq!(texts(&first).len(), 100);
    assert_eq!(at_least_once(&texts(&came), &events[100..]), 0);
}

#[tokio::test]
async fn a_connection_ends_with_a_farewell() {
    let cert = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, acceptor) = (listener.local_addr().unwrap().port(), acceptor(&cert));
    let came = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut came = Vec::new();
        // Without a farewell that is an error.
        acceptor.accept(stream).await.unwrap().read_to_end(&mut came).await.unwrap();
        came
    });
    let calls = Calls { authority_pem: Some(cert.cert.pem()), ..Calls::default() };
    let mut shipper = trusting(&calls, &format!("localhost:{port}"));
    all_done(&mut shipper, &numbered(0, 10)).await;
    drop(shipper);
    assert_eq!(frames(&came.await.unwrap()).len(), 10);
}

/// One that passes on what a CONNECT names, or refuses it.
async fn proxy(allows: bool) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (port, heads) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::default()));
    let kept: Arc<Mutex<Vec<String>>> = Arc::clone(&heads);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            let place = head.split(' ').nth(1).unwrap().to_owned();
            kept.lock().unwrap().push(head);
            if !allows {
                stream.write_all(b"HTTP/1.1 403 No\r\n\r\n").await.unwrap();
                continue;
            }
            let mut other = TcpStream::connect(&place).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 Yes\r\nVia: x\r\n\r\n").await.unwrap();
            tokio::spawn(async move {
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut other).await;
            });
        }
    });
    (port, heads)
}

#[tokio::test]
async fn a_proxy_is_asked_to_pass_lines_on() {
    let cert = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (port, came) = tls_receiver(&cert).await;
    let events = numbered(0, 1000);
    for allows in [true, false] {
        let (proxy_port, heads) = proxy(allows).await;
        let address = Secret::new(format!("http://ada:pw@127.0.0.1:{proxy_port}"));
        let calls = Calls {
            authority_pem: Some(cert.cert.pem()),
            proxy: Some(Proxy::parse(&address).unwrap()),
            ..Calls::default()
        };
        let mut shipper = trusting(&calls, &format!("localhost:{port}"));
        let outcome = shipper.send_logs(&origin(), &events, now(), PATIENCE).await;
        assert_eq!(outcome.done, if allows { events.len() } else { 0 });
        let said = outcome.trouble.map(|trouble| trouble.to_string());
        let refused = format!(
            "localhost:{port} can't be reached through the operator's proxy, which is \
             [outbound] proxy"
        );
        assert_eq!(said, (!allows).then_some(refused));
        let head = format!(
            "CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost:{port}\r\n\
             Proxy-Authorization: Basic YWRhOnB3\r\n\r\n"
        );
        assert_eq!(*heads.lock().unwrap(), [head]);
    }
    let texts = until_there(&came, &events[events.len() - 1].message).await;
    assert_eq!(at_least_once(&texts, &events), 0);
}
