//! `castellan invoice`.

use crate::{Connection, output};
use clap::Subcommand;
use wire::billing::{Invoice, InvoiceEntry, InvoiceLine};

#[derive(Debug, Subcommand)]
pub enum InvoiceCommand {
    /// List your invoices, newest first
    List(List),
    /// Show one invoice
    Get(Get),
    /// Show what is to be paid for a month, so far if it is running
    Period(Period),
}

#[derive(Debug, clap::Args)]
pub struct List {
    /// The first month
    #[arg(long, value_name = "YYYY-MM")]
    from: Option<String>,
    /// The last month
    #[arg(long, value_name = "YYYY-MM")]
    to: Option<String>,
}

#[derive(Debug, clap::Args)]
pub struct Get {
    /// The invoice's id; not its number
    id: i64,
}

#[derive(Debug, clap::Args)]
pub struct Period {
    #[arg(value_name = "YYYY-MM")]
    month: String,
}

pub async fn run(command: InvoiceCommand, connection: &Connection) -> anyhow::Result<()> {
    let client = &connection.client;
    match command {
        InvoiceCommand::List(options) => list(&options, connection).await,
        InvoiceCommand::Get(Get { id }) => print(&client.invoice(id).await?, connection),
        InvoiceCommand::Period(Period { month }) => {
            print(&client.invoice_of(&month).await?, connection)
        }
    }
}

async fn list(options: &List, connection: &Connection) -> anyhow::Result<()> {
    let List { from, to } = options;
    let invoices = connection.client.invoices(from.as_deref(), to.as_deref()).await?;
    let row = |it: InvoiceEntry| {
        let paid = if it.paid { "yes" } else { "no" };
        let total = format!("{} {}", it.total, it.currency);
        [it.id.to_string(), it.number.to_string(), it.period, total, paid.into()]
    };
    output::print_list(invoices, ["ID", "NUMBER", "PERIOD", "TOTAL", "PAID"], row, connection)
}

fn print(invoice: &Invoice, connection: &Connection) -> anyhow::Result<()> {
    if connection.json {
        return output::print_json(invoice);
    }
    let line = |line: &InvoiceLine| {
        let InvoiceLine { subscription_id, amount, from, to, name, plan, tags } = line.clone();
        [subscription_id.to_string(), name, plan, tags.join(","), from, to, amount.to_string()]
    };
    let blank = String::new;
    let total = format!("{} {}", invoice.total, invoice.currency);
    let sum = format!("total of {}", invoice.period);
    let sum = [blank(), sum, blank(), blank(), blank(), blank(), total];
    let rows = invoice.lines.iter().map(line).chain([sum]);
    let headings = ["INSTANCE", "NAME", "PLAN", "TAGS", "FROM", "TO", "AMOUNT"];
    output::print_table(&output::table(headings, rows))
}
