//! Reading the world of one instance from the store.

use crate::world::{ServerView, Trust, World};
use crate::{Engine, PassError};
use model::InstanceId;
use serde::de::DeserializeOwned;
use std::collections::HashSet;
use store::{AuthorityKind, ServerRecord, authorities, disks, instances, servers, tickets, vpcs};

impl Engine {
    /// None if the instance is gone for good.
    pub(crate) async fn observe(&self, id: InstanceId) -> Result<Option<World>, PassError> {
        let mut reader = self.store.reader();
        let Some(instance) = instances::find(&mut reader, id).await? else { return Ok(None) };
        let mut disks = disks::list(&mut reader, id).await?;
        let mut views = Vec::new();
        for record in servers::list(&mut reader, id).await? {
            let disk = disks
                .iter()
                .position(|disk| disk.server_id == record.server.id)
                .map(|at| disks.swap_remove(at));
            views.push(view(record, disk)?);
        }
        let internal = authorities::certificate(&mut reader, id, AuthorityKind::Internal).await?;
        let clients = authorities::certificate(&mut reader, id, AuthorityKind::Client).await?;
        Ok(Some(World {
            now: self.clock.now(),
            store_epoch: self.installation.store_epoch,
            vpc: vpcs::find(&mut reader, instance.vpc_id).await?,
            instance,
            servers: views,
            trust: Trust {
                internal: internal.unwrap_or_default(),
                clients: clients.unwrap_or_default(),
            },
            epoch: 0,
            ticket: tickets::find(&mut reader, id, self.clock.now()).await?,
            is_fenced: false,
            confirmed: HashSet::new(),
        }))
    }
}

fn view(record: ServerRecord, disk: Option<model::Disk>) -> Result<ServerView, PassError> {
    Ok(ServerView {
        disk,
        broker: document("a broker's configuration", record.broker)?,
        revision: record.revision,
        desired: document("a desired state", record.desired)?,
        // An agent of another release may say what we don't understand; that
        // must not stop the engine, and the next report may be better.
        report: record.report.as_deref().and_then(|text| serde_json::from_str(text).ok()),
        report_text: record.report,
        token_expires_at: record.token.map(|token| token.expires_at),
        server: record.server,
    })
}

fn document<T: DeserializeOwned>(
    what: &'static str,
    text: Option<String>,
) -> Result<Option<T>, PassError> {
    text.map(|text| serde_json::from_str(&text).map_err(|_| PassError::Document(what))).transpose()
}
