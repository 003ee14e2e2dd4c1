//! Learning a drive: measure it with fio, fit the model's figures, report their errors.
//!
//! Pure: [`jobs`] (what fio is asked), [`measured`] (what came out) and the fit. I/O: [`prepare`] and [`runner`]; what may
//! be written to, test files and fio itself come from `plimsoll-block`.

pub mod fit;
pub mod jobs;
mod logs;
pub mod measured;
pub mod prepare;
pub mod replay;
pub mod runner;
mod settle;
