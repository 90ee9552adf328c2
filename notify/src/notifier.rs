//! One attempt to notify one recipient: of one thing, or by mail of several.

use crate::channels::{email, requests};
use crate::error::NotifyError;
use crate::settings::{BadSettings, Endpoints, Settings};
use crate::{Mailer, Outgoing};
use async_trait::async_trait;
use egress::{Caller, Calls, Destinations, Fault, Lookup, SystemLookup};
use model::{Clock, MessageId, Notification, Recipient, RecipientType, SignedDuration, Timestamp};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// The nine channels. Keeps nothing, tries nothing twice.
#[derive(Clone)]
pub struct Notifier(Arc<Inner>);

struct Inner {
    endpoints: Endpoints,
    timeout: Duration,
    caller: Caller,
    mailer: Arc<dyn Mailer>,
    clock: Arc<dyn Clock>,
}

impl Notifier {
    /// Calls nobody yet.
    pub fn new(
        settings: Settings,
        mailer: Arc<dyn Mailer>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, BadSettings> {
        Self::with_lookup(settings, mailer, clock, Arc::new(SystemLookup))
    }

    fn with_lookup(
        settings: Settings,
        mailer: Arc<dyn Mailer>,
        clock: Arc<dyn Clock>,
        lookup: Arc<dyn Lookup>,
    ) -> Result<Self, BadSettings> {
        let Settings { allow_private_addresses, endpoints, timeout, authority_pem, proxy } =
            settings;
        endpoints.check()?;
        let destinations = Destinations::new(allow_private_addresses, lookup);
        // Alarms are rare, so no connection waits for the next.
        let calls = Calls { authority_pem, proxy, kept_for: Duration::ZERO };
        let caller = Caller::with(destinations, &calls)?;
        Ok(Self(Arc::new(Inner { endpoints, timeout, caller, mailer, clock })))
    }

    /// One attempt. `message_id` and `at`, when the message was written, make a
    /// mail the same one when it is sent again. `more` goes by mail alone.
    pub async fn notify(
        &self,
        message_id: MessageId,
        at: Timestamp,
        recipient: &Recipient,
        notification: &Notification,
        more: &[Notification],
    ) -> Result<(), NotifyError> {
        if recipient.kind == RecipientType::Email {
            let mail = email::mail(recipient, notification, more).ok_or(NotifyError::Value)?;
            let outgoing = Outgoing { id: message_id, at, mail: &mail };
            self.0.mailer.send(outgoing).await.map_err(NotifyError::Mail)?;
            return Ok(());
        }
        let now = self.0.clock.now();
        let requests = requests(&self.0.endpoints, recipient, notification, now);
        let requests = requests.ok_or(NotifyError::Value)?;
        // All of them go to one.
        let host = requests.first().and_then(|request| request.url.host_str());
        let host = host.unwrap_or_default().to_owned();
        let all = async {
            for request in requests {
                self.0.caller.call(request, now).await?;
            }
            Ok(())
        };
        let unresponsive = Fault::Unresponsive(self.0.timeout.as_secs());
        let outcome = timeout(self.0.timeout, all).await.unwrap_or(Err(unresponsive));
        outcome.map_err(|fault| NotifyError::Call { host, fault })
    }

    /// Whether an address may be called at all, for when a recipient is saved;
    /// if not, why. A name that nobody knows now is let through: whether it may
    /// be called is looked at again at every attempt.
    pub async fn may_call(&self, url: &Url) -> Result<(), String> {
        let checked = timeout(self.0.timeout, self.0.caller.destinations().check_now(url)).await;
        checked.unwrap_or(Ok(())).map_err(|forbidden| forbidden.to_string())
    }
}

/// Why a notification could not be delivered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undelivered {
    /// A sentence for people, without what the destination answered.
    pub reason: String,
    /// The destination wishes not to be called before that.
    pub wait: Option<SignedDuration>,
}

/// A way for notifications to go out: one attempt. `more` goes along in a mail, and is
/// empty elsewhere.
#[async_trait]
pub trait Notify: Send + Sync {
    async fn notify(
        &self,
        id: MessageId,
        at: Timestamp,
        recipient: &Recipient,
        notification: &Notification,
        more: &[Notification],
    ) -> Result<(), Undelivered>;
}

