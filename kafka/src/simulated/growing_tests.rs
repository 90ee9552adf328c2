//! Bad luck while a simulated cluster grows and shrinks; what goes well `conformance` checks.

use super::tests::{World, broker, endpoint};
use super::*;
use crate::client::{
    Admin, Assignment, Changes, Cluster, Error, NewVoter, Remedy, SettingsOf, TopicPartition,
};
use crate::settings::MIN_IN_SYNC;
use crate::throttle::{Copies, throttle};
use model::SignedDuration;
use std::collections::BTreeMap;

fn at() -> [TopicPartition; 1] {
    [TopicPartition::new("t", 0)]
}

impl World {
    async fn reassign(&self, replicas: &[i32]) {
        let to = [Assignment { at: at()[0].clone(), replicas: replicas.into() }];
        let altered = self.kafka.placement().reassign(&self.cluster(), &to).await.unwrap();
        assert_eq!(altered.refused, []);
    }

    fn voter(&self, id: i32) -> NewVoter {
        let quorum = self.kafka.state().describe_quorum();
        let mut all = quorum.observers.iter().chain(&quorum.voters);
        let directory = all.find(|it| it.id == id).and_then(|it| it.directory).unwrap();
        NewVoter { id, directory, controller: endpoint(id) }
    }

    async fn set_min_in_sync(&self, value: &str) {
        let changes = Changes::from([(MIN_IN_SYNC.to_owned(), Some(value.to_owned()))]);
        let changes = BTreeMap::from([(SettingsOf::Topic("t".into()), changes)]);
        let settings = self.kafka.settings();
        let done = settings.change_settings_of(&self.cluster(), &changes).await.unwrap();
        assert_eq!(done.refused, []);
    }
}

#[tokio::test]
async fn a_change_whose_reply_is_lost_can_be_repeated() {
    let world = World::new(3, 4);
    world.topic("t", 3, "2").await;
    let (kafka, cluster) = (&world.kafka, world.cluster());
    // The fourth is no controller.
    let third = world.voter(3);
    let remove = || kafka.voters().remove_voter(&cluster, 3, third.directory);
    kafka.fail_next(Fault::LostReply, 1);
    assert_eq!(remove().await.unwrap_err().remedy(), Remedy::Retry);
    assert_eq!(remove().await, Ok(false));
    world.pass(5);
    kafka.fail_next(Fault::LostReply, 1);
    assert!(kafka.voters().add_voter(&cluster, &third).await.unwrap_err().may_have_done_it());
    assert_eq!(kafka.voters().add_voter(&cluster, &third).await, Ok(false));

    let to = [Assignment { at: at()[0].clone(), replicas: vec![4, 1, 2] }];
    for fault in [Some(Fault::LostReply), None] {
        fault.inspect(|fault| kafka.fail_next(*fault, 1));
        let altered = kafka.placement().reassign(&cluster, &to).await;
        assert_eq!(altered.is_err(), fault.is_some());
    }
    world.pass(5);
    assert_eq!(world.partition("t").replicas, [4, 1, 2]);
    kafka.stop(3);
    world.pass(5);
    kafka.fail_next(Fault::LostReply, 1);
    assert!(kafka.voters().unregister_broker(&cluster, 3).await.is_err());
    assert_eq!(kafka.voters().unregister_broker(&cluster, 3).await, Ok(false));
}

#[tokio::test]
async fn of_two_voters_with_one_dead_neither_can_be_removed() {
    let world = World::new(4, 3);
    let (kafka, cluster) = (&world.kafka, world.cluster());
    let voters: Vec<NewVoter> = [1, 2, 3].map(|id| world.voter(id)).into();
    let remove = async |at: usize| {
        kafka.voters().remove_voter(&cluster, voters[at].id, voters[at].directory).await
    };
    assert_eq!(remove(2).await, Ok(true));
    assert_eq!(remove(1).await.unwrap_err().remedy(), Remedy::Retry, "one at a time");
    world.pass(5);
    let leader = kafka.active_controller().unwrap();
    let dead = if leader == 1 { 2 } else { 1 };
    kafka.kill(dead);
    world.pass(30);
    let error = remove(usize::try_from(dead - 1).unwrap()).await.unwrap_err();
    assert_eq!(error.remedy(), Remedy::Retry);
    assert!(!kafka.is_led() && kafka.voter_ids().len() == 2);
    kafka.start(dead);
    world.pass(30);
    assert_eq!(remove(usize::try_from(dead - 1).unwrap()).await, Ok(true));
    world.pass(5);
    let last = remove(usize::try_from(leader - 1).unwrap()).await.unwrap_err();
    assert_eq!(last.remedy(), Remedy::Refused, "{last}");
}

