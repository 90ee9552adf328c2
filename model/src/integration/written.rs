//! What a setting of an integration may be, and what is in it.

use crate::Email;
use std::net::Ipv6Addr;
use url::Url;

/// The name and the port of `logs.example.com:514`, or of `[2001:db8::1]:514`; a scheme in
/// front of it and a slash behind it are taken off.
pub fn split_host_port(text: &str) -> Option<(&str, u16)> {
    let bare = text.split_once("://").map_or(text, |(_, rest)| rest);
    let bare = bare.strip_suffix('/').unwrap_or(bare);
    let (host, port) = bare.rsplit_once(':')?;
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let good = match inner {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => is_host(host),
    };
    // Numbers may begin with a plus elsewhere.
    let digits = port.bytes().all(|byte| byte.is_ascii_digit());
    let port = port.parse().ok().filter(|port| digits && *port > 0)?;
    good.then_some((inner.unwrap_or(host), port))
}

/// A name, or an IPv4 address.
fn is_host(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_label = |label: &str| {
        let length = (1..=63).contains(&label.len());
        length && label.bytes().all(fits) && !label.starts_with('-') && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_label)
}

/// The headers of `name=value,other=value`, as OpenTelemetry's own programs take them: with
/// `%20` and the like decoded. None: it is written otherwise, or holds a header twice, one that
/// is not a customer's to set, or a character that no header can have.
pub fn split_headers(text: &str) -> Option<Vec<(&str, String)>> {
    let mut headers: Vec<(&str, String)> = Vec::new();
    for pair in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        let (name, value) = (name.trim(), percent_decoded(value.trim())?);
        let twice = headers.iter().any(|(before, _)| before.eq_ignore_ascii_case(name));
        if twice || !is_header_name(name) || is_reserved(name) || !is_printable(&value) {
            return None;
        }
        headers.push((name, value));
    }
    Some(headers)
}

fn is_header_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && text.bytes().all(fits)
}

/// None: a `%` is not followed by two hexadecimal digits.
fn percent_decoded(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut decoded = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        let digit = |place: usize| char::from(digits.as_bytes()[place]).to_digit(16);
        decoded.push(u8::try_from(digit(0)? * 16 + digit(1)?).ok()?);
        decoded.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(decoded).ok()
}

/// Whether a header says where a body goes, where it ends, or what happens to the connection:
/// a gateway or a proxy on the way could be misled by it.
fn is_reserved(name: &str) -> bool {
    const NAMES: [&str; 8] = [
        "host",
        "connection",
        "keep-alive",
        "transfer-encoding",
        "te",
        "trailer",
        "upgrade",
        "expect",
    ];
    let name = name.to_ascii_lowercase();
    NAMES.contains(&name.as_str()) || name.starts_with("content-") || name.starts_with("proxy-")
}

/// The address of `https://collector.example.com:4318/path`, which holds no keys: it is shown
/// to all who may see an integration, and headers are not.
pub fn parse_endpoint(text: &str) -> Option<Url> {
    // Of `http:8.8.8.8` and `http:///8.8.8.8` a parser makes an address as well.
    let (_, behind) = text.split_once("://")?;
    let url = Url::parse(text).ok().filter(|_| !behind.starts_with(['/', '\\']))?;
    let bare = url.username().is_empty() && url.password().is_none();
    let bare = bare && url.query().is_none() && url.fragment().is_none();
    (bare && matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn check(good: bool, must_be: &'static str) -> Result<(), &'static str> {
    if good { Ok(()) } else { Err(must_be) }
}

/// Keys become part of a path, a header or a line.
pub fn key(value: &str) -> Result<(), &'static str> {
    let good = value.len() <= 512 && value.bytes().all(|byte| byte.is_ascii_graphic());
    check(good, "must have at most 512 printable characters and no space")
}

pub fn host_port(value: &str) -> Result<(), &'static str> {
    let good = value.len() <= 512 && split_host_port(value).is_some();
    check(good, "must be host:port, such as logs.example.com:514")
}

pub fn collector(value: &str) -> Result<(), &'static str> {
    host_port(value).or(Err("must be host:port, such as splunk.example.com:8088"))
}

pub fn region(value: &str) -> Result<(), &'static str> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let good = (1..=32).contains(&value.len()) && value.bytes().all(fits);
    let good = good && !value.starts_with('-') && !value.ends_with('-');
    check(good, "must be a region such as eu-west-1")
}

pub fn datadog_region(value: &str) -> Result<(), &'static str> {
    let good = matches!(value, "us" | "us1" | "us3" | "us5" | "eu" | "eu1" | "ap1" | "ap2");
    check(good, "must be one of us, us1, us3, us5, eu, eu1, ap1, ap2")
}

