//! Reading messages. They are the customer's data and not facts about the
//! cluster, so a caller who sees things masked does not see them at all.

use super::{MOST_BYTES, Message, find};
use crate::resources::{Cluster, in_order, is_own};
use crate::{App, Asked, Error, InstanceAccess, Problems, Result};
use kafka::client::messages::{From, ReadMessages};
use model::Timestamp;
use std::time::Duration;

const MOST: usize = 1000;
const USUAL: i64 = 10;
/// Of the ten seconds that a call to a broker may take.
const WITHIN: Duration = Duration::from_secs(8);

/// Nothing is told of a part as if it were all, but a part can be asked for.
const OTHERS: &str = ", or read other partitions one by one with ?partition=N";

/// What may be asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReadFields {
    /// All of them if not given.
    pub partition: Option<i64>,
    /// Of that partition.
    pub offset: Option<i64>,
    /// A time, `earliest` or `newest`, which it is if nothing is given.
    pub from: Option<String>,
    pub limit: Option<i64>,
}

/// The oldest first.
pub async fn read(
    access: &InstanceAccess,
    app: &App,
    topic: &str,
    asked: Asked<ReadFields>,
) -> Result<Vec<Message>> {
    // The right to change things goes with the right to see what is in them.
    access.may_change()?;
    let asked = asked.open().and_then(|(fields, problems)| validate(topic, &fields, problems));
    let what = &match asked {
        Ok(what) => what,
        // Nothing else asks whether the topic is there.
        Err(wrong) => {
            let found = find(access, app, topic).await;
            return in_order(found, Err(wrong)).map(|(_, messages)| messages);
        }
    };
    let cluster = Cluster::open(access, app).await?;
    if !is_own(access, app, topic) {
        return Err(Error::NotFound);
    }
    let instance = &access.instance;
    let _permit = app.reading.take(instance.id, instance.account_id, cluster.deadline()).await?;
    let or = if what.partition.is_none() { OTHERS } else { "" };
    let found = cluster.ask_leaders(or, |admin, at| admin.messages().read_messages(at, what));
    found.await?.ok_or(Error::NotFound)
}

fn validate(topic: &str, fields: &ReadFields, mut problems: Problems) -> Result<ReadMessages> {
    let limit = fields.limit.unwrap_or(USUAL);
    let count = usize::try_from(limit).ok().filter(|count| (1..=MOST).contains(count));
    let count = count.ok_or(format!("must be from 1 to {MOST}"));
    let count = problems.take("limit", count);
    let number = fields.partition.map(|number| {
        let number = i32::try_from(number).ok().filter(|number| *number >= 0);
        number.ok_or("must be the number of a partition")
    });
    let partition = problems.take("partition", number.transpose()).flatten();
    let from = match (fields.offset, fields.from.as_deref()) {
        (Some(_), Some(_)) => {
            problems.add("from", "can't be given beside offset");
            None
        }
        (Some(_), None) if fields.partition.is_none() => {
            problems.add("offset", "needs the partition it is an offset of");
            None
        }
        (Some(offset), None) if offset < 0 => {
            problems.add("offset", "must be 0 or more");
            None
        }
        (Some(offset), None) => Some(From::Offset(offset)),
        (None, None | Some("newest")) => Some(From::Newest),
        (None, Some("earliest")) => Some(From::Earliest),
        (None, Some(time)) => {
            let wrong = "must be a time such as 2026-11-15T12:00:00Z, earliest or newest";
            problems.take("from", time.parse::<Timestamp>().map_err(|_| wrong)).map(From::Time)
        }
    };
    problems.finish()?;
    Ok(ReadMessages {
        topic: topic.to_owned(),
        partition,
        from: from.unwrap_or(From::Newest),
        count: count.unwrap_or(1),
        bytes: MOST_BYTES,
        within: WITHIN,
    })
}
