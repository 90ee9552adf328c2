//! `castellan message write`.

use super::OfTopic;
use crate::{Connection, output};
use anyhow::Context as _;
use wire::messages::{Header, NewMessage, WriteMessages, Written};

#[derive(Debug, clap::Args)]
pub struct Write {
    #[command(flatten)]
    of: OfTopic,
    /// Its contents, which may be empty; without it the key alone deletes what it names in a
    /// compacted topic
    #[arg(long, required_unless_present = "key", allow_hyphen_values = true)]
    value: Option<String>,
    /// Messages of a key are in one partition, in their order
    #[arg(long, allow_hyphen_values = true)]
    key: Option<String>,
    /// May be given several times
    #[arg(long = "header", value_name = "NAME=VALUE")]
    headers: Vec<String>,
    /// That of the key if not given, or any
    #[arg(long)]
    partition: Option<i64>,
}

pub async fn run(options: Write, connection: &Connection) -> anyhow::Result<()> {
    let headers: anyhow::Result<Vec<Header>> =
        options.headers.iter().map(|it| header(it)).collect();
    let message = NewMessage {
        key: options.key,
        value: options.value,
        headers: headers?,
        partition: options.partition,
        ..NewMessage::default()
    };
    let asked = WriteMessages { message, ..WriteMessages::default() };
    let OfTopic { on, topic } = options.of;
    let id = on.id(connection).await?;
    let written = connection.client.write_messages(id, &topic, &asked).await?;
    if connection.json {
        return output::print_json(&written);
    }
    let row = |it: Written| [it.partition.to_string(), it.offset.to_string()];
    output::print_table(&output::table(["PARTITION", "OFFSET"], written.into_iter().map(row)))
}

fn header(text: &str) -> anyhow::Result<Header> {
    let (name, value) = text.split_once('=').context("a header is written NAME=VALUE")?;
    Ok(Header { name: name.into(), value: Some(value.to_owned()), encoding: String::new() })
}
