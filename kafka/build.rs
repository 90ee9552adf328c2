//! Finds the broker jar that is embedded in this crate.

use std::path::PathBuf;

fn main() {
    // As this run has it: what was built may have been copied from elsewhere.
    let here = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let jar = PathBuf::from(here).join("../broker-jar/target/castellan-broker.jar");
    println!("cargo::rerun-if-changed={}", jar.display());
    if jar.exists() {
        println!("cargo::rustc-env=CASTELLAN_BROKER_JAR={}", jar.display());
    } else {
        println!("cargo::error=the broker jar is not built yet: run `make jar`");
    }
}
