//! A few messages of a topic, to look at and to try things with.

mod fate;
mod read;
mod read_shares;
mod send;
mod write;

pub use kafka::client::messages::{Message, NewMessage};
pub use read::{ReadFields, read};
pub(crate) use read_shares::ReadShares;
pub use write::{Contents, MessageFields, WriteFields, write};

use crate::resources::{Cluster, is_own};
use crate::{App, Error, InstanceAccess, Result};

/// Bytes of keys, values and headers in one call.
const MOST_BYTES: usize = 1 << 20;

/// The cluster, and the numbers of the topic's partitions there.
async fn find<'a>(
    access: &InstanceAccess,
    app: &'a App,
    topic: &str,
) -> Result<(Cluster<'a>, Vec<i32>)> {
    let cluster = Cluster::open(access, app).await?;
    if !is_own(access, app, topic) {
        return Err(Error::NotFound);
    }
    let topics = [topic.to_owned()];
    let mut there = cluster.ask(|admin, at| admin.groups().find_partitions(at, &topics)).await?;
    let partitions = there.remove(topic).ok_or(Error::NotFound)?;
    Ok((cluster, partitions))
}
