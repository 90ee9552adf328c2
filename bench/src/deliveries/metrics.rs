//! What it takes a control plane to send the metrics of a fleet, an integration for each
//! instance, and how late points come.
//!
//! The agents are those of the part `fleet`. They run alone for a time, then with integrations:
//! what is counted is the difference.

use super::Scale;
use super::intake::Intake;
use super::points::{MINUTE, Outcome, Points};
use crate::api::plane::Plane;
use crate::api::rows::open;
use crate::fleet::agent::{self, Course};
use crate::fleet::receiver::Receiver;
use crate::fleet::usage::{Usage, WINDOW, WRITTEN};
use crate::fleet::{self, now, rows, until};
use crate::page::Page;
use anyhow::{Context, Result};
use model::IntegrationSystem as System;
use model::{Clock as _, InstanceId, IntegrationKind, SystemClock};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::{NewIntegration, integrations};
use tokio::time::sleep;

const SPREAD: Duration = Duration::from_secs(30);
/// Seconds for which agents are there before anything is counted.
const WARM: i64 = 120;
/// Of each of the two times.
const COUNTED: i64 = if cfg!(debug_assertions) { 60 } else { 180 };
/// From the first integration until everything is in its stride.
const BEGINNING: i64 = 120;
/// For the points of the last minutes to come.
const PATIENCE: i64 = 150;
const LOOK: Duration = Duration::from_secs(1);
/// Integrations that are written in one transaction.
const BATCH: usize = 100;

struct Measured {
    without: [Usage; 2],
    with: [Usage; 2],
    outcome: Outcome,
    minutes: i64,
}

pub async fn run(binary: &Path, scale: Scale, page: &mut Page) -> Result<()> {
    let fleet = fleet::Scale::without_alarms(scale.instances);
    fleet.fits()?;
    let points = Arc::new(Points::default());
    let look = Arc::clone(&points);
    let intake = Intake::of_calls(Arc::new(move |body: &[u8]| look.look(body))).await?;
    let config = format!(
        "[outbound]\nallow_private_addresses = true\n[outbound.endpoints]\n\
         datadog_metrics = \"http://{}\"\n",
        intake.address
    );
    let alarms = Receiver::start().await?;
    let plane = Plane::start_with(binary, &config).await?;
    let measured = measure(&plane, &alarms, &fleet, scale.instances, &points).await;
    plane.stop().await;
    page.put("Metrics on their way to other systems", &text(scale, fleet.agents(), measured?)?);
    Ok(())
}

/// When agents connect: all that is counted lies within one window of the history, because
/// memory goes up until it is written.
fn begin() -> i64 {
    let soon = now() + WARM;
    let counted = soon.div_euclid(WINDOW) * WINDOW + WRITTEN;
    if cfg!(debug_assertions) {
        soon
    } else if soon <= counted {
        counted
    } else {
        counted + WINDOW
    }
}

async fn measure(
    plane: &Plane,
    alarms: &Receiver,
    fleet: &fleet::Scale,
    instances: usize,
    points: &Points,
) -> Result<Measured> {
    let agents = rows::write(plane, alarms, fleet).await?;
    let begin = begin();
    eprintln!("{} agents connect in {} s", agents.len(), begin - WARM - now());
    until(begin - WARM).await;
    let course = Arc::new(Course::new(plane.agents()?));
    let running = agent::start(agents, &course, SPREAD);
    until(begin).await;
    let first = Usage::of(plane)?;
    until(begin + COUNTED).await;
    let last = Usage::of(plane)?;
    let without = [first, last];
    eprintln!("without integrations: {:.1} % of a core", last.cpu_since(&first));
    integrate(plane, instances).await?;
    let (from, to) = (begin + COUNTED + BEGINNING, begin + COUNTED + BEGINNING + COUNTED);
    until(from).await;
    let first = Usage::of(plane)?;
    until(to).await;
    let last = Usage::of(plane)?;
    eprintln!("with integrations: {:.1} % of a core", last.cpu_since(&first));
    eprintln!("agents and receiver took {:.0} % of a core themselves", last.own_cpu_since(&first));
    // Minutes that ended while it was counted.
    let whole = |at: i64| at.div_euclid(MINUTE) * MINUTE;
    let minutes = whole(from)..whole(to);
    while points.outcome(minutes.clone(), instances).missing > 0 && now() < to + PATIENCE {
        sleep(LOOK).await;
    }
    drop(running);
    eprintln!("{} calls of agents failed", course.tally.take().failed);
    let outcome = points.outcome(minutes.clone(), instances);
    let minutes = (minutes.end - minutes.start) / MINUTE;
    Ok(Measured { without, with: [first, last], outcome, minutes })
}

/// One for each instance.
async fn integrate(plane: &Plane, instances: usize) -> Result<()> {
    let config = System::Datadog.config([("api_key", "bench")]);
    let config = config.ok().context("that is all it needs")?;
    let new = NewIntegration { kind: IntegrationKind::Metrics, system: System::Datadog, config };
    let store = open(plane).await?;
    // A new store counts from 1.
    let ids: Vec<InstanceId> = (1..).map(InstanceId).take(instances).collect();
    for batch in ids.chunks(BATCH) {
        let mut work = store.begin().await?;
        for id in batch {
            let made = integrations::insert(&mut work, *id, &new, SystemClock.now()).await?;
            made.context("an instance has room for one")?;
        }
        work.commit().await?;
    }
    store.close().await;
    Ok(())
}

fn text(scale: Scale, agents: u32, measured: Measured) -> Result<String> {
    let Measured { without: [a, b], with: [c, d], mut outcome, minutes } = measured;
    let mut text = format!(
        "One control plane on SQLite and {agents} simulated agents as above, {COUNTED} seconds \
         without integrations and as long\nwith one of {} for each of {} instances, which are \
         sent what their servers measured every minute.\nMemory: what it grew by since there \
         were integrations, less what it grew by in the same time before. A delay\nis that from \
         the end of a minute until its points have come.\n\n\
         | what | figure | goal |\n|---|---|---|\n",
        System::Datadog,
        scale.instances
    );
    let (without, with) = (b.cpu_since(&a), d.cpu_since(&c));
    writeln!(
        text,
        "| CPU more with integrations | **{:.1} % of a core** ({with:.1} instead of \
         {without:.1} %) | |",
        with - without
    )?;
    let usual = (b.resident_mib() - a.resident_mib()) * d.seconds_since(&b) / b.seconds_since(&a);
    let more = d.resident_mib() - b.resident_mib() - usual;
    writeln!(
        text,
        "| memory more with integrations | **{more:.1} MiB** ({:.1} MiB in the end) | |",
        d.resident_mib()
    )?;
    let each = f64::from(outcome.points) / f64::from(u32::try_from(minutes)?);
    writeln!(text, "| points a minute | {each:.0} | |")?;
    let (half, most) = (outcome.delay(50), outcome.delay(99));
    writeln!(text, "| delay of a point, p99 | **{most:.1} s** (median {half:.1} s) | ≤ 90 s |")?;
    let Outcome { missing, doubled, .. } = outcome;
    writeln!(
        text,
        "| minutes of instances that did not come, or twice | **{missing}**, {doubled} | 0 |"
    )?;
    Ok(text)
}
