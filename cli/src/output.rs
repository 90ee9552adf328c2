//! Printing data: tables for people, JSON for programs. The only file that
//! writes to stdout, unless whoever runs a command keeps what it prints.

use crate::Connection;
use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde::Serialize;
use std::io::Write as _;
use std::sync::{Arc, Mutex};
use wire::customer::Message;

tokio::task_local! {
    static KEPT: Arc<Mutex<Vec<u8>>>;
}

/// What comes of it, and what it printed, none of which goes to stdout.
pub async fn keep<T>(run: impl Future<Output = T>) -> (T, Vec<u8>) {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let ended = KEPT.scope(Arc::clone(&kept), run).await;
    let printed = std::mem::take(&mut *kept.lock().expect("no holder of this lock panics"));
    (ended, printed)
}

/// Columns under their headings, without lines.
pub fn table<const N: usize>(
    headings: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(headings);
    for row in rows {
        table.add_row(row.map(plain));
    }
    table
}

/// Names and values, one a line.
pub fn pairs<const N: usize>(rows: [(&str, String); N]) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    for (name, value) in rows {
        table.add_row([name.to_owned(), plain(value)]);
    }
    table
}

/// A terminal is not to be told what to do by whoever chose a name, such as a
/// client's id or a group's.
fn plain(text: String) -> String {
    if !text.contains(char::is_control) {
        return text;
    }
    text.replace(char::is_control, "\u{fffd}")
}

pub fn print_table(table: &Table) -> anyhow::Result<()> {
    print_line(&table.trim_fmt())
}

pub fn print_json(document: &impl Serialize) -> anyhow::Result<()> {
    print_line(&serde_json::to_string_pretty(document)?)
}

pub fn print_line(text: &str) -> anyhow::Result<()> {
    print_bytes(format!("{text}\n").as_bytes())
}

/// A reader that closed the pipe has seen enough; that is no error.
pub fn print_bytes(bytes: &[u8]) -> anyhow::Result<()> {
    let keep = |kept: &Arc<Mutex<Vec<u8>>>| {
        kept.lock().expect("no holder of this lock panics").extend_from_slice(bytes);
    };
    if KEPT.try_with(keep).is_ok() {
        return Ok(());
    }
    match std::io::stdout().lock().write_all(bytes) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// What the API said, in its own sentence.
pub fn print_message(answer: &Message, connection: &Connection) -> anyhow::Result<()> {
    print_sentence(answer, &answer.message, connection)
}

/// A document for programs, which is a sentence for people.
pub fn print_sentence(
    document: &impl Serialize,
    sentence: &str,
    connection: &Connection,
) -> anyhow::Result<()> {
    if connection.json { print_json(document) } else { print_line(sentence) }
}

/// A list for programs, which is a table for people.
pub fn print_list<L: IntoIterator + Serialize, const N: usize>(
    list: L,
    headings: [&str; N],
    row: impl Fn(L::Item) -> [String; N],
    connection: &Connection,
) -> anyhow::Result<()> {
    if connection.json {
        return print_json(&list);
    }
    print_table(&table(headings, list.into_iter().map(row)))
}

/// What a cell shows of something that may not be there.
pub fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_commands_a_terminal() {
        let hostile = "\u{1b}]0;mine\u{7}\u{9b}2J\r\nevil".to_owned();
        let expected = "\u{fffd}]0;mine\u{fffd}\u{fffd}2J\u{fffd}\u{fffd}evil";
        let listed = table(["MEMBER", "LAG"], [[hostile.clone(), "7".into()]]).trim_fmt();
        let paired = pairs([("member", hostile)]).trim_fmt();
        for printed in [listed, paired] {
            assert!(printed.contains(expected), "{printed:?}");
            assert!(!printed.replace('\n', "").contains(char::is_control), "{printed:?}");
        }
    }
}
