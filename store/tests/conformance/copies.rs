//! Copies of a SQLite store: taken while it is written, checked, gone on from,
//! and searched for what a later one has lost. PostgreSQL has tools of its own.

use crate::billing::entry;
use crate::chain::line;
use crate::fixture::*;
use model::*;
use std::path::{Path, PathBuf};
use std::slice;
use store::backup::{self, Past};
use store::ssl_users::Purpose;
use store::*;

pub struct Copies {
    pub f: Fixture,
    directory: tempfile::TempDir,
    pub account: AccountId,
}

impl Copies {
    pub async fn new() -> Self {
        let f = Fixture::sqlite().await;
        let installation = Installation {
            id: f.entropy.uuid(),
            host_id: HostId(f.entropy.uuid()),
            store_epoch: 4,
            fleet_ca: "PEM".into(),
            fleet_ca_key: Secret::new("fleet key"),
            created_at: now(),
        };
        let mut work = f.store.begin().await.unwrap();
        installation::insert(&mut work, &installation).await.unwrap();
        work.commit().await.unwrap();
        let account = f.account().await.account.id;
        Self { f, directory: tempfile::tempdir().unwrap(), account }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn store(&self) -> &Path {
        let Location::Sqlite(path) = &self.f.at else { panic!("{:?}", self.f.at) };
        path
    }

    /// Into the copy, from the store itself.
    async fn adopt(&self, copy: &Path, id: InstanceId) -> Result<()> {
        let line = line(self.account, 1);
        adoption::adopt(copy, self.store(), id, &master_key(1), &line).await
    }

    pub async fn copy(&self, name: &str) -> PathBuf {
        backup::copy(self.store(), &self.path(name)).await.unwrap();
        self.path(name)
    }
}

#[tokio::test]
async fn a_copy_is_whole_sealed_and_blind_to_what_is_not_committed() {
    let it = Copies::new().await;
    let (instance, ..) = it.f.instance(it.account, 9000).await;
    let mut open = it.f.store.begin().await.unwrap();
    instances::set_deleted(&mut open, instance.id, now()).await.unwrap();
    let copy = it.copy("copy.db").await;
    drop(open);

    let held = std::fs::read(&copy).unwrap();
    let holds = |text: &str| held.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds(&instance.username), "the check looks at the right place");
    for secret in [&instance.apikey, &instance.password, &Secret::new("fleet key")] {
        assert!(!holds(secret.expose()));
    }
    // Without a log beside it, so that it can be read from anywhere.
    assert_eq!(held[18..20], [1, 1]);
    let opened = Store::open(&copy, master_key(1)).await.unwrap();
    let found = instances::find(&mut opened.reader(), instance.id).await.unwrap();
    assert_eq!(found, Some(instance));
}

#[tokio::test]
async fn what_is_no_store_is_refused_and_left_alone() {
    let it = Copies::new().await;
    let (text, empty) = (it.path("text"), it.path("empty"));
    std::fs::write(&text, "nothing but words, though long enough to be a header of SQLite's")
        .unwrap();
    std::fs::write(&empty, "").unwrap();
    for file in [&text, &empty] {
        let before = std::fs::read(file).unwrap();
        let refused = backup::copy(file, &it.path("out")).await;
        assert!(matches!(refused, Err(Error::NotAStore(_))), "{refused:?}");
        let refused = backup::settle(file).await;
        assert!(matches!(refused, Err(Error::NotAStore(_))), "{refused:?}");
        assert_eq!(std::fs::read(file).unwrap(), before);
    }
}

