//! Kafka from a distribution directory that the operator named.

use super::sums::{Sums, digest, digest_of_file};
use super::{ArtifactError, is_jar};
use model::KafkaVersion;
use std::fs;
use std::path::{Path, PathBuf};

/// Its jars, by name, and what they are. Those that others made are checked; what
/// Kafka's own build gave is the operator's word, since a tarball's jars are built
/// apart from those in Maven's repository. Reads all of them, so it blocks.
pub fn jars(
    directory: &Path,
    version: KafkaVersion,
    sums: &Sums,
) -> Result<(Vec<PathBuf>, String), ArtifactError> {
    let libs = directory.join("libs");
    let names = names(&libs);
    if !names.contains(&format!("kafka_2.13-{version}.jar")) {
        let other = names.iter().find(|name| name.starts_with("kafka_2.13-"));
        return Err(ArtifactError::NotKafka {
            version,
            path: directory.to_owned(),
            found: match other {
                Some(jar) => format!("it has {jar}"),
                None => format!("there is no kafka_2.13-{version}.jar in its libs"),
            },
        });
    }
    let foreign = |name: &&String| !name.starts_with("kafka") && !name.starts_with("connect");
    for name in names.iter().filter(foreign).filter(|name| sums.knows(name)) {
        sums.check(&libs, name)?;
    }
    let jars: Vec<PathBuf> = names.iter().map(|name| libs.join(name)).collect();
    let mut identity = String::new();
    for jar in &jars {
        let sum = digest_of_file(jar).map_err(|error| ArtifactError::io(jar, error))?;
        identity.push_str(&sum);
    }
    Ok((jars, digest(identity.as_bytes())))
}

fn names(libs: &Path) -> Vec<String> {
    let entries = fs::read_dir(libs).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_jar(name))
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unpacked_kafka_of_that_version_will_do() {
        let directory = tempfile::tempdir().unwrap();
        let version = KafkaVersion::new(4, 3, 1);
        let sums = Sums::for_version(version).unwrap();
        let try_it = || jars(directory.path(), version, &sums);
        let check = |expected: &str| {
            let error = try_it().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("there is no kafka_2.13-4.3.1.jar in its libs");
        let libs = directory.path().join("libs");
        fs::create_dir(&libs).unwrap();
        fs::write(libs.join("kafka_2.13-4.2.1.jar"), "").unwrap();
        check("it has kafka_2.13-4.2.1.jar");
        fs::write(libs.join("kafka_2.13-4.3.1.jar"), "").unwrap();
        fs::write(libs.join("re2j-1.8.jar"), "wrong").unwrap();
        check("re2j-1.8.jar is not the file");
        fs::remove_file(libs.join("re2j-1.8.jar")).unwrap();
        let (jars, identity) = try_it().unwrap();
        assert_eq!(jars.len(), 2);
        assert_eq!(try_it().unwrap().1, identity);
        // At each use, also if its size and time are the same.
        let kafka = libs.join("kafka_2.13-4.3.1.jar");
        let modified = fs::metadata(&kafka).unwrap().modified().unwrap();
        fs::write(&kafka, "").unwrap();
        assert_eq!(try_it().unwrap().1, identity);
        fs::write(&kafka, "another").unwrap();
        fs::File::options().write(true).open(&kafka).unwrap().set_modified(modified).unwrap();
        assert_ne!(try_it().unwrap().1, identity);
        fs::write(libs.join("re2j-1.8.jar"), "wrong").unwrap();
        check("re2j-1.8.jar is not the file");
    }
}
