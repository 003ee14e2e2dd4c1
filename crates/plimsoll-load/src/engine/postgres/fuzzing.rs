//! A PostgreSQL whose answers are a fuzzer's.

use super::codec::SqlParam;
use super::protocol::PostgresWire;
use crate::engine::fuzzing::{messages, server_of, to_the_end};

/// Messages of which the first byte is the kind.
fn framed(bytes: &[u8]) -> Vec<u8> {
    messages(bytes, |_, message| match message.split_first() {
        Some((kind, body)) => {
            let length = (body.len() as u32 + 4).to_be_bytes();
            [&[*kind], &length[..], body].concat()
        }
        None => Vec::new(),
    })
}

/// A statement is parsed and executed, with the answers in messages and as they are.
pub fn postgres_answers(bytes: &[u8]) {
    for stream in [framed(bytes), bytes.to_vec()] {
        to_the_end(async {
            let mut wire = PostgresWire::new(server_of(stream));
            let Ok(statements) = wire.prepare(["SELECT 1"]).await else {
                return;
            };
            let none: [SqlParam<'static>; 0] = [];
            if wire.execute(&statements[0], none).is_ok() {
                let _ = wire.rows(&statements[0]).await;
            }
        });
    }
}
