//! `docs/benchmarks.md`: a section for each thing measured. A run of one part
//! renews its own sections and leaves the others.

use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};

const OPENING: &str = "# Benchmarks\n\n\
    Written by `make bench`. Rounds are taken in turn in one run; machines are noisy, so ratios \
    are the\nfigures that count. Kafka and the start-up cache are already there. `make bench \
    PARTS=resources` renews one\npart: `clusters`, `rolls`, `failover`, `changes`, `api`, `resources`, `fleet` or `deliveries`.\n";

pub struct Page {
    path: PathBuf,
    /// Heading and text, in the order they were first written.
    sections: Vec<(String, String)>,
}

pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

impl Page {
    pub fn load(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let section = |text: &str| {
            let (heading, body) = text.split_once('\n').unwrap_or((text, ""));
            (heading.to_owned(), body.trim().to_owned() + "\n")
        };
        Self { path: path.into(), sections: text.split("\n## ").skip(1).map(section).collect() }
    }

    pub fn put(&mut self, heading: &str, body: &str) {
        let body = body.trim().to_owned() + "\n";
        match self.sections.iter_mut().find(|(known, _)| known == heading) {
            Some((_, text)) => *text = body,
            None => self.sections.push((heading.to_owned(), body)),
        }
    }

    pub fn save(&self) -> Result<String> {
        let sections =
            self.sections.iter().map(|(heading, body)| format!("\n## {heading}\n\n{body}"));
        let text = OPENING.to_owned() + &sections.collect::<String>();
        fs::write(&self.path, &text)?;
        Ok(text)
    }
}
