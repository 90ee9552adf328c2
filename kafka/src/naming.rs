//! Naming things in a sentence that has to stay short.

/// So many are named, the rest is counted.
pub(crate) const NAMED: usize = 5;

/// The first few, and how many more there are.
pub(crate) fn first_of(names: &[String], count: usize, separator: &str) -> String {
    let some = names[..names.len().min(count)].join(separator);
    match names.len().saturating_sub(count) {
        0 => some,
        more => format!("{some}{separator}and {more} more"),
    }
}
