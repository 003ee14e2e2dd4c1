//! sysbench's OLTP scripts, after sysbench 1.0.20 (`oltp_common.lua` and `oltp_*.lua`): the same tables, the same
//! statements in the same order, the same random draws, run by plimsoll's own sessions.

pub mod check;
pub mod generator;
pub mod input;
pub mod population;
pub mod random;
pub mod sql;
pub mod transactions;
