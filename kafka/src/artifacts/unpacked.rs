//! Kafka from a distribution directory that the operator named.

use super::sums::{Sums, digest};
use super::{ArtifactError, is_jar};
use model::KafkaVersion;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Its jars, by name. Those that others made are checked; what Kafka's own build
/// gave is the operator's word, since a tarball's jars are built apart from
/// those in Maven's repository.
pub fn jars(
    directory: &Path,
    version: KafkaVersion,
    sums: &Sums,
    cache: &Path,
) -> Result<Vec<PathBuf>, ArtifactError> {
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
    let mark = cache.join(format!("unpacked-{}", fingerprint(&libs, &names)));
    if !mark.exists() {
        let foreign = |name: &&String| !name.starts_with("kafka") && !name.starts_with("connect");
        for name in names.iter().filter(foreign).filter(|name| sums.knows(name)) {
            sums.check(&libs, name)?;
        }
        host::write_atomic(&mark, b"").map_err(|error| ArtifactError::io(&mark, error))?;
    }
    Ok(names.iter().map(|name| libs.join(name)).collect())
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

/// Changes when a jar does, without reading it.
fn fingerprint(libs: &Path, names: &[String]) -> String {
    let mut text = libs.display().to_string();
    for name in names {
        if let Ok(metadata) = fs::metadata(libs.join(name)) {
            write!(text, "\n{name} {} {}", metadata.len(), metadata.mtime_nsec())
                .and_then(|()| write!(text, " {}", metadata.mtime()))
                .expect("writing to a string can't fail");
        }
    }
    digest(text.as_bytes())[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unpacked_kafka_of_that_version_will_do() {
        let cache = tempfile::tempdir().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let version = KafkaVersion::new(4, 3, 1);
        let sums = Sums::of(version).unwrap();
        let try_it = || jars(directory.path(), version, &sums, cache.path());
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
        assert_eq!(try_it().unwrap().len(), 2);
    }
}
