//! Calendar months in UTC: what invoices are for, and the pages of the audit
//! log.

use crate::Timestamp;
use crate::words::written_as_text;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One month of the years 1 to 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Month {
    year: i16,
    month: i8,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a month as YYYY-MM, such as 2026-11")]
pub struct BadMonth;

impl Month {
    pub const FIRST: Self = Self { year: 1, month: 1 };
    pub const LAST: Self = Self { year: 9999, month: 12 };

    pub fn new(year: i64, month: i64) -> Option<Self> {
        let year = i16::try_from(year).ok().filter(|year| (1..=9999).contains(year))?;
        let month = i8::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
        Some(Self { year, month })
    }

    /// The month that a moment lies in.
    pub fn containing(at: Timestamp) -> Self {
        let date = at.to_zoned(TimeZone::UTC).date();
        Self { year: date.year().max(1), month: date.month() }
    }

    pub fn year(self) -> i64 {
        self.year.into()
    }

    pub fn start(self) -> Timestamp {
        Date::new(self.year, self.month, 1)
            .and_then(|first| first.to_zoned(TimeZone::UTC))
            .map_or(Timestamp::MIN, |first| first.timestamp())
    }

    /// The first moment after it.
    pub fn end(self) -> Timestamp {
        if self == Self::LAST { Timestamp::MAX } else { self.next().start() }
    }

    /// The month after it; the last of all stays.
    #[must_use]
    pub fn next(self) -> Self {
        match (self.year, self.month) {
            _ if self == Self::LAST => self,
            (year, 12) => Self { year: year + 1, month: 1 },
            (year, month) => Self { year, month: month + 1 },
        }
    }

    pub fn seconds(self) -> i64 {
        self.end().as_second() - self.start().as_second()
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}", self.year, self.month)
    }
}

impl FromStr for Month {
    type Err = BadMonth;

    /// Exactly `YYYY-MM`.
    fn from_str(text: &str) -> Result<Self, BadMonth> {
        let (year, month) = text.split_once('-').ok_or(BadMonth)?;
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if year.len() != 4 || month.len() != 2 || !digits(year) || !digits(month) {
            return Err(BadMonth);
        }
        let number = |text: &str| text.parse().map_err(|_| BadMonth);
        Self::new(number(year)?, number(month)?).ok_or(BadMonth)
    }
}

written_as_text!(Month);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling() {
        let check = |text: &str, good: bool| {
            let read = text.parse::<Month>();
            assert_eq!(
                read.as_ref().map(ToString::to_string).ok().as_deref(),
                good.then_some(text)
            );
        };
        for good in ["2026-11", "0001-01", "9999-12"] {
            check(good, true);
        }
        for bad in [
            "",
            "2026",
            "2026-1",
            "2026-13",
            "2026-00",
            "0000-01",
            "26-11",
            "2026/11",
            "2026-11-01",
            "+202-11",
            "2026-+1",
            " 2026-11",
            "2026-11 ",
            "٢٠٢٦-١١",
            "-2026-11",
        ] {
            check(bad, false);
        }
    }

    #[test]
    fn its_ends_are_utc() {
        let check = |inside: &str, start: &str, end: &str, days: i64| {
            let month = Month::containing(inside.parse().unwrap());
            assert_eq!(
                (month.start().to_string(), month.end().to_string()),
                (start.into(), end.into())
            );
            assert_eq!(month.seconds(), days * 86_400, "{inside}");
        };
        check("2026-11-30T23:59:59.9Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", 30);
        // In Berlin it is March already, in New York still December.
        check("2028-03-01T00:30:00+01:00", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z", 29);
        check("2026-12-31T19:00:00-05:00", "2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z", 31);
        check("2100-02-28T12:00:00Z", "2100-02-01T00:00:00Z", "2100-03-01T00:00:00Z", 28);
    }

    #[test]
    fn the_last_month_of_all_has_an_end() {
        let last: Month = "9999-12".parse().unwrap();
        assert_eq!((last.next(), last.end()), (last, Timestamp::MAX));
    }
}
