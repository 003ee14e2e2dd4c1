//! Functions of numbers: intervals, ranks, change points, steady state. `docs/compare.md` and `docs/method.md` describe
//! them with their measured coverage.
//!
//! Invariants, stated as absences: no I/O, no clock, no thread, and none of plimsoll's other crates.

mod divisive;
mod draws;
mod interval;
pub mod made;
mod mean;
mod rank;
mod rng;
pub mod rounds;
mod student;
mod trend;
mod window;

pub use divisive::{ChangePoint, change_points, fewest_for_step};
pub use draws::{Draws, split_mix};
pub use interval::{FEWEST_REPEATS, Interval};
pub use rank::{RankTest, rank_test};
pub use rng::Rng;
pub use student::t_975;
pub use trend::{Trend, trend};
pub use window::{SHORTEST_S, SumError, TooShort, mean_interval, rate_interval, sum_error};
