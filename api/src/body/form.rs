//! `application/x-www-form-urlencoded`, as a body or a query string.
//!
//! The usual parsers put a replacement character where the bytes are no
//! UTF-8; a name that was never sent must not be stored, so this one refuses.

use super::{Fields, unreadable};
use app::Error;
use percent_encoding::percent_decode;

pub fn parse(bytes: &[u8], what: &str) -> Result<Fields, Error> {
    let mut fields = Fields::default();
    for pair in bytes.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        let (name, value) = match pair.iter().position(|byte| *byte == b'=') {
            Some(at) => (&pair[..at], &pair[at + 1..]),
            None => (pair, &b""[..]),
        };
        let not_text = || unreadable(&format!("The {what} is not UTF-8 text"));
        let name = decode(name).ok_or_else(not_text)?;
        let value = decode(value).ok_or_else(not_text)?;
        fields.add_text(&name, value);
    }
    Ok(fields)
}

fn decode(bytes: &[u8]) -> Option<String> {
    let spaced: Vec<u8> =
        bytes.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    percent_decode(&spaced).decode_utf8().ok().map(Into::into)
}
