//! One control plane with thousands of agents: what a report costs, what an agent takes
//! of memory and disk, and how late people hear of an alarm. Beside it what a real agent
//! takes for itself.
//!
//! The agents are simulated in this process, over TLS and with the documents of real
//! ones. Their clusters are rows that nobody made, so the engine rests.

pub mod agent;
mod documents;
mod identity;
mod line;
pub mod receiver;
mod rest;
pub mod rows;
mod samples;
pub mod tally;
pub mod usage;

use crate::api::plane::Plane;
use crate::asked;
use crate::page::Page;
use agent::Course;
use anyhow::{Result, bail};
use model::{Clock as _, InstanceId, SystemClock, Timestamp};
use receiver::Receiver;
use rest::Rest;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tally::{Seen, percentile};
use tokio::time::sleep;
use usage::{Usage, WINDOW, WRITTEN};

const MINUTES: &str = "CASTELLAN_BENCH_MINUTES";
/// How many clusters there are, where a debug build is to show a ratio.
const CLUSTERS: &str = "CASTELLAN_BENCH_CLUSTERS";
const OUTBOUND: &str = "[outbound]\nallow_private_addresses = true\n";
/// Of each cluster.
const SERVERS: u32 = 3;
/// For so long a level must hold.
const ALARM_SECONDS: i64 = 60;
/// Over which agents connect, and how long they are there before anything counts.
const SPREAD: Duration = Duration::from_secs(30);
const WARM: i64 = 120;
/// For the control plane to be done with what was written.
const QUIET: i64 = 10;
/// Files open besides connections.
const OTHER_FILES: u64 = 200;

/// How much of everything; a debug build only tries whether it works.
pub struct Scale {
    instances: usize,
    /// Instances with an alarm that is set off.
    alarms: usize,
    minutes: u32,
}

impl Scale {
    /// So many clusters whose alarms nothing sets off, for others who want a fleet.
    pub fn without_alarms(instances: usize) -> Self {
        Self { instances: instances.max(1), alarms: 1, minutes: 0 }
    }

    fn new() -> Result<Self> {
        let (instances, alarms, minutes) =
            if cfg!(debug_assertions) { (10, 5, 2) } else { (1000, 100, 12) };
        let minutes: u32 = asked(MINUTES)?.unwrap_or(minutes);
        let instances = asked(CLUSTERS)?.unwrap_or(instances).max(1);
        // An alarm needs that long.
        Ok(Self { instances, alarms: alarms.min(instances), minutes: minutes.max(2) })
    }

    pub fn agents(&self) -> u32 {
        u32::try_from(self.instances).unwrap_or(u32::MAX).saturating_mul(SERVERS)
    }

    /// When agents connect and when counting begins, in Unix seconds: if there is time
    /// for a whole window of history, such that one is written meanwhile, and the one
    /// before, which is not whole, is written by then.
    fn times(&self) -> (i64, i64) {
        let soon = now() + QUIET;
        if i64::from(self.minutes) * 60 < WINDOW {
            return (soon, soon + WARM);
        }
        let window_ends = (soon + WARM).div_euclid(WINDOW) * WINDOW + WINDOW;
        (window_ends - WARM, window_ends + WRITTEN)
    }

    /// Each agent has two connections.
    pub fn fits(&self) -> Result<()> {
        let limits = fs::read_to_string("/proc/self/limits")?;
        let files = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
        let most = files.and_then(|files| files.split_whitespace().next()?.parse::<u64>().ok());
        let needed = u64::from(self.agents()) * 2 + OTHER_FILES;
        if most.is_some_and(|most| most < needed) {
            bail!("agents need {needed} open files; allow them with: ulimit -n {needed}");
        }
        Ok(())
    }
}

pub fn now() -> i64 {
    SystemClock.now().as_second()
}

pub async fn until(second: i64) {
    sleep(Duration::from_secs(u64::try_from(second - now()).unwrap_or_default())).await;
}

/// What a run has shown.
struct Measured {
    seen: Seen,
    /// Before there were agents, and when counting began and ended.
    before: Usage,
    first: Usage,
    last: Usage,
    /// Seconds from the end of each alarm's time until it was told, and from when the
    /// sample was sent that ends it.
    after_end: Vec<f64>,
    after_sample: Vec<f64>,
}

pub async fn run(binary: &Path, page: &mut Page) -> Result<()> {
    let scale = Scale::new()?;
    scale.fits()?;
    let rest = Rest::measure(binary).await?;
    let Rest { cpu, resident_mib } = &rest;
    eprintln!("an agent at rest: {cpu:.2} % of a core, {resident_mib:.1} MiB");
    let receiver = Receiver::start().await?;
    let plane = Plane::start_with(binary, OUTBOUND).await?;
    let measured = measure(&plane, &receiver, &scale).await;
    plane.stop().await;
    page.put("A fleet of agents", &text(&scale, measured?, &rest)?);
    Ok(())
}

