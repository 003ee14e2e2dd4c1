//! The kernel's side of FUSE for the requests that are timed: reads, writes, flushes, and giving space back
//! (`include/uapi/linux/fuse.h`). Everything else is left to the library.

use std::io::IoSlice;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use plimsoll_plan::units::Nanos;
use rustix::io::Errno;

/// As large as the kernel lets a request be, in bytes.
pub const LARGEST: u32 = 1 << 20;
/// Before every request: length, opcode, number, node, user, group, process, extensions.
const HEADER: usize = 40;
const ANSWER_HEADER: usize = 16;

const BATCH_FORGET: u32 = 42;
const READ: u32 = 15;
const WRITE: u32 = 16;
const FSYNC: u32 = 20;
const FSYNCDIR: u32 = 30;
const FALLOCATE: u32 = 43;
const INIT: u32 = 26;

/// A request that is timed. Offsets and lengths in bytes; handles as they were given out when the file was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataRequest<'a> {
    Read {
        handle: u64,
        offset: u64,
        len: u32,
    },
    Write {
        handle: u64,
        offset: u64,
        /// The file's flags (open(2)).
        flags: u32,
        data: &'a [u8],
    },
    /// Of a file or a directory.
    Flush,
    Allocate {
        handle: u64,
        offset: u64,
        len: u64,
        /// fallocate(2).
        mode: u32,
    },
}

/// What came from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelRequest<'a> {
    Data {
        unique: u64,
        request: DataRequest<'a>,
    },
    /// For the library.
    Other,
    /// No request, or one that is cut short.
    Malformed,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// One request, as read from /dev/fuse.
pub fn parse(message: &[u8]) -> KernelRequest<'_> {
    parse_request(message).unwrap_or(KernelRequest::Malformed)
}

fn parse_request(message: &[u8]) -> Option<KernelRequest<'_>> {
    let body = message.get(HEADER..)?;
    let unique = u64_at(message, 8)?;
    let request = match u32_at(message, 4)? {
        READ => DataRequest::Read {
            handle: u64_at(body, 0)?,
            offset: u64_at(body, 8)?,
            len: u32_at(body, 16)?,
        },
        WRITE => {
            let len = u32_at(body, 16)? as usize;
            DataRequest::Write {
                handle: u64_at(body, 0)?,
                offset: u64_at(body, 8)?,
                flags: u32_at(body, 32)?,
                data: body.get(40..)?.get(..len)?,
            }
        }
        FSYNC | FSYNCDIR => DataRequest::Flush,
        FALLOCATE => DataRequest::Allocate {
            handle: u64_at(body, 0)?,
            offset: u64_at(body, 8)?,
            len: u64_at(body, 16)?,
            mode: u32_at(body, 24)?,
        },
        _ => return Some(KernelRequest::Other),
    };
    Some(KernelRequest::Data { unique, request })
}

/// The request that opens a conversation, for a library that joins after the kernel's own was answered.
pub fn greeting() -> Vec<u8> {
    const VERSION: [u32; 2] = [7, 36];
    let words = [VERSION[0], VERSION[1], 1 << 17, u32::MAX, u32::MAX];
    let mut body = [0; 64];
    for (at, word) in words.into_iter().enumerate() {
        body[4 * at..4 * at + 4].copy_from_slice(&word.to_ne_bytes());
    }
    message(INIT, 1, &body)
}

