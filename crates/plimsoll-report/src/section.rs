//! The sections of documents: each decides what it shows on a page and on a terminal.

pub(crate) mod audit;
pub(crate) mod block;
pub(crate) mod charts;
pub(crate) mod cut;
pub(crate) mod doctor;
pub(crate) mod drive;
pub(crate) mod environment;
pub(crate) mod first;
pub(crate) mod fleet;
pub(crate) mod how;
pub(crate) mod imported;
pub(crate) mod ladder;
pub(crate) mod line;
pub(crate) mod media;
mod per_second;
pub(crate) mod record;
pub(crate) mod scaling;
pub(crate) mod shared;
pub(crate) mod time;
pub(crate) mod tpc;
pub(crate) mod trust;
pub(crate) mod waits;
