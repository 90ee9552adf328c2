//! Numbers over time: windows of samples, how they are packed, thinned out and
//! read back.
//!
//! It is pure: no clock, no files. A point is named by server, measure and time,
//! so the same sample twice is one point.

mod bucket;
mod column;
mod open;
mod pack;
mod range;
mod sample;
mod tier;
mod window;

pub use bucket::Buckets;
pub use column::Column;
pub use open::OpenWindow;
pub use pack::{UnpackError, pack, unpack};
pub use range::{Range, RangeError};
pub use sample::{Measure, Of, Sample};
pub use tier::Tier;
pub use window::{SLOTS, Window};

/// Seconds between samples.
pub const STEP: i64 = model::SAMPLE_SECONDS;

/// The last multiple of `step` that is not after `at`.
pub fn align(at: i64, step: i64) -> i64 {
    at - at.rem_euclid(step)
}

/// How many steps it takes to cover a time.
fn steps(time: i64, step: i64) -> i64 {
    time.max(0).saturating_add(step - 1) / step
}

/// Seven digits are more than any of our numbers is good for, and half the bytes.
#[expect(clippy::cast_possible_truncation, reason = "what is cut off is below what is measured")]
pub fn narrow(value: f64) -> f32 {
    value as f32
}
