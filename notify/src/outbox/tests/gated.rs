//! Notifications to addresses that may not be mailed, or not that much.

use super::*;
use store::{instances, mail_consents};

const STRANGER: &str = "eve@example.com";

impl Post {
    async fn stranger(&self) -> (InstanceId, RecipientId) {
        let instance = self.rows.create(1).await.id;
        self.recipient_of(instance, RecipientType::Email, STRANGER).await
    }

    /// A link went to the stranger, and was used or not.
    async fn ask(&self, instance: InstanceId, is_confirmed: bool) {
        let (now, token) = (self.clock.now(), SeededEntropy::new(5).key());
        let mut work = self.outbox.store.begin().await.unwrap();
        let account = instances::find(&mut work, instance).await.unwrap().unwrap().account_id;
        mail_consents::ask(&mut work, account, STRANGER, &token, now).await.unwrap();
        if is_confirmed {
            let consent = mail_consents::find(&mut work, &token).await.unwrap().unwrap();
            mail_consents::confirm(&mut work, &consent, now).await.unwrap();
        }
        work.commit().await.unwrap();
    }

    async fn refusal(&self, whom: (InstanceId, RecipientId)) -> String {
        let (ok, message) = self.last_status(whom).await.unwrap();
        assert!(!ok, "{message}");
        message
    }
}

#[tokio::test]
async fn an_address_outside_the_team_gets_nothing_before_it_confirmed() {
    let post = Post::new(0).await;
    let whom = post.stranger().await;
    post.enqueue(whom, "begun").await;
    assert_eq!((post.pass().await, post.wait().await), (1, None), "it does not wait");
    assert!(post.refusal(whom).await.starts_with("waiting for confirmation: no mail"));
    post.ask(whom.0, false).await;
    post.enqueue(whom, "still so").await;
    assert_eq!(post.pass().await, 1);
    let expected = "waiting for confirmation: a mail with a link went to eve@example.com on";
    assert!(post.refusal(whom).await.starts_with(expected));
    assert_eq!(post.delivered().len(), 0);

    post.ask(whom.0, true).await;
    post.enqueue(whom, "over").await;
    assert_eq!(post.pass().await, 1);
    assert_eq!(post.delivered(), ["over"]);
}

/// Also who was deleted, or went with the instance: the message says where they were.
#[tokio::test]
async fn a_former_address_outside_the_team_gets_nothing_either() {
    for (is_confirmed, expected) in [(false, 0), (true, 1)] {
        let post = Post::new(0).await;
        let whom = post.stranger().await;
        post.ask(whom.0, is_confirmed).await;
        post.enqueue(whom, "over").await;
        post.remove(whom.0).await;
        assert_eq!(post.pass().await, 1);
        assert_eq!((post.delivered().len(), post.wait().await), (expected, None));
    }
}

#[tokio::test]
async fn what_is_beyond_a_limit_waits_and_goes_in_one_mail() {
    let limits = [
        MessageLimits { notifications_per_destination_per_hour: 2, ..MessageLimits::OFF },
        MessageLimits { notifications_per_account_per_hour: 2, ..MessageLimits::OFF },
    ];
    for limits in limits {
        let mut post = Post::new(0).await;
        post.outbox.limits = limits;
        let whom = post.recipient(RecipientType::Email).await;
        let other = post.recipient(RecipientType::Email).await;
        post.enqueue(whom, "a begun").await;
        post.enqueue(other, "b begun").await;
        assert_eq!(post.pass().await, 2);
        post.clock.advance(SignedDuration::from_mins(20));
        post.enqueue(whom, "a over").await;
        assert_eq!(post.pass().await, 1);
        let expected = "held back: the limit of 2 messages an hour is reached";
        assert!(post.refusal(whom).await.starts_with(expected));
        assert_eq!(post.delivered(), ["a begun", "b begun"]);
        assert_eq!(post.wait().await, Some(SignedDuration::from_mins(40)));
        post.enqueue(whom, "a begun again").await;
        post.clock.advance(SignedDuration::from_mins(40));
        assert_eq!(post.pass().await, 1);
        assert_eq!(post.delivered().last().unwrap(), "a over & a begun again");
        assert_eq!(post.last_status(whom).await, Some((true, "delivered".into())));
    }
}

#[tokio::test]
async fn what_did_not_go_out_does_not_count() {
    let mut post = Post::new(0).await;
    post.outbox.limits.notifications_per_destination_per_hour = 1;
    let whom = post.recipient(RecipientType::Webhook).await;
    *post.notifier.fails.lock().unwrap() = Some(Undelivered { reason: "away".into(), wait: None });
    post.enqueue(whom, "begun").await;
    for _ in 0..3 {
        assert_eq!(post.pass().await, 1);
        assert_eq!(post.refusal(whom).await, "away");
        post.clock.advance(post.wait().await.unwrap());
    }
    *post.notifier.fails.lock().unwrap() = None;
    assert_eq!(post.pass().await, 1);
    assert_eq!(post.delivered(), ["begun"]);
}
