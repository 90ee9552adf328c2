//! Everything about a new instance that nobody asked for but that must be
//! known before the first side effect. Nothing is written here.

use crate::{App, Placement, Result};
use model::{InstanceName, KafkaVersion, Plan, Region, Secret, Subnet, Tags};
use store::AuthorityKind;

/// A checked order.
#[derive(Clone, Debug)]
pub struct Order {
    pub name: InstanceName,
    pub plan: Plan,
    pub region: Region,
    pub kafka_version: KafkaVersion,
    pub subnet: Option<Subnet>,
    pub disk_size: Option<u32>,
    pub tags: Tags,
}

/// Names, secrets and places; chosen anew if another create was faster.
pub struct Chosen {
    pub username: String,
    pub password: Secret,
    pub apikey: Secret,
    pub hostname: String,
    pub placements: Vec<Placement>,
    pub authorities: Vec<(AuthorityKind, pki::Authority)>,
}

pub fn choose(app: &App, order: &Order, placements: Vec<Placement>) -> Result<Chosen> {
    let entropy = app.entropy();
    let username = entropy.username();
    let hostname = match &app.settings.domain {
        Some(domain) => format!("{username}.{domain}"),
        None => placements[0].listeners.sasl_scram.advertised_host.clone(),
    };
    tracing::debug!(plan = %order.plan.name, username, "chose a new instance's names");
    let authorities = AuthorityKind::ALL
        .into_iter()
        .map(|kind| {
            let name = format!("Castellan {username} {} CA", kind.as_str());
            Ok((kind, pki::Authority::create(&name, app.now(), entropy)?))
        })
        .collect::<Result<_>>()?;
    Ok(Chosen {
        username,
        password: entropy.password(),
        apikey: entropy.key(),
        hostname,
        placements,
        authorities,
    })
}