#[tokio::test]
async fn a_copy_goes_on_beyond_everything_given_out_since() {
    let it = Copies::new().await;
    let (instance, ..) = it.f.instance(it.account, 9000).await;
    let bob = UserName::parse("bob").unwrap();
    let take = async |work: &mut Work| {
        ssl_users::hold(work, instance.id, &bob, Purpose::User, now(), LIFE).await.unwrap()
    };
    let mut work = it.f.store.begin().await.unwrap();
    let held = take(&mut work).await.unwrap();
    ssl_users::leave_unknown(&mut work, &held).await.unwrap();
    work.commit().await.unwrap();
    let copy = it.copy("copy.db").await;
    let (later, ..) = it.f.instance(it.account, 9010).await;
    it.f.store.close().await;
    let mut past = backup::settle(it.store()).await.unwrap();
    assert_eq!(past.store_epoch, 4);
    past.note("servers", 90);
    past.note("servers", 7);

    let restored = Store::open(&copy, master_key(1)).await.unwrap();
    let mut work = restored.begin().await.unwrap();
    assert_eq!(backup::go_beyond(&mut work, &past).await.unwrap(), 5);
    assert!(work.next("instances").await.unwrap() > later.id.0);
    assert_eq!(work.next("servers").await.unwrap(), 91);
    let held = take(&mut work).await.unwrap();
    assert!(!held.after_unknown, "a user that was made since is not made again");
    let found = instances::find(&mut work, instance.id).await.unwrap().unwrap();
    assert_eq!(found.kafka_generation, instance.kafka_generation + 1, "Kafka is told again");
    // A past that knows less takes nothing back.
    assert_eq!(backup::go_beyond(&mut work, &Past::default()).await.unwrap(), 6);
    assert_eq!(work.next("servers").await.unwrap(), 92);
}

async fn begun(work: &mut Work, alarm: &Alarm, instance: InstanceId) -> Incident {
    let begun = incidents::begin(work, instance, alarm.id, "orders-01", now(), Some(97.0)).await;
    begun.unwrap().unwrap()
}

#[tokio::test]
async fn an_instance_is_adopted_from_a_store_that_knew_it() {
    let it = Copies::new().await;
    let copy = it.copy("copy.db").await;
    let (instance, server, disk) = it.f.instance(it.account, 9000).await;
    let created = entry(&instance, "2026-11-15T12:00:00Z", HistoryChange::Created);
    let mut work = it.f.store.begin().await.unwrap();
    history::insert(&mut work, &created).await.unwrap();
    let revoked = Certificate {
        serial: "4f".repeat(16).parse().unwrap(),
        cn: UserName::parse("orders").unwrap(),
        issued_at: now(),
        expires_at: now(),
        revoked_at: Some(now()),
    };
    certificates::insert(&mut work, instance.id, &revoked).await.unwrap();
    acls::give(&mut work, instance.id, "ada may read", "{}", now()).await.unwrap();
    let hook = NewRecipient {
        kind: RecipientType::Webhook,
        value: Secret::new("https://hooks.example.com"),
        name: "Ops".into(),
        options: RecipientOptions::default(),
    };
    let told = recipients::insert(&mut work, instance.id, &hook).await.unwrap();
    let guard = DiskGuard {
        instance_id: instance.id,
        server_id: server.id,
        level: DiskLevel::Slowed,
        since: now(),
    };
    disk_guards::set(&mut work, &guard).await.unwrap();
    disk_guards::set_slowed(&mut work, instance.id, &[]).await.unwrap();
    let notice = AlarmSpec::first(AlarmType::Notice, None, None);
    let alarm = alarms::insert(&mut work, instance.id, notice).await.unwrap();
    let over = begun(&mut work, &alarm, instance.id).await;
    let ended = Incident { triggered_at: Some(now()), resolved_at: Some(now()), ..over.clone() };
    assert!(incidents::advance(&mut work, &over, &ended).await.unwrap());
    let open = begun(&mut work, &alarm, instance.id).await;
    work.commit().await.unwrap();
    it.f.store.close().await;
    // The copy is the present store from here on, the other one the earlier.
    it.adopt(&copy, instance.id).await.unwrap();

    let opened = Store::open(&copy, master_key(1)).await.unwrap();
    let mut reader = opened.reader();
    let found = instances::find(&mut reader, instance.id).await.unwrap();
    assert_eq!(found.as_ref(), Some(&instance), "its secrets open in their place");
    assert_eq!(servers::list(&mut reader, instance.id).await.unwrap()[0].server, server);
    assert_eq!(disks::list(&mut reader, instance.id).await.unwrap(), [disk]);
    assert_eq!(servers::taken_listeners(&mut reader).await.unwrap().len(), 6);
    assert_eq!(servers::ids(&mut reader).await.unwrap(), [server.id]);
    assert_eq!(vpcs::ids(&mut reader).await.unwrap(), [instance.vpc_id]);
    let authority = authorities::find(&mut reader, instance.id, AuthorityKind::Server).await;
    assert_eq!(authority.unwrap().unwrap().1.expose(), "ca key");
    assert_eq!(history::last(&mut reader, instance.id).await.unwrap(), Some(created));
    assert_eq!(certificates::list(&mut reader, instance.id).await.unwrap(), [revoked]);
    assert_eq!(acls::list(&mut reader, instance.id).await.unwrap().len(), 1);
    assert_eq!(disk_guards::list(&mut reader, instance.id).await.unwrap(), [guard]);
    assert_eq!(disk_guards::slowed(&mut reader, instance.id).await.unwrap(), Some(vec![]));
    assert_eq!(alarms::list(&mut reader, instance.id).await.unwrap(), slice::from_ref(&alarm));
    assert_eq!(incidents::open(&mut reader, instance.id).await.unwrap(), [open]);
    let told_of = incidents::history(&mut reader, instance.id, alarm.id, 10).await.unwrap();
    assert_eq!(told_of, [ended]);
    let found = recipients::find(&mut reader, instance.id, told).await.unwrap().unwrap();
    assert_eq!(found.value, hook.value);
    assert_eq!(audit::list(&mut reader, it.account).await.unwrap(), [line(it.account, 1)]);
    let verdict = chain::verify(&mut reader, it.account).await.unwrap();
    assert_eq!((verdict.unsealed, verdict.broken), (1, None));
    opened.close().await;

    let twice = it.adopt(&copy, instance.id).await;
    assert!(matches!(twice, Err(Error::Conflict(_))), "{twice:?}");
}

