//! Notifications to recipients who are slow, gone, elsewhere or unreadable.

use super::*;

fn webhook(value: &str) -> NewRecipient {
    let (kind, value) = (RecipientType::Webhook, Secret::new(value));
    NewRecipient { kind, value, name: String::new(), options: RecipientOptions::default() }
}

impl Post {
    /// An instance with somebody to tell.
    pub(super) async fn recipient(&self, kind: RecipientType) -> (InstanceId, RecipientId) {
        let instance = self.rows.create(1).await.id;
        self.recipient_of(instance, kind, "a@acme.test").await
    }

    pub(super) async fn recipient_of(
        &self,
        instance: InstanceId,
        kind: RecipientType,
        value: &str,
    ) -> (InstanceId, RecipientId) {
        let new = NewRecipient { kind, ..webhook(value) };
        let mut work = self.outbox.store.begin().await.unwrap();
        let id = recipients::insert(&mut work, instance, &new).await.unwrap();
        work.commit().await.unwrap();
        (instance, id)
    }

    /// A pager whose incidents are known by that key, and what it rings for.
    async fn pager_that_rings(&self, key: Option<&str>) -> ((InstanceId, RecipientId), Incident) {
        let instance = self.rows.create(1).await.id;
        let now = self.clock.now();
        let options = RecipientOptions { dedupkey: key.map(str::to_owned), ..<_>::default() };
        let new = NewRecipient { kind: RecipientType::Pagerduty, options, ..webhook("k3y") };
        let mut work = self.outbox.store.begin().await.unwrap();
        let whom = (instance, recipients::insert(&mut work, instance, &new).await.unwrap());
        let cpu = AlarmSpec::first(AlarmType::Cpu, Some(90), Some(0));
        let alarm = alarms::insert(&mut work, instance, cpu).await.unwrap().id;
        let begun = incidents::begin(&mut work, instance, alarm, "02", now, None).await.unwrap();
        let begun = begun.unwrap();
        let fires = Incident { triggered_at: Some(now), ..begun.clone() };
        assert!(incidents::advance(&mut work, &begun, &fires).await.unwrap());
        work.commit().await.unwrap();
        (whom, fires)
    }

    pub(super) async fn enqueue(&self, whom: (InstanceId, RecipientId), message: &str) {
        self.enqueue_state(NotificationState::Triggered, whom, message).await;
    }

    async fn enqueue_state(
        &self,
        state: NotificationState,
        (instance_id, recipient_id): (InstanceId, RecipientId),
        message: &str,
    ) {
        let notification = Notification {
            state,
            alarm_id: Some(AlarmId(1)),
            alarm_type: "cpu".into(),
            message: message.into(),
            ..Notification::test(SeededEntropy::new(3).uuid(), instance_id, "orders")
        };
        let recipient = self.found((instance_id, recipient_id)).await;
        let mut work = self.outbox.store.begin().await.unwrap();
        notifications::insert(&mut work, &recipient, notification, self.clock.now()).await.unwrap();
        work.commit().await.unwrap();
    }

    pub(super) async fn found(&self, whom: (InstanceId, RecipientId)) -> Recipient {
        let mut reader = self.outbox.store.reader();
        recipients::find(&mut reader, whom.0, whom.1).await.unwrap().unwrap()
    }

    /// As the engine does at the end of a delete.
    pub(super) async fn remove(&self, instance: InstanceId) {
        let (servers, disks) = (self.rows.servers(instance).await, self.rows.disks(instance).await);
        let mut work = self.outbox.store.begin().await.unwrap();
        for disk in disks {
            store::disks::remove(&mut work, disk.id).await.unwrap();
        }
        for record in servers {
            store::servers::remove(&mut work, record.server.id).await.unwrap();
        }
        store::instances::remove(&mut work, instance).await.unwrap();
        work.commit().await.unwrap();
    }

    /// What the store keeps of somebody does not open any more: it was sealed
    /// with another key.
    async fn break_seal(&self, (instance, recipient): (InstanceId, RecipientId)) {
        let entropy = Arc::new(SeededEntropy::new(7));
        let key = MasterKey::parse(&MasterKey::generate(&*entropy), entropy).unwrap();
        let path = self.rows.directory.path().join("test.db");
        let other = Store::open(&path, key).await.unwrap();
        let mut work = other.begin().await.unwrap();
        recipients::update(&mut work, instance, recipient, &webhook("a@acme.test")).await.unwrap();
        work.commit().await.unwrap();
        other.close().await;
    }

    pub(super) fn delivered(&self) -> Vec<String> {
        self.notifier.delivered.lock().unwrap().iter().map(|told| told.1.clone()).collect()
    }

    pub(super) async fn last_status(
        &self,
        whom: (InstanceId, RecipientId),
    ) -> Option<(bool, String)> {
        self.found(whom).await.last_status.map(|status| (status.ok, status.message))
    }
}

