//! Block benchmarks: fio, and what it may write to.
//!
//! [`fio`] runs it; [`device`] knows who uses a device and decides whether it may be written to; [`testfile`] makes files
//! that only plimsoll removes.
//!
//! A point of a block step is a [`lane`]: one fio for each worker with the [`arguments`] of its job, whose [`snapshot`]s
//! an [`interval_assembler`] merges into seconds.

pub mod arguments;
pub mod device;
pub mod doctor;
mod error;
pub mod fio;
pub mod host;
pub mod interval_assembler;
pub mod jobfile;
pub mod lane;
pub mod layout;
pub mod snapshot;
pub mod testfile;

pub use error::BlockError;
