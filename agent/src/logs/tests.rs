//! All of it together: a control plane over TLS, the logs of a server, and destinations.

use super::testing::{Doubles, FAST, numbers, splunk, write};
use super::*;
use crate::identity::{self, Identity};
use crate::testing::{integrations, start, wait_for};
use model::{IntegrationConfig, OsEntropy, Secret, SystemClock};
use std::fs;
use std::time::Duration;
use tempfile::TempDir;
use test_support::control_plane::{ControlPlane, sign};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use wire::agent::{AgentStart, FailedDelivery, LogIntegration};

struct Agent {
    control_plane: ControlPlane,
    _directory: TempDir,
    place: Place,
    board: Board,
    ledger: Ledger,
    announced: watch::Sender<Option<i64>>,
    connection: watch::Sender<Option<Connection>>,
    doubles: Doubles,
    limits: Limits,
    running: Option<JoinHandle<()>>,
}

impl Agent {
    async fn new() -> Self {
        let control_plane = ControlPlane::start().await;
        let directory = tempfile::tempdir().unwrap();
        let place = Place::open(directory.path()).unwrap();
        Self {
            control_plane,
            _directory: directory,
            place,
            board: Board::default(),
            ledger: Ledger::default(),
            announced: watch::channel(None).0,
            connection: watch::channel(None).0,
            doubles: Doubles::default(),
            limits: Limits::default(),
            running: None,
        }
    }

    fn logs(&self) -> Logs {
        Logs {
            place: self.place.clone(),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
            board: self.board.clone(),
            ledger: self.ledger.clone(),
            announced: self.announced.subscribe(),
            connection: self.connection.subscribe(),
        }
    }

    fn run(&mut self) {
        let logs = self.logs().run_with(Box::new(self.doubles.clone()), FAST, self.limits);
        self.running = Some(tokio::spawn(logs));
    }

    async fn kill(&mut self) {
        if let Some(running) = self.running.take() {
            running.abort();
            let _ = running.await;
        }
        self.announced.send_replace(None);
        self.connection.send_replace(None);
    }

    /// As the link does when it has a conversation.
    fn connect(&self) {
        let parameters = AgentStart {
            control_plane: self.control_plane.url.clone(),
            fleet_ca: self.control_plane.authority.certificate.clone(),
            ..start()
        };
        let identity = Identity::load(&self.place).unwrap_or_else(|| {
            let key = identity::next_key(&self.place, 1).unwrap();
            let csr = pki::request(&key, "server-11").unwrap();
            let certificate = sign(&self.control_plane.authority, &csr);
            identity::complete(&self.place, &key, &certificate).unwrap();
            Identity::load(&self.place).unwrap()
        });
        let connection = Connection::open(&parameters, Some(&identity)).unwrap();
        self.connection.send_replace(Some(connection));
    }

    fn set(&self, revision: i64, them: Vec<LogIntegration>) {
        let document = LogIntegrations { integrations: them, ..integrations(revision) };
        self.control_plane.state().integrations = Some(document);
        self.announced.send_replace(Some(revision));
    }

    fn reported(&self) -> Option<Deliveries> {
        self.board.view().deliveries
    }

    async fn until_reported(&self, revision: i64) {
        wait_for(
            || self.reported(),
            |reported| reported.as_ref().is_some_and(|it| it.revision == revision),
        )
        .await;
    }

    async fn until_taken(&self, token: &str, numbers: &[String]) {
        wait_for(|| self.doubles.last_with(token).taken(), |taken| taken == numbers).await;
    }

    fn fetches(&self) -> usize {
        self.control_plane.state().fetches
    }
}

#[tokio::test]
async fn logs_go_to_the_document_s_destinations_and_nowhere_else() {
    let mut agent = Agent::new().await;
    write(&agent.place, 0..5);
    agent.run();
    agent.connect();
    agent.announced.send_replace(Some(0));
    agent.set(1, vec![splunk(1, "a")]);
    agent.until_reported(1).await;
    write(&agent.place, 5..15);
    agent.until_taken("a", &numbers(5..15)).await;
    assert_eq!((agent.fetches(), agent.reported().unwrap().failures), (1, vec![]));

    agent.set(2, vec![splunk(1, "a"), splunk(2, "b")]);
    agent.until_reported(2).await;
    write(&agent.place, 15..25);
    agent.until_taken("a", &numbers(5..25)).await;
    agent.until_taken("b", &numbers(15..25)).await;
    assert_eq!((agent.fetches(), agent.doubles.made().len()), (2, 2));

    // Another conversation asks once more, and nothing has changed.
    agent.connection.send_replace(None);
    agent.connect();
    wait_for(|| agent.fetches(), |fetches| *fetches == 3).await;
    agent.set(3, vec![]);
    wait_for(|| agent.reported(), Option::is_none).await;
    assert_eq!((agent.ledger.counts(), agent.doubles.made().len()), (None, 2));
    let left = || fs::read_dir(agent.place.logs_spool()).unwrap().count();
    wait_for(left, |left| *left == 0).await;
}

