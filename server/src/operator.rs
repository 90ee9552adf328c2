//! The operator's verbs under nouns of the command line, beside those that talk
//! HTTP. They work on the store and need no key; they are put into crate cli's
//! nouns at run time, so that one `--help` shows all.

use crate::config::{Config, DatabaseArgs};
use crate::data_dir::DataDir;
use crate::{at, audit, instance, invoice, key, store_app};
use anyhow::Result;
use app::App;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use std::path::PathBuf;

/// What was asked for, if it is one of ours.
pub enum OperatorCommand {
    Instance(instance::OperatorCommand),
    Invoice(invoice::OperatorCommand),
    Audit(audit::OperatorCommand),
    Key(key::OperatorCommand),
}

/// The program with our verbs under its nouns.
pub fn with_verbs(program: Command) -> Command {
    let program = invoice::with_operator_verbs(instance::with_operator_verbs(program));
    key::with_operator_verbs(audit::with_operator_verbs(program))
}

/// Our command, if the arguments name one.
pub fn command(given: &ArgMatches) -> Result<Option<OperatorCommand>, clap::Error> {
    if let Some(command) = instance::operator_command(given)? {
        return Ok(Some(OperatorCommand::Instance(command)));
    }
    if let Some(command) = invoice::operator_command(given)? {
        return Ok(Some(OperatorCommand::Invoice(command)));
    }
    if let Some(command) = key::operator_command(given)? {
        return Ok(Some(OperatorCommand::Key(command)));
    }
    Ok(audit::operator_command(given)?.map(OperatorCommand::Audit))
}

pub async fn run(command: OperatorCommand) -> Result<()> {
    match command {
        OperatorCommand::Instance(command) => instance::run(command).await,
        OperatorCommand::Invoice(command) => invoice::run(command).await,
        OperatorCommand::Audit(command) => audit::run(command).await,
        OperatorCommand::Key(command) => key::run(command).await,
    }
}

// Which store, for verbs whose noun has `--data` and `--json` already. No doc
// comment, because that would be the help text of the verb.
#[derive(Args)]
pub struct StoreArgs {
    #[arg(skip)]
    data: Option<PathBuf>,
    #[arg(skip)]
    pub json: bool,
    /// The config file of the control plane, if it names a database
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseArgs,
}

impl StoreArgs {
    /// From a verb's own arguments and the options of its noun.
    pub fn from_matches(given: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::from_arg_matches(given)?;
        args.data = given.get_one::<PathBuf>("data").cloned();
        args.json = given.get_flag("json");
        Ok(args)
    }

    /// An app on an installation that is there; never makes one.
    pub async fn open(&self) -> Result<App> {
        let data = DataDir::new(&self.data.clone().unwrap_or_else(DataDir::default_path))?;
        let mut config = Config::load(self.config.as_deref())?;
        self.database.apply(&mut config);
        store_app::app(at::open_there(&data, &config).await?, &config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn our_verbs_stand_beside_the_others() {
        with_verbs(crate::Arguments::command()).debug_assert();
        let parse = |line: &str| {
            let program = with_verbs(crate::Arguments::command());
            command(&program.try_get_matches_from(line.split_whitespace())?)
        };
        let ours = |line: &str| parse(line).unwrap().is_some();
        for line in [
            "castellan invoice paid 7 --data /d",
            "castellan invoice --data /d list --all --json",
            "castellan audit verify --data /d",
            "castellan audit verify --account 0b6e2d5c-4f0f-4c0e-9d5a-0d6b8f2f7a11",
            "castellan audit verify --archive a.jsonl --archive b.jsonl",
            "castellan audit archive --before 2026-01 --data /d",
            "castellan audit archive --before 2026-01 --out a.jsonl --json",
            "castellan instance shell-config 7",
            "castellan key create ada@x.test --data /d --role monitor --tags a,b --json",
            "castellan key create ada@x.test --account Acme --comment ci",
            "castellan key list --all --data /d",
            "castellan key list --account Acme --json",
            "castellan key revoke 0b6e2d5c-4f0f-4c0e-9d5a-0d6b8f2f7a11 --data /d",
        ] {
            assert!(ours(line), "{line}");
        }
        for line in [
            "castellan invoice list --from 2026-11",
            "castellan invoice get 7",
            "castellan invoice period 2026-11",
            "castellan audit csv --month 2026-11",
            "castellan instance list",
            "castellan key list --data /d",
            "castellan key create --role monitor",
            "castellan key delete 0b6e2d5c-4f0f-4c0e-9d5a-0d6b8f2f7a11",
        ] {
            assert!(!ours(line), "{line}");
        }
        for line in [
            "castellan invoice paid",
            "castellan invoice paid x",
            "castellan audit verify --account x",
            "castellan audit archive",
            "castellan audit archive --before 2026",
            "castellan key create ada@x.test --role king",
            "castellan key create ada@x.test --expires-at 2030-01-01T00:00:00Z",
            "castellan key revoke x",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
