//! The operator's verbs of `castellan invoice`: all accounts' invoices, and
//! which of them were paid.

use crate::operator::StoreArgs;
use anyhow::Result;
use app::billing::{InvoiceSummary, Payment};
use app::{Source, SourceKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command};
use model::CURRENCY;

const NOUN: &str = "invoice";
const LIST: &str = "list";
const PAID: &str = "paid";
const ALL: &str = "all";

pub enum OperatorCommand {
    List(StoreArgs),
    Paid(StoreArgs, PaidArgs),
}

#[derive(Args)]
pub struct PaidArgs {
    /// The invoice's number; not its id
    number: i64,
}

pub fn with_operator_verbs(program: Command) -> Command {
    let paid = PaidArgs::augment_args(StoreArgs::augment_args(Command::new(PAID)))
        .about("Note that an invoice was paid (operator, on the data directory)");
    let all = Arg::new(ALL)
        .long(ALL)
        .action(ArgAction::SetTrue)
        .help("Of every account, by number (operator, on the data directory)");
    program.mut_subcommand(NOUN, |noun| {
        noun.mut_subcommand(LIST, |list| StoreArgs::augment_args(list.arg(all))).subcommand(paid)
    })
}

pub fn operator_command(matches: &ArgMatches) -> Result<Option<OperatorCommand>, clap::Error> {
    use clap::FromArgMatches as _;
    let Some((NOUN, noun)) = matches.subcommand() else { return Ok(None) };
    Ok(match noun.subcommand() {
        Some((LIST, given)) if given.get_flag(ALL) => {
            Some(OperatorCommand::List(StoreArgs::from_matches(given)?))
        }
        Some((PAID, given)) => Some(OperatorCommand::Paid(
            StoreArgs::from_matches(given)?,
            PaidArgs::from_arg_matches(given)?,
        )),
        _ => None,
    })
}

pub async fn run(command: OperatorCommand) -> Result<()> {
    match command {
        OperatorCommand::List(at) => list(&at).await,
        OperatorCommand::Paid(at, args) => paid(&at, &args).await,
    }
}

async fn list(at: &StoreArgs) -> Result<()> {
    let app = at.open().await?;
    let listed = app::billing::list_all(&app).await;
    app.store().close().await;
    let listed = listed?;
    if at.json {
        println!("{:#}", listed.iter().map(json).collect::<serde_json::Value>());
        return Ok(());
    }
    println!("{}", line(["NUMBER", "ID", "PERIOD", "TOTAL", "PAID", "ACCOUNT"].map(Into::into)));
    for it in &listed {
        let paid = if it.paid { "yes" } else { "no" };
        println!(
            "{}",
            line([
                it.number.to_string(),
                it.id.to_string(),
                it.period.to_string(),
                format!("{} {CURRENCY}", it.total),
                paid.into(),
                format!("{} {}", it.account_id, printable(&it.account_name)),
            ])
        );
    }
    Ok(())
}

fn line([number, id, period, total, paid, account]: [String; 6]) -> String {
    format!("{number:<7} {id:<7} {period:<8} {total:>16}  {paid:<5} {account}")
}

/// A name that its owner chose must not move the operator's cursor.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn json(it: &InvoiceSummary) -> serde_json::Value {
    serde_json::json!({
        "id": it.id, "number": it.number, "period": it.period, "total_cents": it.total,
        "currency": CURRENCY, "paid": it.paid, "account_id": it.account_id,
        "account_name": it.account_name,
    })
}

async fn paid(at: &StoreArgs, args: &PaidArgs) -> Result<()> {
    let app = at.open().await?;
    let source = Source { kind: SourceKind::Cli, address: None };
    let payment = app::billing::paid(source, &app, args.number).await;
    app.store().close().await;
    let Payment { invoice, already } = payment?;
    if at.json {
        let document = serde_json::json!({
            "id": invoice.id, "number": invoice.number, "paid_at": invoice.paid_at,
        });
        println!("{document}");
        return Ok(());
    }
    let said = if already { "was noted as paid before" } else { "is noted as paid" };
    eprintln!(
        "Invoice {} of {} over {} {CURRENCY} {said}.",
        invoice.number,
        invoice.bill.period,
        invoice.bill.total()
    );
    Ok(())
}
