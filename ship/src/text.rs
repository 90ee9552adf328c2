//! Texts as systems take them: on one line, cut, or of few characters.

use model::{LogEvent, LogLevel};
use std::borrow::Cow;
use std::fmt::Write as _;

/// No more than so many bytes of a text, with a mark where it is cut.
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return text.into();
    }
    let mark = |left: usize| format!(" … [{} more bytes cut]", text.len() - left);
    // The number that the mark holds has as many digits as the text is long, or fewer.
    let room = most.saturating_sub(mark(0).len());
    let kept = text.floor_char_boundary(room);
    let cut = format!("{}{}", &text[..kept], mark(kept));
    if cut.len() <= most { cut.into() } else { text[..text.floor_char_boundary(most)].into() }
}

/// As Kafka's own log has it, for systems that take no fields: the time stands elsewhere.
pub fn line(event: &LogEvent, most: usize) -> String {
    let (level, logger) = (upper(event.level), &event.logger);
    let mut line = if logger.is_empty() {
        format!("{level} ")
    } else {
        format!("{level} {}: ", shorten(logger, most / 4))
    };
    let room = most.saturating_sub(line.len());
    line.push_str(&shorten(&event.message, room));
    line
}

pub fn upper(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Trace => "TRACE",
        LogLevel::Debug => "DEBUG",
        LogLevel::Info => "INFO",
        LogLevel::Warn => "WARN",
        LogLevel::Error => "ERROR",
        LogLevel::Fatal => "FATAL",
    }
}

/// Control characters but tabs and line feeds as `#` and three octal digits, as rsyslog shows
/// them.
pub fn without_controls(text: &str) -> Cow<'_, str> {
    let is_bad = |c: char| c.is_ascii_control() && !matches!(c, '\t' | '\n');
    if !text.contains(is_bad) {
        return text.into();
    }
    let mut clean = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_bad(c) {
            write!(clean, "#{:03o}", u32::from(c)).expect("a text takes everything");
        } else {
            clean.push(c);
        }
    }
    clean.into()
}

/// Every character that does not fit becomes `_`; no more than so many, and never none.
pub fn fitting(text: &str, fits: impl Fn(char) -> bool, most: usize) -> String {
    let kept = |c: char| if fits(c) { c } else { '_' };
    let clean: String = text.chars().take(most).map(kept).collect();
    if clean.is_empty() { "_".into() } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::LogSource;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_cut_with_a_mark() {
        assert_eq!(shorten("short", 5), "short");
        let expected = format!("{} … [85 more bytes cut]", "x".repeat(15));
        assert_eq!(shorten(&"x".repeat(100), 40), expected);
        // Too little room for a mark.
        assert_eq!(shorten("öööööööööö", 5), "öö");
        assert_eq!(shorten("ö", 0), "");
    }

    proptest! {
        #[test]
        fn a_cut_fits_and_begins_alike(text in ".{0,400}", most in 0usize..300) {
            let cut = shorten(&text, most);
            prop_assert!(cut.len() <= most || cut == text);
            let marked = cut.rsplit_once(" … [").is_some_and(|(kept, mark)| {
                let left = text.len() - kept.len();
                text.starts_with(kept) && mark == format!("{left} more bytes cut]")
            });
            let bare = most < 30 && text[..text.floor_char_boundary(most)] == *cut;
            prop_assert!(cut == text || marked || bare, "{cut}");
        }
    }

    #[test]
    fn lines_read_as_kafkas() {
        let mut event = LogEvent {
            at: "2026-11-19T10:00:00Z".parse().unwrap(),
            level: LogLevel::Warn,
            source: LogSource::Broker,
            logger: "kafka.server.KafkaServer".into(),
            message: "bad luck\n\tat x".into(),
        };
        assert_eq!(line(&event, 100), "WARN kafka.server.KafkaServer: bad luck\n\tat x");
        event.logger.clear();
        assert_eq!(line(&event, 100), "WARN bad luck\n\tat x");
        event.message = "y".repeat(1000);
        let cut = line(&event, 100);
        assert!(cut.ends_with(" more bytes cut]") && (90..=100).contains(&cut.len()), "{cut}");
    }

    #[test]
    fn controls_are_shown() {
        assert_eq!(without_controls("a\tb\nc ö"), "a\tb\nc ö");
        assert_eq!(without_controls("\u{1b}[31mred\0\r\n\u{7f}"), "#033[31mred#000#015\n#177");
    }

    #[test]
    fn names_fit() {
        let fits = |c: char| c.is_ascii_alphanumeric();
        assert_eq!(fitting("prod öst", fits, 6), "prod__");
        assert_eq!(fitting("", fits, 6), "_");
    }
}
