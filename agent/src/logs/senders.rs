//! The tasks that send, one for each destination of the last document.

use super::sender::{Common, Sender};
use super::shared_tail::SharedTail;
use super::shippers::ShipperFactory;
use model::IntegrationId;
use std::collections::{BTreeMap, BTreeSet};
use tokio::task::AbortHandle;
use wire::agent::{LogIntegration, LogIntegrations};

pub struct Senders {
    factory: Box<dyn ShipperFactory>,
    common: Common,
    /// What all of those that run have in common.
    document: Option<LogIntegrations>,
    running: BTreeMap<IntegrationId, Running>,
}

struct Running {
    integration: LogIntegration,
    task: AbortHandle,
}

/// What it was sending is sent again by its successor.
impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Senders {
    pub fn new(factory: Box<dyn ShipperFactory>, common: Common) -> Self {
        Self { factory, common, document: None, running: BTreeMap::new() }
    }

    pub fn end(&mut self) {
        self.running.clear();
        self.document = None;
        self.common.ledger.keep_only(&BTreeSet::new());
    }

    /// Ends those that are not as they should be, and begins what is missing. The others go on
    /// as they are.
    pub fn apply(&mut self, document: &LogIntegrations, tail: &SharedTail) {
        let bare = LogIntegrations { revision: 0, integrations: vec![], ..document.clone() };
        if self.document.as_ref() != Some(&bare) {
            self.running.clear();
            self.document = Some(bare);
        }
        let wanted: BTreeMap<IntegrationId, &LogIntegration> =
            document.integrations.iter().map(|integration| (integration.id, integration)).collect();
        self.running.retain(|id, running| {
            let is_same = wanted.get(id).is_some_and(|wanted| **wanted == running.integration);
            is_same && !running.task.is_finished()
        });
        self.common.ledger.keep_only(&wanted.keys().copied().collect());
        self.common.share.set_destinations(wanted.len());
        for integration in wanted.into_values() {
            if !self.running.contains_key(&integration.id) {
                self.begin(document, integration, tail);
            }
        }
    }

    fn begin(
        &mut self,
        document: &LogIntegrations,
        integration: &LogIntegration,
        tail: &SharedTail,
    ) {
        let ship = match self.factory.shipper(document, integration) {
            Ok(ship) => ship,
            Err(why) => {
                let id = integration.id;
                if self.common.ledger.fails(id, why.clone()) {
                    tracing::warn!(integration = %id, %why, "logs can't be sent there and wait");
                }
                return;
            }
        };
        self.common.ledger.begin(integration.id);
        let sender = Sender {
            id: integration.id,
            system: integration.system.clone(),
            tail: tail.clone(),
            ship,
            common: self.common.clone(),
            failures: 0,
        };
        let task = tokio::spawn(sender.run()).abort_handle();
        let integration = integration.clone();
        self.running.insert(integration.id, Running { integration, task });
    }
}

#[cfg(test)]
#[path = "senders_tests.rs"]
mod tests;
