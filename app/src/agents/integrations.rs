//! Where an agent sends its server's logs.
//!
//! Keys to other people's services go to the agents of that instance alone, and only for
//! logs: metrics are sent from here. How calls leave, with the password of the operator's proxy,
//! goes to agents that have logs to send.

use super::Agent;
use crate::{App, Result};
use model::agent::Outbound;
use model::{InstanceId, InstanceName, Tags};
use store::integrations::SentLogs;
use store::{instances, integrations, outbound};

/// Where an instance's logs are sent, and what they are called there.
#[derive(Debug)]
pub struct LogIntegrations {
    pub revision: i64,
    pub instance_id: InstanceId,
    pub instance_name: InstanceName,
    pub tags: Tags,
    pub server_name: String,
    pub hostname: String,
    pub integrations: Vec<SentLogs>,
    /// How the operator has them called; nothing of it where there are none.
    pub outbound: Outbound,
}

/// Those of the agent's own instance. What can't be read is left out.
pub async fn log_integrations(agent: &Agent, app: &App) -> Result<LogIntegrations> {
    let mut reader = app.store().reader();
    // First: what is read after it may be newer, and is then fetched once more.
    let revision = agent.enrolled(&mut reader).await?.integrations_revision;
    let record = agent.record(&mut reader).await?;
    let instance = instances::find(&mut reader, agent.instance_id).await?;
    let instance = instance.ok_or(super::authenticate::UNKNOWN)?;
    let mut found = integrations::sent_logs(&mut reader, agent.instance_id).await?;
    found.retain(|it| it.integration.is_readable());
    let rules = &app.settings.outbound;
    let outbound = if found.is_empty() { Outbound::default() } else { rules.clone() };
    Ok(LogIntegrations {
        revision,
        instance_id: instance.id,
        instance_name: instance.name,
        tags: instance.tags,
        server_name: record.server.name,
        hostname: record.server.listeners.public_sasl_scram().advertised_host,
        integrations: found,
        outbound,
    })
}

/// Has agents fetch the operator's rules for calls if they are others than at the last start.
/// Done before agents are answered; does nothing the second time.
pub async fn settle_outbound(app: &App) -> Result<()> {
    let mut work = app.store().begin().await?;
    if outbound::set_rules(&mut work, &app.settings.outbound).await? {
        work.commit().await?;
    }
    Ok(())
}
