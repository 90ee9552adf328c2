//! Mail as files, where no mail server is configured: for trying things out and
//! for hosts without mail. A person opens them or sends them on.

use crate::letter::{Sender, readable};
use crate::{Mailer, Outgoing, SendError, Sent};
use async_trait::async_trait;
use std::path::{Path, PathBuf};

/// Writes `<id>-<date>.eml` into a directory that its owner alone may read:
/// the links in there let people in.
#[derive(Clone, Debug)]
pub struct MailFiles {
    directory: PathBuf,
    from: Sender,
}

impl MailFiles {
    pub fn new(directory: &Path, from: Sender) -> Self {
        Self { directory: directory.into(), from }
    }
}

#[async_trait]
impl Mailer for MailFiles {
    /// The same mail is the same file, also when it is sent again.
    async fn send(&self, outgoing: Outgoing<'_>) -> Result<Sent, SendError> {
        let text = readable(&self.from, outgoing)?.formatted();
        let name = format!("{}-{}.eml", outgoing.at.strftime("%Y%m%dT%H%M%SZ"), outgoing.id);
        let path = self.directory.join(name);
        let written = host::create_private_dir(&self.directory)
            .and_then(|()| host::write_private(&path, &text));
        match written {
            Ok(()) => Ok(Sent::Written(path)),
            Err(source) => Err(SendError::File { path, source }),
        }
    }
}
