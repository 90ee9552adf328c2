//! Enums and parsed texts by the words they are written as: the same in the API, in the
//! store and in logs.

/// A text that is none of the words of an enum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be one of {}", .0.join(", "))]
pub struct UnknownWord(pub &'static [&'static str]);

/// An enum whose variants have one word each: `ALL`, `as_str`, `Display` and `FromStr`.
#[macro_export]
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$doc:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            const WORDS: &[&str] = &[$($word),*];
            pub const ALL: [Self; Self::WORDS.len()] = [$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> std::result::Result<Self, $crate::UnknownWord> {
                let found = Self::ALL.into_iter().find(|it| it.as_str() == text);
                found.ok_or($crate::UnknownWord(Self::WORDS))
            }
        }
    };
}

/// A text that was checked by `parse`: how it is read, shown and written.
macro_rules! checked_text {
    ($name:ident, $error:ty) => {
        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = $error;
            fn try_from(text: String) -> Result<Self, $error> {
                Self::parse(text)
            }
        }

        impl From<$name> for String {
            fn from(checked: $name) -> Self {
                checked.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// What serde needs of a value that is written as the text which its `FromStr` reads.
macro_rules! written_as_text {
    ($name:ident) => {
        impl TryFrom<String> for $name {
            type Error = <$name as std::str::FromStr>::Err;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    };
}

pub(crate) use {checked_text, written_as_text};
