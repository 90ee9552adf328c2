//! The memory of metrics: open windows and the last sample of every server.
//!
//! A sample that comes twice is one point, so nothing here is ever counted. Each is
//! published once to those who listen, and none comes in while listeners have too many before them:
//! after a while away a fleet sends more at once than alarms can look at.

use super::groups::lag::{Ends, Lags};
use model::{InstanceId, Series, ServerId, SignedDuration};
use series::{OpenWindow, Sample, Window};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use store::MetricsHistory;
use tokio::sync::broadcast;
use tokio::time::{sleep, timeout};

/// Clocks differ. A sample that is more seconds ahead was measured before a clock was set
/// back.
pub const AHEAD: i64 = 300;
/// An agent that was not heard for so long talks to another control plane, or to none.
pub(super) const ABSENT: SignedDuration = SignedDuration::from_secs(60);
/// Windows of one server that wait to be written; a history that is away must
/// not fill the memory.
const MOST_OPEN: usize = 6;
/// Samples that a listener may be behind before it misses some. From half of that on
/// agents wait; the rest is for those that looked in the same moment.
const NEWS: usize = 16_384;
/// How often it is looked whether listeners have caught up.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Agents give up after twice that, and would begin with the same sample again.
const LONGEST: Duration = Duration::from_secs(5);

/// What alarms are to look at.
#[derive(Clone, Debug)]
pub enum News {
    Sample(ServerId, Arc<Sample>),
    Groups(InstanceId, Arc<Lags>),
}

/// What every use case of metrics works with.
#[derive(Debug)]
pub struct Metrics {
    /// Names this memory.
    window: OnceLock<String>,
    servers: Mutex<HashMap<ServerId, Held>>,
    /// What the lag of groups is reckoned by. It outlives the server whose sample has it.
    ends: Mutex<HashMap<InstanceId, Ends>>,
    news: broadcast::Sender<News>,
    /// Samples that may be before a listener when one more comes in.
    most_before: usize,
    /// Held by the one who looks whether listeners have caught up.
    looks: tokio::sync::Mutex<()>,
    pub(super) history: Option<MetricsHistory>,
}

/// The answer to an agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// Names the memory that took the samples.
    pub window: String,
    /// What was taken up to here is on disk.
    pub kept_through: i64,
}

/// What one server's plan gives it, and when by [`model::Clock::elapsed`] that was looked up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Size {
    pub cores: f32,
    pub memory: f32,
    pub disk: f32,
    pub looked_up: SignedDuration,
}

/// The latest samples of one server.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LatestSamples {
    /// By its agent.
    pub server: Option<Arc<Sample>>,
    /// The last of these that has topics.
    pub topics: Option<Arc<Sample>>,
    /// Of the cluster's groups, by the control plane; kept with the first server alone.
    pub groups: Option<Arc<Sample>>,
}

/// What is known of one server.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The oldest first.
    pub open: Vec<Open>,
    /// The last point on disk; none until that was looked up.
    pub written: Option<i64>,
    pub latest: LatestSamples,
    /// When its agent last sent any, by [`model::Clock::elapsed`].
    pub heard_at: Option<SignedDuration>,
    /// From then on it was never silent for longer than [`ABSENT`].
    pub heard_since: SignedDuration,
    /// Before that minute open windows were written for another control plane.
    pub written_early: i64,
    pub size: Option<Size>,
    /// Whose server it is.
    pub instance: Option<InstanceId>,
}

#[derive(Clone, Debug)]
pub(super) struct Open {
    pub window: OpenWindow,
    /// Raised by every change, so that a write knows what it has written.
    pub changes: u64,
}

impl Metrics {
    pub fn new(history: Option<MetricsHistory>) -> Self {
        Self::of_size(history, NEWS)
    }

