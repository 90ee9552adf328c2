//! The operator's verbs of `castellan audit`: whether anybody has tampered with the log,
//! and moving old lines into an archive.

mod archive;

use crate::operator::StoreArgs;
use anyhow::{Result, bail};
use app::App;
use app::auditlog::{Section, Verified};
use archive::ArchiveArgs;
use clap::{ArgMatches, Args, Command, FromArgMatches as _};
use model::AccountId;
use std::path::PathBuf;

const NOUN: &str = "audit";
const VERIFY: &str = "verify";
const ARCHIVE: &str = "archive";

pub enum OperatorCommand {
    Verify(StoreArgs, VerifyArgs),
    Archive(StoreArgs, ArchiveArgs),
}

#[derive(Args)]
pub struct VerifyArgs {
    /// Only the log of this account
    #[arg(long, value_name = "ID")]
    account: Option<AccountId>,
    /// Also check these archives, and that they are all that was archived
    #[arg(long, value_name = "FILE")]
    archive: Vec<PathBuf>,
}

pub fn with_operator_verbs(program: Command) -> Command {
    let verify = VerifyArgs::augment_args(StoreArgs::augment_args(Command::new(VERIFY))).about(
        "Check that no line was changed, removed or inserted (operator, on the data directory)",
    );
    let archive = ArchiveArgs::augment_args(StoreArgs::augment_args(Command::new(ARCHIVE))).about(
        "Move the lines of past months from the store to a file (operator, on the data directory)",
    );
    program.mut_subcommand(NOUN, |noun| noun.subcommand(verify).subcommand(archive))
}

pub fn operator_command(matches: &ArgMatches) -> Result<Option<OperatorCommand>, clap::Error> {
    let Some((NOUN, noun)) = matches.subcommand() else { return Ok(None) };
    Ok(match noun.subcommand() {
        Some((VERIFY, given)) => {
            let args = VerifyArgs::from_arg_matches(given)?;
            Some(OperatorCommand::Verify(StoreArgs::from_matches(given)?, args))
        }
        Some((ARCHIVE, given)) => {
            let args = ArchiveArgs::from_arg_matches(given)?;
            Some(OperatorCommand::Archive(StoreArgs::from_matches(given)?, args))
        }
        _ => None,
    })
}

pub async fn run(command: OperatorCommand) -> Result<()> {
    match command {
        OperatorCommand::Verify(at, args) => {
            let app = at.open().await?;
            let verified = verify(&app, &args).await;
            app.store().close().await;
            show(&at, &args, &verified?)
        }
        OperatorCommand::Archive(at, args) => {
            let app = at.open().await?;
            let archived = archive::archive(&app, &args).await;
            app.store().close().await;
            archive::show(&at, &archived?);
            Ok(())
        }
    }
}

async fn verify(app: &App, args: &VerifyArgs) -> Result<Vec<Verified>> {
    let mut sections: Vec<Section> = Vec::new();
    for file in &args.archive {
        sections.extend(archive::read(app, file)?.archive.sections);
    }
    let given = (!args.archive.is_empty()).then_some(sections.as_slice());
    Ok(app::auditlog::verify(app, args.account, given).await?)
}

fn show(at: &StoreArgs, args: &VerifyArgs, verified: &[Verified]) -> Result<()> {
    if let (Some(account), []) = (args.account, verified) {
        bail!("there is no account {account}");
    }
    if at.json {
        println!("{:#}", verified.iter().map(json).collect::<serde_json::Value>());
    } else {
        for it in verified {
            println!("{}", text(it));
        }
    }
    let broken = verified.iter().filter(|it| !it.is_whole()).count();
    if broken > 0 {
        bail!("{broken} of {} audit logs are not as they were written", verified.len());
    }
    Ok(())
}

fn problem(it: &Verified) -> Option<String> {
    let broken = it.verdict.broken.as_ref().map(ToString::to_string);
    broken.or_else(|| it.unjoined.as_ref().map(ToString::to_string))
}

/// The end of the chain is worth writing down elsewhere: a database that was
/// replaced as a whole does not end like this.
fn text(it: &Verified) -> String {
    let Verified { account, verdict, .. } = it;
    let state = problem(it).map_or_else(|| "whole".into(), |broken| format!("BROKEN: {broken}"));
    let head = &verdict.head;
    let end = if head.length == 0 { String::new() } else { format!(", ends with {}", head.hash) };
    let archived = match verdict.archived {
        0 => String::new(),
        archived => format!(" ({archived} of them archived)"),
    };
    let (sealed, unsealed) = (head.length, verdict.unsealed);
    format!("{}  {state}; {sealed} sealed{archived}, {unsealed} not sealed yet{end}", account.id)
}

fn json(it: &Verified) -> serde_json::Value {
    let Verified { account, verdict, .. } = it;
    serde_json::json!({
        "account_id": account.id, "sealed": verdict.head.length, "hash": verdict.head.hash,
        "archived": verdict.archived, "unsealed": verdict.unsealed, "broken": problem(it),
    })
}
