//! The conversation with a small control plane over real TLS.

use super::*;
use crate::testing::{desired as document, integrations, start as parameters, wait_for};
use model::{ManualClock, SignedDuration, SystemClock};
use std::fs;
use tempfile::TempDir;
use test_support::control_plane::ControlPlane;

struct Agent {
    place: Place,
    desired: watch::Receiver<Option<Desired>>,
    heard: watch::Receiver<Option<i64>>,
    _directory: TempDir,
}

fn write_start(place: &Place, control_plane: &ControlPlane, token: Option<&str>) {
    write_start_of(1, place, control_plane, token);
}

fn write_start_of(
    incarnation: i64,
    place: &Place,
    control_plane: &ControlPlane,
    token: Option<&str>,
) {
    let start = AgentStart {
        incarnation,
        control_plane: control_plane.url.clone(),
        fleet_ca: control_plane.authority.certificate.clone(),
        token: token.map(Secret::new),
        ..parameters()
    };
    host::write_private(&place.start(), &serde_json::to_vec(&start).unwrap()).unwrap();
}

/// Ends with the test's runtime.
fn agent(control_plane: &ControlPlane, clock: Arc<dyn Clock>) -> Agent {
    let directory = tempfile::tempdir().unwrap();
    let place = Place::open(directory.path()).unwrap();
    write_start(&place, control_plane, Some("token-1"));
    let (desired, seen) = watch::channel(None);
    let (integrations, heard) = watch::channel(None);
    let link = Link {
        place: place.clone(),
        clock,
        board: Board::default(),
        desired,
        reported: watch::channel(None).0,
        connection: watch::channel(None).0,
        integrations,
        enrolment: <_>::default(),
    };
    tokio::spawn(link.run());
    Agent { place, desired: seen, heard, _directory: directory }
}

#[tokio::test]
async fn it_enrols_once_obeys_what_is_saved_and_finds_a_control_plane_that_moved() {
    let control_plane = ControlPlane::start().await;
    let mut agent = agent(&control_plane, Arc::new(SystemClock));
    control_plane.report(|report| report.incarnation == 1).await;
    control_plane.state().desired = Some(document());
    agent.desired.wait_for(Option::is_some).await.unwrap();
    assert_eq!(desired::load(&agent.place, &parameters()), Some(document()));

    let moved = control_plane.move_away().await;
    moved.state().reports.clear();
    // Another server's document, and then the right one.
    let foreign = Desired { incarnation: 9, revision: 7, ..document() };
    moved.state().desired = Some(foreign);
    write_start(&agent.place, &moved, None);
    moved.report(|_| true).await;
    moved.state().desired = Some(Desired { revision: 2, ..document() });
    let seen = agent.desired.wait_for(|held| held.as_ref().is_some_and(|held| held.revision > 1));
    assert_eq!(seen.await.unwrap().as_ref().map(|held| held.revision), Some(2));
    let enrolments = moved.state().enrolments.len();
    assert_eq!(enrolments, 1);
    let kept: Vec<_> = fs::read_dir(agent.place.identity("")).unwrap().flatten().collect();
    assert_eq!(kept.len(), 1, "the waiting key is kept: {kept:?}");
}

#[tokio::test]
async fn its_enrolment_asks_for_certificates_and_brings_the_first_document() {
    let control_plane = ControlPlane::start().await;
    {
        let mut state = control_plane.state();
        (state.desired, state.issues_at_enrolment) = (Some(document()), true);
    }
    let mut agent = agent(&control_plane, Arc::new(SystemClock));
    let held = agent.desired.wait_for(Option::is_some).await.unwrap().clone().unwrap();
    // What was issued is for the keys that lie in the agent's directory.
    let applied = certificates::apply(&agent.place, &held).unwrap();
    let names: Vec<&str> = applied.installed.iter().map(|it| it.name.as_str()).collect();
    assert_eq!((names, applied.missing.len()), (vec!["internal", "server"], 0));
    assert_eq!(applied.requests, []);
    assert_eq!(desired::load(&agent.place, &parameters()), Some(held));

    // One that has a document says nothing with its next enrolment.
    control_plane.report(|_| true).await;
    control_plane.state().refuses = true;
    write_start_of(2, &agent.place, &control_plane, Some("token-2"));
    let told = || -> Vec<bool> {
        let state = control_plane.state();
        state.enrolments.iter().map(|enrol| enrol.report.is_some()).collect()
    };
    wait_for(told, |told| *told == [true, false]).await;
}

#[tokio::test]
async fn it_renews_at_two_thirds_with_a_new_key() {
    let control_plane = ControlPlane::start().await;
    let clock = Arc::new(ManualClock::at(SystemClock.now()));
    let agent = agent(&control_plane, clock.clone());
    let identity = || fs::read_to_string(agent.place.identity("agent.pem")).unwrap_or_default();
    let first = wait_for(identity, |pem| !pem.is_empty()).await;
    clock.advance(SignedDuration::from_hours(24 * 21));
    // The link looks at its clock at the start of a session.
    let moved = control_plane.move_away().await;
    write_start(&agent.place, &moved, None);
    let second = wait_for(identity, |pem| *pem != first).await;
    assert_ne!(first.lines().nth(1), second.lines().nth(1), "the key stayed");
    assert!(moved.state().renewals >= 1);
}

