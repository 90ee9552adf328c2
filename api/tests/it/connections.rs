//! How many connections one client can hold, on real sockets.

use crate::agents::{enrolment, give_token, server_of};
use crate::listen::{http, now, serve_with};
use crate::world::World;
use pki::KeyPair;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use web::{ConnectionLimits, Connections, Options};

/// Well below the time after which a silent connection is dropped.
const AT_ONCE: Duration = Duration::from_secs(10);

async fn connect(from: &str, to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::new(from.parse::<IpAddr>().unwrap(), 0)).unwrap();
    socket.connect(to).await.unwrap()
}

/// Whether a call on the connection is answered; not, if the connection was closed.
async fn is_answered(stream: &mut TcpStream) -> bool {
    let call = b"GET /api/plans HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut answer = [0; 12];
    let asked = async {
        stream.write_all(call).await?;
        stream.read_exact(&mut answer).await?;
        // The rest of it; a short one comes in one piece.
        let mut rest = vec![0; 8192];
        stream.read(&mut rest).await.map(drop)
    };
    match timeout(AT_ONCE, asked).await.expect("neither answered nor closed") {
        Ok(()) => {
            assert_eq!(&answer[..9], b"HTTP/1.1 ");
            true
        }
        Err(error) => {
            use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
            assert!(
                matches!(error.kind(), UnexpectedEof | ConnectionReset | BrokenPipe),
                "{error}"
            );
            false
        }
    }
}

#[tokio::test]
async fn the_connection_beyond_what_an_address_may_have_is_closed_at_once() {
    let world = World::new().await;
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let to: SocketAddr = format!("127.0.0.1:{port}").parse().unwrap();
    let stop = CancellationToken::new();
    let limits = ConnectionLimits { total: 1000, per_address: 60 };
    let connections = Connections::of_apis(limits, &[]);
    let options = Options { stopping: stop.clone(), connections, ..Options::default() };
    let router = api::customer_router(world.app.clone(), options.clone());
    let task = tokio::spawn(web::listen::serve(listener, router, None, options));

    let mut held = Vec::new();
    for number in 1..=60 {
        let mut stream = connect("127.0.0.1", to).await;
        assert!(is_answered(&mut stream).await, "connection {number}");
        held.push(stream);
    }
    assert!(!is_answered(&mut connect("127.0.0.1", to).await).await, "connection 61");
    assert!(is_answered(&mut connect("127.0.0.2", to).await).await, "another address");
    assert!(is_answered(&mut held[0]).await, "what was open goes on");

    held.pop();
    let deadline = Instant::now() + AT_ONCE;
    while !is_answered(&mut connect("127.0.0.1", to).await).await {
        assert!(Instant::now() < deadline, "the place that was left is not free");
        sleep(Duration::from_millis(5)).await;
    }
    stop.cancel();
    drop(held);
    timeout(AT_ONCE, task).await.unwrap().unwrap().unwrap();
}

/// A process on the agents' host opens connections to their listener and says nothing.
#[tokio::test]
async fn silent_connections_do_not_keep_agents_of_the_same_address_out() {
    let world = World::new().await;
    world.clock.advance(now().duration_since(world.app.now()));
    let instance = world.create("orders", &[]).await;
    let server = server_of(&world, &instance).await;
    let limits = ConnectionLimits { total: 40, per_address: 10 };
    let listening = serve_with(&world, Connections::of_agents(limits));
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(connect("127.0.0.1", listening.at).await);
    }
    let key = KeyPair::generate();
    let token = give_token(&world, &server).await;
    let enrolled = http(&listening.ca, None)
        .post(format!("{}/enrol", listening.url))
        .json(&enrolment(&server, &token, &key))
        .send();
    let enrolled = timeout(AT_ONCE, enrolled).await.unwrap().unwrap();
    assert_eq!(enrolled.status(), 200);
    let enrolled: wire::agent::Enrolled = enrolled.json().await.unwrap();
    let agent = http(&listening.ca, Some((&enrolled.certificate, &key)));
    for _ in 0..30 {
        silent.push(connect("127.0.0.1", listening.at).await);
        let report = crate::agents::report("running");
        let report = agent.post(format!("{}/report", listening.url)).json(&report).send();
        assert_eq!(timeout(AT_ONCE, report).await.unwrap().unwrap().status(), 200);
    }
    // Those that lost their places were closed.
    let mut byte = [0];
    let closed = timeout(AT_ONCE, silent[0].read(&mut byte)).await.expect("the oldest is open");
    assert!(!matches!(closed, Ok(1..)), "{closed:?}");
    listening.stop.cancel();
}
