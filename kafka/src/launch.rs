//! The command line of a broker and of its formatting. Pure.
//!
//! The working directory is the server's. No argument holds a secret: command
//! lines are readable by everyone on the host.

use crate::artifacts::Distribution;
use crate::java::Java;
use crate::startup_cache::StartupCache;
use std::path::PathBuf;

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
    arguments.push(match logging_file {
        "log4j.properties" => format!("-Dlog4j.configuration=file:{logging_file}"),
        _ => format!("-Dlog4j2.configurationFile={logging_file}"),
    });
    arguments.push("-cp".into());
    arguments.push(distribution.class_path_text());
    arguments.extend([LAUNCHER, PROPERTIES_FILE, FORMAT_FILE].map(String::from));
    (java.program(), arguments)
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
    fn a_server_that_joins_later_has_no_initial_controllers() {
        let first = format_arguments("c", "d", &["1@h:9096:d".into(), "2@i:9096:e".into()]);
        assert_eq!(first[8..], ["--initial-controllers", "1@h:9096:d,2@i:9096:e"]);
        assert_eq!(format_arguments("c", "d", &[])[8..], ["--no-initial-controllers"]);
    }
}
