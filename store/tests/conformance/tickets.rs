//! Leave to stop: one ticket an instance, looked at anew at every claim.

use crate::fixture::*;
use crate::turns::{guard, take};
use model::*;
use store::tickets::{self, Purpose, Refusal, Ticket};
use store::*;

struct Stopping {
    f: Fixture,
    instance: InstanceId,
    server: ServerId,
    lease: Lease,
}

impl Stopping {
    async fn new(f: Fixture) -> Self {
        let account = f.account().await.account.id;
        let (instance, server, _) = f.instance(account, 9000).await;
        let lease = take(&f.store, instance.id, "a", f.now()).await.unwrap();
        let it = Self { instance: instance.id, server: server.id, lease, f };
        it.stop(true).await;
        it
    }

    async fn stop(&self, stopped: bool) {
        let mut work = self.f.store.begin().await.unwrap();
        instances::set_stopped(&mut work, self.instance, stopped, self.f.now()).await.unwrap();
        work.commit().await.unwrap();
    }

    async fn open(&self, server: Option<ServerId>) -> Result<()> {
        let mut work = self.f.store.begin().await?;
        tickets::open(&mut work, &self.lease, server, Purpose::Stop, self.f.now()).await?;
        work.commit().await
    }

    async fn close(&self) {
        let mut work = self.f.store.begin().await.unwrap();
        tickets::close(&mut work, self.instance).await.unwrap();
        work.commit().await.unwrap();
    }

    async fn renew(&self, lease: &Lease) {
        let ticket = self.found().await.unwrap();
        let mut work = self.f.store.begin().await.unwrap();
        tickets::renew(&mut work, lease, &ticket, self.f.now()).await.unwrap();
        work.commit().await.unwrap();
    }

    async fn found(&self) -> Option<Ticket> {
        tickets::find(&mut self.f.store.reader(), self.instance, self.f.now()).await.unwrap()
    }

    async fn claimed(&self) -> Vec<ServerId> {
        let now = self.f.now();
        tickets::claimed(&mut self.f.store.reader(), self.instance, now).await.unwrap()
    }

    async fn claim(&self) -> std::result::Result<(), Refusal> {
        let mut work = self.f.store.begin().await.unwrap();
        let now = self.f.now();
        let claim = tickets::claim(&mut work, self.instance, self.server, now).await.unwrap();
        work.commit().await.unwrap();
        claim
    }
}

pub async fn an_instance_has_one_open_ticket(f: Fixture) {
    let it = Stopping::new(f).await;
    assert_eq!(it.claim().await, Err(Refusal::NoTicket));
    it.open(None).await.unwrap();
    let second = it.open(Some(it.server)).await;
    assert!(matches!(second, Err(Error::Conflict(_))), "{second:?}");
    assert_eq!(it.found().await.unwrap().server_id, None);
    it.close().await;
    assert_eq!(it.found().await, None);

    it.open(Some(ServerId(it.server.0 + 1))).await.unwrap();
    assert_eq!(it.claim().await, Err(Refusal::OtherServer));
    it.close().await;
    it.open(Some(it.server)).await.unwrap();
    it.stop(false).await;
    assert_eq!(it.claim().await, Ok(()), "one server stops to be started again");
}

pub async fn a_claim_may_be_repeated_and_outlives_its_ticket_for_a_while(f: Fixture) {
    let it = Stopping::new(f).await;
    it.open(None).await.unwrap();
    for _ in 0..2 {
        assert_eq!(it.claim().await, Ok(()));
        assert_eq!(it.claimed().await, [it.server]);
    }
    it.f.pass(60).await;
    it.renew(&it.lease).await;
    assert_eq!(it.claimed().await, [it.server], "however long the ticket is open");
    assert_eq!(it.claim().await, Ok(()));
    it.close().await;
    assert_eq!(it.claim().await, Err(Refusal::NoTicket));
    assert_eq!(it.claimed().await, [it.server], "its agent may stop the broker yet");
    it.f.pass(3).await;
    assert_eq!(it.claimed().await, [it.server]);
    it.f.pass(8).await;
    assert_eq!(it.claimed().await, []);
    it.open(None).await.unwrap();
    assert_eq!(it.claimed().await, [], "what was claimed of another ticket is no leave");
}

