//! The turns under way. A call with settings of before a change is given up, so that the next
//! turn, which has the new ones, does not wait for it.

use futures::FutureExt as _;
use model::{InstanceId, IntegrationId};
use std::collections::{BTreeSet, HashMap};
use store::{Change, Reader, Turn, TurnSettings, integration_turns};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio_util::sync::CancellationToken;

pub type Key = (InstanceId, IntegrationId);

pub fn key(turn: &Turn) -> Key {
    (turn.instance_id, turn.integration.id)
}

pub struct UnderWay {
    changes: Receiver<Change>,
    turns: HashMap<Key, (TurnSettings, CancellationToken)>,
    /// Those whose settings may have changed.
    unsure: BTreeSet<Key>,
}

impl UnderWay {
    /// `changes` as [`store::Store::changes`] tells them.
    pub fn new(changes: Receiver<Change>) -> Self {
        Self { changes, turns: HashMap::new(), unsure: BTreeSet::new() }
    }

    /// `cancel` ends its call.
    pub fn begin(&mut self, turn: &Turn, cancel: CancellationToken) {
        self.turns.insert(key(turn), (turn.settings(), cancel));
    }

    pub fn finish(&mut self, turn: &Turn) {
        self.turns.remove(&key(turn));
    }

    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.turns.len()
    }

    /// Waits until the integrations of an instance change.
    pub async fn changed(&mut self) {
        let instance = next_change(&mut self.changes).await;
        self.note_change(instance);
    }

    /// None: any instance's integrations may be others.
    fn note_change(&mut self, instance: Option<InstanceId>) {
        let turns = self.turns.keys();
        self.unsure.extend(turns.filter(|(of, _)| instance.is_none_or(|it| it == *of)));
    }

    /// Gives up the calls that are made with settings of before a change.
    pub async fn cancel_outdated(&mut self, reader: &mut Reader) -> store::Result<()> {
        while let Some(instance) = next_change(&mut self.changes).now_or_never() {
            self.note_change(instance);
        }
        while let Some(key) = self.unsure.first() {
            if let Some((settings, cancel)) = self.turns.get(key)
                && !integration_turns::are_current(reader, *settings).await?
            {
                cancel.cancel();
            }
            self.unsure.pop_first();
        }
        Ok(())
    }
}

/// The next instance whose integrations are others; none: any instance's may be.
async fn next_change(changes: &mut Receiver<Change>) -> Option<InstanceId> {
    loop {
        match changes.recv().await {
            Ok(Change::Integrations(instance)) => return Some(instance),
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return None,
            // The exporter's own store has a sender.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