#[async_trait]
impl Notify for Notifier {
    async fn notify(
        &self,
        id: MessageId,
        at: Timestamp,
        recipient: &Recipient,
        notification: &Notification,
        more: &[Notification],
    ) -> Result<(), Undelivered> {
        let sent = Notifier::notify(self, id, at, recipient, notification, more).await;
        sent.map_err(|error| Undelivered {
            reason: error.to_string(),
            wait: error.retry_after().and_then(|wait| SignedDuration::try_from(wait).ok()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channels::samples;
    use crate::{SendError, Sent};
    use model::{ManualClock, Secret};
    use std::collections::VecDeque;
    use std::io;
    use std::net::{IpAddr, TcpListener};
    use std::sync::Mutex;

    struct NoMail;

    #[async_trait]
    impl Mailer for NoMail {
        async fn send(&self, _: Outgoing<'_>) -> Result<Sent, SendError> {
            unreachable!("nobody here gets mail")
        }
    }

    /// A name that means something else every time.
    struct Rebinding(Mutex<VecDeque<&'static str>>);

    #[async_trait]
    impl Lookup for Rebinding {
        async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            let next = self.0.lock().unwrap().pop_front().expect("a look-up too many");
            Ok(vec![next.parse().unwrap()])
        }
    }

    fn notifier(
        allow_private_addresses: bool,
        answers: &[&'static str],
    ) -> (Notifier, Arc<Rebinding>) {
        let settings = Settings {
            allow_private_addresses,
            timeout: Duration::from_secs(20),
            ..Settings::default()
        };
        let lookup = Arc::new(Rebinding(Mutex::new(answers.iter().copied().collect())));
        let clock = Arc::new(ManualClock::at(samples::now()));
        let made = Notifier::with_lookup(settings, Arc::new(NoMail), clock, lookup.clone());
        (made.unwrap(), lookup)
    }

    async fn notify(notifier: &Notifier, url: &str) -> String {
        let recipient = samples::recipient(RecipientType::Webhook, url);
        let triggered = samples::triggered();
        let sent = notifier.notify(MessageId(1), samples::now(), &recipient, &triggered, &[]);
        sent.await.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn a_name_that_changes_its_mind_leads_nowhere() {
        let own = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://rebind.test:{}/x", own.local_addr().unwrap().port());
        let (notifier, lookup) = notifier(false, &["1.1.1.1", "127.0.0.1"]);
        notifier.may_call(&url.parse().unwrap()).await.unwrap();
        let said = notify(&notifier, &url).await;
        assert!(said.contains("its address is private"), "{said}");
        assert!(!said.contains("127.0.0.1"), "what a name means is not told: {said}");
        own.set_nonblocking(true).unwrap();
        assert_eq!(own.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert!(lookup.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn what_was_looked_up_is_what_is_called() {
        // One look-up, and a connection to what it said: whoever listens there
        // hangs up.
        let own = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = own.local_addr().unwrap().port();
        let (notifier, lookup) = notifier(true, &["127.0.0.1"]);
        let taken = std::thread::spawn(move || own.accept().map(drop));
        let said = notify(&notifier, &format!("http://rebind.test:{port}/x")).await;
        assert_eq!(said, "rebind.test broke off, or gave no answer in HTTP");
        taken.join().unwrap().unwrap();
        assert!(lookup.0.lock().unwrap().is_empty());
    }

    #[tokio::test]
    async fn numbers_are_checked_though_nobody_looks_them_up() {
        let (notifier, _) = notifier(false, &[]);
        for (url, host) in [("http://127.0.0.1:1/x", "127.0.0.1"), ("https://[::1]/x", "[::1]")] {
            let said = notify(&notifier, url).await;
            let expected = format!("{host} can't be called: its address is private");
            assert!(said.starts_with(&expected), "{said}");
            assert!(notifier.may_call(&url.parse().unwrap()).await.is_err());
        }
    }

    #[tokio::test]
    async fn a_value_of_another_type_is_said_to_be_one() {
        let (notifier, _) = notifier(true, &[]);
        for kind in RecipientType::ALL {
            let mut recipient = samples::recipient(kind, "x");
            recipient.value = Secret::new("no such value\r\n");
            let triggered = samples::triggered();
            let sent = notifier.notify(MessageId(1), samples::now(), &recipient, &triggered, &[]);
            assert!(matches!(sent.await, Err(NotifyError::Value)), "{kind}");
        }
    }
}
