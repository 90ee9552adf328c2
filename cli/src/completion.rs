//! `castellan completion`: what a shell needs to complete commands and names.

use crate::{complete, output};
use clap::ValueEnum;
use clap_complete::env::{Bash, EnvCompleter, Fish, Zsh};
use std::path::PathBuf;

const PROGRAM: &str = "castellan";

#[derive(Debug, clap::Args)]
pub struct Completion {
    shell: Shell,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub fn run(options: &Completion) -> anyhow::Result<()> {
    output::print_bytes(&script(options.shell, &this_program())?)
}

fn script(shell: Shell, completer: &str) -> anyhow::Result<Vec<u8>> {
    let shell: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
    };
    let mut script = Vec::new();
    shell.write_registration(complete::VARIABLE, PROGRAM, PROGRAM, completer, &mut script)?;
    Ok(script)
}

/// Whom the shell asks: by its name if it was found by that, else by a path that
/// holds in every directory.
fn this_program() -> String {
    let called = std::env::args_os().next().map_or_else(|| PROGRAM.into(), PathBuf::from);
    let whole = match std::env::current_dir() {
        Ok(here) if called.components().count() > 1 => here.join(called),
        _ => called,
    };
    whole.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_told_whom_to_ask() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = String::from_utf8(script(shell, "/opt/castellan").unwrap()).unwrap();
            assert!(script.contains(complete::VARIABLE), "{shell:?}: {script}");
            assert!(script.contains("/opt/castellan"), "{shell:?}: {script}");
        }
    }
}
