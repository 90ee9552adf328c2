//! The points of a call: means of what was sampled, minute by minute. Pure.
//!
//! A server's own series are always among them; of topics and groups those that matter most,
//! so that a call has a bound whatever a cluster has.

use crate::point::{self, Point, Server};
use crate::schedule::MINUTE;
use model::{GroupSeries, ServerId, Timestamp, TopicSeries};
use series::{Buckets, Measure, Of, Window};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use watch::metrics::Sampled;

/// Topics of an instance, the busiest first.
const MOST_TOPICS: usize = 100;
/// Groups of an instance, those first that are the furthest behind.
const MOST_GROUPS: usize = 100;
/// Points of one call, if they are of several minutes.
const MOST_POINTS: usize = 10_000;

/// What is sent in one call.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Batch {
    /// By minute, then by server.
    pub points: Vec<Point>,
    /// The end of each minute, and how many points there are up to it.
    ends: Vec<(i64, usize)>,
}

impl Batch {
    /// The end of its last minute that was sent as a whole, if so many points were.
    pub fn through(&self, done: usize) -> Option<i64> {
        self.ends(done).last()
    }

    /// The end of each minute that was sent as a whole, if so many points were.
    pub fn ends(&self, done: usize) -> impl Iterator<Item = i64> {
        let whole = self.ends.iter().take_while(move |(_, points)| *points <= done);
        whole.map(|(end, _)| *end)
    }
}

/// The points of these minutes, as far as they fit into one call; of the first minute all.
pub fn batch(
    sampled: &Sampled,
    servers: &[(ServerId, Arc<Server>)],
    minutes: &Range<i64>,
) -> Batch {
    let chosen = Chosen::new(sampled, minutes);
    let mut by_minute: BTreeMap<i64, Vec<Point>> = BTreeMap::new();
    for (id, server) in servers {
        let Some(window) = sampled.windows.get(id) else { continue };
        for (measure, _) in window.columns.keys().filter(|(measure, _)| chosen.has(measure)) {
            for (minute, value) in means(window, measure, minutes) {
                let Ok(at) = Timestamp::from_second(minute) else { continue };
                by_minute.entry(minute).or_default().push(Point {
                    name: point::name(measure).into(),
                    unit: measure.unit(),
                    at,
                    value,
                    server: Arc::clone(server),
                    label: point::label(measure),
                });
            }
        }
    }
    let mut batch = Batch::default();
    for (minute, points) in by_minute {
        let count = batch.points.len() + points.len();
        if !batch.ends.is_empty() && count > MOST_POINTS {
            break;
        }
        batch.points.extend(points);
        batch.ends.push((minute + MINUTE, count));
    }
    batch
}

/// What no system could take is left out.
fn means(window: &Window, measure: &Measure, minutes: &Range<i64>) -> Vec<(i64, f64)> {
    let mut buckets = Buckets::new(minutes.start, minutes.end, MINUTE);
    for (at, value) in window.points(measure, Of::Average) {
        buckets.add(at, value);
    }
    let means = buckets.filled().map(|(minute, bucket)| (minute, bucket.average()));
    means.filter(|(_, mean)| mean.is_finite()).collect()
}

/// The topics and groups that are sent; none: all there are.
struct Chosen {
    topics: Option<HashSet<Arc<str>>>,
    groups: Option<HashSet<Arc<str>>>,
}

impl Chosen {
    fn new(sampled: &Sampled, minutes: &Range<i64>) -> Self {
        let (mut topics, mut groups) = (BTreeMap::new(), BTreeMap::new());
        for window in sampled.windows.values() {
            for (measure, _) in window.columns.keys() {
                let (all, name, counts) = match measure {
                    Measure::Server(_) => continue,
                    Measure::Topic(name, series) => {
                        let bytes = [TopicSeries::BytesIn, TopicSeries::BytesOut];
                        (&mut topics, name, bytes.contains(series))
                    }
                    Measure::Group(name, series) => {
                        (&mut groups, name, *series == GroupSeries::Lag)
                    }
                };
                let weight: &mut f64 = all.entry(Arc::clone(name)).or_default();
                if counts {
                    let means = means(window, measure, minutes);
                    *weight += means.iter().map(|(_, mean)| mean).sum::<f64>();
                }
            }
        }
        Self { topics: most(topics, MOST_TOPICS), groups: most(groups, MOST_GROUPS) }
    }

    fn has(&self, measure: &Measure) -> bool {
        let is_among = |chosen: &Option<HashSet<Arc<str>>>, name: &Arc<str>| {
            chosen.as_ref().is_none_or(|chosen| chosen.contains(name))
        };
        match measure {
            Measure::Server(_) => true,
            Measure::Topic(name, _) => is_among(&self.topics, name),
            Measure::Group(name, _) => is_among(&self.groups, name),
        }
    }
}

/// The heaviest by name; none if all of them are.
fn most(weights: BTreeMap<Arc<str>, f64>, most: usize) -> Option<HashSet<Arc<str>>> {
    if weights.len() <= most {
        return None;
    }
    let mut all: Vec<_> = weights.into_iter().collect();
    // Of equals the first by name, in every call.
    all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    Some(all.into_iter().take(most).map(|(name, _)| name).collect())
}
