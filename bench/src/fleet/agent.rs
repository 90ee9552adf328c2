//! A simulated agent: what a real one says, at the moments at which it says it, without
//! a server to say it of.
//!
//! Like a real one it has two connections: one for the long poll, one for reports and
//! samples, which it sends in its own turn within the ten seconds.

use super::line::Line;
use super::samples::Meter;
use super::tally::Tally;
use super::{ALARM_SECONDS, now};
use anyhow::{Result, bail};
use model::{Clock as _, InstanceId, SAMPLE_SECONDS, ServerId, SystemClock, until_sample};
use rustls::ClientConfig;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;
use wire::metrics::Samples;

/// Reports are as frequent as samples, and come between them.
const HALF: Duration = Duration::from_secs(5);
/// After a call that failed.
const AGAIN: Duration = Duration::from_secs(1);
/// How long servers that turn hot stay so.
const HEAT_SECONDS: i64 = 3 * ALARM_SECONDS;
/// From the word until servers turn hot.
const LEAD: i64 = 20;

pub struct Agent {
    pub server: ServerId,
    pub incarnation: i64,
    pub meter: Meter,
    /// As it is on record: reports that repeat it are signs of life.
    pub report: String,
    /// The path of the long poll for whatever comes after what the agent holds.
    pub desired: String,
    /// The instance whose alarm this server sets off.
    pub sets_off: Option<InstanceId>,
    pub tls: Arc<ClientConfig>,
}

/// What all agents share.
pub struct Course {
    to: SocketAddr,
    pub tally: Tally,
    /// The time of the first hot sample, in Unix seconds.
    hot_from: AtomicI64,
}

impl Course {
    pub fn new(to: SocketAddr) -> Self {
        Self { to, tally: Tally::default(), hot_from: AtomicI64::new(i64::MAX) }
    }

    /// Has servers turn hot in a moment. Says when the time of their alarms is over.
    pub fn heat(&self) -> i64 {
        let from = (now() + LEAD).div_euclid(SAMPLE_SECONDS) * SAMPLE_SECONDS + SAMPLE_SECONDS;
        self.hot_from.store(from, Ordering::Relaxed);
        from + ALARM_SECONDS
    }

    /// Seconds since servers turned hot, at the time of a sample.
    fn hot_for(&self, at: i64) -> i64 {
        at.saturating_sub(self.hot_from.load(Ordering::Relaxed))
    }
}

/// Starts all of them over some time; they end with what is returned.
pub fn start(agents: Vec<Agent>, course: &Arc<Course>, over: Duration) -> JoinSet<()> {
    let count = u32::try_from(agents.len()).unwrap_or(u32::MAX).max(1);
    let mut running = JoinSet::new();
    for (number, agent) in (0..count).zip(agents) {
        let wait = over * number / count;
        let agent = Arc::new(agent);
        running.spawn(keep_telling(Arc::clone(&agent), Arc::clone(course), wait));
        running.spawn(keep_polling(agent, Arc::clone(course), wait));
    }
    running
}

async fn keep_telling(agent: Arc<Agent>, course: Arc<Course>, wait: Duration) {
    sleep(wait).await;
    loop {
        if let Err(error) = agent.tell(&course).await {
            course.tally.failed(&error);
        }
        sleep(AGAIN).await;
    }
}

async fn keep_polling(agent: Arc<Agent>, course: Arc<Course>, wait: Duration) {
    sleep(wait).await;
    loop {
        if let Err(error) = agent.poll(&course).await {
            course.tally.failed(&error);
        }
        sleep(AGAIN).await;
    }
}

impl Agent {
    /// Ends when a call fails.
    async fn tell(&self, course: &Course) -> Result<()> {
        let mut line = Line::open(course.to, &self.tls).await?;
        loop {
            course.tally.report(line.post("/agent/v1/report", &self.report).await?);
            sleep(until_sample(self.server, SystemClock.now())).await;
            let body = self.samples(course)?;
            course.tally.samples(line.post("/agent/v1/metrics", &body).await?);
            sleep(HALF).await;
        }
    }

    /// Ends when a call fails, or tells what nobody has written.
    async fn poll(&self, course: &Course) -> Result<()> {
        let mut line = Line::open(course.to, &self.tls).await?;
        loop {
            if line.poll(&self.desired).await? > 0 {
                bail!("server {} was told something else than it holds", self.server);
            }
        }
    }

    fn samples(&self, course: &Course) -> Result<String> {
        let now = now();
        let at = now - now.rem_euclid(SAMPLE_SECONDS);
        let hot_for = course.hot_for(at);
        let is_hot = (0..HEAT_SECONDS).contains(&hot_for);
        if let Some(instance) = self.sets_off.filter(|_| hot_for == ALARM_SECONDS) {
            course.tally.ends(instance);
        }
        let sample = self.meter.sample(at, is_hot && self.sets_off.is_some());
        let samples = Samples { incarnation: self.incarnation, samples: vec![sample] };
        Ok(serde_json::to_string(&samples)?)
    }
}