    fn of_size(history: Option<MetricsHistory>, news: usize) -> Self {
        let most_before = news / 2;
        let (news, _) = broadcast::channel(news);
        Self {
            window: OnceLock::new(),
            servers: Mutex::default(),
            ends: Mutex::default(),
            news,
            most_before,
            looks: tokio::sync::Mutex::default(),
            history,
        }
    }

    pub(super) fn window(&self, name: impl FnOnce() -> String) -> String {
        self.window.get_or_init(name).clone()
    }

    pub(super) fn servers(&self) -> MutexGuard<'_, HashMap<ServerId, Held>> {
        self.servers.lock().expect("no holder of this lock panics")
    }

    /// Takes a sample of a server. Whether it says anything new.
    pub(super) fn take(&self, server: ServerId, sample: &Arc<Sample>, now: i64) -> bool {
        let mut servers = self.servers();
        let held = servers.entry(server).or_default();
        held.forget_beyond(now + AHEAD);
        held.take(sample)
    }

    /// A copy of a server's window that begins at a time, if it is still open.
    pub(super) fn open(&self, server: ServerId, start: i64) -> Option<Open> {
        let servers = self.servers();
        servers.get(&server)?.open.iter().find(|open| open.window.start == start).cloned()
    }

    /// Never held together with the servers.
    pub(super) fn ends(&self) -> MutexGuard<'_, HashMap<InstanceId, Ends>> {
        self.ends.lock().expect("no holder of this lock panics")
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<News> {
        self.news.subscribe()
    }

    /// Waits until listeners have room for one more sample, at most `LONGEST`. Call it
    /// before the sample is taken: an agent whose call times out sends the sample again,
    /// and it still counts as new. A listener that has stopped reading delays agents for no
    /// longer than that.
    pub(super) async fn room(&self) {
        let is_full = || self.news.len() >= self.most_before;
        if !is_full() {
            return;
        }
        let room = async {
            let _first = self.looks.lock().await;
            while is_full() {
                sleep(LOOK_AGAIN).await;
            }
        };
        let _ = timeout(LONGEST, room).await;
    }

    /// Nobody listening is no fault.
    pub(super) fn publish(&self, news: News) {
        let _ = self.news.send(news);
    }
}

impl Held {
    /// Its agent sent samples.
    pub fn hear(&mut self, now: SignedDuration) {
        if self.heard_at.is_none_or(|at| now - at > ABSENT) {
            self.heard_since = now;
        }
        self.heard_at = Some(now);
    }

    /// Whether it says anything new.
    pub fn take(&mut self, sample: &Arc<Sample>) -> bool {
        let window = OpenWindow::around(sample.at);
        let start = window.start;
        let at = self.open.iter().position(|open| open.window.start >= start);
        let at = at.unwrap_or(self.open.len());
        if self.open.get(at).is_none_or(|open| open.window.start != start) {
            self.open.insert(at, Open { window, changes: 0 });
        }
        let open = &mut self.open[at];
        let is_new = open.window.take(sample);
        open.changes += u64::from(is_new);
        if open.window.is_empty() {
            self.open.remove(at);
        }
        if self.open.len() > MOST_OPEN {
            self.open.remove(0);
        }
        let replace = |latest: &mut Option<Arc<Sample>>| {
            if latest.as_ref().is_none_or(|latest| latest.at <= sample.at) {
                *latest = Some(Arc::clone(sample));
            }
        };
        // What the control plane asked itself says nothing of the server.
        if sample.values.contains_key(&Series::GroupsLeftOut) {
            replace(&mut self.latest.groups);
        } else {
            replace(&mut self.latest.server);
        }
        if !sample.topics.is_empty() {
            replace(&mut self.latest.topics);
        }
        is_new
    }

    /// Forgets what was measured after that, before a clock was set back: nothing that
    /// comes would be later.
    pub fn forget_beyond(&mut self, latest: i64) {
        self.open.retain(|open| open.window.start <= latest);
        let LatestSamples { server, topics, groups } = &mut self.latest;
        for held in [server, topics, groups] {
            held.take_if(|sample| sample.at > latest);
        }
    }

