//! A letter on its way out.

use crate::Email;
use serde::{Deserialize, Serialize};

/// What is to be sent. It waits in the store as a document, sealed, so it may
/// hold a link that lets somebody in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mail {
    pub to: Email,
    /// One line; whatever would break it is taken out when it is sent.
    pub subject: String,
    pub text: String,
    /// The same with looks, for programs that show them; none: the text alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
}
