//! What was taken away since a backup stays away when that is restored.

use crate::fixture::*;
use model::*;
use std::collections::BTreeSet;
use store::backup::{self, Past};
use store::*;

/// People, keys and an instance as a backup has them. Made in two stores they have the
/// same ids and keys.
struct Scene {
    account: AccountId,
    owner: (UserId, Secret),
    ada: User,
    bob: User,
    /// One that is revoked, one that is rotated, one of a user who is removed.
    revoked: (ApiKey, Secret),
    rotated: (ApiKey, Secret),
    of_bob: (ApiKey, Secret),
    invitation: (Invitation, Secret),
    instance: Instance,
    deleted: Instance,
}

fn user(f: &Fixture, account_id: AccountId, email: &str, role: Role) -> User {
    User {
        id: UserId(f.entropy.uuid()),
        account_id,
        email: email.into(),
        name: "Ada".into(),
        tfa_enabled: false,
        role,
        tags: Tags::default(),
        created_at: now(),
    }
}

fn invitation(f: &Fixture, account_id: AccountId, email: &str) -> (Invitation, Secret) {
    let invitation = Invitation {
        id: InvitationId(f.entropy.uuid()),
        account_id,
        email: email.into(),
        role: Role::Admin,
        tags: Tags::default(),
        created_at: now(),
        expires_at: now() + LIFE,
    };
    (invitation, f.entropy.key())
}

async fn key(work: &mut Work, f: &Fixture, user_id: UserId) -> (ApiKey, Secret) {
    let key = ApiKey {
        id: KeyId(f.entropy.uuid()),
        user_id,
        role: Role::Admin,
        tags: Tags::default(),
        comment: "c".into(),
        created_at: now(),
        expires_at: None,
        last_used_at: None,
        last_used_from: None,
    };
    let secret = f.entropy.key();
    apikeys::insert(work, &key, &secret).await.unwrap();
    (key, secret)
}

impl Scene {
    async fn make(f: &Fixture) -> Self {
        let account = f.account().await;
        let id = account.account.id;
        let (instance, ..) = f.instance(id, 9000).await;
        let (deleted, ..) = f.instance(id, 9010).await;
        let (ada, bob) =
            (user(f, id, "ada@x.test", Role::Admin), user(f, id, "bob@x.test", Role::Admin));
        let invitation = invitation(f, id, "eve@x.test");
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
        for user in [&ada, &bob] {
            users::insert(&mut work, user).await.unwrap();
        }
        invitations::insert(&mut work, &invitation.0, &invitation.1).await.unwrap();
        let owner = (account.owner.id, key(&mut work, f, account.owner.id).await.1);
        let revoked = key(&mut work, f, ada.id).await;
        let rotated = key(&mut work, f, ada.id).await;
        let of_bob = key(&mut work, f, bob.id).await;
        work.commit().await.unwrap();
        Self {
            account: id,
            owner,
            ada,
            bob,
            revoked,
            rotated,
            of_bob,
            invitation,
            instance,
            deleted,
        }
    }

    /// Of the keys that the backup has, those that are good.
    async fn good(&self, store: &Store) -> Vec<&'static str> {
        let mut reader = store.reader();
        let mut good = Vec::new();
        for (name, secret) in [
            ("owner", &self.owner.1),
            ("revoked", &self.revoked.1),
            ("rotated", &self.rotated.1),
            ("bob", &self.of_bob.1),
        ] {
            if apikeys::find(&mut reader, secret).await.unwrap().is_some() {
                good.push(name);
            }
        }
        for (name, secret) in
            [("instance", &self.instance.apikey), ("deleted", &self.deleted.apikey)]
        {
            if instances::find_by_apikey(&mut reader, secret).await.unwrap().is_some() {
                good.push(name);
            }
        }
        if invitations::find(&mut reader, &self.invitation.1, now()).await.unwrap().is_some() {
            good.push("invitation");
        }
        good
    }
}

const ALL: [&str; 7] = ["owner", "revoked", "rotated", "bob", "instance", "deleted", "invitation"];

