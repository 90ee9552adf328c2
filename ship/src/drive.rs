//! Batch after batch over HTTP, in order, until all is done or one can't be sent.
//!
//! What a destination refuses as bad may be the fault of one event among thousands, or its own
//! of all. So the batch is halved until a single one is refused. That one is put aside, and so
//! are those right after it that are refused as well: bad points come in clumps. They are given
//! up once another one is taken, or at the end if one before them was taken in the same
//! attempt; if none is, the destination takes nothing, and nothing is given up.

use crate::about::Timed;
use crate::batch::{Dialect, cut};
use crate::budget::Budget;
use crate::outcome::{Outcome, Trouble};
use egress::{Answer, Caller, HttpRequest};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::CONTENT_ENCODING;
use model::Timestamp;
use std::io::Write as _;
use std::time::Duration;

/// Of an answer; what counts in one is short.
const MOST_ANSWER: usize = 64 << 10;
/// Refused one after the other before a destination is believed to take nothing.
const MOST_ASIDE: usize = 32;

/// A dialect that is spoken over HTTP.
pub trait HttpDialect<T>: Dialect<T> {
    fn is_compressed(&self) -> bool;
    /// What the integration's key is called where it comes from.
    fn key(&self) -> &'static str;
    /// None: the settings are not those that the system needs.
    fn request(&self, body: Vec<u8>, now: Timestamp) -> Option<HttpRequest>;

    /// What an answer to so many items means.
    fn meaning(&self, answer: &Answer, _items: usize) -> Meaning {
        Meaning::from_status(answer)
    }

    /// What makes the place that `Meaning::Missing` misses.
    fn making(&self, _now: Timestamp) -> Vec<Option<HttpRequest>> {
        Vec::new()
    }
}

/// What an answer means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// It takes the batch, but for so many that it never will.
    Taken {
        refused: usize,
    },
    /// It took so many of the first, and can't make sense of the next.
    TakenBefore {
        bad: usize,
    },
    Later {
        after: Option<Duration>,
    },
    /// It does not know the key, or knows it and does not want it.
    BadKey,
    /// For another reason that stays.
    Never(&'static str),
    /// It can't make sense of it, or it is too large.
    Bad,
    /// There is no place for it yet, and it can be made.
    Missing,
}

impl Meaning {
    pub fn from_status(answer: &Answer) -> Self {
        match answer.status {
            200..300 => Self::Taken { refused: 0 },
            401 | 403 => Self::BadKey,
            404 | 405 | 410 => Self::Never("it takes nothing at that address"),
            408 | 425 | 429 | 500.. => Self::Later { after: answer.retry_after },
            400 | 413 | 415 | 422 => Self::Bad,
            _ => Self::Never("which is no answer that its documents name"),
        }
    }
}

/// Sends all of them, or as many as it can.
pub async fn drive<T: Timed>(
    caller: &Caller,
    dialect: &impl HttpDialect<T>,
    items: &[T],
    budget: &Budget,
) -> Outcome {
    let outcome = Outcome::default();
    let mut run = Run { caller, dialect, items, budget, outcome, is_any_taken: false, aside: None };
    run.outcome.trouble = run.send_all().await.err();
    run.outcome
}

/// What came of one call.
struct Reply {
    host: String,
    status: u16,
    meaning: Meaning,
}

struct Run<'a, T, D> {
    caller: &'a Caller,
    dialect: &'a D,
    items: &'a [T],
    budget: &'a Budget,
    outcome: Outcome,
    /// The destination took something in this attempt.
    is_any_taken: bool,
    aside: Option<Aside>,
}

/// Some that were refused one by one, right after what is done.
struct Aside {
    /// With those between them that are never sent.
    taken: usize,
    refused: usize,
    /// What the destination answered to the first.
    trouble: Trouble,
}

impl<'a, T: Timed, D: HttpDialect<T>> Run<'a, T, D> {
    async fn send_all(&mut self) -> Result<(), Trouble> {
        let mut most = usize::MAX;
        while !self.rest().is_empty() {
            most = self.send(most).await?;
        }
        if self.is_any_taken {
            self.finish(0, 0);
        }
        // Nothing was taken that would show whose fault it is.
        self.aside.take().map_or(Ok(()), |aside| Err(aside.trouble))
    }