#[tokio::test]
async fn a_failure_is_reported_until_it_works() {
    let mut agent = Agent::new().await;
    agent.run();
    agent.connect();
    agent.set(1, vec![splunk(1, ""), splunk(2, "b")]);
    let failed =
        |error: &str| FailedDelivery { id: IntegrationId(1), error: error.into(), dropped: 0 };
    let can_t = Deliveries { revision: 1, failures: vec![failed("it can't be sent to")] };
    wait_for(|| agent.reported(), |reported| *reported == Some(can_t.clone())).await;
    agent.set(2, vec![splunk(1, "a"), splunk(2, "b")]);
    let works = Deliveries { revision: 2, failures: vec![] };
    wait_for(|| agent.reported(), |reported| *reported == Some(works.clone())).await;
}

#[tokio::test]
async fn a_buffer_that_can_t_be_opened_is_reported_until_it_can() {
    let mut agent = Agent::new().await;
    fs::write(agent.place.logs_spool(), "no directory").unwrap();
    agent.run();
    agent.connect();
    agent.set(1, vec![splunk(1, "a"), splunk(2, "b")]);
    let said = |it: Option<Deliveries>| -> Vec<(i64, bool)> {
        let failures = it.map(|it| it.failures).unwrap_or_default();
        failures.iter().map(|it| (it.id.0, it.error.contains("can't write"))).collect()
    };
    wait_for(|| said(agent.reported()), |said| *said == [(1, true), (2, true)]).await;
    agent.set(2, vec![splunk(2, "b")]);
    wait_for(|| said(agent.reported()), |said| *said == [(2, true)]).await;

    fs::remove_file(agent.place.logs_spool()).unwrap();
    let works = Deliveries { revision: 2, failures: vec![] };
    wait_for(|| agent.reported(), |reported| *reported == Some(works.clone())).await;
    write(&agent.place, 0..10);
    agent.until_taken("b", &numbers(0..10)).await;
}

#[tokio::test]
async fn an_agent_that_starts_reads_on_before_it_has_fetched_where_logs_go() {
    let mut agent = Agent::new().await;
    agent.run();
    agent.connect();
    agent.set(1, vec![splunk(1, "hangs")]);
    agent.until_reported(1).await;
    write(&agent.place, 0..10);
    wait_for(|| agent.doubles.last_with("hangs").calls(), |calls| *calls > 0).await;
    agent.kill().await;
    agent.run();
    write(&agent.place, 10..20);
    let spooled = || -> String {
        let files = fs::read_dir(agent.place.logs_spool()).unwrap();
        let texts = files.map(|file| fs::read(file.unwrap().path()).unwrap_or_default());
        texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect()
    };
    wait_for(spooled, |text| text.contains("0019")).await;
    fs::remove_file(agent.place.server_log()).unwrap();
    agent.connect();
    agent.set(2, vec![splunk(1, "good")]);
    agent.until_taken("good", &numbers(0..20)).await;
}

#[tokio::test]
async fn events_without_room_are_counted_reported_and_forgotten() {
    let mut agent = Agent::new().await;
    agent.limits = Limits { spool: 8000, segment: 2000, event: 1000 };
    agent.run();
    agent.connect();
    agent.set(1, vec![splunk(1, "hangs"), splunk(2, "b")]);
    agent.until_reported(1).await;
    let mut written = 0;
    let dropped = |it: Option<Deliveries>| it?.failures.first().map(|failed| failed.dropped);
    while dropped(agent.reported()).is_none() {
        write(&agent.place, written..written + 100);
        written += 100;
        // What is thinned is that of the one alone.
        agent.until_taken("b", &numbers(0..written)).await;
        assert!(written < 5000, "{:?}", agent.reported());
    }
    assert!(agent.ledger.counts().unwrap().dropped > 0);
    agent.set(2, vec![splunk(1, "a"), splunk(2, "b")]);
    let newest = format!("{:04}", written - 1);
    let taken = || agent.doubles.last_with("a").taken();
    let taken = wait_for(taken, |taken| taken.last() == Some(&newest)).await;
    assert!(taken.len() < written && taken == numbers(written - taken.len()..written));
    let lost = (written - taken.len()) as u64;
    wait_for(|| agent.ledger.counts(), |it| it.is_some_and(|it| it.dropped == lost)).await;
    // In time it is reported no more.
    let works = Deliveries { revision: 2, failures: vec![] };
    wait_for(|| agent.reported(), |reported| *reported == Some(works.clone())).await;
}

