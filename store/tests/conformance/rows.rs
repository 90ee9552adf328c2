//! What is written, read, refused and forgotten.

use crate::fixture::*;
use model::*;
use store::*;

pub async fn what_is_written_is_read_back(f: Fixture) {
    let account = f.account().await;
    let (instance, server, disk) = f.instance(account.account.id, 9000).await;
    let mut reader = f.store.reader();

    assert_eq!(
        accounts::find(&mut reader, account.account.id).await.unwrap().unwrap(),
        account.account
    );
    assert_eq!(users::find(&mut reader, account.owner.id).await.unwrap().unwrap(), account.owner);
    assert_eq!(instances::find(&mut reader, instance.id).await.unwrap().unwrap(), instance);
    assert_eq!(
        instances::list(&mut reader, account.account.id).await.unwrap(),
        std::slice::from_ref(&instance)
    );
    assert_eq!(servers::list(&mut reader, instance.id).await.unwrap()[0].server, server);
    assert_eq!(disks::list(&mut reader, instance.id).await.unwrap(), [disk]);
    let (certificate, key) =
        authorities::find(&mut reader, instance.id, AuthorityKind::Server).await.unwrap().unwrap();
    assert_eq!((certificate.as_str(), key.expose()), ("PEM", "ca key"));
}

pub async fn an_instance_from_before_there_were_roots_has_its_server_authority_in_its_place(
    f: Fixture,
) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let root =
        async || authorities::customers_root(&mut f.store.reader(), instance.id).await.unwrap();
    assert_eq!(root().await.as_deref(), Some("PEM"), "the server authority's");
    let mut work = f.store.begin().await.unwrap();
    let (kind, key) = (AuthorityKind::Root, Secret::new("root key"));
    authorities::insert(&mut work, instance.id, kind, "ROOT", &key).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(root().await.as_deref(), Some("ROOT"));
}

pub async fn keys_are_found_by_hash_and_secrets_are_not_in_the_database(f: Fixture) {
    let account = f.account().await;
    let secret = f.entropy.key();
    let key = ApiKey {
        id: KeyId(f.entropy.uuid()),
        user_id: account.owner.id,
        role: Role::Admin,
        tags: Tags::default(),
        comment: "first".into(),
        created_at: now(),
        expires_at: None,
        last_used_at: None,
        last_used_from: None,
    };
    let mut work = f.store.begin().await.unwrap();
    apikeys::insert(&mut work, &key, &secret).await.unwrap();
    work.commit().await.unwrap();
    let (instance, ..) = f.instance(account.account.id, 9000).await;

    let mut reader = f.store.reader();
    assert_eq!(apikeys::find(&mut reader, &secret).await.unwrap().unwrap(), key);
    assert_eq!(apikeys::find(&mut reader, &instance.apikey).await.unwrap(), None);
    let by_key = instances::find_by_apikey(&mut reader, &instance.apikey).await.unwrap();
    assert_eq!(by_key.unwrap().id, instance.id);

    let held = f.everything().await;
    let holds = |text: &str| held.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds(&instance.username), "the check looks at the right place");
    for secret in [&secret, &instance.apikey, &instance.password, &Secret::new("ca key")] {
        assert!(!holds(secret.expose()));
    }
}

