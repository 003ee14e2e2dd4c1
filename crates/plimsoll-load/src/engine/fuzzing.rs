//! For fuzzers: bytes in place of a server's answers.

use std::io::Cursor;

pub use super::mariadb::fuzzing::{mariadb_answers, mariadb_login};
pub use super::postgres::fuzzing::postgres_answers;
use super::wire::ByteStream;

/// Reads them, and takes all that is written.
pub(super) fn server_of(bytes: Vec<u8>) -> Box<dyn ByteStream> {
    Box::new(tokio::io::join(Cursor::new(bytes), tokio::io::sink()))
}

/// Cuts the bytes into messages: one of length before each, which `framed` puts into its own form.
pub(super) fn messages(mut bytes: &[u8], framed: impl Fn(usize, &[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut stream = Vec::new();
    for number in 0.. {
        let Some((&length, rest)) = bytes.split_first() else {
            break;
        };
        let (body, rest) = rest.split_at(usize::from(length).min(rest.len()));
        stream.extend(framed(number, body));
        bytes = rest;
    }
    stream
}

pub(super) fn to_the_end(work: impl Future) {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(work);
}
