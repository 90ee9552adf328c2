use super::Standing::{Absent, Failed, Out, Released, Returning, Stopping, Unresponsive, Works};
use super::*;

fn members(roles: &[ServerRole], first: i32, standings: &[Standing]) -> Vec<Member> {
    let member = |(node, standing): (i32, &Standing)| Member {
        node,
        server: node.unsigned_abs(),
        roles: roles.to_vec(),
        shall_run: *standing != Out,
        standing: *standing,
    };
    (first..).zip(standings).map(member).collect()
}

/// Beside a controller, or not, whose broker is unresponsive.
fn comes_first(controllers: &[Standing], others: &[Standing], is_controller: bool) -> bool {
    let mut all = members(&[ServerRole::Broker, ServerRole::Controller], 1, controllers);
    all.extend(members(&[ServerRole::Broker], 10, others));
    must_wait_for_another(&all, is_controller)
}

fn check(controllers: &[Standing], others: &[Standing], expected: bool) {
    let first = comes_first(controllers, others, true);
    assert_eq!(first, expected, "{controllers:?}, {others:?}");
}

#[test]
fn an_absent_server_comes_back_to_a_quorum_first() {
    check(&[Works, Works], &[], false);
    check(&[Works, Works], &[Works, Absent], true);
    check(&[Works, Works], &[Works, Out], false);
    check(&[Works, Works], &[Works, Unresponsive], false);
    check(&[Works, Works], &[Works, Failed], false);
}

/// There is nothing to come back to until the unresponsive broker is restarted.
#[test]
fn without_a_quorum_an_absent_server_is_not_waited_for() {
    check(&[Works, Absent], &[], false);
    check(&[Absent, Absent], &[Works, Works], false);
    check(&[Works, Unresponsive], &[Absent], false);
}

/// A broker that came back without a quorum may seem unresponsive until it has one.
#[test]
fn a_quorum_that_forms_with_those_on_their_way_is_waited_for() {
    check(&[Works, Released], &[], true);
    check(&[Works, Returning], &[], true);
    check(&[Works, Released], &[Works, Works], true);
    check(&[Unresponsive, Released], &[], false);
    check(&[Unresponsive, Returning], &[], false);
    check(&[Works, Works], &[Released], true);
    check(&[Unresponsive, Stopping], &[], true);
}

#[test]
fn a_server_without_a_vote_does_not_count() {
    assert!(!comes_first(&[Works, Absent, Absent], &[], false));
    assert!(comes_first(&[Works, Works, Absent], &[], false));
    assert!(comes_first(&[Works, Released, Unresponsive], &[], false));
}
