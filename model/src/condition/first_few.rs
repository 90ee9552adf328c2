//! The first few of many, and how many more there are.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Where people only need to know what it is about.
pub const FEW: usize = 5;
/// Where somebody has to act on each.
pub const MANY: usize = 50;

/// As many as anybody reads, so that what is kept and told stays short.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FirstFew<T> {
    pub first: Vec<T>,
    pub more: usize,
}

impl<T> FirstFew<T> {
    pub fn few(all: Vec<T>) -> Self {
        Self::at_most(FEW, all)
    }

    pub fn many(all: Vec<T>) -> Self {
        Self::at_most(MANY, all)
    }

    fn at_most(most: usize, mut all: Vec<T>) -> Self {
        let more = all.len().saturating_sub(most);
        all.truncate(most);
        Self { first: all, more }
    }

    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

impl<T: fmt::Display> fmt::Display for FirstFew<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, one) in self.first.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{one}")?;
        }
        if self.more > 0 { write!(f, "; and {} more", self.more) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_counted() {
        let numbers = |count: i32| (0..count).collect::<Vec<_>>();
        assert_eq!(FirstFew::few(numbers(9)).to_string(), "0; 1; 2; 3; 4; and 4 more");
        assert_eq!(FirstFew::few(numbers(1)).to_string(), "0");
        assert_eq!(FirstFew::few(numbers(0)).to_string(), "");
        assert_eq!(FirstFew::many(numbers(9)).to_string(), "0; 1; 2; 3; 4; 5; 6; 7; 8");
        let many = FirstFew::many(numbers(53)).to_string();
        assert!(many.ends_with("; 48; 49; and 3 more"), "{many}");
    }
}
