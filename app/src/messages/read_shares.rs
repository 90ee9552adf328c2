//! Shares of the reads of messages that may go on at once. There are few reads, because the
//! author of messages decides how much memory and time a read takes. An instance and an
//! account each hold a share of them at most, so topics that are slow to read hold up their
//! own readers alone.

use crate::{Error, Result};
use model::{AccountId, InstanceId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Holder {
    Instance(InstanceId),
    Account(AccountId),
}

pub(crate) struct ReadShares {
    count: usize,
    all: Arc<Semaphore>,
    /// Of holders that read or wait to read.
    shares: Mutex<HashMap<Holder, Weak<Semaphore>>>,
}

/// Leave to read, for as long as it is held.
pub(super) struct ReadPermit {
    _permits: [OwnedSemaphorePermit; 3],
}

impl ReadShares {
    pub fn new(count: usize) -> Self {
        Self { count, all: Arc::new(Semaphore::new(count)), shares: Mutex::default() }
    }

    /// Waits until then for leave to read.
    pub(super) async fn take(
        &self,
        instance: InstanceId,
        account: AccountId,
        until: Instant,
    ) -> Result<ReadPermit> {
        let (of_instance, of_account) = ((self.count / 4).max(1), (self.count / 2).max(1));
        let own = self.share(Holder::Instance(instance), of_instance);
        let own = permit(own, until, || going_on(of_instance, "this instance")).await?;
        let account = self.share(Holder::Account(account), of_account);
        let account = permit(account, until, || going_on(of_account, "your account")).await?;
        let busy = || "There are too many reads of messages at once".to_owned();
        let any = permit(Arc::clone(&self.all), until, busy).await?;
        Ok(ReadPermit { _permits: [own, account, any] })
    }

    fn share(&self, holder: Holder, count: usize) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().expect("no holder of this lock panics");
        if let Some(share) = shares.get(&holder).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(count));
        shares.insert(holder, Arc::downgrade(&share));
        share
    }
}

fn going_on(count: usize, whose: &str) -> String {
    format!("{count} reads of messages of {whose} are going on, and more can't at once")
}

async fn permit(
    of: Arc<Semaphore>,
    until: Instant,
    why: impl Fn() -> String,
) -> Result<OwnedSemaphorePermit> {
    match timeout_at(until, of.acquire_owned()).await {
        Ok(permit) => permit.map_err(Error::internal),
        Err(_) => Err(Error::Refused(format!("{}; try again in a few seconds", why()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(number: u128) -> AccountId {
        AccountId(uuid::Uuid::from_u128(number))
    }

    #[tokio::test]
    async fn an_instance_and_an_account_hold_their_part_and_no_more() {
        let reads = ReadShares::new(8);
        let take = async |instance: i64, owner: u128| {
            reads.take(InstanceId(instance), account(owner), Instant::now()).await
        };
        let refused = async |instance: i64, owner: u128, expected: &str| {
            let said = take(instance, owner).await.err().expect("it is refused").to_string();
            assert_eq!(said, format!("{expected}; try again in a few seconds"));
        };
        let mut held = Vec::new();
        for _ in 0..2 {
            held.push(take(1, 1).await.unwrap());
        }
        let of_instance =
            "2 reads of messages of this instance are going on, and more can't at once";
        refused(1, 1, of_instance).await;
        for _ in 0..2 {
            held.push(take(2, 1).await.unwrap());
        }
        let of_account = "4 reads of messages of your account are going on, and more can't at once";
        refused(3, 1, of_account).await;
        // Others may read, until all reads are taken.
        for instance in [4, 4, 5, 5] {
            held.push(take(instance, 2).await.unwrap());
        }
        refused(6, 3, "There are too many reads of messages at once").await;
        held.pop();
        let last = take(6, 3).await.unwrap();
        drop((held, last));
        take(1, 1).await.unwrap();
        assert!(reads.shares.lock().unwrap().len() <= 2, "those who don't read are forgotten");
    }
}
