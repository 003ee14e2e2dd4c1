//! A session's reports, numbered, in a file: written once, read by whichever front is connected.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::frame;
use crate::protocol::{WorkerReply, WorkerReport};

/// Clones share it.
#[derive(Clone)]
pub struct SessionJournal(Arc<Inner>);

struct Inner {
    file: File,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
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
        let ends = ends_of(&file)?;
        file.set_len(ends.last().copied().unwrap_or_default())?;
        let state = State { ends, failed: None };
        Ok(Self(Arc::new(Inner {
            file,
            state: Mutex::new(state),
            changed: Condvar::new(),
        })))
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
                let begin = state.ends.last().copied().unwrap_or_default();
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
        let begin = index.checked_sub(1).map_or(0, |before| state.ends[before]);
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

fn ends_of(file: &File) -> io::Result<Vec<u64>> {
    let mut reader = BufReader::new(file);
    let mut ends = Vec::new();
    let mut end = 0;
    loop {
        match frame::read_bytes(&mut reader) {
            Ok(Some(bytes)) => {
                end += 4 + bytes.len() as u64;
                ends.push(end);
            }
            Ok(None) => return Ok(ends),
            Err(error)
                if [ErrorKind::UnexpectedEof, ErrorKind::InvalidData].contains(&error.kind()) =>
            {
                return Ok(ends);
            }
            Err(error) => return Err(error),
        }
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
        (0..3).for_each(|job| journal.add(ready(job)));
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let journal = SessionJournal::open(&path).unwrap();
        assert_eq!(journal.len(), 2);
        journal.add(ready(7));
        let jobs = [0, 1, 7].map(|job| Some(ready(job)));
        assert_eq!([0, 1, 2].map(|number| read(&journal, number)), jobs);
        assert_eq!(read(&journal, 3), None);
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
