//! Every server of a cluster restarted under load: the safe roll, beside a plain
//! loop that ends one broker after the other and looks at nothing but whether the
//! last one has started.
//!
//! Both on the same cluster, in turn. In the plain loop a broker is ended by
//! SIGTERM and its agent starts it again, in a cold JVM; the roll begins once a warm JVM stands
//! by beside every broker, as it does a minute after the last restart.

use crate::castellan::Castellan;
use crate::page::{Page, median};
use anyhow::{Context, Result, bail};
use checker::{
    Auth, Client, Event, History, Kind, Load, LoadSpec, Mode, Report, Wrong, judge, read_back,
};
use model::{Clock as _, SystemClock, Timestamp};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

const ROUNDS: usize = 3;
pub const RATE: u32 = 2000;
const SERVERS: u8 = 3;
const SLOW_MS: u64 = 1500;
/// Seconds of load before a restart begins.
const SETTLING: u64 = 15;
/// Of these, the last ones count as undisturbed.
const UNDISTURBED: i64 = 10;
const PATIENCE: Duration = Duration::from_mins(2);
const CLIENTS: [Client; 2] = [
    Client { kind: Kind::Librdkafka, mode: Mode::Idempotent },
    Client { kind: Kind::Java, mode: Mode::Idempotent },
];

/// How one way of restarting went, or another change.
pub struct Restarted {
    pub seconds: f64,
    pub report: Report,
    /// The slowest send before it, in milliseconds.
    pub worst_before_ms: f64,
    /// Of any partition.
    pub longest_without_ack_ms: f64,
    /// By second since the change began: the slowest send of that second, in milliseconds.
    slowest: BTreeMap<i64, u64>,
}

pub async fn run(binary: &Path, page: &mut Page) -> Result<()> {
    let castellan = Castellan::start_warm(binary, usize::from(SERVERS)).await?;
    let id = castellan.first_write(SERVERS).await?.id;
    let (mut plain, mut safe) = (Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        plain.push(under_load(&castellan, id, castellan.restart_plainly()).await?);
        castellan.on_standby().await?;
        safe.push(under_load(&castellan, id, castellan.roll(id)).await?);
        let (plain, safe) = (&plain[round - 1], &safe[round - 1]);
        eprintln!(
            "round {round}: plain {:.1} s, worst {:.0} ms ({}); roll {:.1} s, worst {:.0} ms ({})",
            plain.seconds,
            plain.worst_ms()?,
            plain.slow(),
            safe.seconds,
            safe.worst_ms()?,
            safe.slow()
        );
    }
    castellan.end().await?;
    page.put("Restarting three servers under load", &text(&plain, &safe)?);
    Ok(())
}

/// Writes while it happens, and a little longer.
pub async fn under_load(
    castellan: &Castellan,
    id: i64,
    restart: impl Future<Output = Result<()>>,
) -> Result<Restarted> {
    let spec = LoadSpec { topic: "rolled".into(), ..LoadSpec::default() };
    under_load_on(castellan, id, spec, restart).await
}

/// The same on the topic that is named there.
pub async fn under_load_on(
    castellan: &Castellan,
    id: i64,
    topic: LoadSpec,
    change: impl Future<Output = Result<()>>,
) -> Result<Restarted> {
    let login = castellan.login(id).await?;
    let spec = LoadSpec {
        brokers: login.brokers.into_iter().map(|broker| broker.endpoint).collect(),
        auth: Auth::Scram {
            ca_pem: Some(login.trust_pem),
            username: login.username,
            password: login.password,
            mechanism: login.mechanism,
        },
        clients: CLIENTS.into(),
        rate_per_second: RATE,
        ..topic
    };
    let load = Load::start(&spec).await?;
    // Clients and brokers take some seconds until they keep up.
    goes_on(&load, SETTLING).await?;
    let (began, began_at) = (Instant::now(), SystemClock.now());
    change.await?;
    let seconds = began.elapsed().as_secs_f64();
    goes_on(&load, 1).await?;
    let history = load.stop().await?;
    let access = spec.access();
    let logs = read_back(&access, &history.run).await?;
    let report = judge(&history, &logs);
    if let Err(reason) = checker::remove_topic(&access, &spec.topic).await {
        bail!("the topic can't be removed: {reason}");
    }
    let mut before = slowest(&history, began_at);
    let slowest = before.split_off(&0);
    let worst_before = before.range(-UNDISTURBED..).map(|(_, ms)| *ms).max().unwrap_or_default();
    let worst_before_ms = u32::try_from(worst_before)?.into();
    let longest_without_ack_ms = longest_without_ack_ms(&history, began_at);
    Ok(Restarted { seconds, report, worst_before_ms, longest_without_ack_ms, slowest })
}