    fn rest(&self) -> &'a [T] {
        &self.items[self.outcome.done + self.aside.as_ref().map_or(0, |aside| aside.taken)..]
    }

    /// A batch of so many at most. Returns how many the next may have.
    async fn send(&mut self, most: usize) -> Result<usize, Trouble> {
        let now = self.budget.now();
        let batch = cut(self.dialect, self.rest(), most, now);
        let (written, taken, never) = (batch.written, batch.taken, batch.never());
        if written == 0 {
            match &mut self.aside {
                Some(aside) => aside.taken += taken,
                None => self.finish(taken, never),
            }
            return Ok(most);
        }
        let reply = self.deliver(batch.body, written).await?;
        match reply.meaning {
            Meaning::Taken { refused } => {
                self.is_any_taken |= refused < written;
                self.finish(taken, never + refused.min(written));
                Ok(most.saturating_mul(2))
            }
            Meaning::TakenBefore { bad } if written > 1 => {
                if bad > 0 {
                    let before = cut(self.dialect, self.rest(), bad, now);
                    self.is_any_taken = true;
                    self.finish(before.taken, before.never());
                }
                Ok(1)
            }
            Meaning::Bad if written > 1 => Ok(written / 2),
            Meaning::Bad | Meaning::TakenBefore { .. } => {
                self.put_aside(taken, self.trouble(&reply))?;
                Ok(1)
            }
            _ => Err(self.trouble(&reply)),
        }
    }

    /// These need not be sent again, and what was put aside before them is given up.
    fn finish(&mut self, taken: usize, dropped: usize) {
        let aside = self.aside.take().map_or(0, |aside| aside.taken);
        self.outcome.done += aside + taken;
        self.outcome.dropped += aside + dropped;
    }

    fn put_aside(&mut self, taken: usize, trouble: Trouble) -> Result<(), Trouble> {
        let aside = self.aside.get_or_insert(Aside { taken: 0, refused: 0, trouble });
        aside.taken += taken;
        aside.refused += 1;
        if aside.refused < MOST_ASIDE { Ok(()) } else { Err(aside.trouble.clone()) }
    }

    /// Makes the place for it first, if there is none.
    async fn deliver(&self, body: Vec<u8>, items: usize) -> Result<Reply, Trouble> {
        let body = if self.dialect.is_compressed() { compressed(&body) } else { body };
        let reply = self.ask(self.request(body.clone())?, items).await?;
        if reply.meaning != Meaning::Missing {
            return Ok(reply);
        }
        for request in self.dialect.making(self.budget.now()) {
            let reply = self.ask(request.ok_or_else(unfit)?, 0).await?;
            if !matches!(reply.meaning, Meaning::Taken { .. }) {
                return Err(self.trouble(&reply));
            }
        }
        self.ask(self.request(body)?, items).await
    }

    fn request(&self, body: Vec<u8>) -> Result<HttpRequest, Trouble> {
        let request = self.dialect.request(body, self.budget.now());
        let mut request = request.ok_or_else(unfit)?;
        if self.dialect.is_compressed() {
            let gzip = http::HeaderValue::from_static("gzip");
            request.headers.insert(CONTENT_ENCODING, gzip);
        }
        Ok(request)
    }

    async fn ask(&self, request: HttpRequest, items: usize) -> Result<Reply, Trouble> {
        let host = request.url.host_str().unwrap_or_default().to_owned();
        let call = self.caller.ask(request, self.budget.now(), MOST_ANSWER);
        let answer = self.budget.bound(&host, call).await?;
        let meaning = self.dialect.meaning(&answer, items);
        Ok(Reply { host, status: answer.status, meaning })
    }

    fn trouble(&self, reply: &Reply) -> Trouble {
        let Reply { host, status, meaning } = reply;
        let sentence = |why: &str| format!("{host} answered {status}: {why}");
        match meaning {
            Meaning::Later { after } => Trouble::retry(*after, sentence("it is busy or broken")),
            Meaning::Missing => {
                Trouble::retry(None, sentence("it does not have yet what was made there"))
            }
            Meaning::BadKey => {
                let key = self.dialect.key();
                Trouble::refused(sentence(&format!("it does not accept the {key}")))
            }
            Meaning::Never(why) => Trouble::refused(sentence(why)),
            Meaning::Bad | Meaning::Taken { .. } | Meaning::TakenBefore { .. } => {
                Trouble::refused(sentence("it makes nothing of what it is sent"))
            }
        }
    }
}

fn unfit() -> Trouble {
    Trouble::unfit("this system needs")
}

/// Log lines become a tenth at the least effort.
fn compressed(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 8), Compression::fast());
    let written = encoder.write_all(body).and_then(|()| encoder.finish());
    written.expect("memory takes everything")
}
