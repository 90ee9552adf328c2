//! Alarms and whom they are told to.

use crate::fixture::*;
use model::*;
use store::*;

fn recipient(kind: RecipientType, value: &str) -> NewRecipient {
    let options = RecipientOptions { rk: Some("ops".into()), ..RecipientOptions::default() };
    NewRecipient { kind, value: Secret::new(value), name: "Ops".into(), options }
}

async fn tell(f: &Fixture, instance: InstanceId, new: &NewRecipient) -> RecipientId {
    let mut work = f.store.begin().await.unwrap();
    let id = recipients::insert(&mut work, instance, new).await.unwrap();
    work.commit().await.unwrap();
    id
}

async fn watch(f: &Fixture, instance: InstanceId, recipients: &[RecipientId]) -> Alarm {
    let mut what = AlarmSpec::first(AlarmType::ConsumerLag, Some(60), Some(30));
    what.recipients = recipients.to_vec();
    what.group = Some("orders".into());
    what.reminder_interval = Some(3600);
    let mut work = f.store.begin().await.unwrap();
    let alarm = alarms::insert(&mut work, instance, what).await.unwrap();
    work.commit().await.unwrap();
    alarm
}

pub async fn recipients_are_kept_under_their_own_ids(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9100).await;
    let key = recipient(RecipientType::Victorops, "k3y");
    assert_eq!(tell(&f, instance.id, &key).await, RecipientId(1));
    assert_eq!(tell(&f, other.id, &key).await, RecipientId(1));
    let mail = recipient(RecipientType::Email, "ada@example.com");
    assert_eq!(tell(&f, instance.id, &mail).await, RecipientId(2));

    let found = recipients::find(&mut f.store.reader(), instance.id, RecipientId(1)).await;
    let found = found.unwrap().unwrap();
    assert_eq!((found.value.expose(), &found.options, found.updated), ("k3y", &key.options, false));
    // A key of one row is nothing in another.
    let of_other = format!("SELECT value FROM recipients WHERE instance_id = {}", other.id);
    f.raw(&format!("UPDATE recipients SET value = ({of_other})")).await;

    let mut work = f.store.begin().await.unwrap();
    let status = LastStatus { at: now(), ok: false, message: "it answered 500".into() };
    recipients::set_last_status(&mut work, other.id, RecipientId(1), &status).await.unwrap();
    assert!(recipients::update(&mut work, other.id, RecipientId(1), &mail).await.unwrap());
    assert!(!recipients::update(&mut work, other.id, RecipientId(2), &mail).await.unwrap());
    assert!(recipients::delete(&mut work, instance.id, RecipientId(2)).await.unwrap());
    assert!(!recipients::delete(&mut work, instance.id, RecipientId(2)).await.unwrap());
    work.commit().await.unwrap();
    assert_eq!(tell(&f, instance.id, &mail).await, RecipientId(3), "never given again");
    let listed = recipients::list(&mut f.store.reader(), other.id).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].value.expose(), "ada@example.com");
    assert!(listed[0].updated && listed[0].last_status == Some(status));
    let foreign = recipients::find(&mut f.store.reader(), instance.id, RecipientId(1)).await;
    let foreign = foreign.unwrap().unwrap();
    assert_eq!((foreign.value.expose(), foreign.is_readable()), ("", false), "of another row");
    assert_eq!(foreign.options, RecipientOptions::default());
    let listed = recipients::list(&mut f.store.reader(), instance.id).await.unwrap();
    let readable: Vec<bool> = listed.iter().map(Recipient::is_readable).collect();
    assert_eq!(readable, [false, true], "the others are read");
}

pub async fn alarms_are_kept_under_their_own_ids(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9100).await;
    let first = watch(&f, instance.id, &[RecipientId(2)]).await;
    let second = watch(&f, instance.id, &[]).await;
    assert_eq!((first.id, second.id), (AlarmId(1), AlarmId(2)));
    assert_eq!(watch(&f, other.id, &[]).await.id, AlarmId(1));
    let listed = alarms::list(&mut f.store.reader(), instance.id).await.unwrap();
    assert_eq!(listed, [first.clone(), second.clone()]);

    let what = AlarmSpec::first(AlarmType::Notice, None, None);
    let mut work = f.store.begin().await.unwrap();
    let updated = alarms::update(&mut work, instance.id, second.id, what.clone()).await.unwrap();
    assert_eq!(updated, Some(Alarm { id: second.id, what: what.clone() }));
    assert_eq!(alarms::update(&mut work, other.id, second.id, what).await.unwrap(), None);
    assert!(alarms::delete(&mut work, instance.id, first.id).await.unwrap());
    assert!(!alarms::delete(&mut work, instance.id, first.id).await.unwrap());
    work.commit().await.unwrap();
    let mut reader = f.store.reader();
    assert_eq!(alarms::find(&mut reader, instance.id, first.id).await.unwrap(), None);
    assert_eq!(alarms::find(&mut reader, instance.id, second.id).await.unwrap(), updated);
    assert_eq!(watch(&f, instance.id, &[]).await.id, AlarmId(3), "never given again");
}

