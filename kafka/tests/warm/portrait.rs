//! All that can be seen of a broker's JVM from outside, without what differs between any
//! two: numbers, ports, directories.

use kafka::{Endpoint, java, metrics, versions};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use test_support::broker::Broker;

/// Logs once in the life of a JVM, when its class is loaded: that was in the rehearsal.
const LOGS_ONCE: [&str; 2] =
    ["kafka.utils.Log4jControllerRegistration$", "org.apache.zookeeper.common.X509Util"];
/// Of the command line and the directory that the JVM was started in.
const OF_START: [&str; 4] =
    ["sun.java.command", "user.dir", "log4j.configuration", "log4j2.configurationFile"];
/// Come and go with work that is under way.
const PASSING_THREADS: [&str; 8] = [
    "Attach Listener",
    "RMI ",
    "JMX ",
    "ForkJoinPool",
    "process reaper",
    "C1 CompilerThread",
    "C2 CompilerThread",
    "pool-",
];

#[derive(Debug, Default)]
pub struct Portrait {
    beans: BTreeSet<String>,
    properties: BTreeSet<String>,
    threads: BTreeMap<String, usize>,
    metrics: BTreeSet<String>,
    loggers: BTreeSet<String>,
    /// Open files by kind; those of the server by name.
    files: BTreeMap<String, usize>,
    /// Everything as it was seen, to look for traces in.
    text: String,
}

impl Portrait {
    pub async fn of(broker: &Broker) -> Self {
        let mut portrait = Self::default();
        portrait.look_at_metrics(broker).await;
        portrait.look_at_log(&broker.read("logs/server.log"));
        portrait.look_at_files(broker);
        portrait.look_inside(broker).await;
        portrait
    }

    async fn look_at_metrics(&mut self, broker: &Broker) {
        let listener = Endpoint::from(broker.listeners.metrics.as_ref().unwrap());
        let page = metrics::scrape(&listener).await.unwrap();
        let named = page.lines().filter(|line| !line.starts_with('#'));
        let name = |line: &str| plain(line.rsplit_once(' ').map_or(line, |(name, _)| name));
        self.metrics = named.map(name).collect();
        self.text += &page;
    }

    /// The logger is the last word of a line, in brackets.
    fn look_at_log(&mut self, log: &str) {
        let of_line = |line: &str| Some(line.rsplit_once(" (")?.1.strip_suffix(')')?.to_owned());
        self.loggers = log.lines().filter_map(of_line).filter(|it| !it.contains(' ')).collect();
        for once in LOGS_ONCE {
            self.loggers.remove(once);
        }
        self.text += log;
    }

    fn look_at_files(&mut self, broker: &Broker) {
        let of = |name: &str| format!("/proc/{}/{name}", broker.process.pid);
        for entry in fs::read_dir(of("fd")).unwrap().flatten() {
            let Ok(target) = fs::read_link(entry.path()) else { continue };
            // How many connections there are is a matter of the moment.
            if let Some(kind) = kind(&target, broker.directory.path()) {
                *self.files.entry(kind).or_default() += 1;
            }
            self.say(&target.to_string_lossy());
        }
        self.text += &fs::read_to_string(of("maps")).unwrap();
        self.text += &of_sockets(broker);
    }

    fn say(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    async fn look_inside(&mut self, broker: &Broker) {
        let newest = versions::all().last().unwrap();
        let java = java::find(newest.java(), None).await.unwrap();
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/warm/Portrait.java");
        let pid = broker.process.pid.to_string();
        let arguments = [program.to_str().unwrap(), &pid];
        let output = host::run_output(&java.program(), &arguments, None).await.unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let directory = broker.directory.path().to_string_lossy().into_owned();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            match line.split_once(' ').unwrap_or((line, "")) {
                ("bean", name) => _ = self.beans.insert(plain(&name.replace(&directory, "SERVER"))),
                ("thread", name) if PASSING_THREADS.iter().any(|it| name.starts_with(it)) => {}
                ("thread", name) => *self.threads.entry(plain(name)).or_default() += 1,
                ("property", text) => {
                    let name = text.split('=').next().unwrap_or_default();
                    if !OF_START.contains(&name) {
                        self.properties.insert(text.to_owned());
                    }
                }
                _ => {}
            }
            // Its command line names what it was started to rehearse with.
            if !line.starts_with("property sun.java.command=") {
                self.say(line);
            }
        }
    }

