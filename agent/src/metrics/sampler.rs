//! Measures at every multiple of ten seconds, and sends what waits.
//!
//! The two go on beside each other: measuring goes on while the control plane
//! does not answer, and a broker that does not answer leaves a gap.

use super::broker::Scrape;
use super::kept::Kept;
use super::log_rates::LogRates;
use super::process_tree::ProcessTree;
use super::rates::{Before, TopicsBefore};
use super::silence::Answers;
use super::{Sample, slow};
use crate::board::Board;
use crate::connection::{Connection, ConnectionError};
use crate::logs::Ledger;
use crate::place::Place;
use jiff::Timestamp;
use kafka::Endpoint;
use model::{Clock, SAMPLE_SECONDS, Series, until_sample};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use wire::agent::{AgentStart, Desired, Phase};
use wire::metrics::Samples;

/// Seconds between looks at what changes slowly, and at topics.
const SLOWLY: i64 = 60;
/// The longest that a sample waits for a disk.
const SLOWEST: Duration = Duration::from_secs(1);
/// After a call that failed; the next sample may come first.
const AGAIN: Duration = Duration::from_secs(5);

pub struct Sampler {
    pub place: Place,
    pub clock: Arc<dyn Clock>,
    pub start: AgentStart,
    pub board: Board,
    pub desired: watch::Receiver<Option<Desired>>,
    /// That of the link, while it has one.
    pub connection: watch::Receiver<Option<Connection>>,
    /// How the server's logs are sent.
    pub ledger: Ledger,
}

/// What two looks are compared by.
#[derive(Default)]
struct Last {
    tree: ProcessTree,
    logs: LogRates,
    looked: Option<Instant>,
    scraped: Option<(Instant, Before)>,
    topics: Option<(Instant, TopicsBefore)>,
    slow: Vec<(Series, f64)>,
    slow_due: bool,
    /// The look that has not come to its end yet.
    looking: Option<Looking>,
    left_out: Option<u32>,
    answers: Answers,
}

/// A look at the disk that goes on.
struct Looking {
    /// Whether it is also at what is looked at once a minute.
    whole: bool,
    values: JoinHandle<Vec<(Series, f64)>>,
}

impl Sampler {
    /// Never ends by itself.
    pub async fn run(self) {
        let kept = Mutex::new(Kept::default());
        let news = Notify::new();
        tokio::join!(self.measure(&kept, &news), self.send(&kept, &news));
    }

    async fn measure(&self, kept: &Mutex<Kept>, news: &Notify) {
        let mut last = Last { slow_due: true, ..<_>::default() };
        loop {
            sleep(until_sample(self.start.server_id, self.clock.now())).await;
            let sample = self.sample(&mut last).await;
            lock(kept).push(sample);
            news.notify_one();
        }
    }

    async fn sample(&self, last: &mut Last) -> Sample {
        let now = self.clock.now();
        let at = now.as_second() - now.as_second().rem_euclid(SAMPLE_SECONDS);
        let is_minute = at.rem_euclid(SLOWLY) == 0;
        let mut sample = Sample { at, ..<_>::default() };
        let status = self.board.view().status;
        let broker = status.broker_pid;
        let own = i32::try_from(std::process::id()).ok();
        let pids: Vec<i32> = own.into_iter().chain(broker).collect();
        let looked = Instant::now();
        let passed = last.looked.replace(looked).map_or(Duration::ZERO, |then| looked - then);
        for (series, value) in last.tree.look(&pids, passed) {
            sample.add(series, value);
        }
        for (series, value) in last.logs.look(self.ledger.counts(), passed) {
            sample.add(series, value);
        }
        for (series, value) in self.look_at_disk(last, now, is_minute).await {
            sample.add(*series, *value);
        }
        let listener = broker.and_then(|_| self.listener());
        let scraped = match &listener {
            Some(listener) => scrape(listener).await,
            None => None,
        };
        // One that starts does not answer yet, and one without a page never does.
        let asked = broker.filter(|_| status.phase == Phase::Running && listener.is_some());
        self.board.set_silence(last.answers.heard(asked, scraped.is_some(), now));
        if let Some(scrape) = scraped {
            last.take(&scrape, is_minute, &mut sample);
        } else {
            // What it counted before is of no use to the next that runs.
            (last.scraped, last.topics) = (None, None);
        }
        sample
    }

