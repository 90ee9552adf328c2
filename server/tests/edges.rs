//! What ARCHITECTURE.md and its companions say of the code, compared with the code: the
//! table of crates with the Cargo manifests, and every file and test they name.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Documents that name files.
const DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/glossary.md"];
/// Dependencies for their features alone: without its name for an algorithm, p256 signs no
/// certificate.
const UNNAMED: [(&str, &str); 1] = [("pki", "sha2")];
/// A page that can be read in one go.
const MOST_WORDS: usize = 1800;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn read(name: &str) -> String {
    let path = root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn manifest(name: &str) -> toml::Table {
    read(name).parse().unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn members() -> BTreeSet<String> {
    let workspace = manifest("Cargo.toml");
    let members = workspace["workspace"]["members"].as_array().unwrap();
    members.iter().map(|member| member.as_str().unwrap().to_owned()).collect()
}

/// The crates of ours that each crate depends on, as the map says. `every crate above but x`
/// stands for the rows before it.
fn map() -> BTreeMap<String, BTreeSet<String>> {
    let text = read("ARCHITECTURE.md");
    let table = text.split("| crate |").nth(1).expect("there is a table of crates");
    let mut map = BTreeMap::new();
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let [_, name, _, known, _] = row.split('|').collect::<Vec<_>>()[..] else {
            panic!("a row of three columns: {row}")
        };
        let list = |text: &str| -> BTreeSet<String> {
            text.split(',').map(|name| name.trim().to_owned()).collect()
        };
        let known = match known.trim() {
            "none" => BTreeSet::new(),
            // It is no crate: Java.
            "Kafka" => continue,
            known => match known.strip_prefix("every crate above but ") {
                Some(others) => &map.keys().cloned().collect() - &list(others),
                None => list(known),
            },
        };
        map.insert(name.trim().trim_matches('`').to_owned(), known);
    }
    map
}

#[test]
fn the_map_shows_every_crate_and_whom_it_depends_on() {
    let (members, map) = (members(), map());
    assert_eq!(map.keys().cloned().collect::<BTreeSet<_>>(), members, "the crates of the map");
    for (name, shown) in map {
        let manifest = manifest(&format!("{name}/Cargo.toml"));
        let found = manifest["dependencies"].as_table().unwrap().keys();
        let found: BTreeSet<String> = found.filter(|it| members.contains(*it)).cloned().collect();
        assert_eq!(found, shown, "what {name} depends on; a new edge needs its reason");
    }
}

/// Paths in backticks, with the test after `::` if one is named. Those with placeholders are
/// examples.
fn named(document: &str) -> Vec<(String, Option<String>)> {
    let text = read(document);
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        let first = word.split('/').next().unwrap();
        let is_ours = !first.is_empty() && root().join(first).is_dir();
        is_ours && word.contains('/') && !word.contains(['…', '<', ' ', '*'])
    };
    let split = |word: &str| match word.split_once("::") {
        Some((path, name)) => (path.to_owned(), Some(name.to_owned())),
        None => (word.to_owned(), None),
    };
    quoted.filter(is_path).map(split).collect()
}

#[test]
fn documents_name_files_and_tests_that_exist() {
    for document in DOCUMENTS {
        for (path, test) in named(document) {
            assert!(root().join(&path).exists(), "{document} names {path}");
            if let Some(test) = test {
                let found = read(&path).contains(&format!("fn {test}("));
                assert!(found, "{document} names the test {test} of {path}");
            }
        }
    }
}

#[test]
fn the_architecture_is_one_page_with_ten_rules() {
    let text = read("ARCHITECTURE.md");
    let words = text.split_whitespace().count();
    assert!(words <= MOST_WORDS, "it has {words} words, and {MOST_WORDS} at most");
    let rules = text.split("## Ten rules").nth(1).unwrap().split("\n## ").next().unwrap();
    let rules: Vec<&str> = rules.split(". **").skip(1).collect();
    assert_eq!(rules.len(), 10);
    for rule in rules {
        assert!(rule.contains("::"), "it names no test: {rule}");
    }
}

/// The glossary has one row for a term, each with a place.
#[test]
fn a_term_has_one_meaning() {
    let text = read("docs/glossary.md");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| **"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let mut terms = BTreeSet::new();
    for row in &rows {
        assert_eq!(row.len(), 5, "term, meaning, place: {row:?}");
        assert!(row[3].contains('`'), "where it lives: {row:?}");
        assert!(terms.insert(row[1].to_lowercase()), "{} is there twice", row[1]);
    }
    assert!(rows.len() >= 25, "{} terms", rows.len());
}