pub async fn what_was_taken_away_since_a_backup_stays_away(f: Fixture) {
    let restored = f.twin().await;
    let (since, scene) = (Scene::make(&f).await, Scene::make(&restored).await);
    assert_eq!(scene.good(&restored.store).await, ALL);

    let (apikey, password) = (f.entropy.key(), f.entropy.password());
    let eve = user(&f, since.account, "eve@x.test", Role::Devops);
    let zoe = invitation(&f, since.account, "zoe@x.test");
    let mut work = f.store.begin().await.unwrap();
    apikeys::remove(&mut work, since.revoked.0.id).await.unwrap();
    apikeys::remove(&mut work, since.rotated.0.id).await.unwrap();
    let next = key(&mut work, &f, since.ada.id).await.1;
    users::remove(&mut work, since.bob.id).await.unwrap();
    let tags = Tags::parse(vec!["prod".into()]).unwrap();
    users::set_role(&mut work, since.ada.id, Role::Monitor, &tags).await.unwrap();
    let hash = Secret::new("$argon2id$new");
    users::set_password_hash(&mut work, since.ada.id, &hash).await.unwrap();
    invitations::remove(&mut work, since.invitation.0.id).await.unwrap();
    users::insert(&mut work, &eve).await.unwrap();
    let of_eve = key(&mut work, &f, eve.id).await.1;
    invitations::insert(&mut work, &zoe.0, &zoe.1).await.unwrap();
    instances::set_apikey(&mut work, since.instance.id, &apikey).await.unwrap();
    instances::set_password(&mut work, since.instance.id, &password).await.unwrap();
    instances::set_deleted(&mut work, since.deleted.id, now()).await.unwrap();
    work.commit().await.unwrap();
    let access = f.past().await.access.unwrap();

    let mut work = restored.store.begin().await.unwrap();
    let dropped = access.take_over(&mut work, &BTreeSet::new(), &*f.entropy).await.unwrap();
    work.commit().await.unwrap();
    let gone: BTreeSet<KeyId> = dropped.keys.iter().map(|it| it.key.id).collect();
    let expected = [&since.revoked, &since.rotated, &since.of_bob].map(|(key, _)| key.id);
    assert_eq!(gone, BTreeSet::from(expected));
    assert_eq!((dropped.users, dropped.invitations, dropped.instances), (1, 1, 1));
    assert_eq!(scene.good(&restored.store).await, ["owner"]);

    // And what took its place is good, as just before the restore.
    let mut reader = restored.store.reader();
    for secret in [&next, &of_eve] {
        assert!(apikeys::find(&mut reader, secret).await.unwrap().is_some());
    }
    let ada = users::find(&mut reader, since.ada.id).await.unwrap().unwrap();
    assert_eq!((ada.role, ada.tags), (Role::Monitor, tags));
    let found = users::find_password_hash(&mut reader, since.ada.id).await.unwrap();
    assert_eq!(found, Some(hash));
    assert_eq!(users::find(&mut reader, since.bob.id).await.unwrap(), None);
    assert_eq!(users::find(&mut reader, eve.id).await.unwrap(), Some(eve));
    assert!(invitations::find(&mut reader, &zoe.1, now()).await.unwrap().is_some());
    let found = instances::find_by_apikey(&mut reader, &apikey).await.unwrap().unwrap();
    assert_eq!((found.id, found.password), (since.instance.id, password));
}

pub async fn a_key_that_is_named_is_kept_unless_its_user_is_gone(f: Fixture) {
    let restored = f.twin().await;
    let (since, scene) = (Scene::make(&f).await, Scene::make(&restored).await);
    let mut work = f.store.begin().await.unwrap();
    apikeys::remove(&mut work, since.revoked.0.id).await.unwrap();
    users::remove(&mut work, since.bob.id).await.unwrap();
    work.commit().await.unwrap();
    let access = f.past().await.access.unwrap();

    let keep = BTreeSet::from([since.revoked.0.id, since.of_bob.0.id]);
    let mut work = restored.store.begin().await.unwrap();
    access.take_over(&mut work, &keep, &*f.entropy).await.unwrap();
    work.commit().await.unwrap();
    let good = ["owner", "revoked", "rotated", "instance", "deleted", "invitation"];
    assert_eq!(scene.good(&restored.store).await, good);
}

pub async fn where_nothing_says_what_was_taken_away_no_key_is_good_but_those_named(f: Fixture) {
    let scene = Scene::make(&f).await;
    assert_eq!(scene.good(&f.store).await, ALL);
    let keep = BTreeSet::from([scene.rotated.0.id]);
    let mut work = f.store.begin().await.unwrap();
    let dropped = backup::drop_access(&mut work, &keep, &*f.entropy).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!((dropped.keys.len(), dropped.users), (3, 0));
    assert_eq!((dropped.invitations, dropped.instances), (1, 2));
    assert_eq!(scene.good(&f.store).await, ["rotated"]);
    let team = users::list(&mut f.store.reader(), scene.account).await.unwrap();
    assert_eq!(team.len(), 3, "new keys can be made for them");
}

