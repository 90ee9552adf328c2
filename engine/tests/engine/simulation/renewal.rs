//! Certificates are renewed before they end, for as long as control planes run, and no
//! broker is restarted for it.

use super::dice::Dice;
use super::gate::Point;
use super::sim::Sim;
use crate::rows::Rows;
use model::{Clock, SignedDuration, Timestamp};
use pki::Facts;
use std::collections::BTreeSet;

const STEP: SignedDuration = SignedDuration::from_hours(6);
const DAYS: i64 = 100;

/// Everything that is valid for a while, and until when: what agents have in place, and
/// who the control plane is to brokers.
async fn leaves(sim: &Sim<'_>) -> Vec<(String, Timestamp)> {
    let identity = sim.reach.identity(sim.id()).await.unwrap();
    let ours = Facts::read(&identity.certificate_chain_pem).unwrap();
    let mut all = vec![("castellan".to_owned(), ours.not_after)];
    for agent in &sim.agents {
        let installed = agent.installed().into_iter();
        all.extend(installed.map(|it| (format!("{} of {}", it.name, agent.server), it.not_after)));
    }
    all
}

#[tokio::test]
async fn for_a_hundred_days_no_certificate_expires_and_no_broker_is_restarted() {
    let rows = Rows::new().await;
    let dice = Dice::new(7);
    let mut sim = Sim::new(&rows, 3, 1).await;
    sim.certificate_life = "10d".parse().unwrap();
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    let brokers = sim.ground.lock().unwrap().brokers.clone();
    let end = rows.clock.now() + SignedDuration::from_hours(24 * DAYS);
    let mut seen = BTreeSet::new();
    while rows.clock.now() < end {
        rows.clock.advance(STEP);
        match dice.roll(6) {
            // Killed in the middle of whatever it does.
            0 => {
                plane.gate.freeze_after(dice.roll(8));
                plane.pass(sim.id()).await;
                plane = sim.plane();
            }
            1 => sim.kill_agent(dice.roll(3)),
            2 => sim.agents[dice.roll(3)].slow = 2,
            3 => sim.agents[dice.roll(3)].lose_reply = true,
            _ => {}
        }
        for _ in 0..4 {
            plane.pass(sim.id()).await;
            sim.agents_step().await;
            sim.check().await.unwrap();
            sim.advance(2);
        }
        let now = rows.clock.now();
        for (name, until) in leaves(&sim).await {
            assert!(until > now, "{name} ended {until}, and it is {now}");
            seen.insert((name, until));
        }
    }
    sim.settle(&mut plane).await.unwrap();
    assert_eq!(sim.ground.lock().unwrap().brokers, brokers);
    let times = |name: &str| seen.iter().filter(|(it, _)| it.starts_with(name)).count();
    assert!(times("internal of") >= 3 * 12 && times("server of") >= 3 * 12, "{seen:?}");
    assert!(times("castellan") > 100, "{seen:?}");
}

/// Asked for, it waits for the agent; it is not asked for again meanwhile.
#[tokio::test]
async fn an_agent_that_was_away_renews_when_it_is_back() {
    let rows = Rows::new().await;
    let mut sim = Sim::new(&rows, 3, 1).await;
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    sim.agents[1].slow = u32::MAX;
    rows.clock.advance(SignedDuration::from_hours(24 * 300));
    for _ in 0..20 {
        plane.pass(sim.id()).await;
        sim.agents_step().await;
        sim.advance(30);
    }
    let generations = async || {
        let servers = rows.servers(sim.id()).await;
        servers.iter().map(|it| it.server.certificate_generation).collect::<Vec<i64>>()
    };
    assert_eq!(generations().await, [2, 2, 2]);
    let late = sim.check_certificates().await.unwrap_err();
    assert!(late.contains("not renewed"), "{late}");
    sim.settle(&mut plane).await.unwrap();
    sim.check_certificates().await.unwrap();
    assert_eq!(
        rows.servers(sim.id()).await[1].server.certificate_generation,
        2,
        "it was asked for once"
    );
}

/// The control plane was away for longer than certificates live, and somebody wants all
/// servers restarted in the very moment it is back.
#[tokio::test]
async fn a_roll_after_the_end_of_all_certificates_ends() {
    let rows = Rows::new().await;
    let mut sim = Sim::new(&rows, 3, 1).await;
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    drop(plane);
    rows.clock.advance(SignedDuration::from_hours(24 * 500));
    rows.restart(sim.id(), &[]).await;
    let mut plane = sim.plane();
    plane.gate.freeze_at(Point::Ends("RenewCertificates"));
    plane.pass(sim.id()).await;
    assert!(plane.is_frozen(), "renewal comes first");
    let mut plane = sim.plane();
    sim.settle(&mut plane).await.unwrap();
    sim.check_certificates().await.unwrap();
}
