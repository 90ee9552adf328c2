//! Batch after batch over HTTP, in order, until all is done or one can't be sent.
//!
//! What a destination refuses as bad may be the fault of one event among thousands, or its own
//! of all. So the batch is halved until a single one is refused; if the next one is taken, that
//! one is given up, and if not, nothing is. A bad event so never stops the others, and a
//! destination that takes nothing costs nothing.

use crate::about::Timed;
use crate::batch::{Batch, Dialect, cut};
use crate::outcome::{Outcome, Trouble};
use crate::pace::Pace;
use egress::{Answer, Caller, Fault, HttpRequest};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::CONTENT_ENCODING;
use model::Timestamp;
use std::io::Write as _;
use std::time::Duration;
use tokio::time::timeout;

/// For one call, from the look-up of the name to the end of the answer.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Of an answer; what counts in one is short.
const MOST_ANSWER: usize = 64 << 10;

/// A dialect that is spoken over HTTP.
pub trait HttpDialect<T>: Dialect<T> {
    fn is_compressed(&self) -> bool;
    /// What the integration's key is called where it comes from.
    fn key(&self) -> &'static str;
    /// None: the settings are not those that the system needs.
    fn request(&self, body: Vec<u8>, now: Timestamp) -> Option<HttpRequest>;

    /// What an answer to so many items means.
    fn said(&self, answer: &Answer, _items: usize) -> Said {
        Said::of(answer)
    }

    /// What makes the place that `Said::Missing` misses.
    fn making(&self, _now: Timestamp) -> Vec<Option<HttpRequest>> {
        Vec::new()
    }
}

/// What an answer means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Said {
    /// It takes the batch, but for so many that it never will.
    Taken { refused: usize },
    Later { after: Option<Duration> },
    /// It does not know the key, or knows it and does not want it.
    BadKey,
    /// For another reason that stays.
    Never(&'static str),
    TooLarge,
    /// It can't make sense of it.
    Bad,
    /// There is no place for it yet, and it can be made.
    Missing,
}

impl Said {
    pub fn of(answer: &Answer) -> Self {
        match answer.status {
            200..300 => Self::Taken { refused: 0 },
            401 | 403 => Self::BadKey,
            404 | 405 | 410 => Self::Never("it takes nothing at that address"),
            408 | 425 | 429 | 500.. => Self::Later { after: answer.retry_after },
            413 => Self::TooLarge,
            400 | 415 | 422 => Self::Bad,
            _ => Self::Never("which is no answer that its documents name"),
        }
    }
}

const UNFIT: &str = "the settings are not those that this system needs; save them again";

/// Sends all of them, or as many as it can.
pub async fn drive<T: Timed>(
    caller: &Caller,
    dialect: &impl HttpDialect<T>,
    items: &[T],
    now: Timestamp,
) -> Outcome {
    let mut run = Run { caller, dialect, now, outcome: Outcome::default(), aside: None };
    let mut pace = Pace::default();
    while run.next() < items.len() {
        let batch = cut(dialect, &items[run.next()..], pace.most(), now);
        if batch.written == 0 {
            run.outcome.done += batch.taken;
            run.outcome.dropped += batch.never();
            continue;
        }
        let (written, end) = (batch.written, run.next() + batch.taken);
        match run.send(batch).await {
            Ok(Step::Done) => pace.taken(written, run.next()),
            Ok(Step::Refused) => pace.refused(written, end),
            Ok(Step::TooLarge) => pace.too_large(written),
            Ok(Step::Alone) => pace.alone(),
            Err(trouble) => {
                run.outcome.trouble = Some(trouble);
                return run.outcome;
            }
        }
    }
    // The last of all was refused, and nothing came after it.
    run.outcome.trouble = run.aside.map(|(_, trouble)| trouble);
    run.outcome
}

enum Step {
    Done,
    /// Again, with fewer.
    Refused,
    TooLarge,
    /// The next one shows whose fault it is.
    Alone,
}

struct Run<'a, D> {
    caller: &'a Caller,
    dialect: &'a D,
    now: Timestamp,
    outcome: Outcome,
    /// One that was refused, with those before it that are given up, and what was said of it.
    aside: Option<(Batch, Trouble)>,
}

