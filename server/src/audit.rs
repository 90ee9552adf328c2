//! The operator's verb of `castellan audit`: whether anybody has tampered with
//! the log.

use crate::operator::StoreArgs;
use anyhow::{Result, bail};
use app::auditlog::Verified;
use clap::{ArgMatches, Args, Command};
use model::AccountId;

const NOUN: &str = "audit";
const VERIFY: &str = "verify";

pub enum OperatorCommand {
    Verify(StoreArgs, VerifyArgs),
}

#[derive(Args)]
pub struct VerifyArgs {
    /// Only the log of this account
    #[arg(long, value_name = "ID")]
    account: Option<AccountId>,
}

pub fn with_operator_verbs(program: Command) -> Command {
    let verify = VerifyArgs::augment_args(StoreArgs::augment_args(Command::new(VERIFY))).about(
        "Check that no line was changed, removed or inserted (operator, on the data directory)",
    );
    program.mut_subcommand(NOUN, |noun| noun.subcommand(verify))
}

pub fn operator_command(matches: &ArgMatches) -> Result<Option<OperatorCommand>, clap::Error> {
    use clap::FromArgMatches as _;
    let Some((NOUN, noun)) = matches.subcommand() else { return Ok(None) };
    let Some((VERIFY, given)) = noun.subcommand() else { return Ok(None) };
    let args = VerifyArgs::from_arg_matches(given)?;
    Ok(Some(OperatorCommand::Verify(StoreArgs::of(given)?, args)))
}

pub async fn run(command: OperatorCommand) -> Result<()> {
    let OperatorCommand::Verify(at, args) = command;
    let app = at.open().await?;
    let verified = app::auditlog::verify(&app, args.account).await;
    app.store().close().await;
    let verified = verified?;
    if let (Some(account), []) = (args.account, verified.as_slice()) {
        bail!("there is no account {account}");
    }
    if at.json {
        println!("{:#}", verified.iter().map(json).collect::<serde_json::Value>());
    } else {
        for it in &verified {
            println!("{}", text(it));
        }
    }
    let broken = verified.iter().filter(|it| it.verdict.broken.is_some()).count();
    if broken > 0 {
        bail!("{broken} of {} audit logs are not as they were written", verified.len());
    }
    Ok(())
}

/// The end of the chain is worth writing down elsewhere: a database that was
/// replaced as a whole does not end like this.
fn text(it: &Verified) -> String {
    let Verified { account, verdict } = it;
    let state = match &verdict.broken {
        Some(broken) => format!("BROKEN: {broken}"),
        None => "whole".into(),
    };
    let head = &verdict.head;
    let end = if head.length == 0 { String::new() } else { format!(", ends with {}", head.hash) };
    let (sealed, unsealed) = (head.length, verdict.unsealed);
    format!("{}  {state}; {sealed} sealed, {unsealed} not sealed yet{end}", account.id)
}

fn json(it: &Verified) -> serde_json::Value {
    let Verified { account, verdict } = it;
    serde_json::json!({
        "account_id": account.id, "sealed": verdict.head.length, "hash": verdict.head.hash,
        "unsealed": verdict.unsealed, "broken": verdict.broken.as_ref().map(ToString::to_string),
    })
}