/// The last line is whole only when nothing follows it for a while, so it is not waited for.
#[tokio::test]
async fn a_log_that_grows_too_fast_is_read_at_a_bounded_rate_and_any_other_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::open(directory.path()).unwrap();
    let slow = Pace { look: Duration::from_mins(1), more: Duration::from_hours(1), ..FAST };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let ledger = Ledger::default();
    let common = Common {
        ledger: ledger.clone(),
        share: Share::new(),
        pace: slow,
        clock: clock.clone(),
        entropy: Arc::new(OsEntropy),
    };
    let document = LogIntegrations { integrations: vec![splunk(1, "a")], ..integrations(1) };
    let doubles = Doubles::default();
    let mut forwarder = Forwarder {
        place: place.clone(),
        clock,
        board: Board::default(),
        ledger,
        pace: slow,
        limits: Limits::default(),
        senders: Senders::new(Box::new(doubles.clone()), common),
        opens: true,
        tail: None,
        destinations: Some(Destinations::Listed(Box::new(document))),
        due: Instant::now(),
        next_retry: Instant::now(),
        next_report: Instant::now(),
    };
    forwarder.apply().await;
    // A line has 48 bytes.
    let mut written = 0;
    let mut check = async |lines: usize, pauses: &[Duration]| {
        write(&place, written..written + lines);
        written += lines;
        for pause in pauses {
            let before = Instant::now();
            forwarder.look().await;
            let expected = before + *pause..=Instant::now() + *pause;
            assert!(expected.contains(&forwarder.due), "{lines} lines, {pause:?}");
        }
        let all_but_last = numbers(0..written - 1);
        wait_for(|| doubles.last_with("a").taken(), |taken| *taken == all_but_last).await;
    };
    check(follow::PIECE / 48, &[slow.look]).await;
    check(follow::PIECE / 48 * 5 / 2, &[slow.more, slow.more, slow.look]).await;
    check(1, &[slow.look]).await;
}

/// The real way out, to a receiver that takes lines.
#[tokio::test]
async fn keys_are_sent_and_nowhere_on_disk() {
    const TOKEN: &str = "2bfbea1e-10c3-4419-bdad-7e6435882e1f";
    let receiver = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = receiver.local_addr().unwrap();
    let agent = Agent::new().await;
    let running = tokio::spawn(agent.logs().run());
    agent.connect();
    let config = IntegrationConfig::from([("token".to_owned(), Secret::new(TOKEN))]);
    let id = IntegrationId(1);
    let mut document = integrations(1);
    document.integrations =
        vec![LogIntegration { id, version: 1, system: "logentries".into(), config }];
    document.outbound.endpoints = [("logentries".to_owned(), format!("tcp://{address}"))].into();
    agent.control_plane.state().integrations = Some(document);
    agent.announced.send_replace(Some(1));
    agent.until_reported(1).await;
    write(&agent.place, 0..10);
    let accepted = tokio::time::timeout(Duration::from_mins(1), receiver.accept());
    let (stream, _) = accepted.await.expect("it calls").unwrap();
    let mut lines = BufReader::new(stream).lines();
    for number in numbers(0..10) {
        let line = lines.next_line().await.unwrap().unwrap();
        assert!(line.starts_with(TOKEN) && line.ends_with(&number), "{line}");
        assert!(line.contains("instance=\"orders\""), "{line}");
    }
    running.abort();
    let mut files = vec![agent.place.dir().to_owned()];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
            continue;
        }
        let text = fs::read(&path).unwrap();
        let has_it = text.windows(TOKEN.len()).any(|bytes| bytes == TOKEN.as_bytes());
        assert!(!has_it, "{}", path.display());
    }
}
