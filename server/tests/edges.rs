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
    ("outbound", &["model", "host"]),
    ("engine", &["model", "wire", "store", "cloud", "kafka", "reach", "pki", "outbound"]),
    ("app", &["model", "store", "pki", "kafka", "reach", "series"]),
    ("api", &["model", "wire", "app"]),
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

/// What people read is made at the edge, from data that programs decide by. These are the
/// known ways of deciding by the words instead.
const ON_WORDS: &[&str] = &[
    "== \"",
    "!= \"",
    ".starts_with(",
    ".ends_with(",
    ".contains(",
    ".split(",
    ".split_once(",
    ".find(",
    ".rfind(",
    ".strip_prefix(",
    ".strip_suffix(",
];
/// Fields and functions whose value is words for people.
const WORDS: &[&str] = &[".status", ".status()", ".message", ".status_without_logs()"];

/// The code of a file without its tests.
fn production(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod tests").map_or(text, |at| &text[..at])
}

fn sources(directory: &Path, all: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            sources(&path, all);
        } else if path.extension().is_some_and(|it| it == "rs") && !name.ends_with("tests") {
            all.push(path);
        }
    }
}

/// Where words are compared, split or searched, of one file.
fn decisions_by_words(text: &str) -> Vec<String> {
    let is_one = |line: &&str| {
        WORDS.iter().any(|words| ON_WORDS.iter().any(|way| is_decided(line, words, way)))
    };
    production(text).lines().filter(is_one).map(|line| line.trim().to_owned()).collect()
}

/// Whether the words come right before the way they are decided by.
fn is_decided(line: &str, words: &str, way: &str) -> bool {
    let after = |at: usize| line[at + words.len()..].trim_start();
    line.match_indices(words).any(|(at, _)| after(at).starts_with(way))
}

#[test]
fn nothing_is_decided_by_words_for_people() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let workspace = manifest(&root.join("Cargo.toml"));
    let mut found = Vec::new();
    for member in workspace["workspace"]["members"].as_array().unwrap() {
        let mut files = Vec::new();
        sources(&root.join(member.as_str().unwrap()).join("src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            found.extend(decisions_by_words(&text).into_iter().map(|line| (file.clone(), line)));
        }
    }
    assert_eq!(found, [], "decide by the conditions or the error's variant instead");
}

#[test]
fn known_ways_of_deciding_by_words_are_found() {
    let check = |line: &str, expected: bool| {
        assert_eq!(!decisions_by_words(line).is_empty(), expected, "{line}");
    };
    check("if instance.status == \"stopped\" {", true);
    check("instance.status.starts_with(RUNNING)", true);
    check("progress.status().contains(HELD)", true);
    check("self.status.find(says)", true);
    check("instance.progress.status.split(\"; \")", true);
    check("response.status() == StatusCode::OK", false);
    check("status: instance.progress.status(),", false);
    check("#[cfg(test)]\nmod tests {\n    it.status.contains(\"x\")\n}", false);
}
