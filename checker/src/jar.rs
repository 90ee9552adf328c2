//! Our small Java programs, which are part of this one, on Kafka's own client
//! library: the jars are those of the release cache that brokers run from.

use kafka::artifacts::{Artifacts, default_cache_root};
use kafka::{java, versions};
use model::KafkaVersion;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const PROGRAM: &[u8] = include_bytes!(env!("CASTELLAN_CHECK_JAR"));
/// What the client library needs of a release's jars.
const NEEDED: [&str; 2] = ["kafka-clients-", "slf4j-api-"];
const FLAGS: [&str; 4] =
    ["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"];

/// What to run for one of the programs, with the library of a release or of the
/// newest. The jar is put into the directory.
pub async fn command_line(
    release: Option<KafkaVersion>,
    directory: &Path,
    main: &str,
    arguments: &[String],
) -> Result<(PathBuf, Vec<String>), String> {
    let newest = versions::all().last().expect("there is a release");
    let release = release.and_then(versions::release).unwrap_or(newest);
    let artifacts = Artifacts::new(default_cache_root(), BTreeMap::new());
    let show = |step| tracing::info!("{step}");
    let kafka = artifacts.ensure(release.version, &show).await.map_err(in_words)?;
    let java = java::find(release.java(), None).await.map_err(in_words)?;

    let jar = directory.join("castellan-check.jar");
    fs::write(&jar, PROGRAM).map_err(in_words)?;
    let needed = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        NEEDED.iter().any(|needed| name.starts_with(needed))
    };
    let jars = std::iter::once(&jar).chain(kafka.class_path.iter().filter(needed));
    let class_path: Vec<_> = jars.map(|path| path.to_string_lossy()).collect();
    let mut line: Vec<String> = FLAGS.map(String::from).into();
    line.extend(["-cp".to_owned(), class_path.join(":"), main.to_owned()]);
    line.extend(arguments.iter().cloned());
    Ok((java.program(), line))
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn in_words(error: impl ToString) -> String {
    error.to_string()
}
