//! Invoices: what an account pays for one month.

use crate::{AccountId, Cents, InstanceId, InvoiceId, Month, Timestamp};
use serde::{Deserialize, Serialize};

/// An issued invoice. Everything but `paid_at` stays as it was issued.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invoice {
    pub id: InvoiceId,
    /// Consecutive in the installation, without a gap.
    pub number: i64,
    pub account_id: AccountId,
    pub bill: Bill,
    pub issued_at: Timestamp,
    pub paid_at: Option<Timestamp>,
}

/// What an account pays for a month, issued or still growing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bill {
    pub period: Month,
    /// By instance, then time. None of them is of 0.
    pub lines: Vec<InvoiceLine>,
    pub customer: Customer,
    pub seller: Seller,
}

impl Bill {
    pub fn total(&self) -> Cents {
        self.lines.iter().map(|line| line.amount).sum()
    }
}

/// One instance on one plan. Name and tags are those of its last second.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InvoiceLine {
    pub instance_id: InstanceId,
    pub amount: Cents,
    pub from: Timestamp,
    /// Not part of it any more.
    pub to: Timestamp,
    pub name: String,
    pub plan: String,
    pub tags: Vec<String>,
}

/// Who pays. What is not known is empty.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Customer {
    pub company: String,
    pub address: String,
    pub country: String,
    pub account_name: String,
}

/// Who is paid: the operator of the installation.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Seller {
    pub company: String,
    pub address: String,
    pub zipcode: String,
    pub country: String,
    pub vatid: String,
}
