//! For fuzzers: bytes in place of the other side.

use std::io::Read;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;

pub use crate::link::fuzzing::worker_bytes;
pub use crate::session::fuzzing::FuzzedSession;

/// Bytes as they are, or as the bodies of frames, a line each: decoders of what is inside are reached sooner.
pub fn stream(bytes: &[u8]) -> Vec<u8> {
    match bytes.split_first() {
        Some((b'0', rest)) => rest.to_vec(),
        Some((_, rest)) => rest.split(|byte| *byte == b'\n').flat_map(framed).collect(),
        None => Vec::new(),
    }
}

fn framed(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
    [&length.to_le_bytes(), body].concat()
}

/// What a controller sends, to a session of the past: it answers and obeys, and runs nothing.
pub fn controller_bytes(session: &FuzzedSession, bytes: &[u8]) {
    let (own, theirs) = UnixStream::pair().expect("a pair of sockets");
    std::thread::scope(|scope| {
        scope.spawn(|| session.converse(theirs));
        scope.spawn(|| {
            let mut answers = &own;
            // Taken, so that the session never waits for room.
            let _ = std::io::copy(&mut answers.by_ref(), &mut std::io::sink());
        });
        let mut to = &own;
        // The session may have refused what came before.
        let _ = std::io::Write::write_all(&mut to, bytes);
        let _ = own.shutdown(Shutdown::Write);
    });
}

impl FuzzedSession {
    /// With a journal in this directory.
    pub fn in_dir(dir: &Path) -> Self {
        Self::open(&dir.join("journal"))
    }
}
