//! The doctor: what is wrong with a machine or a medium before anything is measured on it.
//!
//! [`gather`] collects [`evidence`] without changing anything (but for the write test, which is requested apart);
//! [`checks`] makes findings of it, each with its evidence and what to do: pure functions.

mod bytes;
pub mod checks;
pub mod evidence;
pub mod gather;
mod smart;

pub use smart::Smart;
