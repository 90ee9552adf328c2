//! The crates know each other only along these edges. A new edge is a decision:
//! it changes this table, and ARCHITECTURE.md says why.

use std::collections::BTreeSet;
use std::path::Path;

/// A crate, and the crates of ours it may know.
const EDGES: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("series", &["model"]),
    ("wire", &["model"]),
    ("pki", &["model"]),
    ("host", &[]),
    ("store", &["model"]),
    ("kafka", &["model", "host"]),
    ("reach", &["model", "store", "pki", "kafka"]),
    ("cloud", &["model"]),
    ("cloud-local", &["model", "wire", "cloud", "host"]),
    ("agent", &["model", "wire", "host", "kafka", "pki"]),
    ("egress", &["model"]),
    ("outbound", &["model", "host", "egress"]),
    ("engine", &["model", "wire", "store", "cloud", "kafka", "reach", "pki", "outbound"]),
    ("app", &["model", "store", "pki", "kafka", "reach", "series"]),
    ("web", &["model", "wire", "app"]),
    ("api", &["model", "wire", "app", "web"]),
    ("client", &["model", "wire"]),
    ("cli", &["model", "wire", "client"]),
    (
        "server",
        &[
            "model",
            "wire",
            "pki",
            "host",
            "store",
            "kafka",
            "reach",
            "cloud",
            "cloud-local",
            "agent",
            "outbound",
            "engine",
            "app",
            "web",
            "api",
            "client",
            "cli",
        ],
    ),
    ("bench", &["model", "wire", "host", "store", "kafka", "client", "checker", "faults"]),
    ("checker", &["model", "host", "kafka"]),
    ("faults", &["host"]),
];

fn manifest(path: &Path) -> toml::Table {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.parse().unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn crates_know_only_whom_they_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let workspace = manifest(&root.join("Cargo.toml"));
    let members: Vec<&str> = workspace["workspace"]["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| member.as_str().unwrap())
        .collect();
    let ours: BTreeSet<&str> = members.iter().copied().collect();

    for member in &members {
        let (_, allowed) = EDGES
            .iter()
            .find(|(name, _)| name == member)
            .unwrap_or_else(|| panic!("crate {member} is not in the table of edges"));
        let manifest = manifest(&root.join(member).join("Cargo.toml"));
        let known = manifest.get("dependencies").and_then(toml::Value::as_table).unwrap();
        for dependency in known.keys().filter(|name| ours.contains(name.as_str())) {
            assert!(allowed.contains(&dependency.as_str()), "{member} must not know {dependency}");
        }
    }
}

/// Everything uses rustls with ring; these would bring a second TLS and C code.
/// Librdkafka needs OpenSSL, and only the checker has it: no program that we
/// ship to run clusters knows the checker.
#[test]
fn no_second_tls_is_in_the_tree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let lock = manifest(&root.join("Cargo.lock"));
    let packages = lock["package"].as_array().unwrap();
    let name = |package: &toml::Value| package["name"].as_str().unwrap().to_owned();
    let users = |of: &str| -> Vec<String> {
        let uses = |package: &&toml::Value| {
            let known = package.get("dependencies").and_then(toml::Value::as_array);
            known.into_iter().flatten().any(|known| known.as_str() == Some(of))
        };
        packages.iter().filter(uses).map(name).collect()
    };
    assert!(!packages.iter().any(|package| name(package) == "aws-lc-sys"), "it is in Cargo.lock");
    assert_eq!(users("openssl-sys"), ["rdkafka-sys"]);
    assert_eq!(users("rdkafka-sys"), ["rdkafka"]);
    assert_eq!(users("rdkafka"), ["checker"]);
    let server = manifest(&root.join("server/Cargo.toml"));
    assert!(server["dependencies"].get("checker").is_none(), "it is for tests alone");
}
