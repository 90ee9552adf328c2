//! The authority of an instance.

pub mod certificate;