pub fn email(value: &str) -> Result<(), &'static str> {
    check(Email::parse(value).is_ok(), "must be an e-mail address such as ada@example.com")
}

pub fn label(value: &str) -> Result<(), &'static str> {
    let good = value.len() <= 128 && is_printable(value);
    check(good, "must have at most 128 printable characters")
}

pub fn endpoint(value: &str) -> Result<(), &'static str> {
    let plain = value.len() <= 2048 && value.bytes().all(|byte| byte.is_ascii_graphic());
    check(
        plain && parse_endpoint(value).is_some(),
        "must be an address that begins with https:// or http:// and has no user, password, \
         query or fragment; put keys into headers",
    )
}

pub fn headers(value: &str) -> Result<(), &'static str> {
    let good = value.len() <= 2048 && split_headers(value).is_some();
    check(
        good,
        "must be name=value, more of them separated by commas, each once and of printable \
         characters, with % before two hexadecimal digits alone; Host, Content-Type and others that \
         concern the connection or the body can't be set",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::IntegrationSystem;

    #[test]
    fn a_value_fits_its_field() {
        let check = |system: IntegrationSystem, field: &str, value: &str, good: bool| {
            let fields = system.fields();
            let field = fields.iter().find(|found| found.name == field).unwrap();
            assert_eq!((field.check)(value).is_ok(), good, "{} {value:?}", field.name);
        };
        for good in ["a.example.com:514", "10.0.0.1:1", "[2001:db8::1]:6514", "tls://a.test:1/"] {
            check(IntegrationSystem::Papertrail, "url", good, true);
        }
        for bad in [
            "a.test",
            "a.test:0",
            "a.test:65536",
            "8.8.8.8:+5",
            ":514",
            "a b:1",
            "[::x]:1",
            "a/b:1",
            "a.test:514//",
            "a..test:514",
            "-:5",
            "a.test-:5",
        ] {
            check(IntegrationSystem::Papertrail, "url", bad, false);
        }
        check(IntegrationSystem::Cloudwatch, "region", "eu-west-1", true);
        check(IntegrationSystem::Cloudwatch, "region", "x.evil.test/", false);
        check(IntegrationSystem::Cloudwatch, "region", "-", false);
        check(IntegrationSystem::Datadog, "region", "ap2", true);
        check(IntegrationSystem::Datadog, "region", "mars", false);
        check(IntegrationSystem::Newrelic, "license_key", "a\nb", false);
        check(IntegrationSystem::Otlp, "endpoint", "https://collector.test:4318", true);
        check(IntegrationSystem::Otlp, "endpoint", "file:///etc/passwd", false);
        for bad in ["http:8.8.8.8", "http:///8.8.8.8", "https:/c.test", "https://"] {
            check(IntegrationSystem::Otlp, "endpoint", bad, false);
        }
        for bad in ["user@", "user:pass@", ":pass@"] {
            check(IntegrationSystem::Otlp, "endpoint", &format!("https://{bad}c.test/x"), false);
        }
        for bad in ["?key=x", "?", "#x", "#"] {
            check(IntegrationSystem::Otlp, "endpoint", &format!("https://c.test/x{bad}"), false);
        }
        check(IntegrationSystem::Otlp, "headers", "api-key=x, other = y", true);
        check(IntegrationSystem::Otlp, "headers", "authorization=Bearer%20x=", true);
        for bad in [
            "api-key",
            "a=x%0d%0ab",
            "a=%00",
            "a=%zz",
            "a=%f",
            "a=%ff",
            "a=%C3%A9",
            "a=b,A=c",
            "a=b,a=b",
            "=b",
        ] {
            check(IntegrationSystem::Otlp, "headers", bad, false);
        }
        for bad in [
            "Host",
            "Content-Length",
            "content-encoding",
            "Transfer-Encoding",
            "CONNECTION",
            "Keep-Alive",
            "Proxy-Authorization",
            "proxy-connection",
            "TE",
            "Trailer",
            "Upgrade",
            "Expect",
        ] {
            check(IntegrationSystem::Otlp, "headers", &format!("a=b,{bad}=x"), false);
        }
    }

    #[test]
    fn headers_are_decoded() {
        let split = split_headers("api-key=x+y%2B, Other = Bearer%20a=b ,").unwrap();
        let expected = [("api-key", "x+y+".to_owned()), ("Other", "Bearer a=b".to_owned())];
        assert_eq!(split, expected);
    }
}
