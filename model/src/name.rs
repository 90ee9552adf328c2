//! Names, comments and tags that a customer chooses.

use crate::words::checked_text;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

const NAME_LENGTH: usize = 64;
const TAG_COUNT: usize = 20;
const COMMENT_LENGTH: usize = 255;

/// Why a name or a tag is refused, as a sentence about the field.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("must be 1 to 64 characters long")]
    Length,
    #[error("must not contain control characters")]
    Control,
    #[error("must not contain a comma")]
    Comma,
    #[error("must be at most 20 tags")]
    TooMany,
    #[error("must be at most 255 characters long")]
    CommentLength,
}

fn check(text: &str) -> Result<(), NameError> {
    if text.is_empty() || text.chars().count() > NAME_LENGTH {
        return Err(NameError::Length);
    }
    if text.chars().any(char::is_control) {
        return Err(NameError::Control);
    }
    Ok(())
}

/// Space around a name is a slip.
fn trimmed(text: &str) -> Result<String, NameError> {
    let text = text.trim();
    check(text)?;
    Ok(text.into())
}

/// An instance's name: 1–64 characters, no control characters, not unique.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InstanceName(String);

impl InstanceName {
    pub fn parse(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        check(&text)?;
        Ok(Self(text))
    }
}

checked_text!(InstanceName, NameError);

/// What a person calls themselves: 1–64 characters, no control characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PersonName(String);

impl PersonName {
    pub fn parse(text: &str) -> Result<Self, NameError> {
        trimmed(text).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What an account is called: 1–64 characters, no control characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccountName(String);

impl AccountName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AccountName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        trimmed(text).map(Self)
    }
}

/// What a customer key is for, in its owner's words: up to 255 characters, no
/// control characters.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KeyComment(String);

impl KeyComment {
    pub fn parse(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        if text.chars().count() > COMMENT_LENGTH {
            return Err(NameError::CommentLength);
        }
        if text.chars().any(char::is_control) {
            return Err(NameError::Control);
        }
        Ok(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Tags in the order they were sent, without duplicates.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Tags(Vec<String>);

impl Tags {
    pub fn parse(sent: Vec<String>) -> Result<Self, NameError> {
        let mut tags: Vec<String> = Vec::new();
        for tag in sent {
            check(&tag)?;
            if tag.contains(',') {
                return Err(NameError::Comma);
            }
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        if tags.len() > TAG_COUNT {
            return Err(NameError::TooMany);
        }
        Ok(Self(tags))
    }

    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the two share a tag.
    pub fn meets(&self, other: &Tags) -> bool {
        self.0.iter().any(|tag| other.0.contains(tag))
    }
}

impl TryFrom<Vec<String>> for Tags {
    type Error = NameError;
    fn try_from(sent: Vec<String>) -> Result<Self, NameError> {
        Self::parse(sent)
    }
}

impl From<Tags> for Vec<String> {
    fn from(tags: Tags) -> Self {
        tags.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let check = |text: &str, expected| {
            assert_eq!(InstanceName::parse(text).map(drop), expected, "{text:?}");
        };
        check("orders", Ok(()));
        check("Ünïcode ☃ with spaces", Ok(()));
        check("", Err(NameError::Length));
        check(&"x".repeat(64), Ok(()));
        check(&"é".repeat(64), Ok(()));
        check(&"x".repeat(65), Err(NameError::Length));
        check("a\nb", Err(NameError::Control));
        check("a\0", Err(NameError::Control));
    }

    #[test]
    fn names_of_people_and_accounts_and_comments() {
        assert_eq!(PersonName::parse(" Ada Lovelace\t").unwrap().as_str(), "Ada Lovelace");
        assert_eq!(PersonName::parse("  "), Err(NameError::Length));
        assert_eq!(PersonName::parse("a\nb"), Err(NameError::Control));
        assert_eq!("Acme GmbH ".parse::<AccountName>().unwrap().as_str(), "Acme GmbH");
        assert_eq!("\n".parse::<AccountName>(), Err(NameError::Length));
        assert_eq!("a\tb".parse::<AccountName>(), Err(NameError::Control));
        assert_eq!(KeyComment::parse("").unwrap(), KeyComment::default());
        assert_eq!(KeyComment::parse("a\rb"), Err(NameError::Control));
        assert!(KeyComment::parse("é".repeat(255)).is_ok());
        assert_eq!(KeyComment::parse("x".repeat(256)), Err(NameError::CommentLength));
    }

    #[test]
    fn tags() {
        let check = |sent: &[&str], expected: Result<&[&str], NameError>| {
            let tags = Tags::parse(sent.iter().map(ToString::to_string).collect());
            let expected = expected.map(|list| list.iter().map(ToString::to_string).collect());
            assert_eq!(tags.map(Vec::from), expected, "{sent:?}");
        };
        check(&[], Ok(&[]));
        check(&["b", "a", "b"], Ok(&["b", "a"]));
        check(&["a,b"], Err(NameError::Comma));
        check(&[""], Err(NameError::Length));
        let many: Vec<String> = (0..21).map(|n| n.to_string()).collect();
        check(&many.iter().map(String::as_str).collect::<Vec<_>>(), Err(NameError::TooMany));
    }
}
