//! A clock that a test steps is the one that our processes go by.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use faults::{Fault, Step};
use host::Spawn;
use model::{Clock, SignedDuration, SystemClock, Timestamp};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::Duration;

const YEAR: Duration = Duration::from_hours(365 * 24);

/// What the binary prints, with its clock by that file.
async fn castellan(data: &Path, clock: &Path, arguments: &[&str]) -> Value {
    let output = data.with_file_name("output");
    let _ = fs::remove_file(&output);
    let at = ["--data", data.to_str().unwrap(), "--json"];
    let clock = clock.to_str().unwrap().to_owned();
    let spawn = Spawn {
        program: env!("CARGO_BIN_EXE_castellan").into(),
        arguments: arguments.iter().chain(&at).map(ToString::to_string).collect(),
        environment: vec![(Fault::STEPPED_CLOCK.to_owned(), clock)],
        directory: data.parent().unwrap().into(),
        output: output.clone(),
    };
    spawn.start().unwrap().1.await;
    let said = fs::read_to_string(&output).unwrap();
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[tokio::test]
async fn our_processes_go_by_a_stepped_clock() {
    let directory = host::testing::tempdir();
    let (data, clock) = (directory.path().join("data"), directory.path().join("clock"));
    castellan(&data, &clock, &["account", "create", "--email", "owner@x.test"]).await;
    let created = async |email: &str| -> Timestamp {
        let user = castellan(&data, &clock, &["user", "create", "--email", email]).await;
        user["created_at"].as_str().unwrap_or_else(|| panic!("{user}")).parse().unwrap()
    };
    let next_year = SystemClock.now() + SignedDuration::try_from(YEAR).unwrap();
    let by = Step::Forward(YEAR);
    let mut ahead = Fault::ClockStep { file: clock.clone(), by }.inject().await.unwrap();
    let stepped = created("a@x.test").await;
    ahead.undo().await.unwrap();
    let back = created("b@x.test").await;
    assert!(stepped >= next_year && back < next_year, "{stepped}, then {back}");
}
