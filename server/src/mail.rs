//! How mail leaves this installation: through the server that the config names,
//! or into files under the data directory.

use crate::config::Mail;
use crate::data_dir::DataDir;
use anyhow::{Context, Result, bail};
use notify::{MailFiles, Mailer, Sender, Smtp, SmtpSettings};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Who mail is from where nobody says so; only for mail that stays here.
const FROM: &str = "Castellan <castellan@localhost>";
const TIMEOUT: Duration = Duration::from_mins(1);

/// Checks the settings; whether the server is there shows with the first mail.
pub fn mailer(config: &Mail, data: &DataDir) -> Result<Arc<dyn Mailer>> {
    let from = Sender::parse(config.from.as_deref().unwrap_or(FROM)).context("mail.from")?;
    let Some(url) = config.url.clone() else {
        return Ok(Arc::new(MailFiles::new(&data.mail(), from)));
    };
    if config.from.is_none() {
        bail!("mail.url needs mail.from, such as \"Castellan <castellan@example.com>\"");
    }
    let authority_pem = authority("mail.ca", config.ca.as_deref())?;
    let timeout = config.timeout_seconds.map_or(TIMEOUT, |seconds| {
        // The outbox takes a mail for five minutes.
        Duration::from_secs(u64::from(seconds).clamp(1, 240))
    });
    let settings = SmtpSettings { url, from, authority_pem, timeout };
    Ok(Arc::new(Smtp::new(settings).context("mail.url can't be used")?))
}

/// What is in the file that a setting names, if it names one.
pub fn authority(setting: &str, path: Option<&Path>) -> Result<Option<String>> {
    let Some(path) = path else { return Ok(None) };
    let read = fs::read_to_string(path);
    read.map(Some).with_context(|| format!("{setting} {} can't be read", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Secret;
    use std::path::Path;

    #[test]
    fn settings_that_cant_work_are_refused_at_start() {
        let check = |config: Mail, expected: &str| {
            let data = DataDir::new(Path::new("/nowhere")).unwrap();
            let said = mailer(&config, &data).err().map_or(String::new(), |e| format!("{e:#}"));
            assert!(said.contains(expected), "{said}");
            assert_eq!(said.is_empty(), expected.is_empty(), "{said}");
            assert!(!said.contains("s3cret"), "{said}");
        };
        let url = |url: &str| Some(Secret::new(url));
        let from = || Some("c@example.com".to_owned());
        check(Mail::default(), "");
        check(Mail { from: Some("nobody".into()), ..Mail::default() }, "mail.from");
        check(Mail { url: url("smtp://localhost"), ..Mail::default() }, "needs mail.from");
        let good = Mail { url: url("smtp://localhost"), from: from(), ..Mail::default() };
        check(good.clone(), "");
        check(Mail { url: url("smtp://u:s3cret@x.test"), ..good.clone() }, "in the clear");
        check(Mail { url: url("s3cret"), ..good.clone() }, "no address of a mail server");
        check(Mail { ca: Some("/nowhere/ca.pem".into()), ..good }, "/nowhere/ca.pem can't be read");
    }
}
