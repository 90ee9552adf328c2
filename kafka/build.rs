//! Finds the broker jar that is embedded in this crate.

use std::path::Path;

fn main() {
    let jar =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../broker-jar/target/castellan-broker.jar");
    println!("cargo::rerun-if-changed={}", jar.display());
    if jar.exists() {
        println!("cargo::rustc-env=CASTELLAN_BROKER_JAR={}", jar.display());
    } else {
        println!("cargo::error=the broker jar is not built yet: run `make jar`");
    }
}
