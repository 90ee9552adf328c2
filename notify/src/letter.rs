//! A mail as it goes over the wire. Headers are made of parsed addresses and of
//! one line each, so nothing that a caller chose can begin a header of its own.

use crate::Outgoing;
use lettre::Message;
use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Body, Mailbox, MessageBuilder, MultiPart, SinglePart};
use std::time::SystemTime;

/// Of a line in a mail, by RFC 5322.
const LONGEST_LINE: usize = 998;

#[derive(Debug, thiserror::Error)]
#[error("{0:?} is no sender of mail; give one such as Castellan <castellan@example.com>")]
pub struct BadSender(String);

/// Who mail is from.
#[derive(Clone, Debug)]
pub struct Sender(Mailbox);

impl Sender {
    pub fn parse(text: &str) -> Result<Self, BadSender> {
        text.parse().map(Self).map_err(|_| BadSender(text.into()))
    }
}

/// A letter for the wire, in what every server takes.
pub fn letter(from: &Sender, outgoing: Outgoing<'_>) -> Result<Message, lettre::error::Error> {
    compose(from, outgoing, |text| {
        let plain =
            if text.is_ascii() { plain(text, ContentTransferEncoding::SevenBit) } else { None };
        plain.unwrap_or_else(|| Body::new(text.to_owned()))
    })
}

/// A letter for people's eyes: its lines are as they were written, so that a
/// link can be copied from the file.
pub fn readable(from: &Sender, outgoing: Outgoing<'_>) -> Result<Message, lettre::error::Error> {
    compose(from, outgoing, |text| {
        let plain = plain(text, ContentTransferEncoding::EightBit);
        plain.unwrap_or_else(|| Body::new(text.to_owned()))
    })
}

/// The text alone, or with what is to be shown instead where that can be.
fn compose(
    from: &Sender,
    outgoing: Outgoing<'_>,
    body: impl Fn(&str) -> Body,
) -> Result<Message, lettre::error::Error> {
    let head = head(from, outgoing)?;
    let text = &outgoing.mail.text;
    let Some(html) = &outgoing.mail.html else {
        return head.header(ContentType::TEXT_PLAIN).body(body(text));
    };
    let part = |kind: ContentType, text: &str| SinglePart::builder().header(kind).body(body(text));
    let both = MultiPart::alternative()
        .boundary(boundary(outgoing, [text, html]))
        .singlepart(part(ContentType::TEXT_PLAIN, text))
        .singlepart(part(ContentType::TEXT_HTML, html));
    head.multipart(both)
}

/// What stands between the parts: the same at every attempt, and in no part.
fn boundary(outgoing: Outgoing<'_>, parts: [&String; 2]) -> String {
    let mut boundary = format!("castellan-{}-{}", outgoing.id, outgoing.at.as_microsecond());
    while parts.iter().any(|part| part.contains(&boundary)) {
        boundary.push('x');
    }
    boundary
}

/// The text as it is, if its lines may be sent like that. Left to choose, the
/// library would break every line of more than 76 characters, and links with it.
fn plain(text: &str, encoding: ContentTransferEncoding) -> Option<Body> {
    let fits = |line: &str| line.len() <= LONGEST_LINE && !line.contains(['\r', '\0']);
    let lines: Vec<&str> = text.lines().collect();
    let body: String = lines.iter().flat_map(|line| [line, "\r\n"]).collect();
    let all_fit = lines.iter().all(|line| fits(line));
    all_fit.then(|| Body::dangerous_pre_encoded(body.into_bytes(), encoding))
}

