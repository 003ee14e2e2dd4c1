//! Emulated drives: drive files, a model of its timing, and two ways to use the model.
//!
//! [`model::Drive::submit`] takes the time as an argument and returns the time of completion; it reads no clock. The
//! simulator jumps to that time. The emulator ([`emulate`]) answers at that time on the wall clock, through FUSE, in a
//! process of its own.

mod amplification;
pub mod array;
pub mod catalog;
pub mod cluster;
mod destaging;
pub mod emulate;
pub mod learn;
pub mod model;
mod network;
pub mod reliability;
pub mod requests;
pub mod simulate;
pub mod spec;
mod storage_model;
