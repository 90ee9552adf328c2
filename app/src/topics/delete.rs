//! The end of a topic and of everything in it.

use super::{own, there};
use crate::resources::{Cluster, change};
use crate::{App, InstanceAccess, Result};

pub async fn delete(access: &InstanceAccess, app: &App, name: &str) -> Result<()> {
    access.may_change()?;
    let cluster = Cluster::open(access, app).await?;
    let name = own(access, app, name)?;
    let found = cluster.ask(|admin, at| admin.topics().describe_topic(at, name.as_str())).await?;
    there(found)?;
    let about = [("topic", name.to_string())];
    // One that is gone by now was deleted by a call whose answer got lost, or by
    // somebody else, to the same end.
    let name = name.as_str();
    let see = format!("GET topics/{name} tells whether it is there; if it is, delete it again");
    let effect = cluster.alter(
        &see,
        |admin, at| admin.topics().delete_topic(at, name),
        |admin, at| async move { Ok(admin.topics().describe_topic(at, name).await?.is_none()) },
    );
    change(access, app, "topic.delete", &about, effect).await?;
    cluster
        .until_all_show(|admin, alone| async move {
            Ok(admin.topics().describe_topic(&alone, name).await?.is_none())
        })
        .await;
    Ok(())
}
