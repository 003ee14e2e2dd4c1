//! TPC-C-derived load, after TPC Benchmark C standard specification revision 5.11. Results are TPC-C-derived and not
//! comparable with published TPC results.

pub mod commit_counts;
pub mod consistency;
mod fill;
pub mod generator;
pub mod input;
pub mod population;
pub mod random;
pub mod rows;
pub mod schema;
pub mod sql;
pub mod transactions;
