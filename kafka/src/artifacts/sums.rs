//! The known SHA-256 sums of every jar of every release, made by
//! `kafka/artifacts/update.sh`.

use super::ArtifactError;
use crate::render::hex;
use model::KafkaVersion;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

const TEXTS: [(KafkaVersion, &str); 5] = [
    (KafkaVersion::new(3, 9, 2), include_str!("../../artifacts/3.9.2.sha256")),
    (KafkaVersion::new(4, 0, 2), include_str!("../../artifacts/4.0.2.sha256")),
    (KafkaVersion::new(4, 1, 2), include_str!("../../artifacts/4.1.2.sha256")),
    (KafkaVersion::new(4, 2, 1), include_str!("../../artifacts/4.2.1.sha256")),
    (KafkaVersion::new(4, 3, 1), include_str!("../../artifacts/4.3.1.sha256")),
];

/// The jars of one release, by file name.
#[derive(Clone, Debug)]
pub struct Sums {
    version: KafkaVersion,
    jars: BTreeMap<&'static str, &'static str>,
    identity: String,
}

impl Sums {
    pub fn of(version: KafkaVersion) -> Option<Self> {
        let (_, text) = TEXTS.iter().find(|(known, _)| *known == version)?;
        let jars = text.lines().filter_map(|line| line.split_once("  "));
        Some(Self {
            version,
            jars: jars.map(|(sum, jar)| (jar, sum)).collect(),
            identity: digest(text.as_bytes())[..12].to_owned(),
        })
    }

    /// A release with one jar.
    #[cfg(test)]
    pub fn of_one(jar: &'static str, sum: &'static str) -> Self {
        let version = KafkaVersion::new(4, 3, 1);
        Self { version, jars: BTreeMap::from([(jar, sum)]), identity: "one".into() }
    }

    /// Differs when the list of jars does.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    pub fn len(&self) -> usize {
        self.jars.len()
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.jars.keys().copied()
    }

    pub fn knows(&self, jar: &str) -> bool {
        self.jars.contains_key(jar)
    }

    /// Whether the file of that name in the directory is the right one.
    pub fn check(&self, directory: &Path, jar: &str) -> Result<(), ArtifactError> {
        let path = directory.join(jar);
        match digest_of_file(&path) {
            Ok(sum) if self.jars.get(jar).is_some_and(|known| *known == sum) => Ok(()),
            Ok(_) => Err(ArtifactError::Checksum { version: self.version, jar: jar.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(ArtifactError::Missing { version: self.version, jar: jar.to_owned() })
            }
            Err(error) => Err(ArtifactError::read(&path, error)),
        }
    }
}

pub fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub fn digest_of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut block = vec![0; 256 * 1024];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hex(&digest.finalize())),
            length => digest.update(&block[..length]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_release_has_sums_with_kafka_and_its_log_binding() {
        for release in crate::versions::all() {
            let sums = Sums::of(release.version).expect("the release has sums");
            let binding = format!("{}-{}.jar", release.binding().1, release.binding_version);
            for jar in [format!("kafka_2.13-{}.jar", release.version), binding] {
                assert!(sums.knows(&jar), "{jar}");
            }
            assert!(sums.jars.values().all(|sum| sum.len() == 64));
        }
    }

    #[test]
    fn a_wrong_or_missing_jar_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let sums = Sums::of(KafkaVersion::new(4, 3, 1)).unwrap();
        let jar = "re2j-1.8.jar";
        let check = |expected: &str| {
            let error = sums.check(directory.path(), jar).unwrap_err().to_string();
            assert!(error.contains(jar) && error.contains(expected), "{error}");
        };
        check("is missing");
        std::fs::write(directory.path().join(jar), "something else").unwrap();
        check("SHA-256 sum differs");
    }
}
