//! Completion of names at the prompt: what a shell asks us, we ask the running
//! Castellan. Whatever goes wrong, there is nothing to choose from and not a word.

mod words;

use crate::{Connection, OnInstance, Options};
use clap::{ArgMatches, FromArgMatches as _};
use clap_complete::{CompleteEnv, CompletionCandidate};
use client::Client;
use model::{IntegrationKind, IntegrationSystem};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::runtime::Builder;
use wire::apikeys::ApiKeyEntry;
use wire::ca::Certificate;
use wire::customer::InstanceEntry;
use wire::integrations::Integration;
use wire::sessions::SessionEntry;
use wire::settings::SETTINGS;
use wire::users::Acl;

/// In it a shell says that it asks. One of our own, because others may set
/// `COMPLETE` for purposes of theirs.
pub const VARIABLE: &str = "CASTELLAN_COMPLETE";

/// Nobody waits longer at a prompt.
const PATIENCE: Duration = Duration::from_secs(2);

static DEFAULT_DATA: OnceLock<PathBuf> = OnceLock::new();

/// Answers and exits if it is a shell that asks; else returns. To be called
/// before anything else.
pub fn answer_shell(program: impl Fn() -> clap::Command, default_data: PathBuf) {
    // It is set once, by the one call.
    let _ = DEFAULT_DATA.set(default_data);
    CompleteEnv::with_factory(program).var(VARIABLE).complete();
}

pub fn instances(current: &OsStr) -> Vec<CompletionCandidate> {
    ask(current, async |connection, _| {
        let instances = connection.client.instances().await.ok()?;
        Some(by_name_or_id(instances, current.to_string_lossy().parse::<u64>().is_ok()))
    })
}

pub fn topics(current: &OsStr) -> Vec<CompletionCandidate> {
    ask_instance(current, async |client, id| {
        let found = client.topics(id).await.ok()?;
        Some(found.into_iter().map(|it| CompletionCandidate::new(it.name)).collect())
    })
}

pub fn groups(current: &OsStr) -> Vec<CompletionCandidate> {
    ask_instance(current, async |client, id| {
        let found = client.groups(id).await.ok()?;
        Some(found.into_iter().map(|it| CompletionCandidate::new(it.name)).collect())
    })
}

/// Of what may still be revoked.
pub fn serials(current: &OsStr) -> Vec<CompletionCandidate> {
    ask_instance(current, async |client, id| {
        let mut certificates = client.certificates(id).await.ok()?;
        certificates.retain(|certificate| certificate.revoked_at.is_none());
        let candidate =
            |Certificate { serial, cn, .. }| CompletionCandidate::new(serial).help(Some(cn.into()));
        Some(certificates.into_iter().map(candidate).collect())
    })
}

/// Names of all brokers' settings, up to where the value begins.
pub fn settings(current: &OsStr) -> Vec<CompletionCandidate> {
    let begins = current.to_string_lossy();
    let names = SETTINGS.iter().map(|name| format!("{name}="));
    names.filter(|name| name.starts_with(begins.as_ref())).map(CompletionCandidate::new).collect()
}

/// What is set of the topic that the words so far name.
pub fn topic_settings(current: &OsStr) -> Vec<CompletionCandidate> {
    ask(current, async |connection, verb| {
        let topic = verb.try_get_one::<String>("topic").ok()??;
        let id = instance(connection, verb).await?;
        let topic = connection.client.topic(id, topic).await.ok()?.topic;
        Some(topic.config.into_iter().map(|(name, _)| CompletionCandidate::new(name)).collect())
    })
}

pub fn kafka_users(current: &OsStr) -> Vec<CompletionCandidate> {
    ask_instance(current, async |client, id| {
        let found = client.kafka_users(id).await.ok()?;
        Some(found.into_iter().map(|it| CompletionCandidate::new(it.name)).collect())
    })
}

