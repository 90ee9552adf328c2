//! Which instance a command is about.

use crate::{Connection, complete};
use anyhow::bail;
use clap_complete::ArgValueCompleter;

// No doc comment, because that would be the help text of the verb.
#[derive(Debug, clap::Args)]
pub struct OnInstance {
    /// Id or name of the instance
    #[arg(value_name = "INSTANCE", add = ArgValueCompleter::new(complete::instances))]
    instance: String,
}

impl OnInstance {
    /// A number is always an id; names need not be unique.
    pub async fn id(&self, connection: &Connection) -> anyhow::Result<i64> {
        let name = &self.instance;
        if let Ok(id) = name.parse() {
            return Ok(id);
        }
        let mut named = connection.client.instances().await?;
        named.retain(|instance| &instance.name == name);
        let ids: Vec<String> = named.iter().map(|instance| instance.id.to_string()).collect();
        match named.as_slice() {
            [one] => Ok(one.id),
            [] => bail!("there is no instance {name}; `castellan instance list` shows yours"),
            _ => bail!("several instances are called {name}; give an id: {}", ids.join(", ")),
        }
    }
}
