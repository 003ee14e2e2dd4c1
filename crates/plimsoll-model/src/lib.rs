//! The terms of plimsoll as types: units, plans, schedules, records, histograms and the figures computed from them.
//!
//! Invariants, stated as absences: this crate does no I/O, reads no clock, starts no thread but those that sum up the
//! points of many systems beside each other ([`summary`]), and holds no `unsafe`.
//! Everything in it is a value or a pure function, so every rule that makes a number true can be tested here.

pub mod audit;
pub mod compare;
mod draws;
pub mod drive;
pub mod fio;
#[cfg(any(test, feature = "fixture"))]
pub mod fixture;
pub mod hist;
pub mod history;
pub mod import;
pub mod lane;
pub mod leb128;
pub mod metric;
pub mod objective;
pub mod plan;
pub mod receipt;
pub mod record;
pub mod rounds;
pub mod schedule;
pub mod search;
pub mod set;
pub mod stat;
pub mod summary;
pub mod units;
