//! Answers to the kernel: what was found, or the error's number.

use std::time::Duration;

use fuser::{Errno, FileAttr, Generation, ReplyAttr, ReplyEmpty, ReplyEntry};

/// Nothing changes without going through this filesystem.
pub const FOR_EVER: Duration = Duration::from_secs(1 << 30);

pub type FileResult<T> = rustix::io::Result<T>;

/// As the library has it.
pub fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_i32(error.raw_os_error())
}

pub fn entry(reply: ReplyEntry, answer: FileResult<FileAttr>) {
    match answer {
        Ok(attributes) => reply.entry(&FOR_EVER, &attributes, Generation(0)),
        Err(error) => reply.error(errno(error)),
    }
}

pub fn attributes(reply: ReplyAttr, answer: FileResult<FileAttr>) {
    match answer {
        Ok(attributes) => reply.attr(&FOR_EVER, &attributes),
        Err(error) => reply.error(errno(error)),
    }
}

pub fn empty(reply: ReplyEmpty, answer: FileResult<()>) {
    match answer {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(errno(error)),
    }
}
