//! Which servers an action is about, by name.

use crate::{Error, Result};
use model::Server;

/// Of what is wrong, so much is said again.
const MOST_NAMES: usize = 5;
const LONGEST_NAME: usize = 64;

/// As sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Nodes {
    /// None: all of them.
    pub names: Option<Vec<String>>,
}

impl Nodes {
    /// The servers with these names, by number; none where none are named.
    pub(super) fn among<'a>(&self, servers: &'a [Server]) -> Result<Option<Vec<&'a Server>>> {
        let Some(names) = &self.names else { return Ok(None) };
        if names.is_empty() {
            let what = "is an empty list; name at least one server, or leave it out for all";
            return Err(Error::field("nodes", what));
        }
        let is_server = |name: &&String| servers.iter().any(|server| server.name == **name);
        let unknown: Vec<&String> = names.iter().filter(|name| !is_server(name)).collect();
        if unknown.is_empty() {
            let chosen = servers.iter().filter(|server| names.contains(&server.name));
            return Ok(Some(chosen.collect()));
        }
        let known: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
        let what =
            format!("no server is called {}; there are {}", said(&unknown), known.join(", "));
        Err(Error::field("nodes", what))
    }
}

/// A few names, none of them at length and none that could garble a terminal.
fn said(names: &[&String]) -> String {
    let short = |name: &&String| match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{:?}…", &name[..end]),
        None => format!("{name:?}"),
    };
    let mut said: Vec<String> = names.iter().take(MOST_NAMES).map(short).collect();
    if names.len() > MOST_NAMES {
        said.push(format!("{} more", names.len() - MOST_NAMES));
    }
    said.join(", ")
}
