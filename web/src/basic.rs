//! The key in the `Authorization` header.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use model::Secret;

/// Some clients leave the padding out.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The key of HTTP Basic: as password with an empty user, or as user with an
/// empty password. Of two headers nobody knows which one a proxy has looked at.
pub fn key(headers: &HeaderMap) -> Option<Secret> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (given.next(), given.next()) else { return None };
    let header = header.to_str().ok()?;
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(LENIENT.decode(encoded.trim()).ok()?).ok()?;
    match decoded.split_once(':')? {
        ("", "") => None,
        ("", key) | (key, "") => Some(Secret::new(key)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn both_forms_of_basic_and_nothing_else() {
        let check = |header: &str, expected: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_str(header).unwrap());
            let found = key(&headers);
            assert_eq!(found.as_ref().map(Secret::expose), expected, "{header}");
        };
        let basic = |text: &str| format!("Basic {}", LENIENT.encode(text));
        check(&basic(":k3y"), Some("k3y"));
        check(&basic("k3y:"), Some("k3y"));
        check(&basic(":k3y").replace('=', ""), Some("k3y"));
        check(&basic(":k3y").replace("Basic", "bAsIc"), Some("k3y"));
        check(&basic("user:k3y"), None);
        check(&basic(":"), None);
        check(&basic("k3y"), None);
        check("Bearer k3y", None);
        check("Basic ***", None);
        check("Basic", None);
        assert_eq!(key(&HeaderMap::new()), None);
        let mut twice = HeaderMap::new();
        for text in [":k3y", ":0th3r"] {
            twice.append(AUTHORIZATION, HeaderValue::from_str(&basic(text)).unwrap());
        }
        assert_eq!(key(&twice), None);
    }
}