    /// Up to where everything that was taken is on disk.
    pub fn kept_through(&self) -> i64 {
        let written = self.written.unwrap_or(0);
        match self.open.first() {
            Some(open) => written.min(open.window.start - 1),
            None => written,
        }
    }

    /// A window was written as it was after so many changes. One that has changed
    /// since then is written again.
    pub fn wrote(&mut self, written: &Window, changes: u64) {
        self.open.retain(|open| open.window.start != written.start || open.changes != changes);
        self.written = self.written.max(written.last());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;
    use std::collections::BTreeMap;

    fn sample(at: i64, value: f32) -> Arc<Sample> {
        let values = BTreeMap::from([(Series::Connections, value)]);
        Arc::new(Sample { at, values, ..<_>::default() })
    }

    #[test]
    fn nothing_is_kept_until_its_window_is_written() {
        let mut held = Held { written: Some(590), ..<_>::default() };
        assert!(held.take(&sample(600, 1.0)));
        assert!(!held.take(&sample(600, 1.0)), "the same sample again");
        assert_eq!(held.kept_through(), 590);
        held.take(&sample(1200, 1.0));
        let first = held.open[0].clone();
        held.wrote(&first.window.window(), first.changes);
        assert_eq!((held.kept_through(), held.open.len()), (600, 1));
        // One comes late, into a window that is on disk.
        held.take(&sample(610, 1.0));
        assert_eq!(held.kept_through(), 599);
        let late = held.open[0].clone();
        held.take(&sample(620, 1.0));
        held.wrote(&late.window.window(), late.changes);
        assert_eq!((held.kept_through(), held.open.len()), (599, 2), "it changed meanwhile");
    }

    #[test]
    fn the_latest_is_the_latest_whatever_comes_last() {
        let mut held = Held::default();
        for at in [20, 10] {
            held.take(&sample(at, 1.0));
        }
        assert_eq!(held.latest.server.map(|sample| sample.at), Some(20));
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_make_an_old_sample_the_latest() {
        let mut held = Held::default();
        held.take(&sample(7200, 1.0));
        held.forget_beyond(7200);
        assert_eq!(held.latest.server.as_ref().map(|sample| sample.at), Some(7200));
        held.forget_beyond(3900);
        assert!(held.take(&sample(3600, 1.0)));
        assert_eq!(held.latest.server.as_ref().map(|sample| sample.at), Some(3600));
        assert_eq!(held.open.len(), 1);
    }

    #[tokio::test]
    async fn whoever_listens_misses_nothing_however_much_comes_at_once() {
        let metrics = Metrics::of_size(None, 8);
        let publish = |at: i64| metrics.publish(News::Sample(ServerId(1), sample(at, 1.0)));
        for at in 0..20 {
            assert!(metrics.room().now_or_never().is_some(), "nobody listens");
            publish(at);
        }
        let mut news = metrics.subscribe();
        let (count, most) = (40_i64, 8);
        let come = async {
            for at in 0..count {
                metrics.room().await;
                publish(at);
                assert!(metrics.news.len() <= most / 2, "before {at}");
            }
        };
        let listen = async {
            for at in 0..count {
                let heard = news.recv().await.expect("nothing is missed");
                assert!(matches!(heard, News::Sample(_, sample) if sample.at == at));
            }
        };
        tokio::join!(come, listen);
        (0..4).for_each(publish);
        assert!(metrics.room().now_or_never().is_none(), "it waits before it is taken");
        news.recv().await.expect("nothing is missed");
        assert!(metrics.room().now_or_never().is_some());
    }

    #[test]
    fn a_history_that_is_away_does_not_fill_the_memory() {
        let mut held = Held::default();
        for at in 0..100 {
            held.take(&sample(at * 600, 1.0));
        }
        assert_eq!(held.open.len(), MOST_OPEN);
        assert_eq!(held.open[0].window.start, 94 * 600);
    }
}
