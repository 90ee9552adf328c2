//! The other side: takes what comes with the right key, and says 401 to everybody else.

use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::io::Read as _;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

pub const KEY: &str = "the-right-key";

/// A call that was taken.
#[derive(Clone, Debug)]
pub struct Call {
    pub path: String,
    pub body: Value,
}

pub struct Receiver {
    pub port: u16,
    state: Arc<Mutex<State>>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct State {
    calls: Vec<Call>,
    is_broken: bool,
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let state: Arc<Mutex<State>> = Arc::default();
        let mut tasks = JoinSet::new();
        let shared = Arc::clone(&state);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                connections.spawn(async move { while_open(stream, &state).await });
            }
        });
        Self { port, state, _tasks: tasks }
    }

    /// From now on everything is answered 503, or not any more.
    pub fn set_broken(&self, is_broken: bool) {
        self.state.lock().unwrap().is_broken = is_broken;
    }

    /// What was taken since the last time.
    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.state.lock().unwrap().calls)
    }
}

async fn while_open(stream: TcpStream, state: &Mutex<State>) {
    let mut stream = BufReader::new(stream);
    while serve(&mut stream, state).await.is_some() {}
}

/// One call. None: there is none any more.
async fn serve(stream: &mut BufReader<TcpStream>, state: &Mutex<State>) -> Option<()> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.ok()? == 0 {
            return None;
        }
    }
    let header = |name: &str| {
        let mut pairs = head.lines().filter_map(|line| line.split_once(": "));
        let found = pairs.find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    };
    let mut body = vec![0; header("content-length").parse().unwrap_or_default()];
    stream.read_exact(&mut body).await.ok()?;
    assert_eq!(header("content-encoding"), "gzip", "{head}");
    let mut text = String::new();
    GzDecoder::new(body.as_slice()).read_to_string(&mut text).unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    let call = Call { path, body: serde_json::from_str(&text).unwrap() };
    let status = {
        let mut state = state.lock().unwrap();
        if header("dd-api-key") != KEY && header("api-key") != KEY {
            401
        } else if state.is_broken {
            503
        } else {
            state.calls.push(call);
            200
        }
    };
    let answer = json!({}).to_string();
    let length = answer.len();
    let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\n\r\n{answer}");
    stream.write_all(head.as_bytes()).await.ok()?;
    stream.flush().await.ok()
}
