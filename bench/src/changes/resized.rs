//! A real cluster that grows and shrinks with data on it, under load.
//!
//! What moves is seen on the disks, and compared with what the same disk takes in the same run.

use super::files::{Copied, Watch};
use super::{Scale, disk};
use crate::castellan::Castellan;
use crate::page::Page;
use crate::producer::{self, Fill};
use crate::rolls::{self, Restarted};
use anyhow::{Result, bail};
use checker::{LoadSpec, Wrong};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;
use wire::customer::UpdateInstance;

const TOPIC: &str = "filled";
const PARTITIONS: i32 = 12;
const CHANGES: [(u8, u8); 3] = [(1, 3), (3, 5), (5, 3)];
const LONGEST: Duration = Duration::from_hours(1);
const LOOK: Duration = Duration::from_millis(100);
const MB: f64 = 1e6;

struct Resized {
    what: String,
    load: Restarted,
    copied: Copied,
    /// Bytes a second of the disk, right before.
    disk: f64,
}

pub async fn run(binary: &Path, scale: Scale, page: &mut Page) -> Result<()> {
    let castellan = Castellan::start(binary).await?;
    let id = castellan.first_write(1).await?.id;
    let fill = Fill { topic: TOPIC, partitions: PARTITIONS, megabytes: scale.megabytes };
    producer::fill_secured(&castellan.login(id).await?, fill).await?;
    let mut all = Vec::new();
    for (from, to) in CHANGES {
        let resized = resize(&castellan, id, scale, from, to).await?;
        let (seconds, copied) = (resized.load.seconds, resized.copied);
        eprintln!(
            "{}: {seconds:.1} s, worst {:.0} ms after {:.0} ms, {:.0} MB copied in {:.1} s; {}",
            resized.what,
            resized.load.worst_ms()?,
            resized.load.worst_before_ms,
            megabytes(copied.bytes),
            copied.seconds,
            resized.load.slow(),
        );
        all.push(resized);
    }
    castellan.end().await?;
    page.put("A cluster that grows and shrinks under load", &text(scale, &all)?);
    Ok(())
}

async fn resize(castellan: &Castellan, id: i64, scale: Scale, from: u8, to: u8) -> Result<Resized> {
    let (directory, megabytes) = (castellan.data(), scale.megabytes.min(1000));
    let disk = spawn_blocking(move || disk::write_rate(&directory, megabytes)).await??;
    // A topic as a customer of so many servers makes it.
    let (replicas, min_in_sync) = if from == 1 { (1, 1) } else { (3, 2) };
    let spec = LoadSpec {
        topic: format!("load-{from}-{to}"),
        replicas,
        min_in_sync,
        ..LoadSpec::default()
    };
    let watch = Watch::begin(&castellan.data(), TOPIC);
    let load = rolls::under_load_on(castellan, id, spec, until_resized(castellan, id, to)).await?;
    let copied = watch.end().await?;
    Ok(Resized { what: format!("{from} → {to}"), load, copied, disk })
}

async fn until_resized(castellan: &Castellan, id: i64, servers: u8) -> Result<()> {
    let client = castellan.client();
    let changes = UpdateInstance { nodes: Some(servers.into()), ..UpdateInstance::default() };
    client.update_instance(id, &changes).await?;
    let began = Instant::now();
    while !client.cluster_status(id).await?.configured {
        if began.elapsed() > LONGEST {
            bail!("{servers} servers are not reached: {}", client.instance(id).await?.status);
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "people need no more digits")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / MB
}

fn text(scale: Scale, all: &[Resized]) -> Result<String> {
    let mut text = format!(
        "{} MB in {PARTITIONS} partitions, and {} records a second with `acks=all` beside them, as \
         in the roll above. One replica\nof each with one server, three with several. Copied is \
         what the files of the {} MB grow by; the disk's own is a\nfile written and synced right \
         before.\n\n| what |",
        scale.megabytes,
        rolls::RATE,
        scale.megabytes
    );
    all.iter().try_for_each(|it| write!(text, " {} |", it.what))?;
    writeln!(text, " goal |\n|---|{}---|", "---|".repeat(all.len()))?;
    let mut row = |what: &str, goal: &str, cell: fn(&Resized) -> Result<String>| {
        write!(text, "| {what} |")?;
        all.iter().try_for_each(|it| Ok::<_, anyhow::Error>(write!(text, " {} |", cell(it)?)?))?;
        anyhow::Ok(writeln!(text, " {goal} |")?)
    };
    row("whole time", "", |it| Ok(format!("{:.1} s", it.load.seconds)))?;
    row("worst time from send to ack", "", |it| Ok(format!("{:.0} ms", it.load.worst_ms()?)))?;
    row("the same in the ten seconds before", "", |it| {
        Ok(format!("{:.0} ms", it.load.worst_before_ms))
    })?;
    row("**worst ÷ before**", "", |it| {
        Ok(format!("**{:.1}**", it.load.worst_ms()? / it.load.worst_before_ms.max(1.0)))
    })?;
    row("copied", "", |it| {
        Ok(format!("{:.0} MB in {:.1} s", megabytes(it.copied.bytes), it.copied.seconds))
    })?;
    row("a second ÷ the disk's own", "", |it| {
        let (rate, disk) = (it.copied.rate(), it.disk);
        Ok(format!("**{:.2}** ({:.0} ÷ {:.0} MB)", rate / disk, rate / MB, disk / MB))
    })?;
    row("failed sends", "0", |it| Ok(it.load.report.count(Wrong::Failed).to_string()))?;
    row("lost", "0", |it| Ok(it.load.report.count(Wrong::Lost).to_string()))?;
    row("duplicated", "0", |it| Ok(it.load.report.count(Wrong::Duplicated).to_string()))?;
    Ok(text)
}
