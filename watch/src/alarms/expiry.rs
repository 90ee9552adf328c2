//! Certificates that near their end: every notice alarm notifies of them until they are
//! renewed, as one incident for each kind of them.
//!
//! Servers' certificates are due when they should have been renewed long ago, authorities
//! and customers' certificates while there is time to do something. There is one more
//! notification when another certificate comes so far, or the same one comes to its next
//! mark; that follows from the time of the last notification and needs no memory.

use super::Watch;
use super::expiry_words::message;
use super::notice_incident::{
    Sight, is_reminder_due, notice_alarms, notified_at, open_incident, step,
};
use crate::{Context, Result};
use model::{
    AlarmSpec, AlarmType, Expiring, Incident, Instance, InstanceId, NotificationState,
    SignedDuration, Timestamp,
};
use pki::Facts;
use std::collections::BTreeSet;
use store::{Run, ServerRecord, alarms, authorities, certificates, incidents, instances, servers};

const DAY: i64 = 24;
/// Before the end of an authority. Its customers have to move.
const AUTHORITY_MARKS: [SignedDuration; 3] = [days(180), days(30), days(7)];
/// Before the end of a customer's certificate.
const CLIENT_MARKS: [SignedDuration; 2] = [days(30), days(7)];
/// No more notifications of the same kind than that, however many certificates there are.
const AT_MOST_EVERY: SignedDuration = days(1);

const fn days(number: i64) -> SignedDuration {
    SignedDuration::from_hours(number * DAY)
}

/// A certificate that people may have to know of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ending {
    /// The server, the authority or the user.
    pub name: String,
    pub at: Timestamp,
    /// The moments at which people are notified, in order.
    marks: Vec<Timestamp>,
}

/// The certificates of one kind, or at least those that are near.
struct Endings {
    near: Vec<Ending>,
    /// False while a server that shall run has not reported its certificates.
    all_known: bool,
}

impl Ending {
    fn new(name: impl Into<String>, at: Timestamp, before: &[SignedDuration]) -> Self {
        Self { name: name.into(), at, marks: before.iter().map(|left| at - *left).collect() }
    }

    fn is_near(&self, now: Timestamp) -> bool {
        self.marks.first().is_some_and(|first| *first <= now)
    }

    /// Whether it came to a mark after the last notification.
    fn is_news(&self, notified: Timestamp, now: Timestamp) -> bool {
        self.marks.iter().any(|mark| notified < *mark && *mark <= now)
    }
}

impl Watch {
    /// Looks at the certificates of every instance that has a notice alarm.
    pub async fn expiry(&mut self) -> Result<()> {
        let mut reader = self.context.store().reader();
        let notices = alarms::enabled_of(&mut reader, AlarmType::Notice).await?;
        let ids: BTreeSet<InstanceId> = notices.into_iter().map(|(id, _)| id).collect();
        for id in ids {
            let found = instances::find(&mut reader, id).await?;
            // A cluster that shall not run is certified anew when it starts.
            if found.is_some_and(|it| it.deleted_at.is_none() && !it.stopped) {
                look(&self.context, id).await?;
            }
        }
        Ok(())
    }
}

async fn look(context: &Context, id: InstanceId) -> Result<()> {
    let mut reader = context.store().reader();
    for kind in Expiring::ALL {
        let now = context.now();
        let Endings { mut near, all_known } = ending(&mut reader, id, kind, now).await?;
        near.retain(|it| it.is_near(now));
        // What nobody knows of is not renewed.
        if near.is_empty() && !all_known {
            continue;
        }
        near.sort_by(|a, b| (a.at, &a.name).cmp(&(b.at, &b.name)));
        let open = incidents::open(&mut reader, id).await?;
        let watched = notice_alarms(&mut reader, id).await?;
        let is_due = watched.iter().any(|alarm| {
            next(&alarm.what, open_incident(alarm, kind.as_str(), &open), &near, now).is_some()
        });
        if is_due {
            enqueue(context, id, kind, &near, now).await?;
        }
    }
    Ok(())
}

/// What there is to notify of is decided once more inside the transaction.
async fn enqueue(
    context: &Context,
    id: InstanceId,
    kind: Expiring,
    near: &[Ending],
    now: Timestamp,
) -> Result<()> {
    let mut work = context.store().begin().await?;
    let there = instances::find(&mut work, id).await?;
    let Some(instance) = there.filter(|it| it.deleted_at.is_none() && !it.stopped) else {
        return Ok(());
    };
    let sight = sight(&instance, kind, near, now);
    let open = incidents::open(&mut work, id).await?;
    for alarm in notice_alarms(&mut work, id).await? {
        let was = open_incident(&alarm, sight.about, &open);
        if let Some(state) = next(&alarm.what, was, near, now) {
            step(&mut work, context, &instance, &alarm, was, state, &sight).await?;
        }
    }
    Ok(work.commit().await?)
}

fn sight<'a>(instance: &Instance, kind: Expiring, near: &[Ending], now: Timestamp) -> Sight<'a> {
    let left = near.first().map(|it| it.at.duration_since(now).as_secs_f64() / 86_400.0);
    Sight {
        about: kind.as_str(),
        at: now,
        value: left.map(|days| (days * 10.0).floor() / 10.0),
        message: message(kind, &instance.name.to_string(), near),
    }
}

fn next(
    spec: &AlarmSpec,
    open: Option<&Incident>,
    near: &[Ending],
    now: Timestamp,
) -> Option<NotificationState> {
    let Some(open) = open else {
        return (!near.is_empty()).then_some(NotificationState::Triggered);
    };
    if near.is_empty() {
        return Some(NotificationState::Resolved);
    }
    let last = notified_at(open)?;
    let is_news = near.iter().any(|it| it.is_news(last, now));
    if is_news && now.duration_since(last) >= AT_MOST_EVERY {
        return Some(NotificationState::Triggered);
    }
    is_reminder_due(spec, open, now).then_some(NotificationState::Reminder)
}

async fn ending(
    run: &mut impl Run,
    id: InstanceId,
    kind: Expiring,
    now: Timestamp,
) -> Result<Endings> {
    let mut all_known = true;
    let near = match kind {
        Expiring::ServerCertificates => {
            let mut all = servers::list(run, id).await?;
            all.retain(|record| !record.server.wanted.is_stopped());
            // The files are the same, whichever agent has reported them.
            let installed =
                |it: &ServerRecord| it.parse_report().map_or_else(Vec::new, |it| it.certificates);
            all_known = all.iter().all(|record| !installed(record).is_empty());
            let each = all.iter().filter_map(|record| {
                let first = installed(record).into_iter().min_by_key(|it| it.not_after)?;
                // Renewal begins when a third is left.
                let life = first.not_after.duration_since(first.not_before);
                Some(Ending::new(&record.server.name, first.not_after, &[life / 6, life / 12]))
            });
            each.collect()
        }
        Expiring::Authorities => {
            let all = authorities::certificates(run, id).await?.into_iter();
            let each = all.filter_map(|(kind, pem)| {
                let at = Facts::read(&pem)?.not_after;
                Some(Ending::new(kind.as_str(), at, &AUTHORITY_MARKS))
            });
            each.collect()
        }
        Expiring::ClientCertificates => {
            let all = certificates::ending(run, id, now, now + CLIENT_MARKS[0]).await?;
            all.into_iter().map(|(name, at)| Ending::new(name, at, &CLIENT_MARKS)).collect()
        }
    };
    Ok(Endings { near, all_known })
}
