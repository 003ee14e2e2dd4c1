//! What the charts of a report are drawn from.

pub(crate) mod block;
mod bounded;
pub(crate) mod island;
mod lateness;
pub(crate) mod per_second;
pub(crate) mod rounding;
pub(crate) mod shared;
