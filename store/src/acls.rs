//! Numbers of ACLs, which Kafka has none for. An ACL is known by what it says;
//! its number stays with it, and is given to no other.

use crate::db::{Query, Row, Run};
use crate::{Result, Work};
use model::{InstanceId, Timestamp};
use std::collections::BTreeSet;

/// A number that was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AclNumber {
    /// From 1 in each instance.
    pub id: i64,
    /// All that makes it this ACL, in one spelling.
    pub says: String,
    /// As it was asked for.
    pub words: String,
    pub created_at: Timestamp,
}

impl AclNumber {
    /// Whether its ACL is gone. The highest of these numbers stays, so that none is given again.
    pub fn is_retired(&self) -> bool {
        self.says == format!("was {}", self.id)
    }
}

/// All of an instance, by number.
pub async fn list(run: &mut impl Run, instance: InstanceId) -> Result<Vec<AclNumber>> {
    let query = Query::new("SELECT * FROM acls WHERE instance_id = $1 ORDER BY id");
    run.fetch(query.bind(instance.0)).await?.iter().map(number).collect()
}

/// Gives a number to an ACL that has none.
pub async fn give(
    work: &mut Work,
    instance: InstanceId,
    says: &str,
    words: &str,
    now: Timestamp,
) -> Result<()> {
    let query = Query::new(
        "INSERT INTO acls (instance_id, id, says, words, created_at) \
         SELECT $1, COALESCE(MAX(id), 0) + 1, $2, $3, $4 FROM acls WHERE instance_id = $1 \
         ON CONFLICT (instance_id, says) DO NOTHING",
    )
    .bind(instance.0)
    .bind(says)
    .bind(words)
    .bind(now);
    work.execute(query).await.map(drop)
}

/// The words in which it was asked for last.
pub async fn set_words(
    work: &mut Work,
    instance: InstanceId,
    says: &str,
    words: &str,
) -> Result<()> {
    let query = Query::new("UPDATE acls SET words = $3 WHERE instance_id = $1 AND says = $2")
        .bind(instance.0)
        .bind(says)
        .bind(words);
    work.execute(query).await.map(drop)
}

/// The ACL is gone: made again, it gets another number.
pub async fn retire(work: &mut Work, instance: InstanceId, id: i64) -> Result<()> {
    let query = Query::new("UPDATE acls SET says = $3 WHERE instance_id = $1 AND id = $2")
        .bind(instance.0)
        .bind(id)
        .bind(format!("was {id}"));
    work.execute(query).await?;
    forget_retired(work, instance).await
}

/// The same for all that say something else than these.
pub async fn retire_others(
    work: &mut Work,
    instance: InstanceId,
    there: &BTreeSet<String>,
) -> Result<()> {
    for number in list(work, instance).await? {
        if !there.contains(&number.says) {
            let query = Query::new("UPDATE acls SET says = $3 WHERE instance_id = $1 AND id = $2")
                .bind(instance.0)
                .bind(number.id)
                .bind(format!("was {}", number.id));
            work.execute(query).await?;
        }
    }
    forget_retired(work, instance).await
}

/// The same for all that say something which begins like this.
pub async fn retire_all(work: &mut Work, instance: InstanceId, beginning: &str) -> Result<()> {
    let query = Query::new(
        "UPDATE acls SET says = 'was ' || CAST(id AS TEXT) \
         WHERE instance_id = $1 AND SUBSTR(says, 1, LENGTH($2)) = $2",
    )
    .bind(instance.0)
    .bind(beginning);
    work.execute(query).await?;
    forget_retired(work, instance).await
}

/// The highest number that was retired is enough to give none of them again.
async fn forget_retired(work: &mut Work, instance: InstanceId) -> Result<()> {
    let query = Query::new(
        "DELETE FROM acls WHERE instance_id = $1 AND says = 'was ' || CAST(id AS TEXT) \
         AND id < (SELECT MAX(retired.id) FROM acls retired WHERE retired.instance_id = $1 \
         AND retired.says = 'was ' || CAST(retired.id AS TEXT))",
    );
    work.execute(query.bind(instance.0)).await.map(drop)
}

/// With the instance.
pub(crate) async fn remove(work: &mut Work, instance: InstanceId) -> Result<()> {
    work.execute(Query::new("DELETE FROM acls WHERE instance_id = $1").bind(instance.0))
        .await
        .map(drop)
}

fn number(row: &Row) -> Result<AclNumber> {
    Ok(AclNumber {
        id: row.int("id")?,
        says: row.text("says")?,
        words: row.text("words")?,
        created_at: row.time("created_at")?,
    })
}
