//! Where the time of a create goes: moments after the POST, of one server or of the first and
//! the last of several.
//!
//! Nothing is logged for it. The store has the time of some moments; of the others a file
//! of the server's directory tells, by when it was last written. Only when credentials were
//! written is not on record, so the row is looked at while it comes.

use crate::page::median;
use anyhow::{Context, Result};
use model::{InstanceId, Server, ServerId, Timestamp};
use std::fs;
use std::path::Path;
use store::{Store, instances, servers};

/// What each server comes to, in order.
const SERVER_MOMENTS: [&str; 6] = [
    "its agent has started",
    "the agent is enrolled",
    "the broker's certificates are in place",
    "the JVM is started",
    "the disk is formatted",
    "the broker says that it has started",
];
/// What the instance comes to, after that.
const INSTANCE_MOMENTS: [&str; 5] = [
    "the default user and its rights are written",
    "`ready`: every server lets it in",
    "the client sees `ready`",
    "the first write is acknowledged",
    "the answer to the POST",
];

/// One create. Times are milliseconds after the POST.
pub struct Timeline {
    /// By moment, of each server.
    servers: [Vec<f64>; SERVER_MOMENTS.len()],
    instance: [f64; INSTANCE_MOMENTS.len()],
}

/// What is noted while a create goes on.
pub struct Watch {
    store: Store,
    id: InstanceId,
    began: Timestamp,
    answered: Timestamp,
    credentials: Option<Timestamp>,
}

impl Watch {
    pub fn begin(store: Store, id: i64, began: Timestamp, answered: Timestamp) -> Self {
        Self { store, id: InstanceId(id), began, answered, credentials: None }
    }

    /// To be called again and again.
    pub async fn look(&mut self, now: Timestamp) -> Result<()> {
        if self.credentials.is_none() {
            let found = instances::find(&mut self.store.reader(), self.id).await?;
            let is_set = found.is_some_and(|instance| instance.progress.credentials_set);
            self.credentials = is_set.then_some(now);
        }
        Ok(())
    }

    pub async fn end(self, data: &Path, seen: Timestamp, written: Timestamp) -> Result<Timeline> {
        let after = |at: Timestamp| at.duration_since(self.began).as_secs_f64() * 1000.0;
        let mut reader = self.store.reader();
        let instance = instances::find(&mut reader, self.id).await?.context("the instance")?;
        let ready = instance.progress.ready_at.context("it is ready")?;
        let credentials = self.credentials.context("credentials were written")?;
        let mut moments: [Vec<f64>; SERVER_MOMENTS.len()] = Default::default();
        for server in servers::list_bare(&mut reader, self.id).await? {
            for (times, at) in moments.iter_mut().zip(times(data, &server)?) {
                times.push(after(at));
            }
        }
        let instance = [credentials, ready, seen, written, self.answered].map(after);
        Ok(Timeline { servers: moments, instance })
    }
}

/// In the order of [`SERVER_MOMENTS`].
fn times(data: &Path, server: &Server) -> Result<[Timestamp; SERVER_MOMENTS.len()]> {
    let at = |file: &str| written(data, server.id, file);
    Ok([
        at("agent.pid")?,
        server.enrolled_at.context("it is enrolled")?,
        at("tls/internal.pem")?.max(at("tls/server.pem")?),
        at("run/broker.pid")?,
        at("disk/FORMATTED")?,
        at("run/started")?,
    ])
}

fn written(data: &Path, server: ServerId, file: &str) -> Result<Timestamp> {
    let path = data.join("servers").join(server.to_string()).join(file);
    let found = fs::metadata(&path).with_context(|| format!("{} is there", path.display()))?;
    Ok(found.modified()?.try_into()?)
}

/// The table of the medians.
pub fn table(one: &[Timeline], three: &[Timeline]) -> String {
    let mut rows: Vec<(f64, String)> = Vec::new();
    for (moment, name) in SERVER_MOMENTS.iter().enumerate() {
        let [alone, first, last] =
            [(one, least as Pick), (three, least as Pick), (three, most as Pick)]
                .map(|(rounds, pick)| median_of(rounds, |round| pick(&round.servers[moment])));
        rows.push((alone, format!("| {name} | {alone:.0} | {first:.0} | {last:.0} |\n")));
    }
    for (moment, name) in INSTANCE_MOMENTS.iter().enumerate() {
        let [alone, all] =
            [one, three].map(|rounds| median_of(rounds, |round| round.instance[moment]));
        rows.push((alone, format!("| {name} | {alone:.0} | | {all:.0} |\n")));
    }
    rows.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let head = "| moment | one server | first of three | last of three |\n|---|---|---|---|\n";
    rows.into_iter().fold(head.to_owned(), |table, (_, row)| table + &row)
}

type Pick = fn(&[f64]) -> f64;

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(times: &[f64]) -> f64 {
    times.iter().copied().fold(0.0, f64::max)
}

fn median_of(rounds: &[Timeline], time: impl Fn(&Timeline) -> f64) -> f64 {
    median(&mut rounds.iter().map(time).collect::<Vec<_>>())
}
