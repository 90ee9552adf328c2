//! Bodies of `/api/topics/<name>/messages`.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes as text, where they are UTF-8.
pub const TEXT: &str = "text";
/// Bytes that are no text.
pub const BASE64: &str = "base64";

/// One element of `GET topics/<name>/messages`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    pub partition: i64,
    pub offset: i64,
    /// Null if it carries none.
    pub timestamp: Option<Timestamp>,
    pub key: Option<String>,
    /// `text` or `base64`.
    pub key_encoding: String,
    pub value: Option<String>,
    pub value_encoding: String,
    pub headers: Vec<Header>,
    /// The size of a message that is too large to be told; null of all others.
    pub omitted_bytes: Option<i64>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    pub name: String,
    #[serde(default)]
    pub value: Option<String>,
    #[serde(default)]
    pub encoding: String,
}

/// `POST topics/<name>/messages`: one message, or several in `messages`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WriteMessages {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<NewMessage>,
    #[serde(flatten)]
    pub message: NewMessage,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct NewMessage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_encoding: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_encoding: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<Header>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<i64>,
}

/// One element of what a write answers, in the order of the messages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    pub partition: i64,
    pub offset: i64,
}