pub fn acls(current: &OsStr) -> Vec<CompletionCandidate> {
    ask_instance(current, async |client, id| {
        let acls = client.acls(id).await.ok()?;
        let candidate = |Acl { id, name, rule, .. }| {
            let about =
                format!("{name}: {} {} {}", rule.operation, rule.resource, rule.resource_pattern);
            CompletionCandidate::new(id.to_string()).help(Some(about.into()))
        };
        Some(acls.into_iter().map(candidate).collect())
    })
}

pub fn apikeys(current: &OsStr) -> Vec<CompletionCandidate> {
    ask(current, async |connection, _| {
        let found = connection.client.apikeys().await.ok()?;
        let candidate = |ApiKeyEntry { id, email, role, comment, .. }| {
            CompletionCandidate::new(id).help(Some(format!("{email} {role} {comment}").into()))
        };
        Some(found.into_iter().map(candidate).collect())
    })
}

pub fn sessions(current: &OsStr) -> Vec<CompletionCandidate> {
    ask(current, async |connection, _| {
        let found = connection.client.sessions().await.ok()?;
        let candidate = |SessionEntry { id, browser, .. }| {
            CompletionCandidate::new(id).help(Some(browser.into()))
        };
        Some(found.into_iter().map(candidate).collect())
    })
}

/// Of the kind that the words so far name.
pub fn integrations(current: &OsStr) -> Vec<CompletionCandidate> {
    ask(current, async |connection, verb| {
        let kind = *verb.try_get_one::<IntegrationKind>("kind").ok()??;
        let id = instance(connection, verb).await?;
        let found = connection.client.integrations(id, kind).await.ok()?;
        let candidate = |Integration { id, system, .. }| {
            CompletionCandidate::new(id.to_string()).help(Some(system.into()))
        };
        Some(found.into_iter().map(candidate).collect())
    })
}

/// Names of the settings of the system that the words so far name, up to where the value
/// begins; of all systems where they name none.
pub fn integration_settings(current: &OsStr) -> Vec<CompletionCandidate> {
    let verb = words::verb(words::typed(std::env::args_os()));
    let named = verb.and_then(|verb| verb.try_get_one("system").ok()?.copied());
    settings_of(named, &current.to_string_lossy())
}

fn settings_of(system: Option<IntegrationSystem>, begins: &str) -> Vec<CompletionCandidate> {
    let systems = system.map_or(IntegrationSystem::ALL.to_vec(), |system| vec![system]);
    let fields = systems.into_iter().flat_map(IntegrationSystem::fields);
    let names: BTreeSet<String> = fields.map(|field| format!("{}=", field.name)).collect();
    names
        .into_iter()
        .filter(|name| name.starts_with(begins))
        .map(CompletionCandidate::new)
        .collect()
}

/// Names say more than numbers, where they name one instance and a shell needs no
/// quotes for them.
fn by_name_or_id(instances: Vec<InstanceEntry>, ids: bool) -> Vec<CompletionCandidate> {
    let mut called: HashMap<String, usize> = HashMap::new();
    for instance in &instances {
        *called.entry(instance.name.clone()).or_default() += 1;
    }
    let candidate = |InstanceEntry { id, name, .. }: InstanceEntry| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let clear = name.chars().all(plain)
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
            && called.get(&name) == Some(&1);
        let (value, about) =
            if clear && !ids { (name, format!("id {id}")) } else { (id.to_string(), name) };
        CompletionCandidate::new(value).help(Some(about.into()))
    };
    instances.into_iter().map(candidate).collect()
}

/// The instance that the words so far name.
async fn instance(connection: &Connection, verb: &ArgMatches) -> Option<i64> {
    OnInstance::from_arg_matches(verb).ok()?.id(connection).await.ok()
}

/// Something of that instance.
fn ask_instance(
    current: &OsStr,
    question: impl AsyncFnOnce(&Client, i64) -> Option<Vec<CompletionCandidate>>,
) -> Vec<CompletionCandidate> {
    ask(current, async |connection, verb| {
        question(&connection.client, instance(connection, verb).await?).await
    })
}