/// The slowest send of each second, counted from the moment that the change begins.
fn slowest(history: &History, began_at: Timestamp) -> BTreeMap<i64, u64> {
    let offset = began_at.duration_since(history.run.began).as_secs();
    let (mut sent, mut seconds) = (HashMap::new(), BTreeMap::<i64, u64>::new());
    for event in &history.events {
        match event {
            Event::Sent { id, at, .. } => drop(sent.insert(*id, *at)),
            Event::Acked { id, at, .. } => {
                let Some(since) = sent.get(id) else { continue };
                let second = i64::try_from(*since / 1_000_000).unwrap_or(i64::MAX) - offset;
                let worst = seconds.entry(second).or_default();
                *worst = (*worst).max(at.saturating_sub(*since) / 1000);
            }
            _ => {}
        }
    }
    seconds
}

/// Of any partition, from one ack to the next once the restart has begun. Events come in the
/// order of their time.
fn longest_without_ack_ms(history: &History, began_at: Timestamp) -> f64 {
    let began = began_at.duration_since(history.run.began).as_micros();
    let began = u64::try_from(began).unwrap_or(0);
    let (mut partitions, mut last, mut longest) = (HashMap::new(), HashMap::new(), 0);
    for event in &history.events {
        match event {
            Event::Sent { id, partition, .. } => drop(partitions.insert(*id, *partition)),
            Event::Acked { id, at, .. } => {
                let Some(partition) = partitions.get(id) else { continue };
                let before = last.insert(*partition, *at).unwrap_or(*at);
                if *at >= began {
                    longest = longest.max(at.saturating_sub(before));
                }
            }
            _ => {}
        }
    }
    Duration::from_micros(longest).as_secs_f64() * 1000.0
}

/// So many seconds' worth of records are acknowledged.
async fn goes_on(load: &Load, seconds: u64) -> Result<()> {
    match load.goes_on(u64::from(RATE) * seconds, PATIENCE).await {
        Ok(()) => Ok(()),
        Err(progress) => bail!("writes don't go on: {progress:?}"),
    }
}

impl Restarted {
    pub fn worst_ms(&self) -> Result<f64> {
        let worst = self.slowest.values().max().context("something was acknowledged")?;
        Ok(u32::try_from(*worst)?.into())
    }

    /// The seconds in which sends were slow.
    pub fn slow(&self) -> String {
        let slow = self.slowest.iter().filter(|(_, ms)| **ms >= SLOW_MS);
        slow.map(|(second, ms)| format!("{second} s: {ms} ms")).collect::<Vec<_>>().join(", ")
    }
}

fn text(plain: &[Restarted], safe: &[Restarted]) -> Result<String> {
    let of = |of: &[Restarted], figure: fn(&Restarted) -> Result<f64>| -> Result<f64> {
        let mut figures = of.iter().map(figure).collect::<Result<Vec<f64>>>()?;
        Ok(median(&mut figures))
    };
    let (plain_seconds, seconds) =
        (of(plain, |it| Ok(it.seconds))?, of(safe, |it| Ok(it.seconds))?);
    let (plain_worst, worst) = (of(plain, Restarted::worst_ms)?, of(safe, Restarted::worst_ms)?);
    let count = |of: &[Restarted], wrong| of.iter().map(|it| it.report.count(wrong)).sum::<u64>();
    let counts = |of: &[Restarted]| {
        [Wrong::Failed, Wrong::Lost, Wrong::Duplicated].map(|wrong| count(of, wrong))
    };
    let ([plain_failed, plain_lost, plain_twice], [failed, lost, twice]) =
        (counts(plain), counts(safe));
    Ok(format!(
        "{RATE} records a second with `acks=all` by librdkafka and Kafka's Java client, idempotent, \
         a consumer\ngroup reading along; medians of {ROUNDS} rounds taken in turn, sums of what \
         went wrong.\n\n\
         | what | plain loop | safe roll | ratio | goal |\n|---|---|---|---|---|\n\
         | worst time from send to ack | {plain_worst:.0} ms | {worst:.0} ms | **{:.2}** | ≤ 0.5 |\n\
         | whole time | {plain_seconds:.1} s | {seconds:.1} s | **{:.2}** | ≤ 0.6 |\n\
         | failed sends | {plain_failed} | {failed} | | 0 |\n\
         | lost | {plain_lost} | {lost} | | 0 |\n\
         | duplicated | {plain_twice} | {twice} | | 0 |\n",
        worst / plain_worst,
        seconds / plain_seconds,
    ))
}
