//! The doctor: what is wrong with a machine or a medium before anything is measured on it.
//!
//! [`gather`] looks and touches nothing (but for the write test, which is asked for apart), [`evidence`] is what it saw,
//! [`judge`] makes findings of that, each with its evidence and what to do: pure functions.

mod bytes;
pub mod evidence;
pub mod gather;
pub mod judge;
mod smart;

pub use smart::Smart;
