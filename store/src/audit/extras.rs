//! The extras of a line as one text: `k=v; k=v`, never longer than asked for.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// What the note about a cut text takes at most.
const NOTE: usize = 128;

/// A value that could be taken for more than one is quoted. A text that would be longer
/// than `most` bytes keeps every name and the beginning of long values; a note at its
/// end says how much is left out, and the SHA-256 of the whole text.
pub fn join_extras(extras: &[(&str, String)], most: usize) -> String {
    let pairs: Vec<String> = extras.iter().map(|(name, value)| pair(name, value)).collect();
    let whole = pairs.join("; ");
    if whole.len() <= most {
        return whole;
    }
    let separators = 2 * pairs.len();
    let rooms = rooms(&pairs, most.saturating_sub(NOTE + separators));
    let cut: Vec<String> =
        extras.iter().zip(rooms).map(|((name, value), room)| cut(name, value, room)).collect();
    let kept = cut.join("; ");
    let left_out = whole.len().saturating_sub(kept.len());
    format!("{kept}; rest={left_out} bytes more, sha256:{}", sha256(&whole))
}

/// The names and values of such a text. A value that was quoted stays quoted, so that
/// nothing in it is taken for a pair of its own.
pub fn split_extras(text: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (pair, behind) = rest.split_at(end_of_pair(rest));
        pairs.extend(pair.split_once('='));
        rest = behind.trim_start_matches([';', ' ']);
    }
    pairs
}

/// Where the first pair ends: at the first semicolon that is not inside of quotes.
fn end_of_pair(text: &str) -> usize {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_quoted,
            b'"' => is_quoted = !is_quoted,
            b';' if !is_quoted => return at,
            _ => {}
        }
    }
    text.len()
}

fn pair(name: &str, value: &str) -> String {
    if value.contains([';', '"']) { format!("{name}={value:?}") } else { format!("{name}={value}") }
}

/// How many bytes each pair gets: what short ones leave goes to the long ones.
fn rooms(pairs: &[String], mut left: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by_key(|at| pairs[*at].len());
    let mut rooms = vec![0; pairs.len()];
    for (done, at) in order.into_iter().enumerate() {
        rooms[at] = pairs[at].len().min(left / (pairs.len() - done));
        left -= rooms[at];
    }
    rooms
}

/// The pair, with as much of its value as there is room for.
fn cut(name: &str, value: &str, room: usize) -> String {
    let whole = pair(name, value);
    if whole.len() <= room {
        return whole;
    }
    let mut end = room.min(value.len());
    loop {
        end = value.floor_char_boundary(end);
        let text = pair(name, &format!("{}…", &value[..end]));
        // Quoting makes a value longer, so the first try may not fit. One byte becomes eight
        // at most: taking off as many as are too long could leave nothing.
        let over = text.len().saturating_sub(room);
        if over == 0 || end == 0 {
            return text;
        }
        end = end.saturating_sub(over.div_ceil(8));
    }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_can_not_pretend_to_be_another_one() {
        let check = |value: &str, expected: &str| {
            let extras = [("name", value.to_owned()), ("id", "7".to_owned())];
            assert_eq!(join_extras(&extras, 2048), expected);
        };
        check("orders", "name=orders; id=7");
        check("a=b, ü", "name=a=b, ü; id=7");
        check("x; id=9", r#"name="x; id=9"; id=7"#);
        check(r#"x"; id=9"#, r#"name="x\"; id=9"; id=7"#);
    }

    #[test]
    fn what_was_joined_is_split_again() {
        let check = |name: &str, expected: &str| {
            let extras = [("id", "7".into()), ("name", name.into()), ("user", "ada".into())];
            let text = join_extras(&extras, 2048);
            assert_eq!(split_extras(&text), [("id", "7"), ("name", expected), ("user", "ada")]);
        };
        check("orders", "orders");
        check("", "");
        check("a=b, ü", "a=b, ü");
        check(r"a\", r"a\");
        check("a; id=7; b", r#""a; id=7; b""#);
        check(r#"a"; id=7; b"#, r#""a\"; id=7; b""#);
        check(r#"a\"; id=7; b"#, r#""a\\\"; id=7; b""#);
        assert_eq!(split_extras(""), []);
        let cut = join_extras(&[("name", "a; id=7; ".repeat(500)), ("id", "8".into())], 512);
        let names: Vec<&str> = split_extras(&cut).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["name", "id", "rest"], "{cut}");
    }

    #[test]
    fn a_long_text_is_cut_with_its_size_and_hash() {
        let extras = [
            ("id", "7".to_owned()),
            ("rules", "a".repeat(200_000)),
            ("outcome", "attempted".to_owned()),
        ];
        let whole = format!("id=7; rules={}; outcome=attempted", "a".repeat(200_000));
        let text = join_extras(&extras, 2048);
        assert!(text.len() <= 2048, "{}", text.len());
        assert!(text.len() > 1900, "{}", text.len());
        assert!(text.starts_with("id=7; rules=aaa"), "{text}");
        let kept = text.split("; rest=").next().unwrap();
        assert!(kept.ends_with("aaa…; outcome=attempted"), "{text}");
        let (left_out, hash) = (whole.len() - kept.len(), sha256(&whole));
        assert!(text.ends_with(&format!("; rest={left_out} bytes more, sha256:{hash}")), "{text}");
        // Another text has another hash, though what is kept is the same.
        let other = [extras[0].clone(), ("rules", "a".repeat(200_001)), extras[2].clone()];
        assert_ne!(join_extras(&other, 2048), text);
    }

    #[test]
    fn a_cut_text_is_never_too_long_nor_unbalanced() {
        for value in ["\"".repeat(5000), "é;".repeat(5000), "\u{202e};".repeat(3000)] {
            for most in [256, 512, 2048] {
                let extras = [("a", value.clone()), ("b", "short".into()), ("c", value.clone())];
                let text = join_extras(&extras, most);
                assert!(text.len() <= most, "{} of {most}", text.len());
                assert!(text.contains("; b=short; c=\""), "{text}");
                let quotes = text.replace("\\\"", "").matches('"').count();
                assert_eq!(quotes, 4, "{text}");
            }
        }
    }
}