impl<D> Run<'_, D> {
    /// The first that was not sent.
    fn next(&self) -> usize {
        self.outcome.done + self.aside.as_ref().map_or(0, |(batch, _)| batch.taken)
    }

    async fn send<T>(&mut self, batch: Batch) -> Result<Step, Trouble>
    where
        D: HttpDialect<T>,
    {
        let Batch { body, written, taken } = batch;
        let counts = Batch { body: Vec::new(), written, taken };
        let (host, answer, said) = self.deliver(body, written).await?;
        let status = answer.status;
        let trouble = |verdict: &str| Trouble::refused(format!("{host} answered {status}{verdict}"));
        match said {
            Said::Taken { refused } => {
                if let Some((aside, _)) = self.aside.take() {
                    self.outcome.done += aside.taken;
                    self.outcome.dropped += aside.taken;
                }
                self.outcome.done += taken;
                self.outcome.dropped += counts.never() + refused.min(written);
                Ok(Step::Done)
            }
            Said::Bad if written > 1 => Ok(Step::Refused),
            Said::TooLarge if written > 1 => Ok(Step::TooLarge),
            Said::TooLarge if self.aside.is_none() => {
                self.outcome.done += taken;
                self.outcome.dropped += taken;
                Ok(Step::Done)
            }
            Said::Bad | Said::TooLarge if self.aside.is_none() => {
                self.aside = Some((counts, trouble(": it makes nothing of what it is sent")));
                Ok(Step::Alone)
            }
            Said::Bad | Said::TooLarge => {
                let (_, trouble) = self.aside.take().expect("it was looked for above");
                Err(trouble)
            }
            Said::Later { after } => {
                Err(Trouble::retry(after, format!("{host} answered {status}: it is busy or broken")))
            }
            Said::BadKey => {
                Err(trouble(&format!(": it does not accept the {}", self.dialect.key())))
            }
            Said::Never(why) => Err(trouble(&format!(": {why}"))),
            Said::Missing => Err(trouble(": it does not have what was made there")),
        }
    }

    /// Makes the place for it once, if there is none.
    async fn deliver<T>(
        &self,
        body: Vec<u8>,
        items: usize,
    ) -> Result<(String, Answer, Said), Trouble>
    where
        D: HttpDialect<T>,
    {
        let body = if self.dialect.is_compressed() { compressed(&body) } else { body };
        let (host, answer) = self.ask(self.request(body.clone())?).await?;
        let said = self.dialect.said(&answer, items);
        if said != Said::Missing {
            return Ok((host, answer, said));
        }
        // Where a part of it is there already, making that is refused, and it is no trouble.
        let mut refused = None;
        for request in self.dialect.making(self.now) {
            let request = request.ok_or_else(|| Trouble::refused(UNFIT))?;
            let (host, answer) = self.ask(request).await?;
            let said = self.dialect.said(&answer, items);
            if matches!(said, Said::BadKey | Said::Never(_)) {
                refused = Some((host, answer, said));
            }
        }
        let (host, answer) = self.ask(self.request(body)?).await?;
        match (self.dialect.said(&answer, items), refused) {
            (Said::Missing, Some(refused)) => Ok(refused),
            (said, _) => Ok((host, answer, said)),
        }
    }

    fn request<T>(&self, body: Vec<u8>) -> Result<HttpRequest, Trouble>
    where
        D: HttpDialect<T>,
    {
        let request = self.dialect.request(body, self.now);
        let mut request = request.ok_or_else(|| Trouble::refused(UNFIT))?;
        if self.dialect.is_compressed() {
            let gzip = http::HeaderValue::from_static("gzip");
            request.headers.insert(CONTENT_ENCODING, gzip);
        }
        Ok(request)
    }

    async fn ask(&self, request: HttpRequest) -> Result<(String, Answer), Trouble> {
        let host = request.url.host_str().unwrap_or_default().to_owned();
        let asked = timeout(PATIENCE, self.caller.ask(request, self.now, MOST_ANSWER)).await;
        match asked.unwrap_or(Err(Fault::Silent(PATIENCE.as_secs()))) {
            Ok(answer) => Ok((host, answer)),
            Err(fault) => Err(Trouble::of(&host, &fault)),
        }
    }
}

/// Log lines become a tenth at the least effort.
fn compressed(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 8), Compression::fast());
    let written = encoder.write_all(body).and_then(|()| encoder.finish());
    written.expect("memory takes everything")
}
