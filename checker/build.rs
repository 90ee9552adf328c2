//! Finds the Java client that is embedded in this crate.

use std::path::Path;

fn main() {
    let jar = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/target/castellan-check.jar");
    println!("cargo::rerun-if-changed={}", jar.display());
    if jar.exists() {
        println!("cargo::rustc-env=CASTELLAN_CHECK_JAR={}", jar.display());
    } else {
        println!("cargo::error=the checker's Java client is not built yet: run `make jar`");
    }
}