#[tokio::test]
async fn a_refused_certificate_is_replaced_only_with_a_new_token() {
    let control_plane = ControlPlane::start().await;
    let agent = agent(&control_plane, Arc::new(SystemClock));
    control_plane.report(|_| true).await;
    control_plane.state().refuses = true;
    write_start(&agent.place, &control_plane, Some("token-2"));
    let tokens = || -> Vec<String> {
        let state = control_plane.state();
        state.enrolments.iter().map(|enrol| enrol.token.expose().to_owned()).collect()
    };
    wait_for(tokens, |tokens| *tokens == ["token-1", "token-2"]).await;
    control_plane.state().refuses = false;
    control_plane.state().reports.clear();
    control_plane.report(|_| true).await;
    assert_eq!(tokens(), ["token-1", "token-2"]);
}

/// The operator has revoked the identity: the cloud writes another incarnation and token.
#[tokio::test]
async fn an_agent_of_another_incarnation_enrols_with_a_new_key_and_keeps_its_document() {
    let control_plane = ControlPlane::start().await;
    let mut agent = agent(&control_plane, Arc::new(SystemClock));
    control_plane.state().desired = Some(document());
    agent.desired.wait_for(Option::is_some).await.unwrap();
    let identity = || fs::read_to_string(agent.place.identity("agent.pem")).unwrap_or_default();
    let first = identity();
    control_plane.state().refuses = true;
    // A key that was waiting may have been copied, too.
    identity::next_key(&agent.place, 1).unwrap();
    let copied = fs::read_to_string(agent.place.identity("next-1.key")).unwrap();
    write_start_of(2, &agent.place, &control_plane, Some("token-2"));
    let second = wait_for(identity, |pem| *pem != first).await;
    assert_ne!(first.lines().nth(1), second.lines().nth(1), "the key stayed");
    assert!(!second.contains(&copied), "the key was known to whoever copied it");
    assert_eq!(agent.desired.borrow().as_ref(), Some(&document()), "its broker goes on");
    control_plane.state().refuses = false;
    control_plane.report(|report| report.incarnation == 2).await;
    let newer = Desired { incarnation: 2, revision: 9, ..document() };
    control_plane.state().desired = Some(newer.clone());
    agent.desired.wait_for(|held| held.as_ref() == Some(&newer)).await.unwrap();
    let enrolled: Vec<i64> =
        control_plane.state().enrolments.iter().map(|enrol| enrol.incarnation).collect();
    assert_eq!(enrolled, [1, 2]);
}

/// A control plane that is away when the token comes has not used it up.
#[tokio::test]
async fn a_token_that_nobody_answered_is_tried_again() {
    let control_plane = ControlPlane::start().await;
    let agent = agent(&control_plane, Arc::new(SystemClock));
    control_plane.report(|_| true).await;
    {
        let mut state = control_plane.state();
        (state.refuses, state.loses_enrolments) = (true, 2);
    }
    write_start_of(2, &agent.place, &control_plane, Some("token-2"));
    let enrolments = || control_plane.state().enrolments.len();
    wait_for(enrolments, |count| *count == 4).await;
    control_plane.state().refuses = false;
    control_plane.report(|report| report.incarnation == 2).await;
    let keys: Vec<String> =
        control_plane.state().enrolments[1..].iter().map(|enrol| key_of(&enrol.csr)).collect();
    assert!(
        keys.iter().all(|key| *key == keys[0]),
        "an answer that was lost can be asked for again"
    );
}

#[tokio::test]
async fn it_hears_of_where_logs_go_by_its_reports_and_at_once_by_its_long_poll() {
    let control_plane = ControlPlane::start().await;
    control_plane.state().integrations = Some(integrations(4));
    let mut agent = agent(&control_plane, Arc::new(SystemClock));
    agent.heard.wait_for(|heard| *heard == Some(4)).await.unwrap();
    control_plane.report(|_| true).await;
    let reports = control_plane.state().reports.len();
    control_plane.state().integrations = Some(integrations(5));
    agent.heard.wait_for(|heard| *heard == Some(5)).await.unwrap();
    assert!(control_plane.state().reports.len() <= reports + 1, "no report had to bring it");
}

#[tokio::test]
async fn a_control_plane_of_the_release_before_says_nothing_of_logs() {
    let control_plane = ControlPlane::start().await;
    let agent = agent(&control_plane, Arc::new(SystemClock));
    control_plane.report(|_| true).await;
    assert_eq!(*agent.heard.borrow(), None);
}

fn key_of(csr: &str) -> String {
    format!("{:?}", pki::Request::parse(csr).unwrap().public_key_der())
}
