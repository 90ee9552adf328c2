//! Metrics of real rows and a real history, sent to a system of the test.

mod fixture;
mod parts;
mod planes;
mod sends;
mod slow;
mod trouble;
