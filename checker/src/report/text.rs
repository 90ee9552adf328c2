//! The report as a person reads it: the verdict first, then what is wrong, then
//! figures.

use super::{Report, Times};
use std::fmt;

/// So many are told to a person.
const TROUBLES: usize = 10;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.verdict(f)?;
        for (wrong, count) in self.findings.counts() {
            writeln!(f, "\n{wrong}: {count}")?;
            let of_kind = self.findings.first().iter().filter(|finding| finding.wrong == wrong);
            let mut told = 0;
            for finding in of_kind {
                writeln!(f, "  {finding}")?;
                told += 1;
            }
            if told < count {
                writeln!(f, "  and {} more", count - told)?;
            }
        }
        self.figures(f)
    }
}

impl Report {
    fn verdict(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { acked, seconds, run, .. } = self;
        if self.is_clean() && !self.whole {
            writeln!(f, "NOT all checked: what is known of {acked} acknowledged records is fine.")?;
        } else if self.is_clean() {
            writeln!(f, "Clean: {acked} acknowledged records in {seconds:.1} s, all as promised.")?;
        } else if self.is_true_to_its_word() {
            writeln!(f, "Sends failed, and all {acked} acknowledged records are as promised.")?;
        } else {
            writeln!(f, "NOT clean: what was acknowledged and what is there are not the same.")?;
        }
        if !self.whole {
            writeln!(
                f,
                "The history of run {} is not whole: it was cut off, or a client ended before its \
                 time or was told nothing. What it does not know of is not judged.",
                run.id
            )?;
        }
        Ok(())
    }

    fn figures(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sent, acked, failed, committed, aborted, unsure, seen, seconds, run, .. } = self;
        writeln!(f, "\nrun {} on topic {}, {:.1} s", run.id, run.topic, seconds)?;
        writeln!(f, "  records: {sent} sent, {acked} acknowledged, {failed} failed")?;
        writeln!(f, "  transactions: {committed} committed, {aborted} aborted, {unsure} unsure")?;
        if run.group {
            writeln!(f, "  the consumer group was given {seen} records")?;
        }
        writeln!(f, "  from send to ack: {}", times(self.send_to_ack.as_ref()))?;
        for (number, client) in self.clients.iter().enumerate() {
            let took = times(client.send_to_ack.as_ref());
            writeln!(f, "    client {number} ({}): {took}", client.client)?;
        }
        for trouble in self.troubles.iter().take(TROUBLES) {
            writeln!(f, "  trouble: {trouble}")?;
        }
        if let Some(more) = self.troubles.len().checked_sub(TROUBLES).filter(|more| *more > 0) {
            writeln!(f, "  and {more} more troubles")?;
        }
        Ok(())
    }
}

fn times(times: Option<&Times>) -> String {
    times.map_or("nothing was acknowledged".into(), |times| {
        let Times { p50_ms, p99_ms, worst_ms, worst_at_seconds, .. } = times;
        format!(
            "p50 {p50_ms:.1} ms, p99 {p99_ms:.1} ms, worst {worst_ms:.1} ms \
             ({worst_at_seconds:.1} s after the begin)"
        )
    })
}
