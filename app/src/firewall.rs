//! Who may reach an instance's servers from outside its VPC: read the rules, replace them,
//! and ask whether they are in effect.
//!
//! A use case writes rules and never touches a server. The engine gives them to the cloud, and
//! notes on each server which rules are in effect and whether the cloud enforces any.

mod validate;

pub use validate::AskedRule;

use crate::access::on_servers_of_its_own;
use crate::error::ErrorCode;
use crate::{App, Asked, Error, InstanceAccess, Result, audit};
use model::{Firewall, FirewallRule, InstanceId, ServerState, Service, Vpc};
use store::{FirewallIntent, FirewallProgress, Run, firewalls, vpcs};

/// The rules as a customer reads them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirewallView {
    pub rules: Vec<FirewallRule>,
    /// Whether servers are known to be where rules are enforced, and none where they are not.
    pub enforced: bool,
}

pub async fn read(access: &InstanceAccess, app: &App) -> Result<FirewallView> {
    on_servers_of_its_own(app, &access.instance)?;
    let mut reader = app.store().reader();
    let intent = firewalls::find(&mut reader, access.instance.id).await?;
    let servers = firewalls::progress(&mut reader, access.instance.id).await?;
    Ok(view(&intent.firewall, &servers))
}

fn view(firewall: &Firewall, servers: &[FirewallProgress]) -> FirewallView {
    let enforced = firewalls::are_enforced(servers).unwrap_or(false);
    FirewallView { rules: firewall.rules(), enforced }
}

/// Fails, with a number that clients of the family wait by, until every server has the rules
/// as they are now. One that is stopped with its cluster gets them when it is started.
pub async fn check_configured(access: &InstanceAccess, app: &App) -> Result<()> {
    on_servers_of_its_own(app, &access.instance)?;
    let mut reader = app.store().reader();
    let FirewallIntent { revision, .. } = firewalls::find(&mut reader, access.instance.id).await?;
    let servers = firewalls::progress(&mut reader, access.instance.id).await?;
    let is_behind = |server: &&FirewallProgress| {
        server.state != ServerState::Hibernated && server.revision != revision
    };
    let behind = servers.iter().filter(is_behind);
    let behind: Vec<&str> = behind.map(|server| server.name.as_str()).collect();
    if behind.is_empty() {
        return Ok(());
    }
    let sentence = format!(
        "The firewall rules are not in effect yet at {}; try again in a few seconds",
        behind.join(", ")
    );
    Err(Error::Coded { code: ErrorCode::FIREWALL_NOT_CONFIGURED, sentence })
}

/// Replaces all rules; none are the default. What is asked for while other rules are being
/// applied is applied in their place.
pub async fn replace(
    access: &InstanceAccess,
    app: &App,
    wanted: Asked<Option<Vec<AskedRule>>>,
) -> Result<FirewallView> {
    access.may_change()?;
    on_servers_of_its_own(app, &access.instance)?;
    let id = access.instance.id;
    let mut work = app.store().begin().await?;
    let instance = access.still_there(&mut work).await?;
    let vpc = network(&mut work, &instance).await?;
    let firewall = validate::validate(wanted, vpc.subnet)?;
    let servers = firewalls::progress(&mut work, id).await?;
    let before = firewalls::find(&mut work, id).await?.firewall;
    let after = view(&firewall, &servers);
    if before == firewall {
        return Ok(after);
    }
    firewalls::set(&mut work, id, &firewall).await?;
    let asker = access.asker(&mut work).await?;
    let extras = extras(id, instance.name.as_str(), &firewall);
    audit::write(&mut work, &asker, app.now(), "firewall.update", &extras).await?;
    work.commit().await?;
    Ok(after)
}

async fn network(run: &mut impl Run, instance: &model::Instance) -> Result<Vpc> {
    let found = vpcs::find(run, instance.vpc_id).await?;
    found.ok_or_else(|| Error::internal("an instance has no network"))
}

/// What is open from where; what rules are for is not told.
fn extras(id: InstanceId, name: &str, firewall: &Firewall) -> [(&'static str, String); 3] {
    let one = |rule: &FirewallRule| {
        let services: Vec<&str> = rule.opens().into_iter().map(Service::as_str).collect();
        format!("{} {}", rule.ip, services.join(" "))
    };
    let rules: Vec<String> = firewall.rules().iter().map(one).collect();
    [("id", id.to_string()), ("name", name.to_owned()), ("rules", rules.join(", "))]
}