#[tokio::test]
async fn somebody_is_told_in_order_and_it_is_noted_how_that_went() {
    let post = Post::new(0).await;
    let whom = post.recipient(RecipientType::Webhook).await;
    let wait = Some(SignedDuration::from_mins(7));
    let undelivered = Undelivered { reason: "example.com answered 429".into(), wait };
    *post.notifier.fails.lock().unwrap() = Some(undelivered);
    post.enqueue(whom, "begun").await;
    post.enqueue(whom, "over").await;
    assert_eq!(post.pass().await, 1, "the second has to wait");
    let status = post.last_status(whom).await;
    assert_eq!(status, Some((false, "example.com answered 429".into())));
    assert_eq!(post.wait().await, wait, "as long as they wish");

    *post.notifier.fails.lock().unwrap() = None;
    post.clock.advance(SignedDuration::from_mins(7));
    assert_eq!((post.pass().await, post.pass().await), (1, 1));
    assert_eq!(post.delivered(), ["begun", "over"]);
    assert_eq!(post.last_status(whom).await, Some((true, "delivered".into())));
    assert_eq!(post.wait().await, None);
}

#[tokio::test]
async fn nobody_gets_more_than_one_mail_a_minute_of_an_alarm() {
    let post = Post::new(0).await;
    let whom = post.recipient(RecipientType::Email).await;
    post.enqueue(whom, "begun").await;
    assert_eq!(post.pass().await, 1);
    post.enqueue(whom, "over").await;
    assert_eq!(post.pass().await, 0);
    assert_eq!(post.wait().await, Some(SignedDuration::from_mins(1)));
    post.clock.advance(SignedDuration::from_mins(1));
    assert_eq!(post.pass().await, 1);
    assert_eq!(post.delivered(), ["begun", "over"]);
}

#[tokio::test]
async fn what_waits_for_the_next_mail_goes_in_one() {
    let post = Post::new(0).await;
    let whom = post.recipient(RecipientType::Email).await;
    for message in ["a begun", "b begun", "a over"] {
        post.enqueue(whom, message).await;
    }
    let undelivered = Undelivered { reason: "the mail server is away".into(), wait: None };
    *post.notifier.fails.lock().unwrap() = Some(undelivered);
    assert_eq!(post.pass().await, 1);
    post.clock.advance(SignedDuration::from_secs(15));
    assert_eq!(post.pass().await, 1);
    *post.notifier.fails.lock().unwrap() = None;
    post.enqueue(whom, "b over").await;
    post.clock.advance(SignedDuration::from_secs(30));
    assert_eq!(post.pass().await, 1);
    assert_eq!(post.delivered(), ["a begun & b begun & a over & b over"]);
    assert_eq!(post.wait().await, None, "all of it is told");
    let ids = post.notifier.ids.lock().unwrap().clone();
    assert!(ids[0] == ids[1] && ids[1] != ids[2], "with more in it it is another: {ids:?}");

    post.clock.advance(SignedDuration::from_mins(1));
    let most = usize::try_from(MOST_ALONG).unwrap() + 1;
    for number in 0..most + 2 {
        post.enqueue(whom, &number.to_string()).await;
    }
    assert_eq!((post.pass().await, post.pass().await), (1, 0));
    post.clock.advance(SignedDuration::from_mins(1));
    assert_eq!(post.pass().await, 1);
    let expected = format!("{most} & {}", most + 1);
    assert_eq!(post.delivered().last(), Some(&expected), "and the rest a minute later");
    assert_eq!(post.wait().await, None);
}

#[tokio::test]
async fn who_is_told_elsewhere_than_by_the_last_mail_does_not_wait() {
    let elsewhere = [
        webhook("https://example.com/"),
        NewRecipient { kind: RecipientType::Email, ..webhook("A@ACME.test") },
    ];
    for (is_under_way, new) in
        [false, true].into_iter().flat_map(|it| [(it, &elsewhere[0]), (it, &elsewhere[1])])
    {
        let post = Post::new(0).await;
        let whom = post.recipient(RecipientType::Email).await;
        post.enqueue(whom, "begun").await;
        let taken = post.outbox.take(&Places::default()).await.unwrap();
        let message = &taken[0].0;
        post.enqueue(whom, "still so").await;
        let along = outbox::behind(&mut post.outbox.store.reader(), message, 1).await.unwrap();
        let told = Whom { instance: whom.0, recipient: post.found(whom).await, is_former: false };
        let mailed = post.outbox.note_delivered(message, &along, &told);
        let change = async {
            let mut work = post.outbox.store.begin().await.unwrap();
            recipients::update(&mut work, whom.0, whom.1, new).await.unwrap();
            notifications::forget_pace(&mut work, whom.0, whom.1).await.unwrap();
            work.commit().await.unwrap();
        };
        if is_under_way {
            change.await;
            mailed.await.unwrap();
        } else {
            mailed.await.unwrap();
            change.await;
        }
        post.enqueue(whom, "over").await;
        while post.pass().await > 0 {}
        let missed = if is_under_way { vec!["still so", "over"] } else { vec!["over"] };
        assert_eq!(post.delivered().join(" & "), missed.join(" & "), "{is_under_way}");
    }
}

