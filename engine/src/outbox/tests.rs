//! Messages through a mailer that fails, hangs and dies.

use super::*;
use async_trait::async_trait;
use model::{Email, ManualClock, Secret, SeededEntropy};
use outbound::SendError;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use store::{MasterKey, NewMessage};

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Fails so often, hangs at what goes to `hang@…`, and notes the rest.
#[derive(Default)]
struct Fake {
    failures: AtomicU32,
    hangs: AtomicBool,
    sent: Mutex<Vec<String>>,
}

#[async_trait]
impl Mailer for Fake {
    async fn send(&self, outgoing: Outgoing<'_>) -> Result<Sent, SendError> {
        if outgoing.mail.to.as_str().starts_with("hang@") {
            self.hangs.store(true, Ordering::SeqCst);
            std::future::pending::<()>().await;
        }
        let left = |left: u32| left.checked_sub(1);
        if self.failures.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok() {
            return Err(SendError::Silent(1));
        }
        self.sent.lock().unwrap().push(outgoing.mail.subject.clone());
        Ok(Sent::Taken)
    }
}

struct Post {
    _directory: tempfile::TempDir,
    clock: Arc<ManualClock>,
    mailer: Arc<Fake>,
    outbox: Outbox,
}

impl Post {
    async fn new(failures: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let entropy = Arc::new(SeededEntropy::new(1));
        let key = MasterKey::parse(&MasterKey::generate(&*entropy), entropy).unwrap();
        let path = directory.path().join("test.db");
        let store = Store::open(&path, key).await.unwrap();
        let clock = Arc::new(ManualClock::at("2026-11-15T12:00:00Z".parse().unwrap()));
        let mailer = Arc::new(Fake { failures: failures.into(), ..Fake::default() });
        let outbox = Outbox { store, clock: clock.clone(), mailer: mailer.clone() };
        Self { _directory: directory, clock, mailer, outbox }
    }

    async fn put(&self, to: &str, subject: &str) {
        let to = Email::parse(to).unwrap();
        let mail = Mail { to, subject: subject.into(), text: String::new(), html: None };
        self.put_body("mail", &serde_json::to_string(&mail).unwrap()).await;
    }

    async fn put_body(&self, kind: &'static str, body: &str) {
        let mut work = self.outbox.store.begin().await.unwrap();
        let body = Secret::new(body);
        let new = NewMessage { kind, about: "x".into(), body, life: DAY };
        outbox::insert(&mut work, &new, self.clock.now()).await.unwrap();
        work.commit().await.unwrap();
    }

    /// Takes what is due and sends it; how many that were.
    async fn pass(&self) -> usize {
        let taken = self.outbox.take(AT_ONCE).await.unwrap();
        for message in &taken {
            self.outbox.deliver(message).await;
        }
        taken.len()
    }

    /// Until the next message is due; none if none is there.
    async fn wait(&self) -> Option<SignedDuration> {
        let mut reader = self.outbox.store.reader();
        outbox::next_due(&mut reader, self.clock.now()).await.unwrap()
    }

    fn sent(&self) -> Vec<String> {
        self.mailer.sent.lock().unwrap().clone()
    }
}

#[tokio::test]
async fn what_fails_is_tried_again_with_growing_pauses() {
    let post = Post::new(4).await;
    post.put("ada@x.test", "hello").await;
    let mut pauses = Vec::new();
    while post.pass().await == 1 {
        let Some(wait) = post.wait().await else { break };
        pauses.push(wait.as_secs());
        post.clock.advance(wait);
    }
    assert_eq!(pauses, [15, 30, 60, 120]);
    assert_eq!(post.sent(), ["hello"]);
    assert_eq!(post.wait().await, None);
}

#[tokio::test]
async fn what_fails_for_a_day_is_given_up() {
    let post = Post::new(u32::MAX).await;
    post.put("ada@x.test", "hello").await;
    post.put_body("pigeon", "{}").await;
    post.put_body("mail", "no mail").await;
    let began = post.clock.now();
    while let Some(wait) = post.wait().await {
        assert!(wait <= SignedDuration::from_hours(1), "{wait}");
        post.clock.advance(wait);
        post.pass().await;
    }
    let took = post.clock.now().duration_since(began);
    assert!((24..=25).contains(&took.as_hours()), "{took}");
}

#[tokio::test]
async fn a_sender_that_died_leaves_its_message_to_the_next() {
    let post = Post::new(0).await;
    post.put("ada@x.test", "hello").await;
    assert_eq!(post.outbox.take(AT_ONCE).await.unwrap().len(), 1);
    assert_eq!(post.pass().await, 0, "it is taken");
    post.clock.advance(LEASE);
    assert_eq!(post.pass().await, 1);
    assert_eq!((post.sent(), post.wait().await), (vec!["hello".to_owned()], None));
}

#[tokio::test]
async fn one_that_hangs_holds_up_nobody_else_and_not_the_stop() {
    let post = Post::new(0).await;
    let stop = CancellationToken::new();
    let running = tokio::spawn(post.outbox.clone().run(stop.clone()));
    post.put("hang@x.test", "never").await;
    for number in 0..20 {
        post.put("ada@x.test", &number.to_string()).await;
    }
    let all = async {
        while post.sent().len() < 20 || !post.mailer.hangs.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), all).await;
    assert!(waited.is_ok(), "sent so far: {:?}", post.sent());
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(20), running).await.expect("it stops").unwrap();
}
