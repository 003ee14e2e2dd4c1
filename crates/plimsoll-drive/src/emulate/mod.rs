//! The emulator: a process that answers through FUSE at the model's time.

mod acknowledged;
mod awake;
mod backing;
mod block;
mod buffers;
mod calibrate;
pub mod child;
mod claim;
mod clock;
mod costs;
pub mod cut;
mod directory;
mod emulation;
mod engine;
mod error;
mod form;
mod image;
mod mounts;
mod names;
mod priority;
pub mod protocol;
mod recorder;
mod serve;
mod session;
mod store;
mod timer;
mod tool;
mod undo;
mod users;

pub use child::{Child, EmulatorEvent};
pub use claim::Claim;
pub use error::EmulatorError;
pub use mounts::clear;
pub use serve::{EmulatorOrder, MessageSender, serve};
pub use store::default_limit;
pub use users::end_users;
