//! Clusters that grow, shrink and are rebalanced, told as stories: what is waited for, what
//! is cancelled, and what else is asked for meanwhile.

use super::explorer::ended;
use super::resizes::Resizing;
use crate::rows::Rows;
use kafka::client::{Admin as _, NewTopic};
use model::ActionKind;

/// One cluster from one server to five and back, without any bad luck.
#[tokio::test]
async fn a_cluster_grows_and_shrinks() {
    let rows = Rows::new().await;
    let mut resizing = Resizing::new(&rows, 1).await.unwrap();
    for to in [3, 5, 3, 1, 3] {
        assert!(rows.resize(resizing.sim.id(), to).await, "{to}");
        resizing.settle().await.unwrap_or_else(|what| panic!("to {to}: {what}"));
        resizing.check_whole().await.unwrap_or_else(|what| panic!("to {to}: {what}"));
        resizing.write();
    }
}

/// It may never run again, whenever it went, and the others have all that it held. Its agent
/// may say so, or be silent from then on.
#[tokio::test]
async fn a_shrink_to_one_ends_though_a_server_that_leaves_is_gone() {
    for (rounds, is_silent) in [(0, true), (1, false), (2, true), (3, false), (4, true), (8, true)]
    {
        let rows = Rows::new().await;
        let mut resizing = Resizing::of_several(&rows).await;
        let id = resizing.sim.id();
        let gone = rows.servers(id).await.pop().unwrap().server.id;
        let at = resizing.sim.servers.iter().position(|it| *it == gone).unwrap();
        assert!(rows.resize(id, 1).await);
        for _ in 0..rounds {
            resizing.round_without_trouble().await.unwrap();
        }
        for left in (0..400).rev() {
            if rows.resize_of(id).await.is_none() {
                break;
            }
            ended(resizing.plane.pass(id).await).unwrap();
            resizing.sim.kill_broker(at);
            if is_silent {
                resizing.sim.kill_agent(at);
            }
            resizing.sim.agents_step().await;
            resizing.write();
            resizing.check().await.unwrap();
            resizing.sim.advance(1);
            let status = rows.instance(id).await.unwrap().progress.status();
            assert!(left > 0, "gone after {rounds} rounds: {status}");
        }
        assert_eq!(rows.servers(id).await.len(), 1);
        resizing.settle().await.unwrap();
        resizing.check_whole().await.unwrap();
    }
}

/// A server that never comes up holds the change, with a reason, until it is cancelled.
#[tokio::test]
async fn a_new_server_that_never_comes_up_is_told_of_and_taken_away() {
    let rows = Rows::new().await;
    let mut resizing = Resizing::new(&rows, 1).await.unwrap();
    let id = resizing.sim.id();
    let before = rows.servers(id).await.len();
    assert!(rows.resize(id, if before == 1 { 3 } else { 5 }).await);
    for _ in 0..80 {
        let sim = &mut resizing.sim;
        ended(resizing.plane.pass(id).await).unwrap();
        sim.agents_step().await;
        let last = sim.servers.len() - 1;
        sim.kill_broker(last);
        sim.kill_agent(last);
        sim.check().await.unwrap();
        sim.advance(10);
    }
    let status = rows.instance(id).await.unwrap().progress.status();
    assert!(status.contains("has not joined the cluster within 10 minutes"), "{status}");
    assert!(rows.undo_resize(id).await);
    resizing.settle().await.unwrap();
    resizing.check_whole().await.unwrap();
    assert_eq!(rows.servers(id).await.len(), before);
}

/// Its action stays open, and the instance is not configured before servers have joined.
#[tokio::test]
async fn a_change_goes_on_after_its_cluster_was_stopped_and_started() {
    let rows = Rows::new().await;
    let mut resizing = Resizing::new(&rows, 1).await.unwrap();
    let id = resizing.sim.id();
    let before = rows.servers(id).await.len();
    assert!(rows.resize(id, if before == 1 { 3 } else { 1 }).await);
    rows.stop(id, true).await;
    for _ in 0..80 {
        ended(resizing.plane.pass(id).await).unwrap();
        resizing.sim.agents_step().await;
        resizing.check().await.unwrap();
        resizing.sim.advance(2);
    }
    let stopped = rows.instance(id).await.unwrap();
    assert_eq!(stopped.progress.status(), "stopped");
    assert!(!stopped.configured());
    assert_eq!(rows.open_actions(id).await.len(), 1);
    rows.stop(id, false).await;
    resizing.settle().await.unwrap();
    resizing.check_whole().await.unwrap();
    assert_ne!(rows.servers(id).await.len(), before);
}

