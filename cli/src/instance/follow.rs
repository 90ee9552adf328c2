//! Following one action: each new step, and what it waits for now.

use super::planned::bytes;
use super::wait::{AWAY, LOOK_AGAIN, PATIENCE, say};
use client::Client;
use indicatif::ProgressBar;
use wire::actions::{Accepted, ActionDetails, Step};

/// Something that was not told yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum News {
    Step(Step),
    /// The sentence that it waits for, or that nobody can be asked.
    Status(String),
}

/// What was told so far of one action.
#[derive(Default)]
pub struct Shown {
    steps: usize,
    /// The last sentence, by step or status.
    last: String,
}

impl Shown {
    pub fn news(&mut self, seen: &ActionDetails) -> Vec<News> {
        let new = seen.steps.iter().skip(self.steps).cloned();
        let mut news: Vec<News> = new.map(News::Step).collect();
        self.steps = self.steps.max(seen.steps.len());
        if let Some(News::Step(step)) = news.last() {
            self.last.clone_from(&step.text);
        }
        if seen.action.ended_at.is_none() {
            news.extend(self.status(&sentence(seen)));
        }
        news
    }

    fn status(&mut self, sentence: &str) -> Option<News> {
        if self.last == sentence {
            return None;
        }
        self.last = sentence.into();
        Some(News::Status(sentence.into()))
    }
}

/// What it waits for, and how far replicas have moved.
fn sentence(seen: &ActionDetails) -> String {
    let status = &seen.action.status;
    let Some(progress) = &seen.progress else { return status.clone() };
    let (done, left) = (bytes(progress.bytes_done), bytes(progress.bytes_left));
    match progress.ready_at {
        Some(at) => format!("{status} ({done} moved, {left} left, ready at about {at:.0})"),
        None => format!("{status} ({done} moved, {left} left)"),
    }
}

/// Tells everything about an action until it has ended.
pub async fn until_ended(
    client: &Client,
    id: i64,
    action: i64,
    mut show: impl FnMut(News) -> anyhow::Result<()>,
) -> anyhow::Result<ActionDetails> {
    let mut shown = Shown::default();
    let mut away = 0;
    loop {
        match client.action(id, action).await {
            Ok(seen) => {
                away = 0;
                shown.news(&seen).into_iter().try_for_each(&mut show)?;
                if seen.action.ended_at.is_some() {
                    return Ok(seen);
                }
            }
            Err(error) if error.is_away() && away < PATIENCE => {
                away += 1;
                shown.status(AWAY).map_or(Ok(()), &mut show)?;
            }
            Err(error) if error.is_not_found() => {
                anyhow::bail!("the instance was deleted before action {action} had ended")
            }
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Waits for an action that was accepted, while what it does is shown on stderr.
pub async fn wait_for(client: &Client, id: i64, accepted: &Accepted) -> anyhow::Result<()> {
    let Some(action) = accepted.action else { return Ok(()) };
    let shown = ProgressBar::new_spinner();
    let mut last = String::new();
    let ended = until_ended(client, id, action, |news| {
        let (News::Step(Step { text: sentence, .. }) | News::Status(sentence)) = news;
        say(&shown, &mut last, sentence);
        Ok(())
    });
    let ended = ended.await;
    shown.finish_and_clear();
    succeeded(&ended?)
}

/// An action that was cancelled or superseded did not do what was asked.
pub fn succeeded(ended: &ActionDetails) -> anyhow::Result<()> {
    let action = &ended.action;
    if action.state == "done" {
        return Ok(());
    }
    anyhow::bail!("action {} was not done: {}", action.id, action.status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::actions::Action;

    fn seen(steps: &[&str], status: &str, ended: bool) -> ActionDetails {
        let at = model::Timestamp::UNIX_EPOCH;
        let action = Action {
            id: 7,
            kind: "restart".into(),
            servers: vec!["a-02".into()],
            asked_by: "ada@example.test".into(),
            source: "cli".into(),
            asked_at: at,
            ended_at: ended.then_some(at),
            state: if ended { "done" } else { "running" }.into(),
            status: status.into(),
        };
        let steps = steps.iter().map(|text| Step { at, text: (*text).into() }).collect();
        ActionDetails { action, progress: None, steps }
    }

    #[test]
    fn everything_is_told_once() {
        let mut shown = Shown::default();
        let mut check = |seen: &ActionDetails, expected: &[&str]| {
            let lines = shown.news(seen).into_iter().map(|news| match news {
                News::Step(step) => format!("step {}", step.text),
                News::Status(sentence) => format!("status {sentence}"),
            });
            assert_eq!(lines.collect::<Vec<_>>(), expected);
        };
        check(&seen(&[], "running", false), &["status running"]);
        check(&seen(&[], "running", false), &[]);
        check(&seen(&["a", "b"], "b", false), &["step a", "step b"]);
        check(&seen(&["a", "b"], "waiting: c", false), &["status waiting: c"]);
        check(&seen(&["a", "b", "d"], "waiting: c", false), &["step d", "status waiting: c"]);
        check(&seen(&["a", "b", "d", "e"], "done", true), &["step e"]);
        check(&seen(&["a", "b", "d", "e"], "done", true), &[]);
    }

    #[test]
    fn what_was_cancelled_or_superseded_was_not_done() {
        let mut ended = seen(&[], "done", true);
        succeeded(&ended).unwrap();
        ended.action.state = "cancelled".into();
        ended.action.status = "cancelled".into();
        let error = succeeded(&ended).unwrap_err().to_string();
        assert_eq!(error, "action 7 was not done: cancelled");
        ended.action.state = "superseded".into();
        ended.action.status = "superseded by action 8 (stop of the cluster)".into();
        let error = succeeded(&ended).unwrap_err().to_string();
        assert_eq!(error, "action 7 was not done: superseded by action 8 (stop of the cluster)");
    }
}