#[tokio::test]
async fn whether_producers_are_slowed_down_is_known_from_the_store_before() {
    let it = Copies::new().await;
    let (slowed, ..) = it.f.instance(it.account, 9000).await;
    let (free, ..) = it.f.instance(it.account, 9010).await;
    let kept = |user: &str| {
        vec![SlowedQuota {
            user: user.into(),
            client_id: None,
            producer_byte_rate: None,
            is_set: true,
        }]
    };
    let set = async |instance: InstanceId, user: &str| {
        let mut work = it.f.store.begin().await.unwrap();
        disk_guards::set_slowed(&mut work, instance, &kept(user)).await.unwrap();
        work.commit().await.unwrap();
    };
    set(slowed.id, "long ago").await;
    set(free.id, "let go since").await;
    let (copy, alone) = (it.copy("copy.db").await, it.copy("alone.db").await);
    set(slowed.id, "now").await;
    let mut work = it.f.store.begin().await.unwrap();
    disk_guards::remove_slowed(&mut work, free.id).await.unwrap();
    work.commit().await.unwrap();
    it.f.store.close().await;
    let past = backup::settle(it.store()).await.unwrap();

    let check = async |copy: &Path, past: &Past, expected: [Vec<SlowedQuota>; 2]| {
        let restored = Store::open(copy, master_key(1)).await.unwrap();
        let mut work = restored.begin().await.unwrap();
        backup::go_beyond(&mut work, past).await.unwrap();
        for (instance, expected) in [&slowed, &free].into_iter().zip(expected) {
            let found = disk_guards::slowed(&mut work, instance.id).await.unwrap();
            assert_eq!(found, Some(expected), "{}", instance.id);
        }
        work.commit().await.unwrap();
        restored.close().await;
    };
    // An empty list: the engine looks once.
    check(&copy, &past, [kept("now"), vec![]]).await;
    check(&alone, &Past::default(), [kept("long ago"), kept("let go since")]).await;
}

#[tokio::test]
async fn an_adoption_that_meets_a_taken_address_changes_nothing() {
    let mut it = Copies::new().await;
    let copy = it.copy("copy.db").await;
    let (instance, ..) = it.f.instance(it.account, 9000).await;
    it.f.store.close().await;
    // What a create after the restore would have taken.
    let opened = Store::open(&copy, master_key(1)).await.unwrap();
    let mut work = opened.begin().await.unwrap();
    backup::go_beyond(&mut work, &backup::settle(it.store()).await.unwrap()).await.unwrap();
    work.commit().await.unwrap();
    it.f.store = opened;
    let (other, ..) = it.f.instance(it.account, 9000).await;
    it.f.store.close().await;

    let refused = it.adopt(&copy, instance.id).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    let opened = Store::open(&copy, master_key(1)).await.unwrap();
    let left: Vec<InstanceId> =
        pauses::list(&mut opened.reader()).await.unwrap().iter().map(|it| it.id).collect();
    assert_eq!(left, [other.id]);
}
