//! Storage by itself, before a database speaks: fio, and what it may be let loose on.
//!
//! [`fio`] runs it; [`device`] knows who uses a device and decides whether it may be written to; [`testfile`] makes files
//! that only plimsoll removes.

pub mod device;
pub mod doctor;
mod error;
pub mod fio;
pub mod host;
pub mod testfile;

pub use error::BlockError;
