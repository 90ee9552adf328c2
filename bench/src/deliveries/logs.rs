//! What an agent takes to send the logs of its broker: at rest, and when there are thousands of
//! lines a second.
//!
//! Agent and broker are real; the lines are written into the broker's log beside what it writes
//! itself. With one system at a time, as customers have it, and at rest with all of them.

use super::Scale;
use super::intake::Intake;
use super::lines::{Lines, Outcome};
use super::writer::Writer;
use crate::api::plane::built_alike;
use crate::castellan::{Castellan, LOCAL, resident_mib};
use crate::page::Page;
use anyhow::{Context, Result, bail};
use model::IntegrationSystem as System;
use model::{IntegrationConfig, IntegrationKind, Secret};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

const RATE: u32 = 5000;
/// One that is called and takes what is compressed, and one that takes lines.
const BUSY: [System; 2] = [System::Datadog, System::Papertrail];
/// Before anything is counted: a new broker has become quiet, a buffer has all of its files.
const QUIET: Duration = Duration::from_secs(30);
const WARM: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_secs(1);
/// For a change to be in effect, and for the last lines to come.
const PATIENCE: Duration = Duration::from_mins(1);

/// What an agent took over some time.
#[derive(Clone, Copy)]
struct Taken {
    /// Percent of a core.
    cpu: f64,
    /// The most that was seen.
    resident_mib: f64,
}

struct Busy {
    system: System,
    taken: Taken,
    /// Lines a second, as they were written.
    rate: f64,
    outcome: Outcome,
}

struct Measured {
    bare: Taken,
    rest: Taken,
    busy: Vec<Busy>,
}

struct Bench {
    castellan: Castellan,
    lines: Arc<Lines>,
    calls: Intake,
    bytes: Intake,
}

pub async fn run(binary: &Path, scale: Scale, page: &mut Page) -> Result<()> {
    let lines = Arc::new(Lines::default());
    let look = || {
        let lines = Arc::clone(&lines);
        Arc::new(move |text: &[u8]| lines.look(text))
    };
    let (calls, bytes) = (Intake::of_calls(look()).await?, Intake::of_bytes(look()).await?);
    let config = config(&calls, &bytes);
    let castellan = Castellan::start_with(&built_alike(binary)?, &config).await?;
    let bench = Bench { castellan, lines, calls, bytes };
    let measured = bench.measure(scale).await;
    bench.castellan.end().await?;
    page.put("Logs on their way to other systems", &text(scale, measured?)?);
    Ok(())
}

/// Systems are called at the receivers.
fn config(calls: &Intake, bytes: &Intake) -> String {
    let (calls, bytes) = (calls.address, bytes.address);
    format!(
        "{LOCAL}warm = 0\n[outbound]\nallow_private_addresses = true\n[outbound.endpoints]\n\
         loggly = \"http://{calls}\"\ndatadog_logs = \"http://{calls}\"\n\
         cloudwatchlog = \"http://{calls}\"\nlogentries = \"tcp://{bytes}\"\n"
    )
}

impl Bench {
    async fn measure(&self, scale: Scale) -> Result<Measured> {
        let id = self.castellan.first_write(1).await?.id;
        let agent = self.castellan.agent()?;
        let log = self.castellan.server()?.join("logs/server.log");
        let mut writer = Writer::new(log, Arc::clone(&self.lines))?;
        sleep(QUIET).await;
        let bare = watch(agent, scale.logs).await?;
        told("at rest without integrations", bare);

        let systems: Vec<System> =
            System::ALL.into_iter().filter(|system| system.takes(IntegrationKind::Logs)).collect();
        let all = self.send_to(id, &systems, &mut writer).await?;
        sleep(WARM).await;
        let rest = watch(agent, scale.logs).await?;
        told("at rest with all of them", rest);
        self.stop_sending(id, all).await?;

        let mut busy = Vec::new();
        for system in BUSY {
            let one = self.send_to(id, &[system], &mut writer).await?;
            let measured = self.busy(system, agent, &mut writer, scale.logs).await;
            self.stop_sending(id, one).await?;
            busy.push(measured?);
        }
        Ok(Measured { bare, rest, busy })
    }

    async fn busy(
        &self,
        system: System,
        agent: i32,
        writer: &mut Writer,
        last: Duration,
    ) -> Result<Busy> {
        let (first, began) = (self.lines.end(), Instant::now());
        let watched = async {
            sleep(WARM).await;
            watch(agent, last).await
        };
        let (written, taken) = tokio::join!(writer.run(RATE, WARM + last), watched);
        written?;
        let (taken, end) = (taken?, self.lines.end());
        let rate = f64::from(u32::try_from(end - first)?) / began.elapsed().as_secs_f64();
        let waited = Instant::now();
        while self.lines.outcome(first..end).lost > 0 && waited.elapsed() < PATIENCE {
            sleep(LOOK).await;
        }
        let outcome = self.lines.outcome(first..end);
        told(&format!("{rate:.0} lines a second to {system}"), taken);
        eprintln!("of them {} lost, {} doubled", outcome.lost, outcome.doubled);
        Ok(Busy { system, taken, rate, outcome })
    }