fn ask(
    current: &OsStr,
    question: impl AsyncFnOnce(&Connection, &ArgMatches) -> Option<Vec<CompletionCandidate>>,
) -> Vec<CompletionCandidate> {
    let answer = || {
        let verb = words::verb(words::typed(std::env::args_os()))?;
        let options = Options::from_arg_matches(&verb).ok()?;
        let connection = options.connect(DEFAULT_DATA.get()?).ok()?;
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        runtime.block_on(async {
            tokio::time::timeout(PATIENCE, question(&connection, &verb)).await.ok()?
        })
    };
    let mut candidates = answer().unwrap_or_default();
    let begins = current.to_string_lossy();
    candidates.retain(|it| it.get_value().to_string_lossy().starts_with(begins.as_ref()));
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Command;
    use clap::Subcommand as _;
    use clap_complete::ArgValueCompleter;

    #[test]
    fn a_setting_is_offered_up_to_its_value() {
        let offered = |current: &str| {
            let text = |it: &CompletionCandidate| it.get_value().to_string_lossy().into_owned();
            settings(OsStr::new(current)).iter().map(text).collect::<Vec<_>>()
        };
        assert_eq!(offered("log.ret"), ["log.retention.bytes=", "log.retention.ms="]);
        assert_eq!(offered("").len(), SETTINGS.len());
        assert!(offered("log.retention.ms=8").is_empty());
    }

    #[test]
    fn a_system_has_settings_of_its_own() {
        let offered = |system, begins| {
            let text = |it: &CompletionCandidate| it.get_value().to_string_lossy().into_owned();
            settings_of(system, begins).iter().map(text).collect::<Vec<_>>()
        };
        let splunk = Some(IntegrationSystem::Splunk);
        assert_eq!(offered(splunk, ""), ["host_port=", "sourcetype=", "token="]);
        assert_eq!(offered(splunk, "t"), ["token="]);
        assert_eq!(offered(None, "lic"), ["license_key="]);
        assert!(offered(splunk, "token=x").is_empty());
    }

    /// Whatever is asked for by the name of something that is there.
    #[test]
    fn names_of_what_is_there_can_be_completed() {
        let names = [
            "acl",
            "group",
            "integration",
            "serial",
            "settings",
            "topic",
            "topics",
            "unset",
            "user",
        ];
        let program = Command::augment_subcommands(clap::Command::new("castellan"));
        let mut seen = 0;
        for noun in program.get_subcommands() {
            for verb in noun.get_subcommands() {
                let is_named = |arg: &&clap::Arg| names.contains(&arg.get_id().as_str());
                for arg in verb.get_arguments().filter(is_named) {
                    let id = arg.get_id();
                    let (noun, verb) = (noun.get_name(), verb.get_name());
                    assert!(arg.get::<ArgValueCompleter>().is_some(), "{noun} {verb} {id}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 15, "{seen}");
    }

    #[test]
    fn an_instance_is_offered_by_what_names_it_alone() {
        let entry = |id: i64, name: &str| InstanceEntry {
            id,
            name: name.into(),
            plan: String::new(),
            region: String::new(),
            tags: Vec::new(),
            providerid: String::new(),
        };
        let all = || {
            ["orders", "twice", "twice", "two words", "7"]
                .into_iter()
                .zip(1..)
                .map(|(name, id)| entry(id, name))
                .collect::<Vec<_>>()
        };
        let values = |ids| {
            let candidates = by_name_or_id(all(), ids);
            let text = |it: &CompletionCandidate| it.get_value().to_string_lossy().into_owned();
            candidates.iter().map(text).collect::<Vec<_>>()
        };
        assert_eq!(values(false), ["orders", "2", "3", "4", "5"]);
        assert_eq!(values(true), ["1", "2", "3", "4", "5"]);
    }
}
