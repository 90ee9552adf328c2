//! The words that are on the line so far, read as the command they will become.

use crate::Command;
use clap::{ArgMatches, Subcommand as _};
use std::ffi::OsString;

/// What stands on the line: shells put it after two hyphens.
pub fn typed(arguments: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    arguments.skip_while(|word| word != "--").skip(1)
}

/// What is given to the verb, though much may be missing or wrong.
pub fn verb(words: impl Iterator<Item = OsString>) -> Option<ArgMatches> {
    let program = Command::augment_subcommands(clap::Command::new("castellan"));
    let program = program.ignore_errors(true);
    let (_, noun) = program.try_get_matches_from(words).ok()?.remove_subcommand()?;
    let (_, verb) = { noun }.remove_subcommand()?;
    Some(verb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Options;
    use clap::FromArgMatches as _;

    fn given(line: &str) -> ArgMatches {
        verb(typed(line.split(' ').map(OsString::from))).unwrap()
    }

    #[test]
    fn a_line_that_is_not_complete_tells_what_it_tells() {
        for line in [
            "/bin/castellan -- castellan topic get orders ",
            "/bin/castellan -- castellan topic --url http://x get orders ",
            "/bin/castellan -- castellan topic get --url http://x orders ord",
            "/bin/castellan -- castellan acl create orders --user ",
            "/bin/castellan -- castellan acl create orders --user bob --pattern ",
        ] {
            let verb = given(line);
            assert_eq!(verb.get_one::<String>("instance").unwrap(), "orders", "{line}");
            let url = Options::from_arg_matches(&verb).unwrap().url;
            if line.contains("--url") {
                assert_eq!(url.as_deref(), Some("http://x"), "{line}");
            }
        }
    }
}
