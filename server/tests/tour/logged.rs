//! The brokers' logs arrive at a receiver of syslog that is none of our code, event by event as
//! they are in the files: through the death of an agent, of a broker and of the receiver, and a
//! roll.

use crate::{SERVERS, rolled};
use model::Timestamp;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use test_support::installation::Installation;
use test_support::receiver::Receiver;

const VICTIM: usize = 1;

/// When it was, and its lines without level and logger.
type Event = (Timestamp, Vec<String>);

struct Logged<'a> {
    castellan: &'a Installation,
    /// Of the instance.
    path: String,
    /// By server.
    names: Vec<String>,
    directories: Vec<PathBuf>,
    receiver: Option<Receiver>,
    came: Vec<Value>,
}

pub async fn arrives_as_it_is_in_the_files(castellan: &Installation, instance: &Value) {
    let path = format!("/api/instances/{}", instance["id"]);
    let (_, nodes) = castellan.get(&format!("{path}/nodes")).await;
    let name = |node: &Value| node["name"].as_str().unwrap().to_owned();
    let names: Vec<String> = nodes.as_array().unwrap().iter().map(name).collect();
    let receiver = Receiver::of_syslog(&[]);
    let port = receiver.port.to_string();
    let directories = castellan.server_dirs();
    let (receiver, came) = (Some(receiver), Vec::new());
    let mut logged = Logged { castellan, path, names, directories, receiver, came };
    let integration = logged.create(&port).await;
    // Nothing that is written from here on is missing.
    let length = |server: &PathBuf| read(&server.join("logs/server.log")).len();
    let begun: Vec<usize> = logged.directories.iter().map(length).collect();
    logged.mark("logged-1").await;

    // An agent dies while its logs are on their way.
    let agent = castellan.processes()[VICTIM].agent.clone();
    agent.kill();
    castellan.until_agent_is_not(VICTIM, &agent).await;
    logged.mark("logged-2").await;

    // The receiver is away while a broker dies and comes back, which is told.
    logged.came.extend(logged.receiver.take().unwrap().rest());
    let broker = castellan.processes()[VICTIM].broker.clone();
    broker.kill();
    castellan.until_broker_is_not(VICTIM, &broker).await;
    let away = format!("127.0.0.1:{port} can't be reached");
    logged.until_error(&integration, &away).await;
    castellan.until_running(instance["id"].as_i64().unwrap()).await;
    logged.receiver = Some(Receiver::of_syslog(&[("port", &port)]));
    logged.mark("logged-3").await;
    logged.until_error(&integration, "").await;

    // In a roll each broker stops in order, and logs until its end.
    let id = instance["id"].as_i64().unwrap();
    rolled::restart(castellan, id).await;
    rolled::until_configured(castellan, id).await;
    logged.mark("logged-4").await;

    for (server, begun) in begun.into_iter().enumerate() {
        logged.is_in_order(server, begun, "logged-4");
    }
    logged.remove(&integration).await;
}

