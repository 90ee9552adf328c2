//! Operator's verbs of `castellan instance`, beside those that talk HTTP.
//!
//! They work on the data directory's store and need no key, beside a running
//! control plane or without one: for the day when something is broken. They
//! are put into crate cli's noun at run time, so that one `--help` shows all.

mod archive;
mod break_glass;
mod evidence;
mod logs;
mod redact;
mod shell_config;
mod support_bundle;

use break_glass::OperatorArgs;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use shell_config::ShellConfigArgs;
use std::path::PathBuf;
use support_bundle::SupportBundleArgs;

const NOUN: &str = "instance";
const SHELL_CONFIG: &str = "shell-config";
const SUPPORT_BUNDLE: &str = "support-bundle";

/// What was asked for, if it is one of ours.
pub enum OperatorCommand {
    ShellConfig(OperatorArgs, ShellConfigArgs),
    SupportBundle(OperatorArgs, SupportBundleArgs),
}

/// The program with our verbs under its noun.
pub fn with_operator_verbs(program: Command) -> Command {
    let shell_config = verb::<ShellConfigArgs>(
        SHELL_CONFIG,
        "Write a client.properties for Kafka's own tools (operator, on the data directory)",
    );
    let support_bundle = verb::<SupportBundleArgs>(
        SUPPORT_BUNDLE,
        "Collect configs, logs and state without secrets (operator, on the data directory)",
    );
    program.mut_subcommand(NOUN, |noun| noun.subcommand(shell_config).subcommand(support_bundle))
}

fn verb<A: Args>(name: &'static str, about: &'static str) -> Command {
    // Its meaning comes last: each set of arguments brings one of its own.
    A::augment_args(OperatorArgs::augment_args(Command::new(name))).about(about)
}

/// Our command, if the arguments name one.
pub fn operator_command(matches: &ArgMatches) -> Result<Option<OperatorCommand>, clap::Error> {
    let Some((NOUN, noun)) = matches.subcommand() else { return Ok(None) };
    let Some((verb, given)) = noun.subcommand() else { return Ok(None) };
    let command = match verb {
        SHELL_CONFIG => OperatorCommand::ShellConfig(
            operator(given)?,
            ShellConfigArgs::from_arg_matches(given)?,
        ),
        SUPPORT_BUNDLE => OperatorCommand::SupportBundle(
            operator(given)?,
            SupportBundleArgs::from_arg_matches(given)?,
        ),
        _ => return Ok(None),
    };
    Ok(Some(command))
}

/// `--data` is the noun's own option, the same for all of its verbs.
fn operator(given: &ArgMatches) -> Result<OperatorArgs, clap::Error> {
    let mut args = OperatorArgs::from_arg_matches(given)?;
    args.data = given.get_one::<PathBuf>("data").cloned();
    Ok(args)
}

pub async fn run(command: OperatorCommand) -> anyhow::Result<()> {
    match command {
        OperatorCommand::ShellConfig(operator, args) => shell_config::run(&operator, &args).await,
        OperatorCommand::SupportBundle(operator, args) => {
            support_bundle::run(&operator, &args).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(line: &str) -> Result<Option<OperatorCommand>, clap::Error> {
        let program = with_operator_verbs(crate::Arguments::command());
        operator_command(&program.try_get_matches_from(line.split_whitespace())?)
    }

    #[test]
    fn our_verbs_are_the_nouns_and_the_others_stay_the_command_lines() {
        with_operator_verbs(crate::Arguments::command()).debug_assert();
        let line = "castellan instance shell-config 7 --data /d --out f";
        let Ok(Some(OperatorCommand::ShellConfig(operator, args))) = parse(line) else {
            panic!("another command")
        };
        assert_eq!((operator.id, operator.data), (7, Some("/d".into())));
        assert_eq!(args.out, Some("f".into()));
        let ours = parse("castellan instance --data /d support-bundle 7").unwrap();
        assert!(matches!(ours, Some(OperatorCommand::SupportBundle(..))));
        for line in ["castellan instance get 7", "castellan plan list"] {
            assert!(parse(line).unwrap().is_none(), "{line}");
        }
        assert!(parse("castellan instance shell-config").is_err());
    }

    #[test]
    fn one_help_shows_all() {
        let help = parse("castellan instance --help").err().unwrap().to_string();
        let about = |verb: &str| {
            let line = help.lines().find_map(|line| line.trim().strip_prefix(verb));
            line.map_or_else(|| panic!("no {verb} in {help}"), str::trim)
        };
        assert!(about("create ").starts_with("Order"), "{help}");
        assert!(about("shell-config ").starts_with("Write a"), "{help}");
        assert!(about("support-bundle ").starts_with("Collect"), "{help}");
    }
}
