//! Live progress of the stages of `castellan up`, each with its time. On a
//! terminal a line moves; elsewhere every stage prints one line when it ends.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// One stage under way.
pub struct Stage {
    title: String,
    begun: Instant,
    bar: ProgressBar,
}

impl Stage {
    pub fn begin(title: &str) -> Self {
        let bar = ProgressBar::new_spinner();
        if !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style =
            ProgressStyle::with_template("{spinner:.cyan} {prefix:<18} {wide_msg} {elapsed:.dim}");
        bar.set_style(style.expect("the template is tested"));
        bar.set_prefix(title.to_owned());
        bar.enable_steady_tick(Duration::from_millis(80));
        Self { title: title.to_owned(), begun: Instant::now(), bar }
    }

    /// Shows what it does right now.
    pub fn say(&self, doing: impl Into<String>) {
        self.bar.set_message(doing.into());
    }

    /// Ends the stage with what came of it.
    pub fn done(self, result: &str) {
        self.bar.finish_and_clear();
        let seconds = self.begun.elapsed().as_secs_f64();
        eprintln!("  ✓ {:<18} {result} ({seconds:.1} s)", self.title);
    }
}

impl Drop for Stage {
    /// A stage that ends in an error leaves the line to the error.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_can_be_shown() {
        let stage = Stage::begin("test");
        stage.say("working");
        stage.done("worked");
    }
}
