//! `castellan message read`.

use super::OfTopic;
use crate::{Connection, output};
use client::ReadMessages;
use wire::messages::{BASE64, Message};

#[derive(Debug, clap::Args)]
pub struct Read {
    #[command(flatten)]
    of: OfTopic,
    /// All of them if not given
    #[arg(long)]
    partition: Option<i32>,
    /// Begin there
    #[arg(long, requires = "partition", conflicts_with = "from")]
    offset: Option<i64>,
    /// Begin with a time, such as 2026-11-15T12:00:00Z, or with earliest
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// How many; 10 if not given
    #[arg(long)]
    limit: Option<u32>,
}

pub async fn run(options: Read, connection: &Connection) -> anyhow::Result<()> {
    let Read { of, partition, offset, from, limit } = options;
    let what = ReadMessages { partition, offset, from, limit };
    let id = of.on.id(connection).await?;
    let messages = connection.client.messages(id, &of.topic, &what).await?;
    if connection.json {
        return output::print_json(&messages);
    }
    let headings = ["PARTITION", "OFFSET", "TIME", "KEY", "VALUE"];
    output::print_table(&output::table(headings, messages.into_iter().map(row)))
}

fn row(message: Message) -> [String; 5] {
    let time = message.timestamp.map_or_else(|| "-".to_owned(), |at| format!("{at:.3}"));
    let value = match message.omitted_bytes {
        Some(bytes) => format!("({bytes} bytes, too large to be shown)"),
        None => told(message.value, &message.value_encoding),
    };
    let key = told(message.key, &message.key_encoding);
    [message.partition.to_string(), message.offset.to_string(), time, key, value]
}

/// A terminal is not to be told what to do by whoever wrote a message.
fn told(text: Option<String>, encoding: &str) -> String {
    let Some(text) = text else { return "-".to_owned() };
    let plain: String = text
        .chars()
        .map(|it| if it.is_control() { char::REPLACEMENT_CHARACTER } else { it })
        .collect();
    if encoding == BASE64 { format!("base64:{plain}") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_commands_no_terminal() {
        let check = |text: Option<&str>, encoding: &str, expected: &str| {
            assert_eq!(told(text.map(str::to_owned), encoding), expected);
        };
        check(Some("shipped"), "text", "shipped");
        check(Some("\u{1b}[2Jgone\n"), "text", "\u{fffd}[2Jgone\u{fffd}");
        check(Some("/w=="), "base64", "base64:/w==");
        check(None, "text", "-");
    }
}