pub async fn a_recipient_who_is_gone_is_in_no_list(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, ..) = f.instance(account, 9000).await;
    let (other, ..) = f.instance(account, 9100).await;
    let both = [RecipientId(1), RecipientId(2)];
    watch(&f, instance.id, &both).await;
    watch(&f, instance.id, &[RecipientId(1)]).await;
    watch(&f, other.id, &both).await;
    let mut work = f.store.begin().await.unwrap();
    let changed = alarms::forget_recipient(&mut work, instance.id, RecipientId(1)).await.unwrap();
    let changed: Vec<_> =
        changed.into_iter().map(|(was, is)| (is.id, was.recipients, is.what.recipients)).collect();
    let expected = [
        (AlarmId(1), both.to_vec(), vec![RecipientId(2)]),
        (AlarmId(2), vec![RecipientId(1)], vec![]),
    ];
    assert_eq!(changed, expected);
    let again = alarms::forget_recipient(&mut work, instance.id, RecipientId(1)).await.unwrap();
    assert_eq!(again, []);
    work.commit().await.unwrap();
    let lists = async |instance: InstanceId| -> Vec<Vec<RecipientId>> {
        let listed = alarms::list(&mut f.store.reader(), instance).await.unwrap();
        listed.into_iter().map(|alarm| alarm.what.recipients).collect()
    };
    assert_eq!(lists(instance.id).await, [vec![RecipientId(2)], vec![]]);
    assert_eq!(lists(other.id).await, [both.to_vec()]);
}

/// So long that nothing is it by chance.
const KEY: &str = "the-key-of-a-pager";

pub async fn alarms_go_with_their_instance(f: Fixture) {
    let account = f.account().await.account.id;
    let (instance, server, disk) = f.instance(account, 9000).await;
    let id = tell(&f, instance.id, &recipient(RecipientType::Email, "ada@example.com")).await;
    let pager = tell(&f, instance.id, &recipient(RecipientType::Victorops, KEY)).await;
    watch(&f, instance.id, &[id]).await;
    let mut work = f.store.begin().await.unwrap();
    let whom = recipients::find(&mut work, instance.id, pager).await.unwrap().unwrap();
    let over = over(&f, instance.id);
    notifications::insert(&mut work, &whom, over.clone(), f.now()).await.unwrap();
    disks::remove(&mut work, disk.id).await.unwrap();
    servers::remove(&mut work, server.id).await.unwrap();
    instances::remove(&mut work, instance.id).await.unwrap();
    work.commit().await.unwrap();
    let mut reader = f.store.reader();
    assert_eq!(recipients::list(&mut reader, instance.id).await.unwrap(), []);
    assert_eq!(alarms::list(&mut reader, instance.id).await.unwrap(), []);

    // What they have not heard is still told, wherever that was.
    let mut work = f.store.begin().await.unwrap();
    let due = outbox::due(&mut work, 9, f.now()).await.unwrap();
    let taken = outbox::take(&mut work, &due[0], "one", f.now(), LIFE).await.unwrap().unwrap();
    let telling: QueuedNotification = serde_json::from_str(taken.body.unwrap().expose()).unwrap();
    let address = Some(RecipientAddress::from(&whom));
    assert_eq!(telling, QueuedNotification { recipient_id: pager, address, notification: over });
    work.commit().await.unwrap();
    let stored = f.everything().await;
    let is_there = stored.windows(KEY.len()).any(|bytes| bytes == KEY.as_bytes());
    assert!(!is_there, "a key is sealed wherever it is");
}

fn over(f: &Fixture, instance_id: InstanceId) -> Notification {
    Notification {
        state: NotificationState::Resolved,
        alarm_id: Some(AlarmId(1)),
        alarm_type: "cpu".into(),
        message: "is over".into(),
        ..Notification::test(f.entropy.uuid(), instance_id, "orders")
    }
}