pub async fn a_ticket_expires_and_is_good_again_when_renewed(f: Fixture) {
    let it = Stopping::new(f).await;
    it.open(None).await.unwrap();
    // PostgreSQL's own time passes too.
    it.f.pass(3).await;
    assert_eq!(it.claim().await, Ok(()));
    it.f.pass(8).await;
    assert!(it.found().await.unwrap().left < SignedDuration::ZERO);
    assert_eq!(it.claim().await, Err(Refusal::Expired), "also for who has claimed it");
    it.renew(&it.lease).await;
    assert_eq!(it.claim().await, Ok(()));
}

pub async fn a_clock_that_is_set_back_keeps_nobody_waiting_for_as_long(f: Fixture) {
    const HOUR: i64 = 3600;
    let it = Stopping::new(f).await;
    it.open(None).await.unwrap();
    assert_eq!(it.claim().await, Ok(()));
    let mut work = it.f.store.begin().await.unwrap();
    servers::set_last_seen(&mut work, &[(it.server, it.f.now())]).await.unwrap();
    servers::set_enrolled(&mut work, it.server, "key", it.f.now()).await.unwrap();
    let wakes = instances::wakes(&mut work, it.instance).await.unwrap();
    let later = it.f.now() + SignedDuration::from_secs(5);
    assert!(instances::rest(&mut work, it.instance, wakes, later).await.unwrap());
    work.commit().await.unwrap();
    it.f.pass(-HOUR).await;

    let [record] = &servers::list(&mut it.f.store.reader(), it.instance).await.unwrap()[..] else {
        panic!("it has one server");
    };
    let host = record.server.host_id;
    let mut work = it.f.store.begin().await.unwrap();
    set_back::look_again(&mut work, host, it.f.now()).await.unwrap();
    work.commit().await.unwrap();

    let mut reader = it.f.store.reader();
    assert_eq!(instances::due(&mut reader, it.f.now()).await.unwrap(), [it.instance]);
    let found = servers::list(&mut reader, it.instance).await.unwrap().remove(0);
    assert_eq!(found.server.last_seen, Some(it.f.now()));
    assert_eq!(found.server.enrolled_at, Some(it.f.now()));
    assert_eq!(it.claimed().await, [it.server], "its agent may stop the broker yet");
    it.close().await;
    it.f.pass(3).await;
    assert_eq!(it.claimed().await, [it.server], "as long as if it were claimed now");
    it.f.pass(8).await;
    assert_eq!(it.claimed().await, [], "and not an hour longer");
    it.open(None).await.unwrap();
    it.f.pass(-HOUR).await;
    let mut work = it.f.store.begin().await.unwrap();
    set_back::look_again(&mut work, host, it.f.now()).await.unwrap();
    work.commit().await.unwrap();
    it.f.pass(11).await;
    assert_eq!(it.claim().await, Err(Refusal::Expired), "the others are looked at anew");
}

pub async fn a_ticket_ends_with_its_lease_and_with_the_wish_to_stop(f: Fixture) {
    let it = Stopping::new(f).await;
    it.open(None).await.unwrap();
    guard(&it.f, &it.lease).await.unwrap();
    assert_eq!(it.claim().await, Ok(()));
    it.stop(false).await;
    assert_eq!(it.claim().await, Err(Refusal::NotWanted));
    it.stop(true).await;

    let next = take(&it.f.store, it.instance, "a", it.f.now()).await.unwrap();
    assert_eq!(it.claim().await, Err(Refusal::OtherOwner));
    it.renew(&next).await;
    assert_eq!(it.claim().await, Ok(()));

    let mut work = it.f.store.begin().await.unwrap();
    instances::set_deleted(&mut work, it.instance, it.f.now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(it.claim().await, Err(Refusal::Deleted));
}
