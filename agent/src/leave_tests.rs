//! Claims at a small control plane over real TLS.

use super::*;
use crate::identity;
use crate::testing::start as parameters;
use test_support::control_plane::{ControlPlane as Server, sign};
use wire::agent::{AgentStart, Claimed};

fn enrolled(directory: &std::path::Path, server: &Server) -> ControlPlane {
    let place = Place::open(directory).unwrap();
    let start = AgentStart {
        control_plane: server.url.clone(),
        fleet_ca: server.authority.certificate.clone(),
        ..parameters()
    };
    host::write_private(&place.start(), &serde_json::to_vec(&start).unwrap()).unwrap();
    let key = identity::next_key(&place, 1).unwrap();
    let csr = pki::request(&key, "server-11").unwrap();
    identity::complete(&place, &key, &sign(&server.authority, &csr)).unwrap();
    let board = Board::default();
    board.set_revision(7, 2);
    ControlPlane { place, board }
}

#[tokio::test]
async fn only_a_yes_counts() {
    let server = Server::start().await;
    let directory = tempfile::tempdir().unwrap();
    let leave = enrolled(directory.path(), &server);
    let Answer::No(_) = leave.ask().await else { panic!("it does not know the call") };
    let reason = "no ticket is open";
    for (passing, answer) in
        [(false, Answer::No(reason.into())), (true, Answer::NotYet(reason.into()))]
    {
        server.state().claimed = Some(Claimed { go: false, reason: reason.into(), passing });
        assert_eq!(leave.ask().await, answer);
    }
    server.state().claimed = Some(Claimed { go: true, reason: String::new(), passing: false });
    assert_eq!(leave.ask().await, Answer::Go);
    let claim = Claim { revision: 7, store_epoch: 2, silent: false };
    assert_eq!(server.state().claims, [claim.clone(), claim.clone(), claim.clone(), claim]);
}

#[tokio::test]
async fn whoever_cant_be_asked_gives_no_leave() {
    let server = Server::start().await;
    let directory = tempfile::tempdir().unwrap();
    let leave = enrolled(directory.path(), &server);
    server.state().refuses = true;
    let Answer::No(reason) = leave.ask().await else { panic!("a stranger may stop") };
    assert!(reason.contains("refuses"), "{reason}");
    let gone = server.move_away().await;
    gone.state().refuses = false;
    let Answer::No(reason) = leave.ask().await else { panic!("nobody said yes") };
    assert!(reason.contains("can't be reached"), "{reason}");
}
