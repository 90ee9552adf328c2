//! The command line of a broker and of its formatting. Pure.
//!
//! The working directory is the server's, but for a JVM that is warmed up. No argument holds a secret: command
//! lines are readable by everyone on the host.

use crate::artifacts::Distribution;
use crate::java::Java;
use crate::startup_cache::StartupCache;
use std::path::{Path, PathBuf};

/// One argument a line for [`format_arguments`]; the launcher formats when it is
/// there and the disk is not formatted yet.
pub const FORMAT_FILE: &str = "format.args";
/// Holds the broker's pid from the moment it has started.
pub const STARTED_FILE: &str = "run/started";
pub const PROPERTIES_FILE: &str = "server.properties";

const LAUNCHER: &str = "castellan.broker.Launcher";

/// Program and arguments that run a broker in its server's directory.
pub fn command_line(
    distribution: &Distribution,
    java: &Java,
    cache: Option<&StartupCache>,
    jvm_flags: &[String],
    logging_file: &str,
) -> (PathBuf, Vec<String>) {
    let mut arguments = jvm_flags.to_vec();
    arguments.extend(cache.into_iter().flat_map(|cache| cache.flags.clone()));
    arguments.extend(quiet(java).into_iter().map(String::from));
    arguments.push(logging_flag(logging_file, Path::new("")));
    arguments.push("-cp".into());
    arguments.push(distribution.class_path_text());
    arguments.extend([LAUNCHER, PROPERTIES_FILE, FORMAT_FILE].map(String::from));
    (java.program(), arguments)
}

/// The same command for a JVM that first rehearses in that directory, tells of its state in
/// that file, and then waits for its order ([`crate::rehearsal`]). Both paths are absolute;
/// it may run in any directory.
pub fn warm_arguments(
    arguments: &[String],
    logging_file: &str,
    rehearsal: &Path,
    state: &Path,
) -> Vec<String> {
    let own = logging_flag(logging_file, Path::new(""));
    let silent = logging_flag(logging_file, rehearsal);
    let mut warm: Vec<String> = arguments
        .iter()
        .map(|argument| if *argument == own { silent.clone() } else { argument.clone() })
        .collect();
    let text = |path: &Path| path.to_string_lossy().into_owned();
    warm.extend([text(rehearsal), text(state), logging_file.to_owned()]);
    warm
}

fn logging_flag(logging_file: &str, directory: &Path) -> String {
    let path = directory.join(logging_file);
    match logging_file {
        "log4j.properties" => format!("-Dlog4j.configuration=file:{}", path.display()),
        _ => format!("-Dlog4j2.configurationFile={}", path.display()),
    }
}

/// What Kafka does to memory and libraries is known; newer Javas warn of it on
/// standard error, where only reasons for a failed start belong.
fn quiet(java: &Java) -> Vec<&'static str> {
    match java.major {
        24.. => vec!["--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"],
        _ => vec![],
    }
}

/// What to write to [`FORMAT_FILE`]. Without initial controllers the server
/// joins a cluster that has its quorum already; with them, this server's entry
/// must name the same directory id.
pub fn format_arguments(
    cluster_id: &str,
    directory_id: &str,
    initial_controllers: &[String],
) -> Vec<String> {
    let mut arguments: Vec<String> = [
        "format",
        "-t",
        cluster_id,
        "-c",
        PROPERTIES_FILE,
        // A crash may come between Kafka's mark on the disk and ours.
        "--ignore-formatted",
        "--directory-id",
        directory_id,
    ]
    .map(String::from)
    .into();
    match initial_controllers {
        [] => arguments.push("--no-initial-controllers".into()),
        controllers => {
            arguments.extend(["--initial-controllers".into(), controllers.join(",")]);
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::KafkaVersion;

    #[test]
    fn a_broker_is_started_with_our_jar_first() {
        let distribution = Distribution {
            version: KafkaVersion::new(4, 3, 1),
            class_path: vec!["/c/castellan.jar".into(), "/c/kafka.jar".into()],
            identity: String::new(),
        };
        let check = |major, logging: &str, expected: &str| {
            let java = Java { major, version: major.to_string(), home: "/jdk".into() };
            let cache = StartupCache { flags: vec!["-XX:AOTCache=/c/x".into()] };
            let flags = ["-Xmx256m".to_owned()];
            let (program, arguments) =
                command_line(&distribution, &java, Some(&cache), &flags, logging);
            assert_eq!(program, PathBuf::from("/jdk/bin/java"));
            assert_eq!(arguments.join(" "), expected);
        };
        check(
            17,
            "log4j.properties",
            "-Xmx256m -XX:AOTCache=/c/x -Dlog4j.configuration=file:log4j.properties \
             -cp /c/castellan.jar:/c/kafka.jar castellan.broker.Launcher server.properties \
             format.args",
        );
        check(
            25,
            "log4j2.properties",
            "-Xmx256m -XX:AOTCache=/c/x --sun-misc-unsafe-memory-access=allow \
             --enable-native-access=ALL-UNNAMED -Dlog4j2.configurationFile=log4j2.properties \
             -cp /c/castellan.jar:/c/kafka.jar castellan.broker.Launcher server.properties \
             format.args",
        );
    }

    #[test]
    fn a_warm_jvm_logs_as_its_rehearsal_says_until_it_is_ordered() {
        let check = |logging: &str, flag: &str| {
            let own = logging_flag(logging, Path::new(""));
            let cold = ["-Xmx256m", &own, "-cp", "/c", "L", "p", "f"].map(String::from);
            let (rehearsal, state) = (Path::new("/s/rehearsal"), Path::new("/s/run/warm"));
            let warm = warm_arguments(&cold, logging, rehearsal, state).join(" ");
            let expected =
                format!("-Xmx256m {flag} -cp /c L p f /s/rehearsal /s/run/warm {logging}");
            assert_eq!(warm, expected);
        };
        check("log4j.properties", "-Dlog4j.configuration=file:/s/rehearsal/log4j.properties");
        check("log4j2.properties", "-Dlog4j2.configurationFile=/s/rehearsal/log4j2.properties");
    }

    #[test]
    fn a_server_that_joins_later_has_no_initial_controllers() {
        let first = format_arguments("c", "d", &["1@h:9096:d".into(), "2@i:9096:e".into()]);
        assert_eq!(first[8..], ["--initial-controllers", "1@h:9096:d,2@i:9096:e"]);
        assert_eq!(format_arguments("c", "d", &[])[8..], ["--no-initial-controllers"]);
    }
}
