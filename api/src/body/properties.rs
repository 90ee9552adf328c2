//! Java's properties text, which clients send to `config/kafka` without saying so.

use super::{Fields, unreadable};
use app::Error;

/// One `name=value` or `name: value` a line; `#` and `!` begin comments.
pub fn parse(bytes: &[u8]) -> Result<Fields, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| unreadable("The body is not UTF-8 text"))?;
    let mut fields = Fields::default();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', '!']) {
            continue;
        }
        let (name, value) = line.split_once(['=', ':']).ok_or_else(|| {
            unreadable("Each line of the body must read name=value, as in a properties file")
        })?;
        fields.add_text(name.trim(), value.trim().to_owned());
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_fields() {
        let text = b"# mine\n\nlog.retention.ms = 60000\r\nnum.io.threads:8\n! no";
        let mut fields = parse(text).unwrap();
        assert_eq!(fields.text("log.retention.ms").as_deref(), Some("60000"));
        assert_eq!(fields.integer("num.io.threads"), Some(8));
        assert_eq!(fields.everything().len(), 2);
        assert!(parse(b"nonsense").is_err());
        assert!(parse(&[0xff]).is_err());
    }
}
