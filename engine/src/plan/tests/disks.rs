//! Disks that are to be larger.

use super::{Cluster, check, plan};
use crate::plan::Step;
use model::DiskState;
use wire::agent::Phase;

/// The disk of this server shall have more than the cloud has made of it.
fn growing(cluster: Cluster, number: u32) -> Cluster {
    cluster.with(|world| {
        let mut views = world.servers.iter_mut();
        let view = views.find(|view| view.server.number == number).unwrap();
        view.disk.as_mut().unwrap().size_gb += 10;
    })
}

/// Replicas are given room as the API judged it, and none that the cloud has not made yet.
#[test]
fn a_disk_has_the_room_that_is_made_of_it() {
    let world = growing(Cluster::running(3), 2).world();
    assert_eq!(world.disk_bytes(), [(1, 1 << 30), (2, 1 << 30), (3, 1 << 30)].into());
}

#[test]
fn a_disk_grows_while_its_broker_runs() {
    check(growing(Cluster::running(3), 2), "2: grow disk");
    check(growing(growing(Cluster::running(3), 1), 3), "1: grow disk | 3: grow disk");
}

/// What is not made yet is made as large as it shall be.
#[test]
fn a_disk_that_is_planned_has_nothing_to_grow() {
    let planned = growing(Cluster::running(1), 1).disk(1, DiskState::Planned);
    let steps: Vec<Step> =
        plan(&planned.world()).lanes.into_iter().flat_map(|it| it.steps).collect();
    assert!(!steps.iter().any(|step| matches!(step, Step::GrowDisk(_))), "{steps:?}");
}

/// A full disk may be what all of it waits for.
#[test]
fn it_grows_beside_whatever_goes_on_or_waits() {
    let restart = growing(Cluster::running(3).restart(&[1]).looked_at(), 2);
    check(restart, "open ticket of 1 | 2: grow disk");
    let waits = growing(Cluster::running(3).reports(2, Phase::Failed), 2);
    check(waits, "2: grow disk");
    let lacks = growing(Cluster::running(3).unconfirmed(&[2]), 2);
    check(lacks, "2: ensure server, grow disk");
}

/// If the cloud can't make it larger, its server is removed all the same.
#[test]
fn the_disk_of_a_server_that_is_told_to_leave_does_not_grow() {
    let leaving = || Cluster::running(3).shrinks(1);
    check(growing(leaving().all_informed(), 2), "place | 2: grow disk");
    check(growing(leaving().told_to_leave().all_informed(), 2), "place");
}

#[test]
fn it_waits_while_the_cluster_is_stopped_or_deleted() {
    for cluster in [Cluster::running(1).cluster_stop(), Cluster::running(1).delete()] {
        let steps = plan(&growing(cluster, 1).world()).lanes;
        let mut all = steps.iter().flat_map(|lane| &lane.steps);
        assert!(!all.any(|step| matches!(step, Step::GrowDisk(_))), "{steps:?}");
    }
}
