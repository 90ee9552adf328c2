//! `castellan-check`: points the checker at any cluster.
//!
//! Exit code 0 if all is as promised, 1 if something is not, 2 if that could
//! not be found out.

mod arguments;

use anyhow::{Context, Result};
use arguments::Arguments;
use checker::{Access, History, Load, Progress, Report, judge, read_back, remove_topic};
use clap::Parser;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const CLEAN: u8 = 0;
const FINDINGS: u8 = 1;
const COULD_NOT_CHECK: u8 = 2;
/// Between two lines of progress.
const NEWS: Duration = Duration::from_secs(10);

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match check(&arguments).await {
        Ok(report) => {
            print(&report, arguments.json);
            let code = exit_code(report.is_clean(), report.whole);
            if code == COULD_NOT_CHECK {
                eprintln!("castellan-check: not all could be checked; the report tells why");
            }
            code.into()
        }
        Err(error) => {
            eprintln!("castellan-check: {error:#}");
            COULD_NOT_CHECK.into()
        }
    }
}

/// Something that is wrong is so, however much is not known.
fn exit_code(is_clean: bool, is_whole: bool) -> u8 {
    match (is_clean, is_whole) {
        (false, _) => FINDINGS,
        (true, true) => CLEAN,
        (true, false) => COULD_NOT_CHECK,
    }
}

async fn check(arguments: &Arguments) -> Result<Report> {
    let access = arguments.access()?;
    let history = match &arguments.again {
        Some(file) => History::load(file)?,
        None => write(arguments, &access).await?,
    };
    eprintln!("reading back every replica of topic {}", history.run.topic);
    let logs = read_back(&access, &history.run).await.context("the logs can't be read")?;
    let report = judge(&history, &logs);
    if arguments.removes_topic() && report.is_clean() && report.whole {
        let removed = remove_topic(&access, &history.run.topic).await;
        removed.unwrap_or_else(|error| eprintln!("castellan-check: {error}"));
    }
    Ok(report)
}

async fn write(arguments: &Arguments, access: &Access) -> Result<History> {
    let spec = arguments.spec(access);
    eprintln!("starting {} clients on topic {}", spec.clients.len(), spec.topic);
    let load = Load::start(&spec).await?;
    let until = Instant::now() + Duration::from_secs(arguments.seconds);
    while let Some(left) = until.checked_duration_since(Instant::now()) {
        tokio::select! {
            () = tokio::time::sleep(left.min(NEWS)) => tell(&load.progress()),
            _ = tokio::signal::ctrl_c() => {
                eprintln!("stopping early");
                break;
            }
        }
    }
    Ok(load.stop().await?)
}

fn tell(progress: &Progress) {
    let Progress { sent, acked, failed, seen, last_trouble, .. } = progress;
    eprintln!("{sent} sent, {acked} acknowledged, {failed} failed, {seen} seen by the group");
    if let Some(trouble) = last_trouble {
        eprintln!("  last trouble: {trouble}");
    }
}

fn print(report: &Report, json: bool) {
    if json {
        println!("{}", serde_json::to_string_pretty(report).expect("a report serialises"));
    } else {
        print!("{report}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_whole_is_not_clean() {
        let check = |is_clean: bool, is_whole: bool, code: u8| {
            assert_eq!(exit_code(is_clean, is_whole), code);
        };
        check(true, true, 0);
        check(true, false, 2);
        check(false, true, 1);
        check(false, false, 1);
    }
}
