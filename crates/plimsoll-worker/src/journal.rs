//! A session's reports, numbered, in a file: written once, read by whichever front is connected. Its first frame is the
//! session's incarnation, so that both are lost together.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::frame;
use crate::protocol::{Incarnation, WorkerReply, WorkerReport};

/// Clones share it.
#[derive(Clone)]
pub struct SessionJournal(Arc<Inner>);

struct Inner {
    file: File,
    incarnation: Incarnation,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Where the first report begins.
    head: u64,
    /// Where each report ends.
    ends: Vec<u64>,
    /// Nothing is added any more.
    failed: Option<String>,
}

impl SessionJournal {
    /// A new one, or what is there of an old one: half a report at its end is not read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(path)?;
        let contents = match JournalContents::read(&file)? {
            Some(contents) => contents,
            None => JournalContents::begin(&file)?,
        };
        file.set_len(contents.end())?;
        let JournalContents {
            incarnation,
            head,
            ends,
        } = contents;
        let state = State {
            head,
            ends,
            failed: None,
        };
        Ok(Self(Arc::new(Inner {
            file,
            incarnation,
            state: Mutex::new(state),
            changed: Condvar::new(),
        })))
    }

    /// Whether a session has begun there: one whose incarnation was not written whole has reported nothing.
    pub fn has_begun(path: &Path) -> io::Result<bool> {
        match File::open(path) {
            Ok(file) => Ok(JournalContents::read(&file)?.is_some()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub fn incarnation(&self) -> Incarnation {
        self.0.incarnation
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn len(&self) -> u64 {
        self.state().ends.len() as u64
    }

    /// A report that cannot be written ends the journal, and with it the session.
    pub fn add(&self, report: WorkerReport) {
        let mut state = self.state();
        if state.failed.is_some() {
            return;
        }
        let number = state.ends.len() as u64;
        let written = frame::encode(&WorkerReply::Numbered { number, report }).and_then(|bytes| {
            (&self.0.file)
                .write_all(&bytes)
                .map(|()| bytes.len() as u64)
        });
        match written {
            Ok(length) => {
                let begin = state.ends.last().copied().unwrap_or(state.head);
                state.ends.push(begin + length);
            }
            Err(error) => state.failed = Some(format!("its journal cannot be written: {error}")),
        }
        self.0.changed.notify_all();
    }

    /// Why nothing is added any more.
    pub fn failed(&self) -> Option<String> {
        self.state().failed.clone()
    }

    /// The frame of this report, which is waited for until `is_over`, a question that [`Self::wake`] asks again.
    pub fn frame(&self, number: u64, is_over: &impl Fn() -> bool) -> io::Result<Option<Vec<u8>>> {
        let mut state = self.state();
        while state.ends.len() as u64 <= number {
            if is_over() {
                return Ok(None);
            }
            if let Some(why) = &state.failed {
                return Err(io::Error::other(why.clone()));
            }
            state = self
                .0
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let index = number as usize;
        let before = index.checked_sub(1);
        let begin = before.map_or(state.head, |before| state.ends[before]);
        let mut frame = vec![0; (state.ends[index] - begin) as usize];
        drop(state);
        self.0.file.read_exact_at(&mut frame, begin)?;
        Ok(Some(frame))
    }

    pub fn wake(&self) {
        // Whoever asked just before sleeps by now.
        drop(self.state());
        self.0.changed.notify_all();
    }
}

/// What a journal's file has.
struct JournalContents {
    incarnation: Incarnation,
    head: u64,
    ends: Vec<u64>,
}

impl JournalContents {
    fn begin(mut file: &File) -> io::Result<Self> {
        let incarnation = Incarnation::draw();
        let head = frame::encode(&incarnation)?;
        file.set_len(0)?;
        file.write_all(&head)?;
        Ok(Self {
            incarnation,
            head: head.len() as u64,
            ends: Vec::new(),
        })
    }

    /// `None` without a whole incarnation.
    fn read(file: &File) -> io::Result<Option<Self>> {
        let mut reader = BufReader::new(file);
        let Some(head) = next_frame(&mut reader)? else {
            return Ok(None);
        };
        let incarnation = serde_json::from_slice(&head).map_err(|_| {
            let why = "its journal is of another version of plimsoll: use that one to join the run";
            io::Error::new(ErrorKind::InvalidData, why)
        })?;
        let mut contents = Self {
            incarnation,
            head: 4 + head.len() as u64,
            ends: Vec::new(),
        };
        while let Some(bytes) = next_frame(&mut reader)? {
            contents.ends.push(contents.end() + 4 + bytes.len() as u64);
        }
        Ok(Some(contents))
    }

    fn end(&self) -> u64 {
        self.ends.last().copied().unwrap_or(self.head)
    }
}

/// `None` at the end, or at what is no whole frame.
fn next_frame(reader: &mut impl io::Read) -> io::Result<Option<Vec<u8>>> {
    match frame::read_bytes(reader) {
        Err(error)
            if [ErrorKind::UnexpectedEof, ErrorKind::InvalidData].contains(&error.kind()) =>
        {
            Ok(None)
        }
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::JobId;

    fn ready(job: u32) -> WorkerReport {
        WorkerReport::Ready { job: JobId(job) }
    }

    fn read(journal: &SessionJournal, number: u64) -> Option<WorkerReport> {
        let frame = journal.frame(number, &|| true).unwrap()?;
        match frame::read(&mut &frame[..]).unwrap() {
            Some(WorkerReply::Numbered {
                number: own,
                report,
            }) => {
                assert_eq!(own, number);
                Some(report)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_written_is_there_after_a_crash_in_the_middle_of_a_report() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        let journal = SessionJournal::open(&path).unwrap();
        let incarnation = journal.incarnation();
        (0..3).for_each(|job| journal.add(ready(job)));
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let journal = SessionJournal::open(&path).unwrap();
        assert_eq!((journal.len(), journal.incarnation()), (2, incarnation));
        journal.add(ready(7));
        let jobs = [0, 1, 7].map(|job| Some(ready(job)));
        assert_eq!([0, 1, 2].map(|number| read(&journal, number)), jobs);
        assert_eq!(read(&journal, 3), None);
    }

    #[test]
    fn a_journal_without_a_whole_incarnation_is_begun_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal");
        assert!(!SessionJournal::has_begun(&path).unwrap());
        let first = SessionJournal::open(&path).unwrap().incarnation();
        assert!(SessionJournal::has_begun(&path).unwrap());
        let whole = std::fs::read(&path).unwrap();
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            assert!(!SessionJournal::has_begun(&path).unwrap(), "{end}");
            let journal = SessionJournal::open(&path).unwrap();
            assert_ne!(journal.incarnation(), first, "{end}");
            journal.add(ready(1));
            assert_eq!(read(&journal, 0), Some(ready(1)));
        }
        let other = frame::encode(&WorkerReply::Forgotten).unwrap();
        std::fs::write(&path, other).unwrap();
        let error = SessionJournal::open(&path).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("another version"), "{error}");
    }

    #[test]
    fn a_reader_waits_for_the_next_report() {
        let dir = tempfile::tempdir().unwrap();
        let journal = SessionJournal::open(&dir.path().join("journal")).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| journal.frame(0, &|| false).unwrap().is_some());
            journal.add(ready(1));
            assert!(waits.join().unwrap());
        });
    }
}
