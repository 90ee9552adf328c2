//! How far back to look.

use model::{Clock as _, SignedDuration, SystemClock};

// No doc comment, because that would be the help text of the verb.
#[derive(Clone, Debug, clap::Args)]
pub struct Span {
    /// How far back, such as 30m, 6h or 7d
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = parse)]
    last: SignedDuration,
}

impl Span {
    /// The time to begin with, as the API takes it.
    pub fn from(&self) -> String {
        (SystemClock.now() - self.last).as_second().to_string()
    }
}

fn parse(text: &str) -> Result<SignedDuration, String> {
    let wrong = || format!("{text:?} is no time such as 30m, 6h or 7d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let count: u32 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    if count == 0 {
        return Err(wrong());
    }
    Ok(SignedDuration::from_secs(i64::from(count) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit() {
        let check = |text: &str, expected: Option<i64>| {
            assert_eq!(parse(text).ok().map(|span| span.as_secs()), expected, "{text}");
        };
        check("90s", Some(90));
        check("30m", Some(1800));
        check("6h", Some(21_600));
        check("7d", Some(604_800));
        for text in ["", "0h", "h", "-1h", "1", "1w", "1½", "6 h"] {
            check(text, None);
        }
    }
}
