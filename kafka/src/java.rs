//! Finds the Java that a broker runs on.
//!
//! No JVM is started for it: every JDK has a file `release` that tells its
//! version.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Where Linux distributions put theirs.
const INSTALLED: &str = "/usr/lib/jvm";

/// A Java installation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Java {
    pub major: u16,
    /// As its maker writes it, such as `25.0.3`.
    pub version: String,
    pub home: PathBuf,
}

impl Java {
    pub fn program(&self) -> PathBuf {
        self.home.join("bin/java")
    }
}

/// Why there is no Java to use.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum JavaError {
    #[error("{} is not a Java installation: name a directory that has bin/java and a file called release", .0.display())]
    NotJava(PathBuf),
    #[error("{} is Java {major}, which this Kafka can't run on: choose one from {oldest} to {newest}", home.display())]
    Unfit { home: PathBuf, major: u16, oldest: u16, newest: u16 },
    #[error(
        "this Kafka needs Java {oldest} to {newest}, and {found}: install one, or name it with --java"
    )]
    None { oldest: u16, newest: u16, found: String },
}

/// The chosen Java if it fits, or the newest that fits of `JAVA_HOME`, `PATH`
/// and the system's own.
pub async fn find(range: RangeInclusive<u16>, chosen: Option<&Path>) -> Result<Java, JavaError> {
    let chosen = chosen.map(Path::to_owned);
    let search = move || match chosen {
        Some(path) => check(&path, &range),
        None => newest(installed(), &range),
    };
    tokio::task::spawn_blocking(search).await.expect("the search does not panic")
}

fn check(path: &Path, range: &RangeInclusive<u16>) -> Result<Java, JavaError> {
    // People name the program as often as the directory.
    let java = read(path)
        .or_else(|| read(&home_of(path)?))
        .ok_or_else(|| JavaError::NotJava(path.to_owned()))?;
    if range.contains(&java.major) {
        return Ok(java);
    }
    Err(JavaError::Unfit {
        home: java.home,
        major: java.major,
        oldest: *range.start(),
        newest: *range.end(),
    })
}

fn newest(found: BTreeSet<Java>, range: &RangeInclusive<u16>) -> Result<Java, JavaError> {
    let majors: BTreeSet<u16> = found.iter().map(|java| java.major).collect();
    let majors: Vec<String> = majors.iter().map(u16::to_string).collect();
    found.into_iter().rfind(|java| range.contains(&java.major)).ok_or_else(|| JavaError::None {
        oldest: *range.start(),
        newest: *range.end(),
        found: if majors.is_empty() {
            "none was found".into()
        } else {
            format!("only {} was found", majors.join(", "))
        },
    })
}

fn installed() -> BTreeSet<Java> {
    let named = env::var_os("JAVA_HOME").map(PathBuf::from);
    let on_path = env::var_os("PATH").as_ref().and_then(first_on_path);
    let system = fs::read_dir(INSTALLED).into_iter().flatten().flatten().map(|entry| entry.path());
    named.into_iter().chain(on_path).chain(system).filter_map(|home| read(&home)).collect()
}

fn first_on_path(path: &OsString) -> Option<PathBuf> {
    let program =
        env::split_paths(path).map(|part| part.join("java")).find(|file| file.exists())?;
    home_of(&program)
}

/// The home of a `bin/java`, behind any symbolic links.
fn home_of(program: &Path) -> Option<PathBuf> {
    Some(program.canonicalize().ok()?.parent()?.parent()?.to_owned())
}

fn read(home: &Path) -> Option<Java> {
    // Aliases of one installation shall be one: start-up caches depend on it.
    let home = home.canonicalize().ok()?;
    if !home.join("bin/java").exists() {
        return None;
    }
    let text = fs::read_to_string(home.join("release")).ok()?;
    let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    let version = version.trim().trim_matches('"').to_owned();
    Some(Java { major: major(&version)?, version, home })
}

/// `25.0.3` is 25, and `1.8.0_392` is 8.
fn major(version: &str) -> Option<u16> {
    let mut parts = version.split(['.', '-', '+', '_']);
    match parts.next()?.parse().ok()? {
        1 => parts.next()?.parse().ok(),
        major => Some(major),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(root: &Path, name: &str, version: &str) -> PathBuf {
        let home = root.join(name);
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::write(home.join("bin/java"), "").unwrap();
        fs::write(home.join("release"), format!("A=\"b\"\nJAVA_VERSION=\"{version}\"\n")).unwrap();
        home
    }

    #[test]
    fn the_newest_that_fits_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let homes = ["11.0.2", "17.0.15", "1.8.0_392", "25", "26-ea"];
        let found: BTreeSet<Java> = homes
            .iter()
            .map(|version| read(&install(root.path(), version, version)).unwrap())
            .collect();
        let check = |range: RangeInclusive<u16>, expected: &str| {
            let java = newest(found.clone(), &range).map_or_else(|e| e.to_string(), |j| j.version);
            assert!(java.contains(expected), "{java}");
        };
        check(17..=25, "25");
        check(17..=24, "17.0.15");
        check(8..=9, "1.8.0_392");
        check(18..=24, "needs Java 18 to 24, and only 8, 11, 17, 25, 26 was found");
    }

    #[tokio::test]
    async fn a_chosen_java_must_fit() {
        let root = tempfile::tempdir().unwrap();
        let home = install(root.path(), "old", "11.0.2");
        let error = find(17..=25, Some(&home)).await.unwrap_err().to_string();
        assert!(error.contains("is Java 11"), "{error}");
        let error = find(17..=25, Some(root.path())).await.unwrap_err().to_string();
        assert!(error.contains("not a Java installation"), "{error}");
        let java = find(11..=25, Some(&home.join("bin/java"))).await.unwrap();
        assert_eq!(java.major, 11);
    }
}