    /// What is known of the disk. One that hangs leaves a gap of its own values, and is
    /// not asked again before it has answered.
    async fn look_at_disk<'a>(
        &self,
        last: &'a mut Last,
        now: Timestamp,
        is_minute: bool,
    ) -> &'a [(Series, f64)] {
        let (place, whole) = (self.place.clone(), is_minute || last.slow_due);
        let look = move || slow::look(&place, now, whole);
        let begin = || Looking { whole, values: tokio::task::spawn_blocking(look) };
        let late = last.looking.take();
        // What one tells that was begun earlier may have changed since.
        last.slow_due = late.is_some();
        let mut looking = late.unwrap_or_else(begin);
        let Ok(looked) = timeout(SLOWEST, &mut looking.values).await else {
            last.slow_due = true;
            last.looking = Some(looking);
            return &[];
        };
        // Without what only a whole look tells, a full disk would look as if it had room.
        let looked = looked.unwrap_or_default();
        let is_new = |series: &Series| looked.iter().any(|(it, _)| it == series);
        last.slow.retain(|(series, _)| !looking.whole && !is_new(series));
        last.slow.extend(looked);
        &last.slow
    }

    /// Where the broker serves its metrics, if it does.
    fn listener(&self) -> Option<Endpoint> {
        let desired = self.desired.borrow();
        kafka::metrics::listener(&desired.as_ref()?.broker.as_ref()?.properties)
    }

    async fn send(&self, kept: &Mutex<Kept>, news: &Notify) {
        loop {
            let due = lock(kept).due();
            if due.is_empty() {
                news.notified().await;
                continue;
            }
            let connection = self.connection.borrow().clone();
            let Some(connection) = connection else {
                let mut connections = self.connection.clone();
                // Without a link there is no agent either.
                let _ = connections.wait_for(Option::is_some).await;
                continue;
            };
            if let Err(error) = self.send_batch(&connection, kept, due).await {
                tracing::debug!(%error, "metrics could not be sent; they are kept");
                sleep(AGAIN).await;
            }
        }
    }

    async fn send_batch(
        &self,
        connection: &Connection,
        kept: &Mutex<Kept>,
        due: Vec<Sample>,
    ) -> Result<(), ConnectionError> {
        let samples = due.iter().map(Sample::to_wire).collect();
        let held = self.desired.borrow().as_ref().map(|held| held.incarnation);
        let incarnation = held.unwrap_or(self.start.incarnation);
        let body = Samples { incarnation, samples };
        let answer = connection.metrics(&body).await?;
        lock(kept).answered(&due, &answer);
        Ok(())
    }
}

impl Last {
    fn take(&mut self, scrape: &Scrape, is_minute: bool, sample: &mut Sample) {
        let now = Instant::now();
        for (series, value) in &scrape.gauges {
            sample.add(*series, *value);
        }
        if let Some((then, before)) = self.scraped.replace((now, Before::from_scrape(scrape))) {
            for (series, value) in before.rates(scrape, now - then) {
                sample.add(series, value);
            }
        }
        if is_minute || self.topics.is_none() {
            self.take_topics(scrape, now, sample);
        }
        if let Some(left_out) = self.left_out {
            sample.add(Series::TopicsLeftOut, left_out.into());
        }
    }

    /// The first look has nothing to compare with.
    fn take_topics(&mut self, scrape: &Scrape, now: Instant, sample: &mut Sample) {
        if let Some((then, before)) = self.topics.replace((now, TopicsBefore::from_scrape(scrape)))
        {
            let (topics, left_out) = before.busiest(scrape, now - then);
            self.left_out = Some(u32::try_from(left_out).unwrap_or(u32::MAX));
            sample.topics = topics;
        }
    }
}

async fn scrape(listener: &Endpoint) -> Option<Scrape> {
    match kafka::metrics::scrape(listener).await {
        Ok(text) => Some(Scrape::read(&text)),
        Err(error) => {
            tracing::debug!(%error, "the broker's metrics can't be read");
            None
        }
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().expect("no holder of this lock panics")
}

#[cfg(test)]
#[path = "sampler_tests.rs"]
mod tests;
