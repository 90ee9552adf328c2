//! `castellan integration`.

mod settings;

use crate::{Connection, OnInstance, complete, output};
use anyhow::bail;
use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap_complete::ArgValueCompleter;
use comfy_table::Table;
use model::{IntegrationConfig, IntegrationKind, IntegrationSystem, Secret};
use settings::Settings;
use wire::integrations::Integration;

#[derive(Debug, Subcommand)]
pub enum IntegrationCommand {
    /// List where logs and metrics are sent
    List {
        #[command(flatten)]
        on: OnInstance,
        /// Only these
        #[arg(long, value_parser = kind())]
        kind: Option<IntegrationKind>,
    },
    /// Where logs or metrics are sent, and whether they arrive
    Show(One),
    /// Send logs or metrics to another system
    Create {
        #[command(flatten)]
        on: OnInstance,
        /// What is sent
        #[arg(value_parser = kind())]
        kind: IntegrationKind,
        /// The system that takes it
        #[arg(value_name = "TYPE", value_parser = system())]
        system: IntegrationSystem,
        #[command(flatten)]
        settings: Settings,
    },
    /// Change settings; those that are not named stay
    Update {
        #[command(flatten)]
        one: One,
        #[command(flatten)]
        settings: Settings,
    },
    /// Send one line or point, and say what came of it
    Test(One),
    /// Send nothing there any more
    Delete(One),
}

// No doc comment, because that would be the help text of the verb.
#[derive(Debug, clap::Args)]
pub struct One {
    #[command(flatten)]
    on: OnInstance,
    /// What is sent
    #[arg(value_parser = kind())]
    kind: IntegrationKind,
    /// The integration's id
    #[arg(add = ArgValueCompleter::new(complete::integrations))]
    integration: i64,
}

fn kind() -> impl TypedValueParser<Value = IntegrationKind> {
    let words = IntegrationKind::ALL.map(IntegrationKind::as_str);
    PossibleValuesParser::new(words).try_map(|word| word.parse::<IntegrationKind>())
}

fn system() -> impl TypedValueParser<Value = IntegrationSystem> {
    let words = IntegrationSystem::ALL.map(IntegrationSystem::as_str);
    PossibleValuesParser::new(words).try_map(|word| word.parse::<IntegrationSystem>())
}

pub async fn run(command: IntegrationCommand, connection: &Connection) -> anyhow::Result<()> {
    let client = &connection.client;
    match command {
        IntegrationCommand::List { on, kind } => {
            let id = on.id(connection).await?;
            let kinds = kind.map_or(IntegrationKind::ALL.to_vec(), |kind| vec![kind]);
            let mut all = Vec::new();
            for kind in kinds {
                let found = client.integrations(id, kind).await?;
                all.extend(found.into_iter().map(|integration| (kind, integration)));
            }
            all.sort_by_key(|(_, integration)| integration.id);
            print(&all, connection)
        }
        IntegrationCommand::Show(One { on, kind, integration }) => {
            let id = on.id(connection).await?;
            print(&[(kind, client.integration(id, kind, integration).await?)], connection)
        }
        IntegrationCommand::Create { on, kind, system, settings } => {
            check_takes(system, kind)?;
            let config = settings.config(system, &IntegrationConfig::new())?;
            let id = on.id(connection).await?;
            let made = client.create_integration(id, kind, system, &config).await?;
            print(&[(kind, made)], connection)
        }
        IntegrationCommand::Update { one: One { on, kind, integration }, settings } => {
            let id = on.id(connection).await?;
            let before = client.integration(id, kind, integration).await?;
            let Ok(system) = before.system.parse() else {
                bail!("this program is too old to know {}", before.system);
            };
            let config = settings.config(system, &before.config)?;
            client.update_integration(id, kind, integration, &config).await?;
            print(&[(kind, client.integration(id, kind, integration).await?)], connection)
        }
        IntegrationCommand::Test(One { on, kind, integration }) => {
            let id = on.id(connection).await?;
            let tested = client.test_integration(id, kind, integration).await?;
            if !tested.ok {
                bail!("the test failed: {}", tested.message);
            }
            if connection.json {
                return output::print_json(&tested);
            }
            output::print_line(&tested.message)
        }
        IntegrationCommand::Delete(One { on, kind, integration }) => {
            let id = on.id(connection).await?;
            client.delete_integration(id, kind, integration).await.map_err(Into::into)
        }
    }
}

fn check_takes(system: IntegrationSystem, kind: IntegrationKind) -> anyhow::Result<()> {
    if system.takes(kind) {
        return Ok(());
    }
    let takes = |system: &IntegrationSystem| system.takes(kind);
    let others = IntegrationSystem::ALL.into_iter().filter(takes);
    let others: Vec<&str> = others.map(IntegrationSystem::as_str).collect();
    bail!("{system} takes no {kind}; what does: {}", others.join(", "))
}

/// Keys are not shown; `--json` prints what the API said, which has them.
fn print(
    integrations: &[(IntegrationKind, Integration)],
    connection: &Connection,
) -> anyhow::Result<()> {
    if connection.json {
        let said: Vec<&Integration> = integrations.iter().map(|(_, it)| it).collect();
        return output::print_json(&said);
    }
    output::print_table(&table(integrations))
}

fn table(integrations: &[(IntegrationKind, Integration)]) -> Table {
    let row = |(kind, integration): &(IntegrationKind, Integration)| {
        let Integration { id, system, config, error, .. } = integration;
        let secrets = settings::secrets(system);
        let shown = |(name, value): (&String, &Secret)| {
            let is_key = secrets.contains(&name.as_str());
            format!("{name}={}", if is_key { "***" } else { value.expose() })
        };
        let settings: Vec<String> = config.iter().map(shown).collect();
        let error = if error.is_empty() { "-".to_owned() } else { error.clone() };
        [id.to_string(), kind.to_string(), system.clone(), settings.join(" "), error]
    };
    output::table(["ID", "KIND", "TYPE", "SETTINGS", "ERROR"], integrations.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_not_shown_and_an_error_is() {
        let splunk = Integration {
            id: 3,
            system: "splunk".into(),
            config: [("host_port", "splunk.test:8088"), ("token", "s3cret")]
                .map(|(name, value)| (name.to_owned(), Secret::new(value)))
                .into(),
            error: "splunk.test refused the token".into(),
            account_id: String::new(),
            created_at: "2026-11-15T12:00:00Z".parse().unwrap(),
        };
        // Of a newer control plane: what might be a key is not shown either.
        let newer =
            Integration { id: 4, system: "newer".into(), error: String::new(), ..splunk.clone() };
        let all = [(IntegrationKind::Logs, splunk), (IntegrationKind::Metrics, newer)];
        let printed = table(&all).trim_fmt();
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let expected = [
            "ID KIND TYPE SETTINGS ERROR",
            "3 logs splunk host_port=splunk.test:8088 token=*** splunk.test refused the token",
            "4 metrics newer host_port=*** token=*** -",
        ];
        assert_eq!(printed.lines().map(words).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_system_takes_what_it_can() {
        check_takes(IntegrationSystem::Datadog, IntegrationKind::Logs).unwrap();
        let error = check_takes(IntegrationSystem::Librato, IntegrationKind::Logs).unwrap_err();
        assert!(error.to_string().starts_with("librato takes no logs; what does: papertrail, "));
    }
}
