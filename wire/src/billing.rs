//! Invoices, as the Customer API shows them.

use jiff::Timestamp;
use jiff::tz::Offset;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// One element of `GET /api/invoices`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InvoiceEntry {
    pub id: i64,
    /// `<year>/<month>`.
    pub period: String,
    pub number: i64,
    pub paid: bool,
    #[schemars(with = "f64")]
    pub total: Money,
    pub currency: String,
    pub account_name: String,
}

/// `GET /api/invoices/<id>` and `GET /api/invoices/period`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Invoice {
    /// `<year>/<month>`.
    pub period: String,
    #[schemars(with = "f64")]
    pub total: Money,
    pub currency: String,
    pub lines: Vec<InvoiceLine>,
    pub customer: Customer,
    pub seller: Seller,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct InvoiceLine {
    /// The instance's id.
    pub subscription_id: i64,
    #[schemars(with = "f64")]
    pub amount: Money,
    #[schemars(extend("format" = "date-time"))]
    pub from: String,
    /// Not part of it any more.
    #[schemars(extend("format" = "date-time"))]
    pub to: String,
    pub name: String,
    pub plan: String,
    pub tags: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Customer {
    pub company: String,
    pub address: String,
    pub country: String,
    pub account_name: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Seller {
    pub company: String,
    pub address: String,
    pub zipcode: String,
    pub country: String,
    pub vatid: String,
}

/// `2026-11-01T00:00:00+00:00`.
pub fn time(at: Timestamp) -> String {
    at.display_with_offset(Offset::UTC).to_string()
}

/// Cents, which travel as a number of dollars: `297`, `1.1`, `73.55`.
///
/// Whole dollars are written as an integer. Others are the floating-point
/// number nearest to them, which is written with the fewest digits that give it
/// back: at most two after the point, as far as 15 digits go.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Money {
    pub cents: i64,
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.cents / 100, self.cents % 100) {
            (dollars, 0) => serializer.serialize_i64(dollars),
            #[expect(clippy::cast_precision_loss, reason = "no invoice has 16 digits")]
            _ => serializer.serialize_f64(self.cents as f64 / 100.0),
        }
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let dollars = f64::deserialize(deserializer)?;
        let cents = (dollars * 100.0).round();
        if cents.abs() > 1e15 {
            return Err(D::Error::custom("an amount of money is out of range"));
        }
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and in range")]
        Ok(Self { cents: cents as i64 })
    }
}

/// For people: `73.50`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        model::Cents(self.cents).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_has_at_most_two_decimals_and_comes_back() {
        let check = |cents, expected: &str| {
            let text = serde_json::to_string(&Money { cents }).unwrap();
            assert_eq!(text, expected);
            assert_eq!(serde_json::from_str::<Money>(&text).unwrap().cents, cents);
        };
        check(0, "0");
        check(110, "1.1");
        check(29_700, "297");
        check(7355, "73.55");
        check(1, "0.01");
        check(99_999_999_999_999, "999999999999.99");
        // Every amount of cents, and large ones.
        for cents in (0..20_000).chain(123_456_789_000..123_456_790_000) {
            let text = serde_json::to_string(&Money { cents }).unwrap();
            let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            assert!(decimals <= 2, "{text}");
            assert_eq!(serde_json::from_str::<Money>(&text).unwrap().cents, cents);
        }
    }

    #[test]
    fn times_carry_their_offset() {
        let at: Timestamp = "2026-11-01T01:30:00+01:00".parse().unwrap();
        assert_eq!(time(at), "2026-11-01T00:30:00+00:00");
    }
}
