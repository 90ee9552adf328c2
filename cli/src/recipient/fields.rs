//! What `castellan recipient create` and `update` take.

use anyhow::{Context as _, bail};
use model::{RecipientOptions, Responder, Secret};
use wire::alarms::RecipientFields;

#[derive(Debug, clap::Args)]
pub struct Fields {
    /// email, webhook, slack, teams, pagerduty, opsgenie, opsgenie-eu, victorops or signl4
    #[arg(value_name = "TYPE")]
    kind: String,
    /// An address or a key; `-` reads it from stdin, so that it is in no list of
    /// processes
    value: String,
    /// What people call it
    #[arg(long)]
    name: Option<String>,
    /// webhook: a file with the secret that bodies are signed with
    #[arg(long, value_name = "FILE")]
    secret_file: Option<std::path::PathBuf>,
    /// pagerduty: one incident for all alarms
    #[arg(long)]
    dedupkey: Option<String>,
    /// victorops: the routing key
    #[arg(long)]
    rk: Option<String>,
    /// opsgenie: who is called, such as team:Ops or user:ada@example.com; repeat it
    #[arg(long, value_name = "TYPE:NAME")]
    responder: Vec<String>,
}

impl Fields {
    pub fn body(self) -> anyhow::Result<RecipientFields> {
        let value = match self.value.as_str() {
            "-" => std::io::read_to_string(std::io::stdin()).context("stdin can't be read")?,
            _ => self.value,
        };
        let secret = match &self.secret_file {
            None => None,
            Some(file) => {
                let text = std::fs::read_to_string(file)
                    .with_context(|| format!("{} can't be read", file.display()))?;
                Some(Secret::new(text.trim_end()))
            }
        };
        let responders =
            self.responder.iter().map(|it| responder(it)).collect::<Result<Vec<_>, _>>()?;
        let options = RecipientOptions {
            dedupkey: self.dedupkey,
            rk: self.rk,
            responders: (!responders.is_empty()).then_some(responders),
            secret,
        };
        Ok(RecipientFields {
            kind: self.kind,
            value: Secret::new(value.trim()),
            name: self.name,
            options: (options != RecipientOptions::default()).then_some(options),
        })
    }
}

/// `team:Ops`; a user is known by the e-mail.
fn responder(text: &str) -> anyhow::Result<Responder> {
    let Some((kind, name)) = text.split_once(':').filter(|(_, name)| !name.is_empty()) else {
        bail!("{text} is no responder; give one such as team:Ops or user:ada@example.com");
    };
    let none = Responder { kind: kind.into(), id: None, name: None, username: None };
    Ok(match kind {
        "user" => Responder { username: Some(name.into()), ..none },
        _ => Responder { name: Some(name.into()), ..none },
    })
}
