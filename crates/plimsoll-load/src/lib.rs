//! Everything that puts load on a system and watches what happens: engines, workloads, the runner, probes.
//!
//! Data flows one way: a resolved step becomes intents, a [`engine::Session`] carries them out, outcomes and samples
//! come back as messages. Nothing here prints, exits, or knows the run file.

pub mod backup;
pub mod clock;
pub mod control;
mod died;
pub mod engine;
pub mod error;
pub mod limit;
pub mod passwd;
pub mod probe;
pub mod runner;
pub mod scratch;
pub mod session;
pub mod system;
pub mod workload;