pub async fn a_listener_is_given_once(f: Fixture) {
    let account = f.account().await;
    let (instance, ..) = f.instance(account.account.id, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    let mut second = new_server(ServerId(77), instance.id, 9004);
    (second.number, second.node_id) = (2, 2);
    let refused = servers::insert(&mut work, &second).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
}

pub async fn what_a_host_was_promised_is_counted_by_plan(f: Fixture) {
    let account = f.account().await;
    let (first, server, _) = f.instance(account.account.id, 9000).await;
    f.instance(account.account.id, 9010).await;
    let mut reader = f.store.reader();
    let mouse = |servers| vec![(PlanName("mouse-1".into()), servers)];
    assert_eq!(servers::plans_on(&mut reader, server.host_id).await.unwrap(), mouse(2));
    let elsewhere = HostId(f.entropy.uuid());
    assert_eq!(servers::plans_on(&mut reader, elsewhere).await.unwrap(), vec![]);

    let mut work = f.store.begin().await.unwrap();
    instances::set_deleted(&mut work, first.id, now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(servers::plans_on(&mut reader, server.host_id).await.unwrap(), mouse(1));
}

pub async fn a_username_is_given_once(f: Fixture) {
    let account = f.account().await.account.id;
    let (first, ..) = f.instance(account, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    let mut second = new_instance(InstanceId(77), account, first.vpc_id, &*f.entropy);
    second.username.clone_from(&first.username);
    let refused = instances::insert(&mut work, &second).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
}

pub async fn a_host_is_seen(f: Fixture) {
    let id = HostId(f.entropy.uuid());
    let later = now() + LIFE;
    let mut work = f.store.begin().await.unwrap();
    hosts::set_seen(&mut work, id, "one", now()).await.unwrap();
    hosts::set_seen(&mut work, id, "two", later).await.unwrap();
    let expected = Host { id, name: "two".into(), first_seen: now(), last_seen: later };
    assert_eq!(hosts::list(&mut work).await.unwrap(), [expected]);
}

pub async fn an_answer_is_kept_for_the_same_call(f: Fixture) {
    let scope = idempotency::Scope {
        user_id: UserId(f.entropy.uuid()),
        operation: "create",
        key: "k".into(),
    };
    let answered =
        idempotency::Answered { request_hash: "hash".into(), answer: Secret::new("answer") };
    let before = now() - LIFE;
    let mut work = f.store.begin().await.unwrap();
    idempotency::insert(&mut work, &scope, &answered, now(), before).await.unwrap();
    let found = idempotency::find(&mut work, &scope, before).await.unwrap();
    assert_eq!(found, Some(answered.clone()));
    assert_eq!(idempotency::find(&mut work, &scope, now()).await.unwrap(), None);
    let refused = idempotency::insert(&mut work, &scope, &answered, now(), before).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
}

pub async fn a_network_goes_with_its_maker_alone(f: Fixture) {
    let account = f.account().await;
    let (maker, ..) = f.instance(account.account.id, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    let guest = new_instance(InstanceId(77), account.account.id, maker.vpc_id, &*f.entropy);
    instances::insert(&mut work, &guest).await.unwrap();
    assert_eq!(vpcs::living(&mut work, maker.vpc_id).await.unwrap(), [maker.id, guest.id]);
    assert!(!vpcs::is_left_to(&mut work, maker.vpc_id, maker.id).await.unwrap());

    // A guest neither takes it along nor makes it stay.
    instances::set_deleted(&mut work, guest.id, now()).await.unwrap();
    vpcs::release(&mut work, maker.vpc_id, guest.id, false, now()).await.unwrap();
    let vpc = vpcs::find(&mut work, maker.vpc_id).await.unwrap().unwrap();
    assert_eq!((vpc.made_for, vpc.deleted_at), (Some(maker.id), None));
    assert_eq!(vpcs::living(&mut work, maker.vpc_id).await.unwrap(), [maker.id]);

    instances::set_deleted(&mut work, maker.id, now()).await.unwrap();
    vpcs::release(&mut work, maker.vpc_id, maker.id, false, now()).await.unwrap();
    let vpc = vpcs::find(&mut work, maker.vpc_id).await.unwrap().unwrap();
    assert_eq!(vpc.deleted_at, Some(now()));
    // Rows still name it, so it is neither removable nor forgotten.
    assert_eq!(vpcs::list_removable(&mut work).await.unwrap(), []);
    vpcs::remove_deleted(&mut work, maker.vpc_id).await.unwrap();
    assert!(vpcs::find(&mut work, maker.vpc_id).await.unwrap().is_some());
    instances::remove(&mut work, guest.id).await.unwrap();
    assert!(vpcs::is_left_to(&mut work, maker.vpc_id, maker.id).await.unwrap());
    work.commit().await.unwrap();
}

pub async fn a_deleted_instance_is_gone_for_customers_then_for_good(f: Fixture) {
    let account = f.account().await;
    let (instance, server, disk) = f.instance(account.account.id, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    assert!(instances::set_deleted(&mut work, instance.id, now()).await.unwrap());
    assert!(!instances::set_deleted(&mut work, instance.id, now()).await.unwrap());
    assert_eq!(instances::list(&mut work, account.account.id).await.unwrap(), []);
    assert_eq!(instances::find_by_apikey(&mut work, &instance.apikey).await.unwrap(), None);

    disks::remove(&mut work, disk.id).await.unwrap();
    servers::remove(&mut work, server.id).await.unwrap();
    instances::remove(&mut work, instance.id).await.unwrap();
    vpcs::release(&mut work, instance.vpc_id, instance.id, false, now()).await.unwrap();
    vpcs::remove_deleted(&mut work, instance.vpc_id).await.unwrap();
    assert_eq!(instances::find(&mut work, instance.id).await.unwrap(), None);
    assert_eq!(servers::taken_listeners(&mut work).await.unwrap(), []);
    assert_eq!(vpcs::list(&mut work, account.account.id).await.unwrap(), []);
    work.commit().await.unwrap();

    let (next, ..) = f.instance(account.account.id, 9000).await;
    assert!(next.id > instance.id, "ids are never reused");
}

pub async fn the_first_key_keeps_the_token(f: Fixture) {
    let account = f.account().await;
    let (_, server, _) = f.instance(account.account.id, 9000).await;
    let mut work = f.store.begin().await.unwrap();
    assert!(servers::set_enrolled(&mut work, server.id, "key 1", now()).await.unwrap());
    assert!(servers::set_enrolled(&mut work, server.id, "key 1", now()).await.unwrap());
    assert!(!servers::set_enrolled(&mut work, server.id, "key 2", now()).await.unwrap());
}

pub async fn one_key_is_an_agents_until_it_is_replaced_or_revoked(f: Fixture) {
    let account = f.account().await;
    let (_, server, _) = f.instance(account.account.id, 9000).await;
    let id = server.id;
    let mut work = f.store.begin().await.unwrap();
    let token = |hash: &str, minutes: i64| Token {
        hash: hash.into(),
        expires_at: now() + SignedDuration::from_mins(minutes),
    };
    servers::set_token(&mut work, id, &token("one", 5)).await.unwrap();
    servers::prolong_token(&mut work, id, &token("one", 15)).await.unwrap();
    servers::prolong_token(&mut work, id, &token("another", 60)).await.unwrap();
    let found = servers::find(&mut work, id).await.unwrap().unwrap();
    assert_eq!(found.token, Some(token("one", 15)));
    assert!(servers::set_enrolled(&mut work, id, "key 1", now()).await.unwrap());

    let replace = async |work: &mut Work, incarnation: i64, old: &str, new: &str| {
        servers::replace_key(work, id, incarnation, old, new).await.unwrap()
    };
    assert!(!replace(&mut work, 1, "key 0", "key 2").await, "not the enrolled key");
    assert!(!replace(&mut work, 2, "key 1", "key 2").await, "not the incarnation");
    assert!(replace(&mut work, 1, "key 1", "key 2").await);
    assert!(!replace(&mut work, 1, "key 1", "key 3").await, "replaced already");

    // A token that nobody has used leaves the enrolled key as it is.
    servers::set_token(&mut work, id, &token("two", 15)).await.unwrap();
    let found = servers::find(&mut work, id).await.unwrap().unwrap();
    assert_eq!(found.enrolled_key.as_deref(), Some("key 2"));
    assert!(!servers::void_token(&mut work, id, now()).await.unwrap(), "one is given");
    assert!(servers::set_enrolled(&mut work, id, "key 3", now()).await.unwrap());
    assert!(servers::void_token(&mut work, id, now()).await.unwrap());
    let found = servers::find(&mut work, id).await.unwrap().unwrap();
    assert_eq!((found.token, found.server.enrolled_at), (Some(token("", 0)), None));
    assert_eq!(found.enrolled_key.as_deref(), Some("key 3"));

    servers::raise_incarnation(&mut work, id, now()).await.unwrap();
    let found = servers::find(&mut work, id).await.unwrap().unwrap();
    assert_eq!((found.server.incarnation, found.server.certificate_generation), (2, 2));
    assert_eq!((found.enrolled_key, found.server.enrolled_at), (None, None));
    assert!(!replace(&mut work, 1, "key 3", "key 4").await, "revoked");
}

pub async fn another_master_key_is_refused(f: Fixture) {
    let installation = Installation {
        id: f.entropy.uuid(),
        host_id: HostId(f.entropy.uuid()),
        store_epoch: 1,
        fleet_ca: "PEM".into(),
        fleet_ca_key: Secret::new("fleet key"),
        created_at: now(),
    };
    let mut work = f.store.begin().await.unwrap();
    installation::insert(&mut work, &installation).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(installation::find(&mut f.store.reader()).await.unwrap(), Some(installation));
    assert!(Store::is_set_up(&f.at).await.unwrap());

    let other = Store::open(&f.at, master_key(2)).await.unwrap();
    let refused = installation::find(&mut other.reader()).await.unwrap_err().to_string();
    assert!(refused.contains("give the key that belongs to this store"), "{refused}");
}

pub async fn a_newer_store_is_refused(f: Fixture) {
    f.store.close().await;
    // What a later release would leave behind.
    f.raw(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         SELECT 9999, 'later', TRUE, checksum, 0 FROM _sqlx_migrations WHERE version = 1",
    )
    .await;
    let refused = Store::open(&f.at, master_key(1)).await.unwrap_err().to_string();
    assert!(refused.contains("newer Castellan"), "{refused}");
}

pub async fn whether_a_store_is_behind_is_seen_without_a_change(f: Fixture) {
    f.store.close().await;
    let is_behind = async || Store::is_behind(&f.at).await.unwrap();
    assert!(!is_behind().await);
    // As an earlier release would have left it.
    f.raw(
        "DELETE FROM _sqlx_migrations \
         WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)",
    )
    .await;
    for _ in 0..2 {
        assert!(is_behind().await);
    }
    f.raw("UPDATE _sqlx_migrations SET version = 9999 WHERE version = 2").await;
    assert!(!is_behind().await, "a later one's is not behind");
}

pub async fn what_an_account_has_is_counted(f: Fixture) {
    let (account, other) = (f.account().await, f.account().await);
    let id = account.account.id;
    f.instance(id, 9000).await;
    let (deleted, ..) = f.instance(id, 9010).await;
    f.instance(other.account.id, 9020).await;
    let key = ApiKey {
        id: KeyId(f.entropy.uuid()),
        user_id: account.owner.id,
        role: Role::Admin,
        tags: Tags::default(),
        comment: String::new(),
        created_at: now(),
        expires_at: None,
        last_used_at: None,
        last_used_from: None,
    };
    let invitation = Invitation {
        id: InvitationId(f.entropy.uuid()),
        account_id: id,
        email: "ada@x.test".into(),
        role: Role::Member,
        tags: Tags::default(),
        created_at: now(),
        expires_at: now() + LIFE,
    };
    let mut work = f.store.begin().await.unwrap();
    instances::set_deleted(&mut work, deleted.id, now()).await.unwrap();
    apikeys::insert(&mut work, &key, &f.entropy.key()).await.unwrap();
    invitations::insert(&mut work, &invitation, &f.entropy.key()).await.unwrap();
    let expected =
        accounts::Holdings { instances: 2, servers: 2, disk_gb: 50, vpcs: 2, keys: 1, users: 2 };
    assert_eq!(accounts::holdings(&mut work, id, now()).await.unwrap(), expected);
    let later = accounts::holdings(&mut work, id, now() + LIFE).await.unwrap();
    assert_eq!(later.users, 1, "the invitation has expired");
}
