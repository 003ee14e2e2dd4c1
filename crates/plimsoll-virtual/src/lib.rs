//! A machine in virtual time: programs that run here for real, on processors, memory and drives that are modeled.
//!
//! A program is a coroutine ([`fiber`]). Between two waits it runs for real and takes no time; then it states what it used,
//! and waits for it: CPU time on one of so many [`processors`], requests of a drive model ([`drive`]), a moment, or another
//! program. The [`calendar`] jumps from one such end to the next. Nothing depends on how fast or how busy this machine is, and
//! equal seeds give equal results.
//!
//! SQLite runs in it through a VFS of its own ([`vfs`]): a page cache of a given size and the requests of a filesystem
//! ([`filesystem`]) stand between it and the drive.
//!
//! Not modeled: memory bandwidth and caches shared by processors, their frequency, preemption within a burst of CPU (its
//! effects are seen at its start), read-ahead, the kernel's write-back by time (30 s; the journal's 5 s), fragmentation.

pub mod calendar;
pub mod costs;
pub mod drive;
mod durable;
pub mod fiber;
pub mod filesystem;
pub mod machine;
mod mount;
pub mod page_cache;
pub mod processors;
mod random;
pub mod time;
pub mod vfs;
