//! Changing what a network is called. Region and subnet never change, but
//! clients send them along.

use super::visible;
use crate::{App, Asked, Caller, Error, Result, Right, audit};
use model::{InstanceName, Subnet, Tags, VpcId};

/// What a customer may change, as sent.
#[derive(Clone, Debug, Default)]
pub struct VpcChanges {
    pub name: Option<String>,
    /// An empty list means no tags.
    pub tags: Option<Vec<String>>,
    pub region: Option<String>,
    pub subnet: Option<String>,
}

impl VpcChanges {
    fn is_empty(&self) -> bool {
        self.name.is_none() && self.tags.is_none() && self.region.is_none() && self.subnet.is_none()
    }
}

pub async fn update(
    caller: &Caller,
    app: &App,
    id: Option<VpcId>,
    asked: Asked<VpcChanges>,
) -> Result<()> {
    caller.may(Right::CreateInstances)?;
    let mut work = app.store().begin().await?;
    let vpc = visible(caller, &mut work, id).await?;
    let (changes, mut problems) = asked.open()?;
    let empty = changes.is_empty();
    let name = changes.name.and_then(|name| problems.take("name", InstanceName::parse(name)));
    let tags = changes.tags.and_then(|tags| problems.take("tags", Tags::parse(tags)));
    if changes.region.is_some_and(|region| region != vpc.region.0) {
        problems.add("region", "can't be changed");
    }
    let subnet = changes.subnet.and_then(|text| problems.take("subnet", text.parse::<Subnet>()));
    if subnet.is_some_and(|subnet| subnet != vpc.subnet) {
        problems.add("subnet", "can't be changed");
    }
    problems.finish()?;
    if empty {
        return Err(Error::Refused("Give at least one of name, tags".into()));
    }
    let name = name.map_or_else(|| vpc.name.clone(), |name| name.to_string());
    let tags = tags.unwrap_or_else(|| vpc.tags.clone());
    if name == vpc.name && tags == vpc.tags {
        return Ok(());
    }
    store::vpcs::set_labels(&mut work, vpc.id, &name, &tags).await?;
    let extras = [("id", vpc.id.to_string()), ("name", name), ("tags", tags.as_slice().join(","))];
    audit::write(&mut work, caller, app.now(), "vpc.update", &extras).await?;
    Ok(work.commit().await?)
}
