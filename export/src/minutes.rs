//! The points of a call: means of what was sampled, minute by minute. Pure.
//!
//! A server's own series are always among them; of topics and groups those that matter most,
//! so that a call has a bound whatever a cluster has.

use crate::point;
use crate::schedule::MINUTE;
use model::{GroupSeries, ServerId, Timestamp, TopicSeries};
use series::{Buckets, Measure, Of, Window};
use ship::{Point, Server};
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
    /// By minute, then by server, then by series: the same minute has the same order again.
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

    /// How many points there are up to this one, if it is of the first minute.
    pub fn through_point(&self, last: &Point) -> usize {
        let Some((end, count)) = self.ends.first() else { return 0 };
        if last.at.as_second() + MINUTE != *end {
            return 0;
        }
        self.points[..*count]
            .partition_point(|point| place_in_minute(point) <= place_in_minute(last))
    }

    /// The last of so many points; none if no minute is sent in part then.
    pub fn last_of_part(&self, done: usize) -> Option<&Point> {
        let is_part = self.ends.iter().all(|(_, points)| *points != done);
        if is_part { self.points[..done].last() } else { None }
    }
}

fn place_in_minute(point: &Point) -> (&str, &str, Option<&(&'static str, Arc<str>)>) {
    (&point.server.name, &point.name, point.label.as_ref())
}

/// The points of at most `most` of these minutes, as far as they fit into one call; of the
/// first minute all. Minutes without any don't count.
pub fn batch(
    sampled: &Sampled,
    servers: &[(ServerId, Arc<Server>)],
    minutes: &Range<i64>,
    most: usize,
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
    for (minute, mut points) in by_minute.into_iter().take(most) {
        points.sort_by(|one, other| place_in_minute(one).cmp(&place_in_minute(other)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::Series;
    use series::Tier;

    const START: i64 = 1_000_000_200;

    fn servers(count: i64) -> Vec<(ServerId, Arc<Server>)> {
        let server = |id| {
            let (name, hostname) = (format!("x-0{id}"), format!("127.64.0.{id}"));
            (ServerId(id), Arc::new(Server { name, hostname }))
        };
        (1..=count).map(server).collect()
    }

    fn sampled(windows: Vec<Window>) -> Sampled {
        Sampled { start: START, windows: (1..).map(ServerId).zip(windows).collect() }
    }

    fn empty() -> Window {
        Window::around(START, Tier::Sampled)
    }

    #[test]
    fn points_are_means_of_minutes_in_their_order() {
        let mut windows = vec![empty(), empty()];
        let cpu = Measure::Server(Series::Cpu);
        for (window, at, value) in [
            (0, 0, 1.0),
            (0, 50, 2.0),
            (0, 60, 7.0),
            (1, 10, 4.0),
            (1, 70, f32::NAN),
            (1, 120, 9.0),
        ] {
            windows[window].set(cpu.clone(), Of::Average, START + at, value);
        }
        let batch = batch(&sampled(windows), &servers(3), &(START..START + 120), 10);
        let points = batch
            .points
            .iter()
            .map(|it| (it.server.name.as_str(), it.at.as_second() - START, it.value));
        assert_eq!(
            points.collect::<Vec<_>>(),
            [("x-01", 0, 1.5), ("x-02", 0, 4.0), ("x-01", 60, 7.0)]
        );
        let point = &batch.points[0];
        assert_eq!((point.name.as_ref(), point.unit), ("castellan.kafka.cpu_percent", "%"));
        assert_eq!(point.server.hostname, "127.64.0.1");
        let through = |done| batch.through(done).map(|end| end - START);
        assert_eq!([0, 1, 2, 3].map(through), [None, None, Some(60), Some(120)]);
        let is_part = |done| batch.last_of_part(done).map(|last| batch.through_point(last));
        assert_eq!([0, 1, 2, 3].map(is_part), [None, Some(1), None, None]);
        // A later minute was never begun.
        assert_eq!(batch.through_point(&batch.points[2]), 0);
    }

    #[test]
    fn minutes_that_no_system_could_take_are_passed_over() {
        let mut window = empty();
        let bytes = Measure::Topic("t".into(), TopicSeries::BytesIn);
        for (at, value) in [(0, f32::INFINITY), (60, 1.0), (120, 2.0)] {
            window.set(bytes.clone(), Of::Average, START + at, value);
        }
        let sampled = sampled(vec![window]);
        let found = |most| batch(&sampled, &servers(1), &(START..START + 180), most);
        assert_eq!(found(1).through(1), Some(START + 120));
        assert_eq!(found(2).through(2), Some(START + 180));
        let nothing = batch(&sampled, &servers(1), &(START..START + 60), 1);
        assert_eq!(nothing, Batch::default());
    }

    #[test]
    fn of_many_topics_and_groups_those_that_matter_are_sent() {
        let mut windows = vec![empty(), empty()];
        for number in 0..250_u16 {
            let name: Arc<str> = format!("t{number:03}").into();
            // The later the busier, on both servers together.
            let topic = |series| Measure::Topic(Arc::clone(&name), series);
            let value = f32::from(number);
            let [one, other] = &mut windows[..] else { unreachable!() };
            one.set(topic(TopicSeries::LogSize), Of::Average, START, 1000.0 - value);
            one.set(topic(TopicSeries::BytesIn), Of::Average, START, value / 2.0);
            other.set(topic(TopicSeries::BytesOut), Of::Average, START, value / 2.0);
            let lag = Measure::Group(Arc::clone(&name), GroupSeries::Lag);
            one.set(lag, Of::Average, START, 250.0 - value);
        }
        let few = Measure::Server(Series::Cpu);
        windows[0].set(few, Of::Average, START, 1.0);
        let batch = batch(&sampled(windows), &servers(2), &(START..START + 60), 10);
        let named = |kind: &str| -> Vec<String> {
            let labels = batch.points.iter().filter_map(|point| point.label.as_ref());
            let names =
                labels.filter(|(label, _)| *label == kind).map(|(_, name)| name.to_string());
            let mut names: Vec<_> = names.collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let numbers = |range: Range<u16>| -> Vec<String> {
            range.map(|number| format!("t{number:03}")).collect()
        };
        assert_eq!(named("topic"), numbers(150..250));
        assert_eq!(named("group"), numbers(0..100));
        assert_eq!(batch.points.len(), 1 + 3 * 100 + 100);
    }

    #[test]
    fn a_call_has_a_bound_and_at_least_a_minute() {
        let mut windows = vec![empty(); 12];
        for window in &mut windows {
            for number in 0..100 {
                for series in TopicSeries::ALL {
                    let topic = Measure::Topic(format!("t{number}").into(), *series);
                    for minute in 0..3 {
                        window.set(topic.clone(), Of::Average, START + minute * 60, 1.0);
                    }
                }
            }
        }
        let all = |count| {
            let windows = windows.iter().take(count).cloned().collect();
            let count = i64::try_from(count).unwrap();
            batch(&sampled(windows), &servers(count), &(START..START + 180), 10)
        };
        // 400 points a minute and server.
        let (small, large) = (all(2), all(12));
        assert_eq!((small.points.len(), small.through(usize::MAX)), (2400, Some(START + 180)));
        assert_eq!((large.points.len(), large.through(usize::MAX)), (9600, Some(START + 120)));
        assert_eq!(MOST_TOPICS * TopicSeries::ALL.len(), 400);
    }
}