#[tokio::test]
async fn who_is_gone_is_not_told() {
    let post = Post::new(0).await;
    let (instance, recipient) = post.recipient(RecipientType::Webhook).await;
    post.enqueue((instance, recipient), "begun").await;
    let mut work = post.outbox.store.begin().await.unwrap();
    recipients::delete(&mut work, instance, recipient).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!((post.pass().await, post.delivered().len()), (1, 0));
    assert_eq!(post.wait().await, None);
}

#[tokio::test]
async fn who_went_with_their_instance_is_still_told() {
    for is_under_way in [false, true] {
        let post = Post::new(0).await;
        let whom = post.recipient(RecipientType::Webhook).await;
        post.enqueue(whom, "over").await;
        if is_under_way {
            let taken = post.outbox.take(&Places::default()).await.unwrap();
            post.remove(whom.0).await;
            post.outbox.deliver(&taken[0].0).await;
            assert_eq!(post.delivered().len(), 0, "whoever took it before found nobody");
            post.clock.advance(LEASE);
        } else {
            post.remove(whom.0).await;
        }
        assert_eq!((post.pass().await, post.delivered()), (1, vec!["over".to_owned()]));
        assert_eq!(post.wait().await, None);
    }
}

/// A pager whose incidents are all known by one key, and which would ring for ever.
#[tokio::test]
async fn who_is_told_elsewhere_or_gone_hears_the_end_where_they_were() {
    for is_gone in [false, true] {
        let post = Post::new(0).await;
        let now = post.clock.now();
        let (whom, fires) = post.pager_that_rings(Some("ours")).await;

        let former = post.found(whom).await;
        let over = Notification {
            state: NotificationState::Resolved,
            alarm_id: Some(fires.alarm_id),
            alarm_type: "cpu".into(),
            message: "over".into(),
            ..Notification::test(SeededEntropy::new(3).uuid(), whom.0, "orders")
        };
        let mut work = post.outbox.store.begin().await.unwrap();
        notifications::insert_former(&mut work, &former, over, now).await.unwrap();
        if is_gone {
            recipients::delete(&mut work, whom.0, whom.1).await.unwrap();
            notifications::withdraw(&mut work, whom.0, whom.1).await.unwrap();
        } else {
            let hook = webhook("https://example.com/");
            recipients::update(&mut work, whom.0, whom.1, &hook).await.unwrap();
        }
        work.commit().await.unwrap();
        assert_eq!((post.pass().await, post.wait().await), (1, None));
        let told = post.notifier.delivered.lock().unwrap().clone();
        assert_eq!(told, [(RecipientType::Pagerduty, "over".to_owned())], "{is_gone}");
        if !is_gone {
            assert_eq!(post.last_status(whom).await, None, "nobody was told at the new address");
        }
    }
}

/// A pager whose incidents are all known by one key.
#[tokio::test]
async fn the_end_of_one_alarm_is_not_the_end_of_another_under_the_same_key() {
    for (key, expected) in
        [(Some("ours"), vec!["02 is fine"]), (None, vec!["01 is fine", "02 is fine"])]
    {
        let post = Post::new(0).await;
        let now = post.clock.now();
        let (whom, fires) = post.pager_that_rings(key).await;

        post.enqueue_state(NotificationState::Resolved, whom, "01 is fine").await;
        assert_eq!(post.pass().await, 1);
        let mut work = post.outbox.store.begin().await.unwrap();
        let over = Incident { resolved_at: Some(now), ..fires.clone() };
        assert!(incidents::advance(&mut work, &fires, &over).await.unwrap());
        work.commit().await.unwrap();
        post.enqueue_state(NotificationState::Resolved, whom, "02 is fine").await;
        assert_eq!((post.pass().await, post.wait().await), (1, None));
        assert_eq!(post.delivered(), expected, "{key:?}");
    }
}

/// More than there are places.
const MANY: usize = 150;

#[tokio::test]
async fn an_instance_whose_destinations_hang_holds_up_no_other() {
    let post = Post::new(0).await;
    let crowd = post.rows.create(1).await.id;
    for number in 0..MANY {
        let url = format!("https://hang-{number}.test/");
        let whom = post.recipient_of(crowd, RecipientType::Webhook, &url).await;
        post.enqueue(whom, "never").await;
    }
    let running = tokio::spawn(post.outbox.clone().run(CancellationToken::new()));
    let hanging = || post.notifier.hanging.load(Ordering::SeqCst);
    assert!(comes(|| hanging() == 16).await, "{} hang", hanging());

    let other = post.recipient(RecipientType::Webhook).await;
    post.enqueue(other, "begun").await;
    assert!(comes(|| post.delivered() == ["begun"]).await, "{} hang", hanging());
    assert_eq!(hanging(), 16, "no more than an instance may");
    running.abort();
}

