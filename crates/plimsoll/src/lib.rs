//! The command line, the execution of plans, and run files. The only crate that prints or exits.

pub mod cli;
pub mod commands;
pub mod drive_file;
pub mod execute;
pub mod failure;
pub mod known;
mod output;
mod plan_errors;
mod progress;
pub mod runfile;
pub mod set;
pub mod signals;