pub async fn secrets_that_another_master_key_has_sealed_are_not_taken_over(f: Fixture) {
    Scene::make(&f).await;
    f.raw("UPDATE installation SET master_key_id = 'ffffffff'").await;
    let access = f.past().await.access.unwrap();
    let mut work = f.store.begin().await.unwrap();
    let refused = access.take_over(&mut work, &BTreeSet::new(), &*f.entropy).await.unwrap_err();
    assert!(refused.to_string().contains("sealed with master key ffffffff"), "{refused}");
}

impl Fixture {
    /// Another store on the same kind of database, in which the same is made again.
    async fn twin(&self) -> Fixture {
        match self.at {
            Location::Sqlite(_) => Fixture::sqlite().await,
            Location::Postgres(_) => Fixture::postgres().await,
        }
    }

    /// What a restore reads of it. Nobody else uses it by then.
    async fn past(&self) -> Past {
        match &self.at {
            Location::Sqlite(path) => backup::settle(path).await.unwrap(),
            Location::Postgres(url) => backup::read(url).await.unwrap(),
        }
    }
}

/// Who is asked for a second factor is as in the store before, and nobody is let in by what
/// was there at the time of the backup.
pub async fn nobody_is_signed_in_after_a_restore(f: Fixture) {
    let restored = f.twin().await;
    let (since, scene) = (Scene::make(&f).await, Scene::make(&restored).await);
    let (of_then, link) = (f.entropy.key(), f.entropy.key());
    let session = Session {
        id: SessionId(f.entropy.uuid()),
        user_id: scene.ada.id,
        by_link: false,
        started_at: now(),
        last_seen_at: now(),
        address: None,
        browser: String::new(),
    };
    let text = LoginToken {
        id: LoginTokenId(f.entropy.uuid()),
        user_id: scene.ada.id,
        purpose: LoginPurpose::Link,
        created_at: now(),
        expires_at: now() + LIFE,
    };
    let (old, new) = (Secret::new("old seed"), Secret::new("new seed"));
    let codes = [Secret::new("one"), Secret::new("two")];
    let mut work = restored.store.begin().await.unwrap();
    sessions::insert(&mut work, &session, &of_then).await.unwrap();
    login_tokens::insert(&mut work, &text, &link).await.unwrap();
    for user in [scene.ada.id, scene.bob.id] {
        second_factors::set(&mut work, user, &old).await.unwrap();
        second_factors::set_recovery_codes(&mut work, user, &codes).await.unwrap();
        users::set_tfa_enabled(&mut work, user, true).await.unwrap();
    }
    work.commit().await.unwrap();
    // Since then one has a new phone and used a code, the other has turned it off.
    let mut work = f.store.begin().await.unwrap();
    second_factors::set(&mut work, since.ada.id, &new).await.unwrap();
    second_factors::set_recovery_codes(&mut work, since.ada.id, &codes[1..]).await.unwrap();
    second_factors::take_step(&mut work, since.ada.id, 7).await.unwrap();
    users::set_tfa_enabled(&mut work, since.ada.id, true).await.unwrap();
    work.commit().await.unwrap();
    let past = f.past().await;

    let mut work = restored.store.begin().await.unwrap();
    backup::go_beyond(&mut work, &past).await.unwrap();
    let access = past.access.as_ref().unwrap();
    access.take_over(&mut work, &BTreeSet::new(), &*f.entropy).await.unwrap();
    work.commit().await.unwrap();
    let mut reader = restored.store.reader();
    assert_eq!(sessions::find(&mut reader, &of_then).await.unwrap(), None);
    assert_eq!(login_tokens::find(&mut reader, &link, now()).await.unwrap(), None);
    let (ada, bob) = (since.ada.id, since.bob.id);
    assert_eq!(second_factors::find(&mut reader, ada).await.unwrap(), Some(new));
    assert_eq!(second_factors::find(&mut reader, bob).await.unwrap(), None);
    assert!(users::find(&mut reader, ada).await.unwrap().unwrap().tfa_enabled);
    assert!(!users::find(&mut reader, bob).await.unwrap().unwrap().tfa_enabled);
    let mut work = restored.store.begin().await.unwrap();
    assert!(!second_factors::take_step(&mut work, ada, 7).await.unwrap());
    for (code, expected) in codes.iter().zip([false, true]) {
        let taken = second_factors::take_recovery_code(&mut work, ada, code).await.unwrap();
        assert_eq!(taken, expected);
    }
}