impl Logged<'_> {
    /// Returns its path once every agent keeps what is logged.
    async fn create(&self, port: &str) -> String {
        let path = format!("{}/integrations/logs", self.path);
        let settings = json!({"url": format!("tcp://127.0.0.1:{port}")});
        let asked = Instant::now();
        let (status, made) = self.castellan.post(&format!("{path}/papertrail"), &settings).await;
        assert_eq!(status, 201, "{made}");
        let begun = async || match self.spools().into_iter().position(|spool| spool.is_empty()) {
            Some(server) => Err(self.names[server].clone()),
            None => Ok(()),
        };
        self.castellan.until("every agent keeps what is logged", begun).await;
        eprintln!("logs were kept {:?} after that was asked for", asked.elapsed());
        for server in &self.directories {
            let rights = fs::metadata(server.join("logs-spool")).unwrap().permissions().mode();
            assert_eq!(rights & 0o777, 0o700, "nobody else reads it");
        }
        format!("{path}/{}", made["id"])
    }

    /// By server, what is kept for destinations.
    fn spools(&self) -> Vec<Vec<PathBuf>> {
        let files = |server: &PathBuf| match fs::read_dir(server.join("logs-spool")) {
            Ok(files) => files.flatten().map(|file| file.path()).collect(),
            Err(_) => Vec::new(),
        };
        self.directories.iter().map(files).collect()
    }

    /// Has every broker log a word, and waits until it has arrived from all.
    async fn mark(&mut self, word: &str) {
        let topic = json!({"name": word, "partitions": 1, "replicas": SERVERS});
        let topics = format!("{}/topics", self.path);
        let (status, made) = self.castellan.post(&topics, &topic).await;
        assert_eq!(status, 201, "{made}");
        let Self { castellan, names, receiver, came, .. } = self;
        let receiver = receiver.as_mut().unwrap();
        let arrived = async || {
            while let Some(message) = receiver.next_within(Duration::ZERO) {
                came.push(message);
            }
            let has_it = |name: &String| of(came, name).any(|(_, text)| text.contains(word));
            match names.iter().find(|name| !has_it(name)) {
                Some(name) => Err((name.clone(), came.last().cloned())),
                None => Ok(()),
            }
        };
        castellan.until(&format!("{word} arrives from every server"), arrived).await;
        assert_eq!(castellan.delete(&format!("{topics}/{word}")).await, 200);
    }

    async fn until_error(&self, integration: &str, expected: &str) {
        let seen = async || {
            let (_, found) = self.castellan.get(integration).await;
            if found["error"] == expected { Ok(()) } else { Err(found) }
        };
        self.castellan.until(&format!("its error is {expected:?}"), seen).await;
    }

    /// What came from a server is what is in its log from there on until the word; what came
    /// twice came in the same order again.
    fn is_in_order(&self, server: usize, begun: usize, until: &str) {
        let text = read(&self.directories[server].join("logs/server.log"));
        let mut expected = events(&text[begun..]);
        let is_last = |(_, lines): &Event| lines.iter().any(|line| line.contains(until));
        let last = expected.iter().position(is_last).expect("it is logged");
        expected.truncate(last + 1);
        let mut came: Vec<Event> = of(&self.came, &self.names[server])
            .map(|(message, text)| (at(message), text.lines().map(bare).collect()))
            .collect();
        let first = came.iter().position(|event| *event == expected[0]);
        came.drain(..first.unwrap_or_else(|| panic!("{:?} never came", expected[0])));
        let (mut next, mut again) = (0, 0);
        for event in &came {
            if next < expected.len() && expected[next] == *event {
                next += 1;
            } else if let Some(known) = expected[..next].iter().rposition(|it| it == event) {
                (next, again) = (known + 1, again + 1);
            } else {
                assert_eq!(next, expected.len(), "{event:?} instead of {:?}", expected.get(next));
                break;
            }
        }
        assert_eq!(next, expected.len(), "{:?} never came", expected.get(next));
        eprintln!("{} events of {} arrived, {again} times some again", next, self.names[server]);
        // By a death of the agent and one of the receiver, and some events are the same.
        assert!(again < expected.len() / 4, "{again} of {}", expected.len());
    }

    async fn remove(self, integration: &str) {
        assert_eq!(self.castellan.delete(integration).await, 204);
        let gone = async || match self.spools().concat() {
            files if files.is_empty() => Ok(()),
            files => Err(files),
        };
        self.castellan.until("nothing is kept any more", gone).await;
    }
}

/// What came of a server's broker log, with its text.
fn of<'a>(came: &'a [Value], server: &str) -> impl Iterator<Item = (&'a Value, &'a str)> {
    let name = format!("server=\"{server}\"");
    let is_meant = move |message: &&Value| {
        message["program"] == "kafka" && message["data"].as_str().unwrap().contains(&name)
    };
    came.iter().filter(is_meant).map(|message| (message, message["message"].as_str().unwrap()))
}

fn at(message: &Value) -> Timestamp {
    message["at"].as_str().unwrap().parse().unwrap()
}

/// As Kafka writes them: `2026-11-05T10:23:20.123Z INFO message (logger)`, and what belongs to
/// it on the lines after.
fn events(text: &str) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for line in text.lines() {
        let head = line.split_once(' ').and_then(|(at, rest)| {
            let (_, message) = rest.split_once(' ')?;
            Some((at.parse().ok()?, message))
        });
        match (head, events.last_mut()) {
            (Some((at, message)), _) => events.push((at, vec![bare(message)])),
            (None, Some((_, lines))) => lines.push(bare(line)),
            (None, None) => {}
        }
    }
    // A line feed at the end of a message is not sent.
    for (_, lines) in &mut events {
        while lines.len() > 1 && lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
    }
    events
}

/// Without the logger, which is sent apart, nor other words in parentheses before it: in what
/// arrived they can't be told from one.
fn bare(line: &str) -> String {
    let is_name =
        |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "._$-".contains(c));
    match line.strip_suffix(')').and_then(|line| line.rsplit_once(" (")) {
        Some((message, name)) if is_name(name) => bare(message),
        _ => line.to_owned(),
    }
}

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}