#[tokio::test]
async fn a_destination_that_hangs_holds_up_no_other_of_its_instance() {
    let post = Post::new(0).await;
    let instance = post.rows.create(1).await.id;
    for number in 0..MANY {
        let url = format!("https://hang.test/{number}");
        let whom = post.recipient_of(instance, RecipientType::Webhook, &url).await;
        post.enqueue(whom, "never").await;
    }
    let running = tokio::spawn(post.outbox.clone().run(CancellationToken::new()));
    let hanging = || post.notifier.hanging.load(Ordering::SeqCst);
    assert!(comes(|| hanging() == 4).await, "{} hang", hanging());

    let url = "https://example.com/";
    let other = post.recipient_of(instance, RecipientType::Webhook, url).await;
    post.enqueue(other, "begun").await;
    assert!(comes(|| post.delivered() == ["begun"]).await, "{} hang", hanging());
    assert_eq!(hanging(), 4, "no more than one instance may at one destination");
    running.abort();
}

#[tokio::test]
async fn what_waits_behind_others_for_a_day_is_given_up_untried() {
    let post = Post::new(0).await;
    let whom = post.recipient(RecipientType::Webhook).await;
    let undelivered = Undelivered { reason: "example.com answered 500".into(), wait: None };
    *post.notifier.fails.lock().unwrap() = Some(undelivered);
    for message in ["begun", "still so", "over"] {
        post.enqueue(whom, message).await;
    }
    assert_eq!(post.pass().await, 1, "the others have to wait");
    *post.notifier.fails.lock().unwrap() = None;
    post.clock.advance(DAY);
    post.enqueue(whom, "begun again").await;
    assert_eq!(post.pass().await, 0);
    let given_up = Some((false, "not sent: given up after 24 h".to_owned()));
    assert_eq!(post.last_status(whom).await, given_up);
    assert_eq!(post.pass().await, 1);
    assert_eq!(post.delivered(), ["begun again"], "the rest is a day old");
    assert_eq!(post.last_status(whom).await, Some((true, "delivered".into())));
}

#[tokio::test]
async fn what_was_tried_and_is_given_up_says_why_it_failed() {
    let post = Post::new(0).await;
    let whom = post.recipient(RecipientType::Webhook).await;
    let undelivered = Undelivered { reason: "example.com answered 500".into(), wait: None };
    *post.notifier.fails.lock().unwrap() = Some(undelivered);
    post.enqueue(whom, "begun").await;
    assert_eq!(post.pass().await, 1);
    post.clock.advance(DAY);
    assert_eq!((post.pass().await, post.wait().await), (0, None));
    let status = post.last_status(whom).await;
    assert_eq!(status, Some((false, "example.com answered 500".into())));
}

#[tokio::test]
async fn a_recipient_who_can_not_be_read_is_told_nothing_and_says_so() {
    let post = Post::new(0).await;
    let whom = post.recipient(RecipientType::Webhook).await;
    let other = post.recipient_of(whom.0, RecipientType::Webhook, "https://example.com/").await;
    post.enqueue(whom, "begun").await;
    post.break_seal(whom).await;
    post.enqueue(other, "begun").await;
    assert_eq!(post.pass().await, 2);
    assert_eq!(post.delivered(), ["begun"], "the other one alone");
    let (ok, said) = post.last_status(whom).await.unwrap();
    assert!(!ok && said.contains("update the recipient"), "{said}");
    assert_eq!(post.wait().await, None, "it is not tried again");
}

#[tokio::test]
async fn who_lost_a_message_says_nothing_of_it() {
    for fails in [false, true] {
        let post = Post::new(0).await;
        let whom = post.recipient(RecipientType::Webhook).await;
        let undelivered = Undelivered { reason: "example.com answered 500".into(), wait: None };
        *post.notifier.fails.lock().unwrap() = fails.then_some(undelivered);
        post.enqueue(whom, "begun").await;
        let slow = post.outbox.take(&Places::default()).await.unwrap();
        post.clock.advance(LEASE);
        let quick = post.outbox.take(&Places::default()).await.unwrap();
        post.outbox.deliver(&slow[0].0).await;
        assert_eq!(post.last_status(whom).await, None, "it is another's by now");
        post.outbox.deliver(&quick[0].0).await;
        assert_eq!(post.last_status(whom).await.map(|status| status.0), Some(!fails));
    }
}
