//! What a dry run tells.

use crate::{Connection, output};
use serde::Serialize;
use wire::actions::{PlannedChange, PlannedMove};

/// The whole answer for programs; for people a sentence, a few lines and a table of moves.
pub fn print(
    answer: &impl Serialize,
    message: &str,
    planned: Option<&PlannedChange>,
    connection: &Connection,
) -> anyhow::Result<()> {
    if connection.json {
        return output::print_json(answer);
    }
    output::print_line(message)?;
    let Some(planned) = planned else { return Ok(()) };
    for line in lines(planned) {
        output::print_line(&line)?;
    }
    if planned.moves.is_empty() {
        return Ok(());
    }
    let row = |it: &PlannedMove| {
        [
            format!("{}-{}", it.topic, it.partition),
            it.from.join(","),
            it.to.join(","),
            bytes(it.bytes),
        ]
    };
    let headings = ["PARTITION", "FROM", "TO", "COPIED"];
    output::print_table(&output::table(headings, planned.moves.iter().map(row)))?;
    match planned.partitions.saturating_sub(planned.moves.len()) {
        0 => Ok(()),
        more => output::print_line(&format!("and {more} partitions more")),
    }
}

fn lines(planned: &PlannedChange) -> Vec<String> {
    let named = |what: &str, names: &[String]| {
        (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
    };
    let led = match planned.leaders {
        0 => None,
        1 => Some("led by its first replica again: 1 partition".to_owned()),
        many => Some(format!("led by their first replicas again: {many} partitions")),
    };
    let lines = [
        named("added", &planned.joining),
        named("removed", &planned.leaving),
        named("restarted, one at a time", &planned.restarting),
        named("topics that keep one replica, for want of room", &planned.not_raised),
        Some(format!("disk of each server: {} GB", planned.disk_size)),
        Some(format!("copied: {} of {} partitions", bytes(planned.bytes), planned.partitions)),
        led,
    ];
    lines.into_iter().flatten().collect()
}

/// Bytes for people.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub fn bytes(count: u64) -> String {
    match count {
        0..1_000_000 => format!("{count} bytes"),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_there_is_is_told() {
        let named = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let planned = PlannedChange {
            leaving: named(&["a-02", "a-03"]),
            disk_size: 25,
            bytes: 1_500_000,
            partitions: 12,
            leaders: 2,
            ..PlannedChange::default()
        };
        let expected = [
            "removed: a-02, a-03",
            "disk of each server: 25 GB",
            "copied: 1.5 MB of 12 partitions",
            "led by their first replicas again: 2 partitions",
        ];
        assert_eq!(lines(&planned), expected);
    }

    #[test]
    fn bytes_are_short() {
        let check = |count, expected: &str| assert_eq!(bytes(count), expected);
        check(0, "0 bytes");
        check(999_999, "999999 bytes");
        check(2_340_000, "2.3 MB");
        check(7_000_000_000, "7.0 GB");
    }
}
