//! History and memory together, for a time and some series.

use crate::{App, Asked, Error, InstanceAccess, Problems, Result};
use model::{GroupSeries, Series, Timestamp, TopicSeries};
use series::{Buckets, Measure, Of, Range, Tier, Window};
use std::collections::BTreeSet;
use store::servers;
use watch::metrics::windows;

/// Points in one answer, of all servers and series.
const MOST_POINTS: i64 = 500_000;
/// Seconds within which topics and groups are sampled too.
const SELDOM: i64 = 60;

/// What may be asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadFields {
    /// All of a server's if not given; those of topics and groups only by name.
    pub series: Option<Vec<String>>,
    /// Of series of topics, this one alone.
    pub topic: Option<String>,
    /// Of series of groups, this one alone.
    pub group: Option<String>,
    /// A time such as `2026-11-15T12:00:00Z`, or Unix seconds.
    pub from: Option<String>,
    pub to: Option<String>,
    pub step: Option<i64>,
    /// `avg` or `max` of what falls into one step.
    pub of: Option<String>,
}

/// What was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    pub range: Range,
    /// By number.
    pub servers: Vec<ServerValues>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct ServerValues {
    pub server: String,
    pub series: Vec<Values>,
}

/// The first is of the range's beginning, the next a step later.
#[derive(Clone, PartialEq, Debug)]
pub struct Values {
    pub measure: Measure,
    pub values: Vec<Option<f32>>,
}

struct Wanted {
    range: Range,
    series: BTreeSet<Series>,
    topics: BTreeSet<TopicSeries>,
    topic: Option<String>,
    groups: BTreeSet<GroupSeries>,
    group: Option<String>,
    of: Of,
}

pub async fn read(access: &InstanceAccess, app: &App, asked: Asked<ReadFields>) -> Result<Found> {
    let (fields, problems) = asked.open()?;
    let now = app.now().as_second();
    let wanted = validate(&fields, problems, now)?;
    let mut servers = Vec::new();
    let mut points = 0;
    for server in servers::list_bare(&mut app.store().reader(), access.instance.id).await? {
        let windows = windows(app.watch(), server.id, wanted.range).await;
        let measures = wanted.measures(&windows);
        points += i64::try_from(measures.len()).unwrap_or(i64::MAX) * wanted.range.points();
        if points > MOST_POINTS {
            let words = format!(
                "That are more than {MOST_POINTS} points; ask for fewer series or a larger `step`"
            );
            return Err(Error::Refused(words));
        }
        let series = measures.into_iter().map(|measure| wanted.values(measure, &windows));
        let series = series.filter(|found| found.values.iter().any(Option::is_some)).collect();
        servers.push(ServerValues { server: server.name, series });
    }
    Ok(Found { range: wanted.range, servers })
}

fn validate(fields: &ReadFields, mut problems: Problems, now: i64) -> Result<Wanted> {
    let mut series = BTreeSet::new();
    let (mut topics, mut groups) = (BTreeSet::new(), BTreeSet::new());
    for name in fields.series.iter().flatten() {
        match (name.parse::<Series>(), name.parse::<TopicSeries>(), name.parse::<GroupSeries>()) {
            (Ok(found), ..) => {
                series.insert(found);
            }
            (_, Ok(found), _) => {
                topics.insert(found);
            }
            (.., Ok(found)) => {
                groups.insert(found);
            }
            (Err(error), ..) => problems.add("series", format!("{name:?}: {error}")),
        }
    }
    if fields.series.is_none() {
        series.extend(Series::ALL);
    }
    if fields.topic.is_some() && topics.is_empty() {
        problems.add("topic", "needs a series of topics, such as topic_bytes_in_per_second");
    }
    if fields.group.is_some() && groups.is_empty() {
        problems.add("group", "needs a series of groups, such as group_lag_seconds");
    }
    let of = match fields.of.as_deref() {
        None | Some("avg") => Of::Average,
        Some("max") => Of::Max,
        Some(_) => {
            problems.add("of", "must be avg or max");
            Of::Average
        }
    };
    let from = time(&mut problems, "from", fields.from.as_deref());
    let to = time(&mut problems, "to", fields.to.as_deref());
    problems.finish()?;
    let range =
        |step| Range::new(from, to, step, now).map_err(|error| Error::Refused(error.to_string()));
    let range = range(fields.step).and_then(|chosen| {
        // Topics and groups are sampled less often; finer steps would be mostly gaps.
        let is_fine = chosen.step < SELDOM && series.is_empty() && fields.step.is_none();
        if is_fine { range(Some(SELDOM)) } else { Ok(chosen) }
    })?;
    let (topic, group) = (fields.topic.clone(), fields.group.clone());
    Ok(Wanted { range, series, topics, topic, groups, group, of })
}

fn time(problems: &mut Problems, field: &str, text: Option<&str>) -> Option<i64> {
    let text = text?;
    let read = match text.parse::<i64>() {
        Ok(seconds) => Timestamp::from_second(seconds).ok(),
        Err(_) => text.parse().ok(),
    };
    let wrong = "must be a time such as 2026-11-15T12:00:00Z, or Unix seconds";
    problems.take(field, read.ok_or(wrong)).map(Timestamp::as_second)
}

impl Wanted {
    /// The wanted measures that have points at all.
    fn measures(&self, windows: &[Window]) -> BTreeSet<Measure> {
        let all = windows.iter().flat_map(|window| window.columns.keys());
        all.map(|(measure, _)| measure).filter(|measure| self.wants(measure)).cloned().collect()
    }

    fn wants(&self, measure: &Measure) -> bool {
        match measure {
            Measure::Server(series) => self.series.contains(series),
            Measure::Topic(topic, series) => {
                self.topics.contains(series)
                    && self.topic.as_deref().is_none_or(|wanted| wanted == &**topic)
            }
            Measure::Group(group, series) => {
                self.groups.contains(series)
                    && self.group.as_deref().is_none_or(|wanted| wanted == &**group)
            }
        }
    }

    fn values(&self, measure: Measure, windows: &[Window]) -> Values {
        let Range { from, to, step } = self.range;
        let mut buckets = Buckets::new(from, to, step);
        for window in windows {
            // What was sampled is average and maximum in one.
            let of = if window.tier == Tier::Sampled { Of::Average } else { self.of };
            for (at, value) in window.points(&measure, of) {
                buckets.add(at, value);
            }
        }
        let values = buckets.all().map(|(_, bucket)| bucket.map(|found| found.of(self.of)));
        Values { values: values.collect(), measure }
    }
}
