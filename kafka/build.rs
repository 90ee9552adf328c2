//! Finds the broker jar that is embedded in this crate.

use std::path::{Path, PathBuf};
use std::time::Duration;

fn main() {
    // As this run has it: what was built may have been copied from elsewhere.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let jar = PathBuf::from(here).join("../broker-jar/target/castellan-broker.jar");
    println!("cargo::rerun-if-changed={}", jar.display());
    wait_for_builder();
    if jar.exists() {
        println!("cargo::rustc-env=CASTELLAN_BROKER_JAR={}", jar.display());
    } else {
        println!("cargo::error=the broker jar is not built yet: run `make jar`");
    }
}

/// `scripts/build-quick.sh` has the jar built at the same time by the process it names here.
fn wait_for_builder() {
    let Some(pid) = std::env::var_os("CASTELLAN_JAR_BUILDER") else { return };
    let process = Path::new("/proc").join(pid);
    while process.exists() {
        std::thread::sleep(Duration::from_millis(100));
    }
}