async fn measure(plane: &Plane, receiver: &Receiver, scale: &Scale) -> Result<Measured> {
    let agents = rows::write(plane, receiver, scale).await?;
    let (connect, begin) = scale.times();
    eprintln!("{} agents connect in {} s", agents.len(), connect - now());
    until(connect).await;
    let before = Usage::of(plane)?;
    let course = Arc::new(Course::new(plane.agents()?));
    let running = agent::start(agents, &course, SPREAD);
    until(begin).await;
    let unseen = course.tally.take();
    eprintln!("{} calls failed before counting began", unseen.failed);
    let first = Usage::of(plane)?;
    let end = Timestamp::from_second(course.heat())?;
    sleep(Duration::from_secs(u64::from(scale.minutes) * 60)).await;
    let last = Usage::of(plane)?;
    let seen = course.tally.take();
    let told = receiver.heard_of(scale.alarms).await;
    drop(running);
    eprintln!("the agents took {:.0} % of a core themselves", last.own_cpu_since(&first));
    let (after_end, after_sample) = delays(&told, &seen.ended, end);
    Ok(Measured { seen, before, first, last, after_end, after_sample })
}

fn delays(
    told: &BTreeMap<InstanceId, Timestamp>,
    ended: &BTreeMap<InstanceId, Timestamp>,
    end: Timestamp,
) -> (Vec<f64>, Vec<f64>) {
    let seconds = |from: Timestamp, to: &Timestamp| to.duration_since(from).as_secs_f64();
    let after_end = told.values().map(|at| seconds(end, at)).collect();
    let after_sample =
        told.iter().filter_map(|(id, at)| Some(seconds(*ended.get(id)?, at))).collect();
    (after_end, after_sample)
}

fn text(scale: &Scale, measured: Measured, rest: &Rest) -> Result<String> {
    let Measured { seen, before, first, last, mut after_end, mut after_sample } = measured;
    let (count, minutes) = (scale.agents(), scale.minutes);
    let mut text = format!(
        "One control plane on SQLite, {count} simulated agents of {} clusters on the same machine, \
         {minutes} minutes.\nEvery ten seconds each agent sends a report that is a sign of life and \
         a sample of every series, once\na minute with {} topics, and holds a long poll. The engine \
         rests, and no broker is asked for groups.\nGrowth a day: that of `castellan.db` and its \
         log, over the time; that of `metrics.db` and its log by one\nwritten window of ten \
         minutes, times 144, until the finest points are a day old and go.\n\n\
         | what | figure | goal |\n|---|---|---|\n",
        scale.instances,
        samples::TOPICS
    );
    for (call, took) in [("report", seen.reports), ("metrics", seen.samples)] {
        let rate = last.rate_since(&first, took.len());
        let mut ms: Vec<f64> = took.iter().map(|took| took.as_secs_f64() * 1000.0).collect();
        let (half, most) = (percentile(&mut ms, 50), percentile(&mut ms, 99));
        writeln!(text, "| `POST /agent/v1/{call}` a second | {rate:.0} | |")?;
        writeln!(text, "| p99 of it | {most:.1} ms (median {half:.1} ms) | |")?;
    }
    writeln!(text, "| calls that failed | {} | 0 |", seen.failed)?;
    let cpu = last.cpu_since(&first);
    writeln!(text, "| CPU of the control plane | {cpu:.0} % of a core | |")?;
    let each = last.kib_each_since(&before, count);
    let (without, with) = (before.resident_mib(), last.resident_mib());
    writeln!(
        text,
        "| memory an agent | **{each:.1} KiB** ({without:.1} MiB without agents, {with:.1} MiB in \
         the end) | ≤ 64 KiB |"
    )?;
    let store = last.store_a_day_since(&first);
    let history = last.history_a_day_since(&first);
    let history = history.map_or("none written yet".into(), |mib| format!("{mib:.0} MiB"));
    writeln!(text, "| growth of the store a day | {store:.0} MiB | |")?;
    writeln!(text, "| growth of the history of metrics a day | {history} | |")?;
    let (alarms, told) = (scale.alarms, after_end.len());
    let (half, most) = (percentile(&mut after_end, 50), percentile(&mut after_end, 99));
    writeln!(
        text,
        "| from the end of an alarm's time, as samples tell it, to the first delivery, p99 | \
         **{most:.2} s** (median {half:.2} s, {told} of {alarms} told) | ≤ 5 s |"
    )?;
    let (half, most) = (percentile(&mut after_sample, 50), percentile(&mut after_sample, 99));
    writeln!(
        text,
        "| of that, after the agent sent the sample that ends it, p99 | {most:.2} s (median \
         {half:.2} s) | |"
    )?;
    let Rest { cpu, resident_mib } = rest;
    writeln!(text, "| CPU of a real agent at rest | **{cpu:.2} % of a core** | ≤ 1 % |")?;
    writeln!(text, "| memory of it | **{resident_mib:.1} MiB** | ≤ 20 MiB |")?;
    Ok(text)
}
