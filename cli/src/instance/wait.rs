//! Waiting until an instance is ready or stopped, while its status sentence is
//! shown, or until it is gone.

use client::Client;
use indicatif::ProgressBar;
use std::time::Duration;
use wire::customer::Instance;

pub const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// A control plane that restarts is waited for this many looks in a row.
pub const PATIENCE: u32 = 120;
pub const AWAY: &str = "waiting: the control plane can't be reached";

pub async fn until_ready(client: &Client, id: i64) -> anyhow::Result<Instance> {
    until(client, id, |instance| instance.ready).await
}

pub async fn until_stopped(client: &Client, id: i64) -> anyhow::Result<Instance> {
    until(client, id, Instance::is_stopped).await
}

/// Shows progress on stderr: a line that changes on a terminal, else a line
/// for every new sentence.
async fn until(
    client: &Client,
    id: i64,
    reached: impl Fn(&Instance) -> bool,
) -> anyhow::Result<Instance> {
    let shown = ProgressBar::new_spinner();
    let mut last = String::new();
    let mut away = 0;
    loop {
        match client.instance(id).await {
            Ok(instance) if reached(&instance) => {
                shown.finish_and_clear();
                return Ok(instance);
            }
            Ok(instance) => {
                away = 0;
                say(&shown, &mut last, instance.status);
            }
            Err(error) if error.is_away() && away < PATIENCE => {
                away += 1;
                say(&shown, &mut last, AWAY.into());
            }
            Err(error) => {
                shown.finish_and_clear();
                return Err(error.into());
            }
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// A deleted instance is 404 at once; the list of those being torn down tells
/// when it really is gone.
pub async fn until_gone(client: &Client, id: i64) -> anyhow::Result<()> {
    let mut away = 0;
    loop {
        match client.instances_deleting().await {
            Ok(left) if left.iter().all(|instance| instance.id != id) => return Ok(()),
            Ok(_) => away = 0,
            Err(error) if error.is_away() && away < PATIENCE => away += 1,
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

pub fn say(shown: &ProgressBar, last: &mut String, sentence: String) {
    shown.tick();
    if *last == sentence {
        return;
    }
    if shown.is_hidden() {
        eprintln!("{sentence}");
    }
    shown.set_message(sentence.clone());
    *last = sentence;
}
