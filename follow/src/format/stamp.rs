//! Times as logs write them: `2026-11-05T10:23:20.123Z`, with any number of digits after the
//! second, and `+0100` or `+01:00` in the place of `Z`.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use model::Timestamp;

/// Up to the second.
const SECONDS: &[u8] = b"0000-00-00T00:00:00";

/// Whether a text has digits where the shape has zeros, and begins as it does elsewhere.
pub fn looks_like(text: &[u8], shape: &[u8]) -> bool {
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    };
    text.len() >= shape.len() && text.iter().zip(shape).all(fits)
}

/// The time at the beginning of a text, and what follows.
pub fn take(text: &[u8]) -> Option<(Timestamp, &[u8])> {
    if !looks_like(text, SECONDS) {
        return None;
    }
    let (seconds, mut rest) = text.split_at(SECONDS.len());
    let mut nanoseconds = 0;
    if let [b'.' | b',', fraction @ ..] = rest {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let value = number::<i32>(&fraction[..digits.min(9)]);
        let missing = u32::try_from(9 - digits.min(9)).unwrap_or(0);
        nanoseconds = value * 10i32.pow(missing);
        rest = &fraction[digits..];
    }
    let (offset, rest) = take_offset(rest)?;
    let part = |from: usize| number::<i8>(&seconds[from..from + 2]);
    let at = DateTime::new(
        number::<i16>(&seconds[..4]),
        part(5),
        part(8),
        part(11),
        part(14),
        // A second that was put in is the last one.
        part(17).min(59),
        nanoseconds,
    );
    Some((offset.to_timestamp(at.ok()?).ok()?, rest))
}

fn take_offset(text: &[u8]) -> Option<(Offset, &[u8])> {
    let sign = match text {
        [b'Z', rest @ ..] => return Some((Offset::UTC, rest)),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    let text = &text[1..];
    let (hours, minutes, length) = if looks_like(text, b"00:00") {
        (&text[..2], &text[3..5], 5)
    } else if looks_like(text, b"0000") {
        (&text[..2], &text[2..4], 4)
    } else {
        return None;
    };
    let seconds = number::<i32>(hours) * 3600 + number::<i32>(minutes) * 60;
    Some((Offset::from_seconds(sign * seconds).ok()?, &text[length..]))
}

/// Of digits, as few as fit.
fn number<T: TryFrom<i32> + Default>(digits: &[u8]) -> T {
    let value = digits.iter().fold(0i32, |value, digit| {
        value.saturating_mul(10).saturating_add(i32::from(digit - b'0'))
    });
    T::try_from(value).unwrap_or_default()
}