    pub fn assert_like(&self, cold: &Self) {
        let differences: Vec<String> = [
            differences("bean", &self.beans, &cold.beans),
            differences("property", &self.properties, &cold.properties),
            differences("metric", &self.metrics, &cold.metrics),
            differences("thread", &counted(&self.threads), &counted(&cold.threads)),
            differences("file", &counted(&self.files), &counted(&cold.files)),
            differences("logger", &self.loggers, &cold.loggers),
        ]
        .concat();
        assert!(differences.is_empty(), "{differences:#?}");
    }

    pub fn assert_free_of(&self, traces: &[String]) {
        for trace in traces {
            let found: Vec<&str> =
                self.text.lines().filter(|line| line.contains(trace.as_str())).collect();
            assert!(found.is_empty(), "{trace} is still in {found:#?}");
        }
    }
}

fn counted(all: &BTreeMap<String, usize>) -> BTreeSet<String> {
    all.iter().map(|(name, count)| format!("{count} × {name}")).collect()
}

fn differences(kind: &str, warm: &BTreeSet<String>, cold: &BTreeSet<String>) -> Vec<String> {
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>, what: &str| {
        one.difference(other).map(|it| format!("{kind} of the {what} one: {it}")).collect()
    };
    let of_warm: Vec<String> = only(warm, cold, "warm");
    let of_cold: Vec<String> = only(cold, warm, "cold");
    [of_warm, of_cold].concat()
}

/// Without numbers, which count threads and ports.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for character in name.chars() {
        match character {
            '0'..='9' if plain.ends_with('#') => {}
            '0'..='9' => plain.push('#'),
            other => plain.push(other),
        }
    }
    plain
}

/// None for a socket.
fn kind(target: &Path, server: &Path) -> Option<String> {
    if let Ok(own) = target.strip_prefix(server) {
        return Some(format!("server/{}", own.display()));
    }
    let text = target.to_string_lossy();
    match text.split_once(":[") {
        Some(("socket", _)) => None,
        Some((kind, _)) => Some(kind.into()),
        None if text.ends_with(".jar") => Some("jars".into()),
        None => Some(text.into_owned()),
    }
}

/// The local addresses of its sockets.
fn of_sockets(broker: &Broker) -> String {
    let of = |name: &str| format!("/proc/{}/{name}", broker.process.pid);
    let inodes: BTreeSet<String> = fs::read_dir(of("fd"))
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter_map(|target| {
            let text = target.to_string_lossy().into_owned();
            Some(text.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
        })
        .collect();
    let mut addresses = String::new();
    for table in ["net/tcp", "net/tcp6"] {
        for line in fs::read_to_string(of(table)).unwrap_or_default().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if inodes.contains(fields[9]) {
                addresses.extend(["socket ", &address(fields[1]), "\n"]);
            }
        }
    }
    addresses
}

/// From hexadecimal, the last byte first, also where it stands within an IPv6 address.
fn address(field: &str) -> String {
    let (host, port) = field.split_once(':').unwrap();
    let byte = |at: usize| u8::from_str_radix(&host[at..at + 2], 16).unwrap();
    let last = host.len() - 8;
    let [a, b, c, d] = [6, 4, 2, 0].map(|at| byte(last + at));
    format!("{a}.{b}.{c}.{d}:{}", u16::from_str_radix(port, 16).unwrap())
}