fn message(opcode: u32, unique: u64, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    bytes[..4].copy_from_slice(&((HEADER + body.len()) as u32).to_ne_bytes());
    bytes[4..8].copy_from_slice(&opcode.to_ne_bytes());
    bytes[8..16].copy_from_slice(&unique.to_ne_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// A request to forget many nodes (`FUSE_BATCH_FORGET`) in parts of at most so many; none for any other request.
pub fn split_forgets(request: &[u8], most: usize) -> Option<Vec<Vec<u8>>> {
    const ENTRY: usize = 16;
    const COUNT: usize = 8;
    if u32_at(request, 4)? != BATCH_FORGET {
        return None;
    }
    let entries = request.get(HEADER + COUNT..)?;
    let parts = entries.chunks(ENTRY * most).map(|part| {
        let mut body = vec![0; COUNT];
        body[..4].copy_from_slice(&((part.len() / ENTRY) as u32).to_ne_bytes());
        body.extend_from_slice(part);
        message(BATCH_FORGET, u64_at(request, 8).unwrap_or(0), &body)
    });
    Some(parts.collect())
}

/// What the answer to a request holds beside success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerBody {
    /// The data that were read.
    Data,
    /// How much was written.
    Written,
    Nothing,
}

/// The way back for one answer. An answer that the kernel no longer wants, because the program was killed or the
/// filesystem is gone, is dropped.
#[derive(Debug)]
pub struct Reply {
    device: Arc<OwnedFd>,
    unique: u64,
    body: AnswerBody,
}

impl Reply {
    pub fn new(device: Arc<OwnedFd>, unique: u64, request: &DataRequest) -> Self {
        let body = match request {
            DataRequest::Read { .. } => AnswerBody::Data,
            DataRequest::Write { .. } => AnswerBody::Written,
            DataRequest::Flush | DataRequest::Allocate { .. } => AnswerBody::Nothing,
        };
        Self {
            device,
            unique,
            body,
        }
    }

    /// To any request, to refuse it; none where its number is missing.
    pub fn to_message(device: Arc<OwnedFd>, message: &[u8]) -> Option<Self> {
        Some(Self {
            device,
            unique: u64_at(message, 8)?,
            body: AnswerBody::Nothing,
        })
    }

    pub fn fail(self, error: Errno) {
        self.send(-error.raw_os_error(), &[]);
    }

    /// `data` are what was read, `len` how much was written.
    pub fn succeed(self, data: &[u8], len: u64) {
        match self.body {
            AnswerBody::Data => self.send(0, data),
            AnswerBody::Written => {
                let mut written = [0; 8];
                written[..4].copy_from_slice(&(len as u32).to_ne_bytes());
                self.send(0, &written);
            }
            AnswerBody::Nothing => self.send(0, &[]),
        }
    }

    fn send(&self, error: i32, body: &[u8]) {
        let mut header = [0; ANSWER_HEADER];
        header[..4].copy_from_slice(&((ANSWER_HEADER + body.len()) as u32).to_ne_bytes());
        header[4..8].copy_from_slice(&error.to_ne_bytes());
        header[8..].copy_from_slice(&self.unique.to_ne_bytes());
        let _ = rustix::io::writev(&self.device, &[IoSlice::new(&header), IoSlice::new(body)]);
    }
}

/// When a request arrived, and the way back.
#[derive(Debug)]
pub struct RequestArrival {
    pub at: Nanos,
    pub reply: Reply,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn body(words: &[u64], rest: &[u8]) -> Vec<u8> {
        let mut body: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        body.extend_from_slice(rest);
        body
    }

    #[test]
    fn timed_requests_are_read_and_others_left() {
        let parsed = |opcode, body: &[u8]| match parse(&message(opcode, 9, body)) {
            KernelRequest::Data { unique: 9, request } => format!("{request:?}"),
            other => format!("{other:?}"),
        };
        assert_eq!(
            parsed(READ, &body(&[5, 8192, 4096, 0, 0], &[])),
            "Read { handle: 5, offset: 8192, len: 4096 }"
        );
        assert_eq!(
            parsed(WRITE, &body(&[5, 512, 3, 0, 0x4000], b"abcd")),
            "Write { handle: 5, offset: 512, flags: 16384, data: [97, 98, 99] }"
        );
        assert_eq!(parsed(FSYNC, &body(&[5, 1], &[])), "Flush");
        assert_eq!(parsed(FSYNCDIR, &body(&[5, 1], &[])), "Flush");
        assert_eq!(
            parsed(FALLOCATE, &body(&[5, 4096, 512, 3], &[])),
            "Allocate { handle: 5, offset: 4096, len: 512, mode: 3 }"
        );
        assert_eq!(parsed(1, b"name\0"), "Other");
        assert_eq!(
            parsed(WRITE, &body(&[5, 512, 5, 0, 0], b"abcd")),
            "Malformed",
            "less data than it names"
        );
    }

    #[test]
    fn an_answer_is_a_header_and_a_body() {
        let (reading, writing) = rustix::pipe::pipe().unwrap();
        let device = Arc::new(writing);
        let answer = |request: DataRequest, send: fn(Reply)| {
            send(Reply::new(Arc::clone(&device), 7, &request));
            let mut bytes = [0; 64];
            let len = rustix::io::read(&reading, &mut bytes).unwrap();
            (
                u32_at(&bytes, 0).unwrap() as usize == len,
                u32_at(&bytes, 4).unwrap().cast_signed(),
                u64_at(&bytes, 8).unwrap(),
                bytes[16..len].to_vec(),
            )
        };
        let read = DataRequest::Read {
            handle: 1,
            offset: 0,
            len: 2,
        };
        let write = DataRequest::Write {
            handle: 1,
            offset: 0,
            flags: 0,
            data: b"xy",
        };
        assert_eq!(
            answer(read, |reply| reply.succeed(b"ab", 0)),
            (true, 0, 7, b"ab".to_vec())
        );
        assert_eq!(
            answer(write, |reply| reply.succeed(&[], 2)),
            (true, 0, 7, body(&[2], &[]))
        );
        assert_eq!(
            answer(DataRequest::Flush, |reply| reply.succeed(&[], 0)),
            (true, 0, 7, Vec::new())
        );
        assert_eq!(
            answer(read, |reply| reply.fail(Errno::IO)),
            (true, -5, 7, Vec::new())
        );
    }

    #[test]
    fn a_request_that_nobody_takes_is_refused_by_its_number() {
        let (reading, writing) = rustix::pipe::pipe().unwrap();
        let device = Arc::new(writing);
        let request = message(1, 77, b"name\0");
        let reply = Reply::to_message(Arc::clone(&device), &request).unwrap();
        reply.fail(Errno::IO);
        let mut bytes = [0; 64];
        assert_eq!(rustix::io::read(&reading, &mut bytes).unwrap(), 16);
        assert_eq!(u32_at(&bytes, 4).unwrap().cast_signed(), -5);
        assert_eq!(u64_at(&bytes, 8), Some(77));
        assert!(Reply::to_message(device, &request[..15]).is_none());
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..120), opcode in prop::sample::select(vec![READ, WRITE, FSYNC, FALLOCATE, BATCH_FORGET])) {
            parse(&bytes);
            split_forgets(&bytes, 3);
            let wrapped = message(opcode, 1, &bytes);
            parse(&wrapped);
            split_forgets(&wrapped, 3);
        }

        #[test]
        fn parts_of_forgets_hold_them_all(nodes in prop::collection::vec(any::<u64>(), 1..40), most in 1usize..9) {
            let entries: Vec<u64> = nodes.iter().flat_map(|node| [*node, 1]).collect();
            let mut all = vec![nodes.len() as u64];
            all.extend(&entries);
            let parts = split_forgets(&message(BATCH_FORGET, 0, &body(&all, &[])), most).unwrap();
            let mut joined = Vec::new();
            for part in &parts {
                let count = u32_at(part, HEADER).unwrap() as usize;
                prop_assert!(count <= most && part.len() == HEADER + 8 + 16 * count);
                joined.extend_from_slice(&part[HEADER + 8..]);
            }
            prop_assert_eq!(joined, body(&entries, &[]));
        }
    }
}
