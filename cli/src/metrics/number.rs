//! Numbers as people read them.

/// Three digits and a letter for the thousands.
pub fn short(value: f64) -> String {
    let letters = ["", "k", "M", "G", "T", "P"];
    let (mut value, mut place) = (value, 0);
    while value.abs() >= 1000.0 && place + 1 < letters.len() {
        value /= 1000.0;
        place += 1;
    }
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let text = if text == "-0" { "0" } else { text };
    format!("{text}{}", letters[place])
}

/// With its unit.
pub fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "" | "%" => format!("{}{unit}", short(value)),
        _ => format!("{} {unit}", short(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_whatever_their_size() {
        let check = |value: f64, expected: &str| assert_eq!(short(value), expected, "{value}");
        check(0.0, "0");
        check(0.5, "0.5");
        check(0.123, "0.12");
        check(12.0, "12");
        check(12.34, "12.3");
        check(999.0, "999");
        check(1000.0, "1k");
        check(1536.0, "1.54k");
        check(25e9, "25G");
        check(-1500.0, "-1.5k");
        check(-0.001, "0");
        assert_eq!(with_unit(12.5, "%"), "12.5%");
        assert_eq!(with_unit(2048.0, "B/s"), "2.05k B/s");
    }
}
