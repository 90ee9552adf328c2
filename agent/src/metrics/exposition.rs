//! Prometheus' text format, line by line. Pure.

/// One line: a name, its labels as they are written, and a value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Line<'a> {
    pub name: &'a str,
    labels: &'a str,
    pub value: f64,
}

/// The lines that carry a number; comments and what can't be read are left out.
pub fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.lines().filter(|line| !line.starts_with('#')).filter_map(line)
}

fn line(text: &str) -> Option<Line<'_>> {
    let (name, labels, rest) = if let Some((name, rest)) = text.split_once('{') {
        let end = end_of_labels(rest)?;
        (name, &rest[..end], &rest[end + 1..])
    } else {
        let (name, rest) = text.split_once(' ')?;
        (name, "", rest)
    };
    // A timestamp may follow.
    let value: f64 = rest.split_whitespace().next()?.parse().ok()?;
    value.is_finite().then_some(Line { name, labels, value })
}

/// Braces and commas may stand within quotes.
fn end_of_labels(text: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b'}' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

impl<'a> Line<'a> {
    /// As written: the names of topics, listeners and requests need no escapes.
    pub fn label(&self, name: &str) -> Option<&'a str> {
        let mut rest = self.labels;
        while let Some((key, quoted)) = rest.split_once("=\"") {
            let end = end_of_value(quoted)?;
            if key.trim_start_matches(',').trim() == name {
                return Some(&quoted[..end]);
            }
            rest = &quoted[end + 1..];
        }
        None
    }
}

fn end_of_value(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_name_labels_and_a_number() {
        let check = |text: &str, expected: Option<(&str, f64)>| {
            let found = lines(text).next().map(|line| (line.name, line.value));
            assert_eq!(found, expected, "{text}");
        };
        check("a_total 1.0", Some(("a_total", 1.0)));
        check("a{b=\"c\"} 1.5E9 1700000000", Some(("a", 1.5e9)));
        check("a{b=\"}, \\\"\"} 2", Some(("a", 2.0)));
        check("# TYPE a counter", None);
        check("a NaN", None);
        check("a +Inf", None);
        check("a{b=\"c\" 2", None);
        check("a", None);
        check("", None);
    }

    #[test]
    fn labels_are_found_by_name() {
        let line =
            lines("a{request=\"Produce\",quantile=\"0.5\", x=\"\\\",y=\"} 1").next().unwrap();
        assert_eq!(line.label("request"), Some("Produce"));
        assert_eq!(line.label("quantile"), Some("0.5"));
        assert_eq!(line.label("x"), Some("\\\",y="));
        assert_eq!(line.label("y"), None);
    }
}