fn head(from: &Sender, outgoing: Outgoing<'_>) -> Result<MessageBuilder, lettre::error::Error> {
    let Outgoing { id, at, mail } = outgoing;
    let to = mail.to.as_str().parse().map_err(|_| lettre::error::Error::MissingTo)?;
    // The same at every attempt, so that a second copy is known as one.
    let message_id = format!("<{id}.{}@{}>", at.as_microsecond(), from.0.email.domain());
    let head = MessageBuilder::new()
        .from(from.0.clone())
        .to(Mailbox::new(None, to))
        .subject(one_line(&mail.subject))
        .date(SystemTime::from(at))
        .message_id(Some(message_id))
        // Nobody's holiday greetings are wanted in return.
        .raw_header(HeaderValue::new(
            HeaderName::new_from_ascii_str("Auto-Submitted"),
            "auto-generated".into(),
        ));
    Ok(head)
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Email, Mail, MessageId};

    fn written(subject: &str, text: &str) -> String {
        written_with(subject, text, None)
    }

    fn written_with(subject: &str, text: &str, html: Option<&str>) -> String {
        let mail = Mail {
            to: Email::parse("ada@example.com").unwrap(),
            subject: subject.into(),
            text: text.into(),
            html: html.map(str::to_owned),
        };
        let at = "2026-11-15T12:00:00Z".parse().unwrap();
        let outgoing = Outgoing { id: MessageId(7), at, mail: &mail };
        let from = Sender::parse("Castellan <c@example.com>").unwrap();
        String::from_utf8(letter(&from, outgoing).unwrap().formatted()).unwrap()
    }

    #[test]
    fn a_letter_is_the_same_at_every_attempt() {
        let letter = written("Hello", "Line\n");
        assert_eq!(letter, written("Hello", "Line\n"));
        let expected = "From: Castellan <c@example.com>\r\n\
                        To: ada@example.com\r\n\
                        Subject: Hello\r\n\
                        Date: Sun, 15 Nov 2026 12:00:00 +0000\r\n\
                        Message-ID: <7.1794744000000000@example.com>\r\n\
                        Auto-Submitted: auto-generated\r\n\
                        Content-Type: text/plain; charset=utf-8\r\n\
                        Content-Transfer-Encoding: 7bit\r\n\r\n\
                        Line\r\n";
        assert_eq!(letter, expected);
    }

    #[test]
    fn looks_come_beside_the_text() {
        let letter = written_with("Hello", "Line\n", Some("<p>Line</p>\n"));
        assert_eq!(letter, written_with("Hello", "Line\n", Some("<p>Line</p>\n")));
        let expected = "Auto-Submitted: auto-generated\r\n\
                        MIME-Version: 1.0\r\n\
                        Content-Type: multipart/alternative; \
                        boundary=\"castellan-7-1794744000000000\"\r\n\r\n\
                        --castellan-7-1794744000000000\r\n\
                        Content-Type: text/plain; charset=utf-8\r\n\
                        Content-Transfer-Encoding: 7bit\r\n\r\n\
                        Line\r\n\r\n\
                        --castellan-7-1794744000000000\r\n\
                        Content-Type: text/html; charset=utf-8\r\n\
                        Content-Transfer-Encoding: 7bit\r\n\r\n\
                        <p>Line</p>\r\n\r\n\
                        --castellan-7-1794744000000000--\r\n";
        assert!(letter.ends_with(expected), "{letter}");
    }

    #[test]
    fn no_part_holds_what_stands_between_parts() {
        let hostile = "--castellan-7-1794744000000000--\r\n\r\nmore";
        let letter = written_with("x", hostile, Some(hostile));
        let end = "--castellan-7-1794744000000000x--\r\n";
        assert!(letter.ends_with(end), "{letter}");
        assert_eq!(letter.matches("\r\n--castellan-7-1794744000000000x").count(), 3, "{letter}");
    }

    #[test]
    fn lines_that_may_not_stand_alone_are_encoded() {
        let link = format!("https://example.com/{}", "x".repeat(100));
        assert!(written("x", &format!("Open\n{link}\n")).ends_with(&format!("Open\r\n{link}\r\n")));
        for text in ["Söhne\n", &"x".repeat(999)] {
            let letter = written("x", text);
            assert!(letter.is_ascii() && !letter.contains("7bit"), "{letter}");
            assert!(letter.lines().all(|line| line.len() <= 78), "{letter}");
        }
    }

    #[test]
    fn a_subject_begins_no_header() {
        for hostile in ["a\r\nBcc: eve@example.com", "a\nBcc: eve@example.com", "a\u{85}b\u{0}\r"] {
            let letter = written(hostile, "x");
            let (head, _) = letter.split_once("\r\n\r\n").unwrap();
            assert!(!head.contains("\nBcc"), "{head}");
            assert_eq!(head.lines().filter(|line| !line.starts_with(' ')).count(), 8, "{head}");
        }
    }
}
