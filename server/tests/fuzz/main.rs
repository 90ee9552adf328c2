//! The Customer API as its own OpenAPI document describes it, tried by
//! schemathesis with all of its checks against a running control plane.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

mod plane;

use plane::Plane;
use std::path::{Path, PathBuf};

const EXAMPLES: u32 = 15;
/// Of the long run.
const MANY_EXAMPLES: u32 = 120;

/// Where `scripts/setup.sh test` puts it: beside what is built.
fn program() -> PathBuf {
    let target = Path::new(env!("CARGO_BIN_EXE_castellan")).ancestors().nth(2).unwrap();
    let program = target.join("schemathesis/bin/schemathesis");
    assert!(program.exists(), "{} is not there; `make setup-test` installs it", program.display());
    program
}

#[tokio::test]
async fn schemathesis_finds_nothing() {
    let program = program();
    let plane = Plane::start().await;
    let thorough = std::env::var_os("CASTELLAN_TEST_ALL").is_some();
    let (seed, examples) = (seed(), if thorough { MANY_EXAMPLES } else { EXAMPLES });

    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    for file in ["schemathesis.toml", "hooks.py"] {
        std::fs::copy(here.join(file), plane.directory().join(file)).unwrap();
    }
    let arguments = [
        "run".into(),
        format!("{}/openapi.json", plane.customer),
        format!("--auth={}:", plane.key),
        "--checks=all".into(),
        format!("--seed={seed}"),
        format!("--max-examples={examples}"),
        "--continue-on-failure".into(),
        // They would end the very key that all other calls are made with.
        "--exclude-path=/api/apikeys/rotate-apikey".into(),
        "--exclude-path=/api/apikeys/{key_id}".into(),
        "--no-color".into(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ran = host::run_output(&program, &arguments, Some(plane.directory())).await.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "CASTELLAN_SEED={seed}\n{said}\n{errors}\n{}", plane.log_tail());
    assert!(said.contains(" passed"), "it has tried nothing: {said}");

    // Else everything would have been refused, which finds nothing either.
    assert_eq!(plane.get("/api/plans").await, 200, "the key no longer works");
    assert_eq!(plane.get("/readyz").await, 200);
    let log = plane.log();
    assert!(!log.contains("panicked"), "{log}");
    assert!(!log.contains("status=500"), "{log}");
    plane.stop().await;
}

/// The same every time, so that a failure can be looked at again, but for those whom
/// `CASTELLAN_SEED` sends further.
fn seed() -> u32 {
    let given = std::env::var("CASTELLAN_SEED").ok();
    given.map_or(1, |seed| seed.parse().expect("CASTELLAN_SEED is a number below 2³²"))
}
