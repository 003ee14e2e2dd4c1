//! What the charts of steps on media themselves are drawn from.

mod chart;
pub(crate) mod curve;
mod data;
pub(crate) mod rounds;
pub(crate) mod seconds;
pub(crate) mod sweep;

pub(crate) use data::{BlockData, island};
pub(super) use seconds::label as load_label;
