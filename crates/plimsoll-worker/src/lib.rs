//! Work on other hosts: one protocol on a worker's standard input and output, whatever starts it there (ssh, kubectl exec,
//! srun, docker exec, sudo).
//!
//! ```text
//! controller                         host
//! Link ── stdio of the host's command ── front ── socket ── session ── jobs (lanes)
//!                                                              └─ journal
//! ```
//!
//! A session outlives its front: results go into its journal, and a new front reads on from where the last one ended.

#![forbid(unsafe_code)]

pub mod fleet;
mod frame;
pub mod front;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub mod host;
mod journal;
pub mod link;
pub mod offset;
pub mod protocol;
pub mod session;
pub mod state;
