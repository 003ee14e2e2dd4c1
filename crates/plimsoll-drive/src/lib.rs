//! Emulated drives: drive files, models of their timing, and two ways to use a model.
//!
//! A model ([`storage_model::StorageModel`]: a drive, an array or a cluster) takes the time as an argument and gives the
//! times at which requests complete; it reads no clock. The simulator jumps to that time. The emulator ([`emulate`]) answers at that time
//! on the wall clock, through FUSE, in a process of its own.

mod amplification;
pub mod array;
pub mod catalog;
pub mod cluster;
mod destaging;
pub mod durability;
pub mod emulate;
pub mod learn;
pub mod member_changes;
pub mod model;
mod network;
pub mod reliability;
pub mod requests;
pub mod service_times;
pub mod simulate;
pub mod spec;
pub mod storage_model;