#[test]
fn every_test_is_in_a_part_of_the_long_run() {
    let script = read("scripts/test-all.sh");
    let words: Vec<&str> = script.split([' ', '\n', ';']).collect();
    let named = words.windows(2).filter(|pair| pair[0] == "--test").map(|pair| pair[1].to_owned());
    let named: BTreeSet<String> = named.collect();
    let mut there = BTreeSet::new();
    for member in members() {
        let manifest = manifest(&format!("{member}/Cargo.toml"));
        let declared = manifest.get("test").and_then(toml::Value::as_array);
        let declared = declared.into_iter().flatten().map(|test| test["name"].as_str().unwrap());
        let entries = fs::read_dir(root().join(&member).join("tests")).into_iter().flatten();
        let found = entries.map(|entry| entry.unwrap().path());
        let is_test = |path: &PathBuf| {
            path.join("main.rs").exists() || path.extension() == Some("rs".as_ref())
        };
        let found = found.filter(is_test);
        let found = found.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        there.extend(declared.map(str::to_owned).chain(found));
    }
    assert_eq!(named, there, "what scripts/test-all.sh names, and what there is");
}

/// The text of all Rust files below.
fn rust_below(directory: &Path) -> String {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    let text = |path: PathBuf| match path.extension() {
        Some(end) if end == "rs" => fs::read_to_string(path).unwrap(),
        _ => rust_below(&path),
    };
    paths.map(text).collect()
}

#[test]
fn every_dependency_is_used() {
    for member in members() {
        let manifest = manifest(&format!("{member}/Cargo.toml"));
        let code = rust_below(&root().join(&member).join("src"));
        let tests = rust_below(&root().join(&member).join("tests"));
        for (kind, places) in
            [("dependencies", vec![&code]), ("dev-dependencies", vec![&code, &tests])]
        {
            let listed = manifest.get(kind).and_then(toml::Value::as_table);
            for name in listed.into_iter().flat_map(toml::Table::keys) {
                let path = format!("{}::", name.replace('-', "_"));
                let is_used = places.iter().any(|text| text.contains(&path));
                let is_known = UNNAMED.contains(&(member.as_str(), name.as_str()));
                assert!(is_used || is_known, "{member} does not use {name}, one of its {kind}");
            }
        }
    }
}

/// Everything uses rustls with ring; these would bring a second TLS and C code.
/// Librdkafka needs OpenSSL, and only the checker has it: no program that we
/// ship to run clusters knows the checker.
#[test]
fn no_second_tls_is_in_the_tree() {
    let lock = manifest("Cargo.lock");
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
    let server = manifest("server/Cargo.toml");
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
const WORDS: &[&str] =
    &[".status", ".status()", ".message", ".status_without_logs()", ".error", ".extras", "reason"];

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
    let workspace = manifest("Cargo.toml");
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
    check("matches!(error, Error::Refused { body, .. } if body.error == \"Not Found\")", true);
    check("if body.error.ends_with(&names.join(\", \")) { each }", true);
    check("line.extras.split(\"; \").any(is_about)", true);
    check("assert!(reason.contains(\"a later owner\"), \"{reason}\");", true);
    check("response.status() == StatusCode::OK", false);
    check("status: instance.progress.status(),", false);
    check("#[cfg(test)]\nmod tests {\n    it.status.contains(\"x\")\n}", false);
}

/// Planning is pure: what these files of the engine may name of other crates and modules.
const PLANNING: [&str; 5] = ["plan.rs", "plan", "world.rs", "world", "desired.rs"];
const PURE: [&str; 18] = [
    "crate::desired",
    "crate::plan",
    "crate::world",
    "kafka::placement",
    "kafka::quorum",
    "kafka::safety",
    "kafka::settings",
    "kafka::throttle",
    "model::",
    "mover::",
    "pki::",
    "std::collections",
    "std::iter",
    "std::fmt",
    "std::sync::Arc",
    "std::time::Duration",
    "store::Ticket",
    "wire::agent",
];

/// Paths into crates that a text names and that are not on the list.
fn impure(text: &str, crates: &BTreeSet<String>) -> Vec<String> {
    let code = production(text).lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = code.flat_map(|line| [line, "\n"]).collect();
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let paths = code.split(|c| !is_path(c)).filter(|word| word.contains("::"));
    let foreign = paths.filter(|path| crates.contains(path.split("::").next().unwrap()));
    let impure = foreign.filter(|path| !PURE.iter().any(|pure| path.starts_with(pure)));
    impure.map(str::to_owned).collect()
}

#[test]
fn planning_does_no_io() {
    let manifest = manifest("engine/Cargo.toml");
    let known = manifest["dependencies"].as_table().unwrap().keys();
    let mut crates: BTreeSet<String> = known.map(|name| name.replace('-', "_")).collect();
    crates.extend(["std", "crate"].map(str::to_owned));
    for place in PLANNING.map(|name| root().join("engine/src").join(name)) {
        let mut files = Vec::new();
        if place.is_dir() {
            sources(&place, &mut files);
        } else {
            files.push(place);
        }
        files.retain(|file| !file.components().any(|part| part.as_os_str() == "tests"));
        for file in files {
            let found = impure(&fs::read_to_string(&file).unwrap(), &crates);
            assert!(found.is_empty(), "{} names {found:?}", file.display());
        }
    }
    for text in ["use tokio::time::sleep;", "std::fs::read(path)", "use store::servers;"] {
        assert_eq!(impure(text, &crates).len(), 1, "{text}");
    }
    assert!(impure("// Unlike tokio::time.\nuse wire::agent::Phase;", &crates).is_empty());
}
