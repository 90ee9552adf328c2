//! A name as one segment of a path.

use crate::{Error, Result};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a URL may hold as it is.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Dots alone are refused: in a URL they mean a folder, however they are
/// written, and the path of a topic would become that of its instance.
pub fn segment(name: &str) -> Result<String> {
    if matches!(name, "" | "." | "..") {
        return Err(Error::NoName(name.into()));
    }
    Ok(utf8_percent_encode(name, ESCAPED).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    #[test]
    fn a_name_stays_one_segment() {
        let base: Url = "http://127.0.0.1:1/".parse().unwrap();
        for (name, path) in [
            ("orders.v2_a-b~c", "/topics/orders.v2_a-b~c"),
            ("a/b", "/topics/a%2Fb"),
            ("../7", "/topics/..%2F7"),
            ("a b?c#d%e", "/topics/a%20b%3Fc%23d%25e"),
            ("%2e%2e", "/topics/%252e%252e"),
            ("grüße", "/topics/gr%C3%BC%C3%9Fe"),
            ("...", "/topics/..."),
        ] {
            let joined = base.join(&format!("topics/{}", segment(name).unwrap())).unwrap();
            assert_eq!(joined.as_str(), format!("http://127.0.0.1:1{path}"), "{name}");
        }
        for name in ["", ".", ".."] {
            let error = segment(name).unwrap_err().to_string();
            assert!(error.contains(&format!("\"{name}\"")), "{error}");
        }
    }
}
