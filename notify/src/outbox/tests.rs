//! Messages through a mailer that fails, hangs and dies.

mod gated;
mod notified;

use super::deliver::{MOST_ALONG, Whom};
use super::*;
use crate::{SendError, Undelivered};
use async_trait::async_trait;
use model::{
    AlarmId, AlarmSpec, AlarmType, Email, Entropy as _, Incident, InstanceId, ManualClock,
    MessageId, Notification, NotificationState, Recipient, RecipientId, RecipientOptions,
    RecipientType, Secret, SeededEntropy, Timestamp,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use store::{MasterKey, NewMessage, NewRecipient, alarms, incidents, recipients};
use test_support::rows::Rows;

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

/// Notes what went to whom, unless it shall fail. Hangs at what goes to
/// `https://hang…`.
#[derive(Default)]
struct Phone {
    fails: Mutex<Option<Undelivered>>,
    hanging: AtomicU32,
    delivered: Mutex<Vec<(RecipientType, String)>>,
    /// What mails were known by.
    ids: Mutex<Vec<MessageId>>,
}

#[async_trait]
impl Notify for Phone {
    async fn notify(
        &self,
        id: MessageId,
        _: Timestamp,
        recipient: &Recipient,
        notification: &Notification,
        more: &[Notification],
    ) -> Result<(), Undelivered> {
        if recipient.value.expose().starts_with("https://hang") {
            self.hanging.fetch_add(1, Ordering::SeqCst);
            std::future::pending::<()>().await;
        }
        self.ids.lock().unwrap().push(id);
        if let Some(undelivered) = self.fails.lock().unwrap().clone() {
            return Err(undelivered);
        }
        let messages = [notification].into_iter().chain(more).map(|it| it.message.as_str());
        let told = messages.collect::<Vec<_>>().join(" & ");
        self.delivered.lock().unwrap().push((recipient.kind, told));
        Ok(())
    }
}

struct Post {
    rows: Rows,
    clock: Arc<ManualClock>,
    mailer: Arc<Fake>,
    notifier: Arc<Phone>,
    outbox: Outbox,
}

impl Post {
    async fn new(failures: u32) -> Self {
        let rows = Rows::new().await;
        let (store, clock) = (rows.store.clone(), rows.clock.clone());
        let mailer = Arc::new(Fake { failures: failures.into(), ..Fake::default() });
        let notifier = Arc::new(Phone::default());
        let outbox = Outbox {
            owner: "here".into(),
            store,
            clock: clock.clone(),
            mailer: mailer.clone(),
            notifier: notifier.clone(),
            limits: MessageLimits::default(),
        };
        Self { rows, clock, mailer, notifier, outbox }
    }

    async fn put(&self, to: &str, subject: &str) {
        let to = Email::parse(to).unwrap();
        let mail = Mail { to, subject: subject.into(), text: String::new(), html: None };
        self.put_body("mail", &serde_json::to_string(&mail).unwrap()).await;
    }

    async fn put_body(&self, kind: &'static str, body: &str) {
        let mut work = self.outbox.store.begin().await.unwrap();
        let new = NewMessage {
            kind,
            about: "x".into(),
            body: Secret::new(body),
            life: DAY,
            lane: None,
            instance: None,
            destination: "email".into(),
            incident: None,
        };
        outbox::insert(&mut work, &new, self.clock.now()).await.unwrap();
        work.commit().await.unwrap();
    }

    /// Takes what is due and sends it; how many that were.
    async fn pass(&self) -> usize {
        let taken = self.outbox.take(&Places::default()).await.unwrap();
        for (message, _) in &taken {
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
    assert_eq!(post.outbox.take(&Places::default()).await.unwrap().len(), 1);
    assert_eq!(post.pass().await, 0, "it is taken");
    post.clock.advance(LEASE);
    assert_eq!(post.pass().await, 1);
    assert_eq!((post.sent(), post.wait().await), (vec!["hello".to_owned()], None));
}

#[tokio::test]
async fn a_sender_that_starts_again_sends_at_once_what_it_had_taken() {
    let post = Post::new(0).await;
    post.put("ada@x.test", "hello").await;
    assert_eq!(post.outbox.take(&Places::default()).await.unwrap().len(), 1);
    let other = Outbox { owner: "elsewhere".into(), ..post.outbox.clone() };
    other.take_up().await.unwrap();
    assert_eq!(post.pass().await, 0, "it may be under way");

    // One that was killed and starts again.
    let stop = CancellationToken::new();
    let running = tokio::spawn(post.outbox.clone().run(stop.clone()));
    assert!(comes(|| post.sent() == ["hello"]).await, "sent so far: {:?}", post.sent());
    stop.cancel();
    running.await.unwrap();
    assert_eq!(post.wait().await, None);
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
    let all = || post.sent().len() == 20 && post.mailer.hangs.load(Ordering::SeqCst);
    assert!(comes(all).await, "sent so far: {:?}", post.sent());
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(20), running).await.expect("it stops").unwrap();
}

/// Whether something becomes so before long.
async fn comes(is_so: impl Fn() -> bool) -> bool {
    let wait = async {
        while !is_so() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait).await.is_ok()
}
