//! Lines in the audit log for what one command does to every cluster of this host.
//!
//! `castellan down` and `castellan up` change no intent: they end what runs here,
//! and start a control plane that brings it back. So nothing else writes of it.

use anyhow::Result;
use app::{Source, SourceKind, audit};
use cloud_local::holdings::{HeldServer, holdings};
use model::{Clock, InstanceId, SystemClock};
use std::collections::BTreeSet;
use std::path::Path;
use store::{Store, instances};

/// The instances of which something runs on this host.
pub fn running(host: &Path) -> Result<BTreeSet<InstanceId>> {
    let servers = holdings(host)?.servers;
    Ok(servers.iter().filter(|it| it.running.is_some()).filter_map(instance).collect())
}

/// Those that have servers here, and of which nothing runs.
pub fn at_rest(host: &Path) -> Result<BTreeSet<InstanceId>> {
    let all: BTreeSet<InstanceId> = holdings(host)?.servers.iter().filter_map(instance).collect();
    Ok(&all - &running(host)?)
}

fn instance(server: &HeldServer) -> Option<InstanceId> {
    server.instance_id
}

/// A line for each, in its account's log. One that is to be stopped anyway, or is
/// deleted, has its own already.
pub async fn write(store: &Store, verb: &str, of: &BTreeSet<InstanceId>) -> Result<()> {
    let source = Source { kind: SourceKind::Cli, address: None };
    let (now, event) = (SystemClock.now(), format!("instance.{verb}"));
    let mut work = store.begin().await?;
    for id in of {
        let found = instances::find(&mut work, *id).await?;
        let Some(found) = found.filter(|it| it.deleted_at.is_none() && !it.stopped) else {
            continue;
        };
        let extras = [("id", id.to_string()), ("name", found.name.to_string())];
        audit::operator(&mut work, source, found.account_id, now, &event, &extras).await?;
    }
    Ok(work.commit().await?)
}

/// The warning where there is no line. The command goes on.
pub fn missing(verb: &str, error: &anyhow::Error) -> String {
    format!("The audit log has no line of this `castellan {verb}`: {error:#}")
}

/// For those that were at rest when `castellan up` began. What hindered it is given back,
/// to be told.
pub async fn note_up(store: &Store, at_rest: Result<BTreeSet<InstanceId>>) -> Option<String> {
    let written = match at_rest {
        Ok(at_rest) => write(store, "up", &at_rest).await,
        Err(error) => Err(error),
    };
    written.err().map(|error| missing("up", &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestInstallation, pretend_running};
    use anyhow::anyhow;

    #[tokio::test]
    async fn whoever_takes_clusters_down_or_up_leaves_a_line_for_each() {
        let here = TestInstallation::make(None).await;
        let (host, mut lines) = (here.data.host(), Vec::new());
        let id = here.create("mouse-1").await.unwrap();
        assert_eq!(running(&host).unwrap(), BTreeSet::new());
        assert_eq!(at_rest(&host).unwrap(), BTreeSet::new(), "its server was not made yet");

        let directory = here.pretend_held(id).await;
        assert_eq!(at_rest(&host).unwrap(), BTreeSet::from([id]));
        pretend_running(&directory);
        assert_eq!(running(&host).unwrap(), BTreeSet::from([id]));
        assert_eq!(at_rest(&host).unwrap(), BTreeSet::new());

        for verb in ["down", "up"] {
            write(here.store(), verb, &BTreeSet::from([id, InstanceId(99)])).await.unwrap();
            lines.push((format!("instance.{verb}"), format!("id={id}; name=orders")));
        }
        let account = here.account_id();
        let written = store::audit::list(&mut here.store().reader(), account).await.unwrap();
        let ours = written.into_iter().filter(|line| line.user == "operator@localhost");
        let found: Vec<(String, String)> = ours
            .filter(|line| lines.iter().any(|(event, _)| *event == line.event))
            .map(|line| (line.event, line.extras))
            .collect();
        assert_eq!(found, lines);
    }

    #[tokio::test]
    async fn a_line_that_can_not_be_written_is_told_and_stops_nobody() {
        let here = TestInstallation::make(None).await;
        let none = || Ok(BTreeSet::new());
        assert_eq!(note_up(here.store(), none()).await, None);
        let unread = Err(anyhow!("no such directory"));
        let told = note_up(here.store(), unread).await.unwrap();
        assert_eq!(told, "The audit log has no line of this `castellan up`: no such directory");
        here.store().close().await;
        let told = note_up(here.store(), none()).await.unwrap();
        assert!(told.contains("the store is away"), "{told}");
    }
}