    /// Until a line has come to each of them, and the integrations' ids.
    async fn send_to(&self, id: i64, systems: &[System], writer: &mut Writer) -> Result<Vec<i64>> {
        let client = self.castellan.client();
        let mut all = Vec::new();
        for system in systems {
            let config = self.settings(*system);
            let kind = IntegrationKind::Logs;
            all.push(client.create_integration(id, kind, *system, &config).await?.id);
        }
        let (began, wanted) = (Instant::now(), u32::try_from(systems.len())?);
        loop {
            let number = self.lines.end();
            writer.write(1)?;
            let written = Instant::now();
            // A line is whole for the agent after a second, and sent a second later.
            while written.elapsed() < LOOK * 4 {
                if self.lines.seen(number) >= wanted {
                    return Ok(all);
                }
                sleep(LOOK / 10).await;
            }
            if began.elapsed() > PATIENCE {
                let seen = self.lines.seen(number);
                let listed = client.integrations(id, IntegrationKind::Logs).await?;
                let errors: Vec<_> = listed.iter().map(|it| (&*it.system, &*it.error)).collect();
                bail!("a line came to {seen} of {wanted} systems: {errors:?}");
            }
        }
    }

    async fn stop_sending(&self, id: i64, all: Vec<i64>) -> Result<()> {
        let client = self.castellan.client();
        let listed = client.integrations(id, IntegrationKind::Logs).await?;
        if let Some(failed) = listed.iter().find(|it| !it.error.is_empty()) {
            bail!("{} was not sent to: {}", failed.system, failed.error);
        }
        for integration in all {
            client.delete_integration(id, IntegrationKind::Logs, integration).await?;
        }
        Ok(())
    }

    fn settings(&self, system: System) -> IntegrationConfig {
        let (calls, bytes) = (self.calls.address, self.bytes.address);
        let value = |name: &str| match name {
            "url" => format!("tcp://{bytes}"),
            "host_port" => format!("http://{calls}"),
            "endpoint" => format!("http://{calls}/otlp"),
            "region" => "eu-west-1".into(),
            _ => "bench".into(),
        };
        let fields = system.fields().iter().filter(|field| field.required);
        fields.map(|field| (field.name.to_owned(), Secret::new(value(field.name)))).collect()
    }
}

async fn watch(pid: i32, last: Duration) -> Result<Taken> {
    let cpu = || host::usage(pid).context("the agent runs").map(|usage| usage.cpu);
    let (began, before, mut resident) = (Instant::now(), cpu()?, 0.0_f64);
    while began.elapsed() < last {
        sleep(LOOK).await;
        resident = resident.max(resident_mib(pid)?);
    }
    let taken = cpu()?.saturating_sub(before).as_secs_f64() / began.elapsed().as_secs_f64();
    Ok(Taken { cpu: taken * 100.0, resident_mib: resident })
}

fn told(when: &str, taken: Taken) {
    let Taken { cpu, resident_mib } = taken;
    eprintln!("{when}: {cpu:.2} % of a core, {resident_mib:.1} MiB");
}

fn text(scale: Scale, measured: Measured) -> Result<String> {
    let Measured { bare, rest, busy } = measured;
    let mut text = format!(
        "The agent of one real broker, without its broker, {} seconds each; lines of about 150 bytes \
         as Kafka logs\nthem, one in twenty of a stack trace, in files of 10 MB that are renamed. \
         Receivers on the same machine,\nwithout TLS. A delay is that from the write of a line until \
         it has come.\n\n\
         | what | figure | goal |\n|---|---|---|\n",
        scale.logs.as_secs()
    );
    let Taken { cpu, resident_mib } = bare;
    writeln!(
        text,
        "| at rest without integrations | {cpu:.2} % of a core, {resident_mib:.1} MiB | |"
    )?;
    let Taken { cpu, resident_mib } = rest;
    writeln!(
        text,
        "| CPU at rest with every system there is | **{cpu:.2} % of a core** | ≤ 1 % |"
    )?;
    writeln!(text, "| memory then | **{resident_mib:.1} MiB** | ≤ 20 MiB |")?;
    for Busy { system, taken: Taken { cpu, resident_mib }, rate, mut outcome } in busy {
        let (half, most) = (outcome.delay(50), outcome.delay(99));
        let each = cpu * 10_000.0 / rate;
        writeln!(
            text,
            "| CPU for {rate:.0} lines a second to {system} | **{cpu:.2} % of a core** \
             ({each:.1} µs a line) | ≤ 5 % |"
        )?;
        writeln!(text, "| memory then | **{resident_mib:.1} MiB** | ≤ 25 MiB |")?;
        let Outcome { lost, doubled, .. } = outcome;
        writeln!(
            text,
            "| lines that were lost, and that came twice | **{lost}**, {doubled} | 0 |"
        )?;
        writeln!(text, "| delay, p99 | {most:.2} s (median {half:.2} s) | |")?;
    }
    Ok(text)
}
