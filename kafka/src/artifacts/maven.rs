//! Fetches a release's jars with the user's own Maven, so that mirrors and
//! proxies in their settings are honoured.
//!
//! No plugin takes part: it would be fetched, and run, before anybody could check it. Our
//! own jar (`castellan.fetch.CopyJars`) is an extension of Maven's core and does the rest.

use super::ArtifactError;
use super::is_jar;
use super::sums::Sums;
use crate::Progress;
use crate::versions::Release;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

const POM: &str = include_str!("../../artifacts/pom.xml");
/// A phase that has no plugin, for a project that is nothing but its POM.
const PHASE: &str = "validate";

/// Copies all jars of the release into `libs` of a directory. The extension is our
/// own jar.
pub async fn fetch(
    release: &Release,
    sums: &Sums,
    directory: &Path,
    extension: &Path,
    progress: &(dyn Fn(Progress) + Send + Sync),
) -> Result<(), ArtifactError> {
    fs::write(directory.join("pom.xml"), POM)
        .map_err(|error| ArtifactError::io(directory, error))?;
    let version = release.version;
    let arguments = arguments(release, extension);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (mut jars, mut descriptions) = (BTreeSet::new(), 0);
    let mut errors = Vec::new();
    progress(Progress::Describing { version, descriptions });
    let status =
        host::run_lines(Path::new("mvn"), &arguments, directory, |line| match downloaded(line) {
            Some(file) if sums.knows(file) => {
                jars.insert(file.to_owned());
                progress(Progress::Fetching { version, done: jars.len(), total: sums.len() });
            }
            Some(file) if is_description(file) && jars.is_empty() => {
                descriptions += 1;
                progress(Progress::Describing { version, descriptions });
            }
            _ => errors.extend(error_line(line)),
        });
    match status.await {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(failure(release, &errors)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(ArtifactError::NoMaven(version))
        }
        Err(error) => Err(ArtifactError::Maven { version, reason: error.to_string() }),
    }
}

fn arguments(release: &Release, extension: &Path) -> Vec<String> {
    let (group, artifact) = release.binding();
    let mut arguments: Vec<String> = ["-B", "-Dstyle.color=never", PHASE].map(String::from).into();
    arguments.extend(
        [
            ("maven.ext.class.path", &*extension.to_string_lossy()),
            ("castellan.libs", "libs"),
            ("kafka.version", &release.version.to_string()),
            ("binding.group", group),
            ("binding.artifact", artifact),
            ("binding.version", release.binding_version),
        ]
        .map(|(name, value)| format!("-D{name}={value}")),
    );
    arguments
}

/// The file name in `Downloaded from <id>: <url>/<file> (<size> at <speed>)`.
fn downloaded(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("Downloaded from ")?;
    let is_known = |name: &&str| is_jar(name) || is_description(name);
    rest.split(' ').filter_map(|word| word.rsplit('/').next()).find(is_known)
}

fn is_description(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "pom")
}

fn error_line(line: &str) -> Option<String> {
    let text = line.strip_prefix("[ERROR]").or_else(|| line.strip_prefix("Error: "))?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Maven repeats itself and adds advice; its first line has the reason, at the
/// end of a chain of causes.
fn failure(release: &Release, errors: &[String]) -> ArtifactError {
    const NETWORK: [&str; 7] = [
        "Unknown host",
        "Connection refused",
        "Connect to ",
        "timed out",
        "Network is unreachable",
        "No route to host",
        "Temporary failure in name resolution",
    ];
    let version = release.version;
    let first = errors.first().map_or("it gave no reason", String::as_str);
    if first.contains("No space left on device") {
        return ArtifactError::DiskFull("Maven's local repository or the cache".into());
    }
    let chain: Vec<&str> = first.split(": ").collect();
    let causes = chain[chain.len().saturating_sub(2)..].join(": ");
    let reason = causes.split(" -> [Help").next().unwrap_or_default().trim().to_owned();
    if NETWORK.iter().any(|word| first.contains(word)) || first.contains("offline mode") {
        return ArtifactError::Unreachable { version, reason };
    }
    ArtifactError::Maven { version, reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::KafkaVersion;

    #[test]
    fn jars_are_counted_by_the_lines_of_maven() {
        let check = |line: &str, expected| assert_eq!(downloaded(line), expected);
        check(
            "[INFO] Downloaded from central: https://host/a/b/re2j-1.8.jar (9 kB at 1 MB/s)",
            Some("re2j-1.8.jar"),
        );
        check(
            "[INFO] Downloaded from central: https://host/a/b/re2j-1.8.pom (9 kB)",
            Some("re2j-1.8.pom"),
        );
        check("[INFO] Downloaded from central: https://host/a/maven-metadata.xml (9 kB)", None);
        check("[INFO] Downloading from central: https://host/a/b/re2j-1.8.jar", None);
    }

    /// `scripts/fetch-kafka.sh` fetches what the POM names by itself.
    #[test]
    fn the_pom_names_the_newest_release() {
        let newest = crate::versions::all().last().unwrap();
        let (group, artifact) = newest.binding();
        for (name, value) in [
            ("kafka.version", newest.version.to_string().as_str()),
            ("binding.group", group),
            ("binding.artifact", artifact),
            ("binding.version", newest.binding_version),
        ] {
            let line = format!("<{name}>{value}</{name}>");
            assert!(POM.contains(&line), "{line} is missing in pom.xml");
        }
    }

    #[test]
    fn a_failure_is_boiled_down_to_its_reason() {
        let release = crate::versions::release(KafkaVersion::new(4, 3, 1)).unwrap();
        let check = |line: &str, expected: &str| {
            let error = failure(release, &error_line(line).into_iter().collect::<Vec<_>>());
            assert_eq!(error.to_string(), expected);
        };
        check(
            "[ERROR] Failed to execute goal a:b:copy (cli) on project x: Could not resolve \
             dependencies for project x: Could not transfer artifact y from/to central \
             (https://host): host: Unknown host host -> [Help 1]",
            "Kafka 4.3.1 can't be fetched because its repository can't be reached (host: Unknown \
             host host): check the network and Maven's settings, or name an unpacked Kafka 4.3.1",
        );
        check(
            "Error: JAVA_HOME is not defined correctly.",
            "Kafka 4.3.1 can't be fetched, Maven says: JAVA_HOME is not defined correctly.",
        );
    }
}
