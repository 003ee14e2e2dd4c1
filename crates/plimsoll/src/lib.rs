//! The command line and the execution of plans. The only crate that prints or exits.

mod bundled;
pub mod cli;
pub mod commands;
pub mod drive_file;
pub mod execute;
pub mod failure;
mod in_order;
mod input;
pub mod known;
pub mod memory;
mod output;
mod output_kind;
mod part_dir;
mod plan_errors;
mod progress;
mod run_path;
pub mod set;
mod shell;
pub mod signals;
mod slurm;
mod speed;
mod terminal;
