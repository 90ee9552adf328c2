//! Rebuilds the crate when a migration is added: `migrate!` embeds them.

fn main() {
    println!("cargo::rerun-if-changed=migrations");
}