/// A disk that the cloud does not make larger goes with its server, and with it what was asked
/// for it.
#[tokio::test]
async fn larger_disks_are_not_waited_for_once_their_servers_are_gone() {
    let rows = Rows::new().await;
    let mut resizing = Resizing::of_several(&rows).await;
    let id = resizing.sim.id();
    assert!(rows.resize(id, 1).await);
    rows.grow_disks(id).await;
    let stays = rows.servers(id).await.remove(0).server.id;
    let mut work = rows.store.begin().await.unwrap();
    let disks = store::disks::list(&mut work, id).await.unwrap();
    let disk = disks.iter().find(|disk| disk.server_id == stays).unwrap();
    store::disks::set_made_gb(&mut work, disk.id, disk.size_gb).await.unwrap();
    work.commit().await.unwrap();
    resizing.sim.cloud.fail_next(cloud::Call::EnsureDisk, cloud::Fault::GiveUp, 10_000);
    for _ in 0..400 {
        resizing.round_without_trouble().await.unwrap();
        if rows.servers(id).await.len() == 1 {
            break;
        }
    }
    let open = rows.open_actions(id).await;
    let open: Vec<_> = open.iter().filter(|it| it.kind == ActionKind::ResizeDisk).collect();
    let status = rows.instance(id).await.unwrap().progress.status();
    assert_eq!((rows.servers(id).await.len(), open), (1, vec![]), "{status}");
}

/// A topic's own min ISR is lowered with its replicas, and not raised again with them.
#[tokio::test]
async fn an_own_min_isr_that_is_not_what_it_was_is_told_of() {
    let rows = Rows::new().await;
    let mut resizing = Resizing::of_several(&rows).await;
    let id = resizing.sim.id();
    let servers: Vec<_> = rows.servers(id).await.into_iter().map(|it| it.server).collect();
    let cluster = resizing.sim.reach.cluster(id, &servers).await.unwrap();
    let settings = vec![("min.insync.replicas".into(), "2".into())];
    let topic = NewTopic { name: "mine".into(), partitions: 1, replicas: 3, settings };
    resizing.sim.kafka.create_topic(&cluster, &topic).await.unwrap();
    for (to, told) in [(1, "was lowered"), (3, "one server alone has")] {
        assert!(rows.resize(id, to).await, "{to}");
        resizing.settle().await.unwrap();
        let mut reader = rows.store.reader();
        let action = store::actions::list(&mut reader, id, 1).await.unwrap().remove(0);
        let steps = store::actions::steps(&mut reader, action.id).await.unwrap();
        let is_told = |it: &model::ActionStep| it.text.contains(told) && it.text.contains("mine");
        assert!(steps.iter().any(is_told), "to {to}: {steps:?}");
    }
}

/// It may be down for ever, and nothing else can be asked for before the rebalance has ended.
#[tokio::test]
async fn a_rebalance_that_is_cancelled_ends_while_a_broker_is_down() {
    let rows = Rows::new().await;
    let mut resizing = Resizing::of_several(&rows).await;
    let id = resizing.sim.id();
    let servers = u32::try_from(rows.servers(id).await.len()).unwrap();
    resizing.sim.kill_broker(0);
    assert!(rows.resize(id, servers).await);
    let hold = async |resizing: &mut Resizing<'_>| {
        for _ in 0..20 {
            resizing.sim.kill_agent(0);
            ended(resizing.plane.pass(id).await).unwrap();
            resizing.sim.advance(5);
        }
        rows.resize_of(id).await
    };
    assert!(hold(&mut resizing).await.is_some());
    assert!(rows.undo_resize(id).await);
    assert_eq!(hold(&mut resizing).await, None);
    assert_eq!(rows.open_actions(id).await, []);
    resizing.settle().await.unwrap();
    resizing.check_whole().await.unwrap();
}

/// It was rendered for the servers that then did not come.
#[tokio::test]
async fn a_server_that_was_restarted_meanwhile_is_restarted_again_if_the_change_is_cancelled() {
    let rows = Rows::new().await;
    let mut resizing = Resizing::new(&rows, 1).await.unwrap();
    let id = resizing.sim.id();
    if rows.servers(id).await.len() > 1 {
        assert!(rows.resize(id, 1).await);
        resizing.settle().await.unwrap();
    }
    let copies = async || {
        let broker = rows.servers(id).await.remove(0).parse_broker().unwrap();
        let lines = broker.map(|it| it.properties).unwrap_or_default();
        let value = lines.lines().find_map(|it| it.strip_prefix("default.replication.factor="));
        value.unwrap_or_default().to_owned()
    };
    assert_eq!(copies().await, "1");
    assert!(rows.resize(id, 3).await);
    let server = rows.servers(id).await[0].server.id;
    let mut work = rows.store.begin().await.unwrap();
    store::servers::forget_broker(&mut work, server).await.unwrap();
    work.commit().await.unwrap();
    rows.restart(id, &[server]).await;
    for _ in 0..200 {
        if copies().await == "3" {
            break;
        }
        resizing.round_without_trouble().await.unwrap();
    }
    assert_eq!(copies().await, "3");
    assert!(rows.undo_resize(id).await);
    resizing.settle().await.unwrap();
    resizing.check_whole().await.unwrap();
    assert_eq!(copies().await, "1");
}
