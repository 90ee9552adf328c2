//! `castellan recipient test`.

use crate::{Connection, OnInstance, output};
use anyhow::bail;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A mail server may take a minute; what takes longer is told by the list.
const PATIENCE: Duration = Duration::from_secs(90);
const PAUSE: Duration = Duration::from_millis(300);

#[derive(Debug, clap::Args)]
pub struct Test {
    #[command(flatten)]
    on: OnInstance,
    /// The recipient's id
    recipient: i64,
}

pub async fn run(options: &Test, connection: &Connection) -> anyhow::Result<()> {
    let (client, recipient) = (&connection.client, options.recipient);
    let id = options.on.id(connection).await?;
    let before = client.recipient(id, recipient).await?.last_status;
    client.test_recipient(id, recipient).await?;
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let now = client.recipient(id, recipient).await?.last_status;
        if let Some(status) = now.filter(|now| Some(now) != before.as_ref()) {
            if !status.ok {
                bail!("the test is not delivered: {}", status.message);
            }
            if connection.json {
                return output::print_json(&status);
            }
            return output::print_line(&format!("The test was {}", status.message));
        }
        sleep(PAUSE).await;
    }
    bail!("nothing is known of the test after {} s; it is tried for a day", PATIENCE.as_secs())
}
