//! Everything about a new instance that nobody asked for but that must be
//! known before the first side effect. Nothing is written here.

use crate::{App, Error, Neighbourhood, Place, Result};
use model::{InstanceName, KafkaVersion, Plan, Region, RegionName, Secret, Subnet, Tags, VpcId};
use pki::ClusterAuthorities;
use store::{AuthorityKind, Run};

/// A checked order.
#[derive(Clone, Debug)]
pub struct Order {
    pub name: InstanceName,
    pub plan: Plan,
    pub region: Region,
    pub kafka_version: KafkaVersion,
    pub network: Network,
    pub disk_size: Option<u32>,
    pub tags: Tags,
    pub no_default_alarms: bool,
}

/// Where a new instance lives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Network {
    /// In a network that is there.
    Join(VpcId),
    /// In one made for it, with this range or a free one.
    Make(Option<Subnet>),
}

/// Names and secrets; chosen anew if another create was faster.
pub struct Chosen {
    pub username: String,
    pub password: Secret,
    pub apikey: Secret,
    pub authorities: Vec<(AuthorityKind, pki::Authority)>,
}

pub fn choose(app: &App) -> Result<Chosen> {
    let entropy = app.entropy();
    let username = entropy.username();
    tracing::debug!(username, "chose a new instance's names");
    let ClusterAuthorities { internal, root, server, client } =
        ClusterAuthorities::create(&username, app.now(), entropy)?;
    let authorities = vec![
        (AuthorityKind::Internal, internal),
        (AuthorityKind::Root, root),
        (AuthorityKind::Server, server),
        (AuthorityKind::Client, client),
    ];
    Ok(Chosen { username, password: entropy.password(), apikey: entropy.key(), authorities })
}

/// Asks the region for places that are free as the store knows it now, if there is
/// room for what goes there.
pub async fn place(app: &App, order: &Order) -> Result<Vec<Place>> {
    let cloud = app.cloud(&order.region.full_name())?;
    if let Some(room) = &cloud.room {
        room.check(&order.plan, order.plan.disk_gb(order.disk_size)).await?;
    }
    let taken = store::servers::taken_listeners(&mut app.store().reader()).await?;
    let nodes = order.plan.nodes as usize;
    let places = cloud.places.propose(&order.region, &taken, nodes).await?;
    if places.len() != nodes || places.is_empty() {
        return Err(Error::internal("the region proposed another number of places than asked for"));
    }
    Ok(places)
}

/// The same places in the network where they are to be.
pub async fn settle(
    app: &App,
    run: &mut impl Run,
    region: &RegionName,
    vpc: VpcId,
    places: Vec<Place>,
) -> Result<Vec<Place>> {
    let cloud = app.cloud(region)?;
    let found = store::vpcs::find(run, vpc).await?.ok_or(Error::InvalidId)?;
    let taken = store::servers::addresses_in(run, vpc).await?;
    let network = Neighbourhood { vpc, subnet: found.subnet.net(), taken: &taken };
    Ok(cloud.places.settle(network, places))
}

/// How clients find the instance.
pub fn hostname(app: &App, chosen: &Chosen, places: &[Place]) -> String {
    match &app.settings.domain {
        Some(domain) => format!("{}.{domain}", chosen.username),
        None => places[0].addresses.listeners.public_sasl_scram().advertised_host,
    }
}