#[tokio::test]
async fn a_copy_takes_as_long_as_its_throttle_says() {
    let world = World::new(5, 4);
    world.topic("t", 1, "1").await;
    world.reassign(&[1]).await;
    world.pass(5);
    world.kafka.fill("t", 0, 10_000_000);
    let copies = Copies { at: at()[0].clone(), from: vec![1], to: vec![4] };
    let settings = world.kafka.settings();
    let changes = throttle(&[copies], 1_000_000);
    settings.change_settings_of(&world.cluster(), &changes).await.unwrap();
    world.reassign(&[4, 1]).await;
    world.pass(5);
    let half = world.kafka.copy_bytes("t", 0, 4).unwrap();
    assert!((4_900_000..5_100_000).contains(&half), "{half}");
    world.kafka.kill(4);
    world.pass(60);
    assert_eq!(world.partition("t").adding, [4], "it stays listed");
    world.kafka.start(4);
    world.pass(30);
    assert!(world.partition("t").adding.is_empty());
    assert_eq!(world.kafka.copy_bytes("t", 0, 4), Some(10_000_000));
    assert_eq!(world.kafka.lost_bytes(), []);
}

/// A replica is called back while another one lags, and then sent again. With min ISR lowered
/// first it is not eligible, and the partition waits for its leader.
#[tokio::test]
async fn a_stale_elr_loses_writes_unless_min_isr_is_lowered_first() {
    for is_lowered_first in [true, false] {
        let world = World::new(6, 4);
        world.topic("t", 2, "2").await;
        world.reassign(&[1, 3]).await;
        world.pass(5);
        for _ in 0..10 {
            world.write("t").unwrap();
        }
        world.kafka.stall_replicas(3, true);
        world.kafka.stall_replicas(4, true);
        world.pass(40);
        world.reassign(&[1, 3, 2, 4]).await;
        world.pass(5);
        assert_eq!(world.partition("t").in_sync.len(), 2, "the second has all");
        if is_lowered_first {
            world.set_min_in_sync("1").await;
        }
        let (placement, cluster) = (world.kafka.placement(), world.cluster());
        let cancelled = placement.cancel_reassignments(&cluster, &at()).await.unwrap();
        assert_eq!(cancelled.done, at());
        assert_eq!(world.partition("t").elr.is_empty(), is_lowered_first);
        world.kafka.stall_replicas(2, true);
        world.reassign(&[1, 3, 2]).await;
        assert_eq!(world.partition("t").elr.is_empty(), is_lowered_first);
        world.kafka.kill(1);
        world.pass(30);
        let lost = world.kafka.lost_writes();
        assert_eq!(lost.is_empty(), is_lowered_first, "{lost:?}");
    }
}

/// A reassignment of a single replica clears what was left of others.
#[tokio::test]
async fn a_stale_elr_does_not_outlive_the_single_replica() {
    let world = World::new(6, 3);
    world.topic("t", 3, "2").await;
    world.reassign(&[1, 2, 3]).await;
    world.write("t").unwrap();
    world.reassign(&[1]).await;
    world.pass(5);
    assert_eq!(world.partition("t").elr.len(), 2);
    world.kafka.stall_replicas(2, true);
    world.reassign(&[1, 2]).await;
    assert!(world.partition("t").elr.is_empty());
}

#[tokio::test]
async fn without_elr_a_partition_waits_for_its_leader() {
    let world = World::new(7, 3);
    world.kafka.state().change().has_elr = false;
    world.topic("t", 2, "2").await;
    world.reassign(&[1, 2]).await;
    world.pass(5);
    world.write("t").unwrap();
    world.kafka.kill(2);
    world.pass(10);
    world.kafka.kill(1);
    world.pass(10);
    world.kafka.start(2);
    world.pass(30);
    assert_eq!(world.partition("t").leader, None);
    assert_eq!(world.partition("t").in_sync, vec![1_i32]);
    world.kafka.start(1);
    world.pass(30);
    assert_eq!(world.partition("t").leader, Some(1));
    assert_eq!(world.kafka.lost_writes(), []);
}

#[tokio::test]
async fn a_stale_view_contradicts_the_reassignments() {
    let world = World::new(8, 3);
    world.topic("t", 1, "1").await;
    world.reassign(&[1]).await;
    world.pass(5);
    world.kafka.fill("t", 0, u64::MAX / 2);
    for id in [1, 2, 3] {
        world.kafka.hold_view(id, SignedDuration::from_secs(60));
    }
    world.reassign(&[1, 2]).await;
    let read: Result<_, Error> = world.kafka.placement().read_placement(&world.cluster()).await;
    assert_eq!(read.unwrap_err().remedy(), Remedy::Retry);
    let one: Cluster = world.cluster().through(&broker(1));
    assert_eq!(world.kafka.placement().list_reassignments(&one).await.unwrap().len(), 1);
}

#[tokio::test]
async fn one_that_names_itself_alone_is_lost_once_it_votes_no_longer() {
    let world = World::new(9, 3);
    let (kafka, cluster) = (&world.kafka, world.cluster());
    kafka.set_bootstrap(3, &[3].into());
    world.pass(10);
    assert!(kafka.serves(3), "it is a voter");
    let third = world.voter(3);
    let remove = async || Admin::voters(kafka).remove_voter(&cluster, 3, third.directory).await;
    assert_eq!(remove().await, Ok(true));
    world.pass(10);
    assert!(!kafka.serves(3));
    kafka.set_bootstrap(3, &[1, 2, 3].into());
    world.pass(10);
    assert!(kafka.serves(3));
}
