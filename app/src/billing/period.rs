//! The bill of one month, issued or not: the running one up to now.

use super::make_bill;
use crate::{App, Asked, Caller, Problems, Result, Right};
use model::{BadMonth, Bill, Month};
use store::invoices;

const BAD_MONTH: &str = "must be a month as YYYY-MM, or 1 to 12 beside year";

/// Which month, as sent: `YYYY-MM`, or a month's number beside its year.
#[derive(Clone, Debug, Default)]
pub struct Period {
    pub year: Option<i64>,
    pub month: Option<String>,
}

pub async fn period(caller: &Caller, app: &App, asked: Asked<Period>) -> Result<Bill> {
    caller.may(Right::SeeInvoices)?;
    let (asked, mut problems) = asked.open()?;
    let now = app.now();
    let month = asked.month(&mut problems).filter(|month| {
        let future = month.start() > now;
        if future {
            problems.add("month", "must not be in the future");
        }
        !future
    });
    problems.finish()?;
    let period = month.unwrap_or_else(|| Month::containing(now));
    let mut reader = app.store().reader();
    let issued = invoices::find_by_period(&mut reader, caller.account_id, period).await?;
    match issued {
        Some(invoice) => Ok(invoice.bill),
        None => make_bill(app, &mut reader, caller.account_id, period, now).await,
    }
}

impl Period {
    fn month(&self, problems: &mut Problems) -> Option<Month> {
        if self.year.is_some_and(|year| Month::new(year, 1).is_none()) {
            problems.add("year", "must be a year such as 2026");
        }
        let text = problems.required("month", self.month.as_deref())?;
        if text.contains('-') {
            let month: Month =
                problems.take("month", text.parse().map_err(|_: BadMonth| BAD_MONTH))?;
            if self.year.is_some_and(|year| year != month.year()) {
                problems.add("year", "must be the year of month, or be left out");
            }
            return Some(month);
        }
        let number = match text.as_bytes() {
            [a] | [b'0', a] if a.is_ascii_digit() => Some(i64::from(a - b'0')),
            [b'1', a] if a.is_ascii_digit() => Some(10 + i64::from(a - b'0')),
            _ => None,
        };
        let number = number.filter(|number| (1..=12).contains(number));
        let number = problems.take("month", number.ok_or(BAD_MONTH))?;
        let year = problems.required("year", self.year)?;
        Month::new(year, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_to_say_a_month() {
        let check = |year: Option<i64>, month: Option<&str>, expected: Option<&str>| {
            let asked = Period { year, month: month.map(Into::into) };
            let mut problems = Problems::default();
            let found = asked.month(&mut problems).map(|month| month.to_string());
            let found = problems.finish().ok().and(found);
            assert_eq!(found.as_deref(), expected, "{asked:?}");
        };
        check(None, Some("2026-11"), Some("2026-11"));
        check(Some(2026), Some("2026-11"), Some("2026-11"));
        check(Some(2026), Some("11"), Some("2026-11"));
        check(Some(2026), Some("1"), Some("2026-01"));
        check(Some(2026), Some("01"), Some("2026-01"));
        check(Some(2025), Some("2026-11"), None);
        check(None, Some("11"), None);
        check(Some(2026), None, None);
        check(None, None, None);
        for bad in ["0", "00", "13", "19", "011", "-1", "x", "1.0", "2026-1", "2026", "١١"] {
            check(Some(2026), Some(bad), None);
        }
        for bad in [0, -1, 10_000, i64::MIN, i64::MAX] {
            check(Some(bad), Some("1"), None);
            check(Some(bad), Some("2026-11"), None);
        }
    }
}
