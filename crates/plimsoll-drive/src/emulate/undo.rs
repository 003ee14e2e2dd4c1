//! What a power cut takes away: the content before each write that has not been made durable.
//!
//! The worst case is modelled: a drive with a volatile buffer loses every write that it acknowledged since the last
//! flush, as far as the buffer holds them. Older ones are on the medium, since a buffer of that size has no room for
//! them any more. A drive that ignores flushes keeps its buffer across them, and so loses writes that a flush was
//! acknowledged for. A flush makes durable what arrived before it, at the moment when it is answered. What is lost is
//! always the end of the order in which writes arrived, and whole writes. A trim is durable at once; filesystems trim
//! only what they have durably let go of.

use std::collections::VecDeque;
use std::sync::Arc;

use plimsoll_plan::units::Bytes;

use super::acknowledged::{Acknowledged, Covered};
use super::protocol::Lost;
use super::store::{Store, is_zero};

#[derive(Debug)]
struct UndoEntry {
    /// Counted from 0 over the log's life.
    id: u64,
    offset: u64,
    len: u64,
    /// Nothing when it was all zeroes.
    before: Option<Vec<u8>>,
    /// It was answered before a flush arrived that was answered, too.
    flushed: bool,
}

#[derive(Debug)]
pub struct UndoLog {
    entries: VecDeque<UndoEntry>,
    /// Sum of the entries' lengths.
    bytes: u64,
    /// What the drive's buffer holds.
    buffer: u64,
    ignores_flush: bool,
    next_id: u64,
    acknowledged: Arc<Acknowledged>,
}

impl UndoLog {
    pub fn new(buffer: Bytes, ignores_flush: bool) -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
            buffer: buffer.0,
            ignores_flush,
            next_id: 0,
            acknowledged: Arc::default(),
        }
    }

    /// Where answers are to be noted.
    pub fn acknowledged(&self) -> Arc<Acknowledged> {
        Arc::clone(&self.acknowledged)
    }

    /// To be called before the write. Returns the write's id.
    fn before_write(&mut self, store: &Store, offset: u64, len: u64) -> rustix::io::Result<u64> {
        self.apply_answered_flushes();
        let mut before = None;
        if len <= self.buffer && !store.is_hole(offset, len) {
            let mut content = vec![0; len as usize];
            store.read(offset, &mut content)?;
            before = (!is_zero(&content)).then_some(content);
        }
        let id = self.next_id;
        self.next_id += 1;
        self.acknowledged.write_arrived(id);
        self.entries.push_back(UndoEntry {
            id,
            offset,
            len,
            before,
            flushed: false,
        });
        self.bytes += len;
        while self.bytes > self.buffer {
            let Some(drained) = self.entries.pop_front() else {
                break;
            };
            self.bytes -= drained.len;
        }
        Ok(id)
    }

    /// The write failed: it is no loss.
    pub fn withdraw(&mut self, id: u64) {
        self.acknowledged.writes([id]);
        if let Some(entry) = self.entries.pop_back_if(|entry| entry.id == id) {
            self.bytes -= entry.len;
        }
    }

    /// Does a write, if it may be undone with the old content kept. Gives its id.
    pub fn write(
        log: Option<&mut Self>,
        store: &Store,
        (offset, len): (u64, u64),
        write: impl FnOnce() -> rustix::io::Result<()>,
    ) -> rustix::io::Result<Option<u64>> {
        let Some(log) = log else {
            return write().map(|()| None);
        };
        let id = log.before_write(store, offset, len)?;
        write().inspect_err(|_| log.withdraw(id))?;
        Ok(Some(id))
    }

    pub fn trimmed(&mut self, offset: u64, len: u64) {
        let end = offset.saturating_add(len);
        for entry in &mut self.entries {
            let from = offset.max(entry.offset);
            let to = end.min(entry.offset + entry.len);
            if let Some(before) = &mut entry.before
                && from < to
            {
                before[(from - entry.offset) as usize..(to - entry.offset) as usize].fill(0);
            }
        }
    }

    /// A flush has arrived. It takes effect when it is answered, by way of [`Acknowledged::flush`].
    pub fn flush_arrived(&self) -> Covered {
        self.acknowledged.flush_arrived(self.next_id)
    }

    /// Lets the flushes take effect that were answered.
    fn apply_answered_flushes(&mut self) {
        self.acknowledged
            .flushes()
            .iter()
            .for_each(|covered| self.flush(covered));
    }

    fn flush(&mut self, covered: &Covered) {
        if self.ignores_flush {
            for entry in &mut self.entries {
                entry.flushed |= entry.id < covered.upto && !covered.unanswered.contains(&entry.id);
            }
            return;
        }
        while let Some(entry) = self.entries.pop_front_if(|entry| entry.id < covered.upto) {
            self.bytes -= entry.len;
        }
    }

    /// Everything is on the medium.
    pub fn settle(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }

    /// The power fails: puts the old content back, newest first. Writes that were not acknowledged go too, but no program
    /// relied on them. A flush that was not answered by now will not be.
    pub fn power_off(&mut self, store: &Store) -> rustix::io::Result<Lost> {
        // No write has this number: it separates flushes that arrived before from those that come after.
        self.next_id += 1;
        let (flushes, unanswered) = self.acknowledged.power_off(self.next_id);
        flushes.iter().for_each(|covered| self.flush(covered));
        let mut lost = Lost::default();
        while let Some(entry) = self.entries.pop_back() {
            match &entry.before {
                Some(content) => store.put(entry.offset, content)?,
                None => store.punch(entry.offset, entry.len)?,
            }
            if !unanswered.contains(&entry.id) {
                lost.writes += 1;
                lost.bytes.0 += entry.len;
                lost.flushed_writes += u64::from(entry.flushed);
            }
        }
        self.bytes = 0;
        Ok(lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SIZE: usize = 64 << 10;

    #[derive(Debug, Clone)]
    enum Step {
        Write(usize, usize, u8),
        Trim(usize, usize),
        Flush,
        /// One of those that wait is answered.
        Answer(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let at = || (0usize..120, 1usize..9).prop_map(|(at, len)| (at * 512, len * 512));
        prop::collection::vec(
            prop_oneof![
                6 => (at(), any::<u8>()).prop_map(|((at, len), byte)| Step::Write(at, len, byte)),
                1 => at().prop_map(|(at, len)| Step::Trim(at, len)),
                2 => Just(Step::Flush),
                8 => (0usize..100).prop_map(Step::Answer),
            ],
            0..60,
        )
    }

    #[derive(Debug, Default, Clone)]
    struct Write {
        number: usize,
        at: usize,
        data: Vec<u8>,
        is_answered: bool,
        was_promised: bool,
    }

    #[derive(Debug)]
    enum Waiting {
        Write(usize, u64),
        /// Those that were answered when it arrived, how many had arrived, and the log's view of it.
        Flush(Vec<usize>, usize, Covered),
    }

    /// What the medium holds when only what is durable counts: writes go to it when they are drained, or when a flush
    /// that came after them is answered.
    struct Reference {
        medium: Vec<u8>,
        buffered: VecDeque<Write>,
        answered: Vec<usize>,
        buffer: usize,
        writes: usize,
        waiting: Vec<Waiting>,
    }

    impl Reference {
        fn write_out(&mut self, while_true: impl Fn(&VecDeque<Write>) -> bool) {
            while while_true(&self.buffered) {
                let Some(Write { at, data, .. }) = self.buffered.pop_front() else {
                    break;
                };
                self.medium[at..at + data.len()].copy_from_slice(&data);
            }
        }

        fn wrote(&mut self, at: usize, len: usize, byte: u8, id: u64) {
            let number = self.writes;
            self.writes += 1;
            self.buffered.push_back(Write {
                number,
                at,
                data: vec![byte; len],
                ..Write::default()
            });
            self.waiting.push(Waiting::Write(number, id));
            let most = self.buffer;
            self.write_out(|all| all.iter().map(|write| write.data.len()).sum::<usize>() > most);
        }

        fn trimmed(&mut self, at: usize, len: usize) {
            self.medium[at..at + len].fill(0);
            for Write { at: from, data, .. } in &mut self.buffered {
                let inside =
                    (*from..*from + data.len()).filter(|byte| (at..at + len).contains(byte));
                inside.for_each(|byte| data[byte - *from] = 0);
            }
        }

        fn write_answered(&mut self, number: usize) {
            self.answered.push(number);
            let found = self
                .buffered
                .iter_mut()
                .find(|write| write.number == number);
            found.into_iter().for_each(|write| write.is_answered = true);
        }

        fn flush_answered(&mut self, promised: &[usize], before: usize, ignores_flush: bool) {
            if ignores_flush {
                let promised = self
                    .buffered
                    .iter_mut()
                    .filter(|write| promised.contains(&write.number));
                promised.for_each(|write| write.was_promised = true);
            } else {
                self.write_out(|all| all.front().is_some_and(|write| write.number < before));
            }
        }
    }

    fn step(step: &Step, store: &Store, log: &mut UndoLog, reference: &mut Reference) {
        match *step {
            Step::Write(at, len, byte) => {
                let id = log.before_write(store, at as u64, len as u64).unwrap();
                store.write(at as u64, &vec![byte; len]).unwrap();
                reference.wrote(at, len, byte, id);
            }
            Step::Trim(at, len) => {
                log.trimmed(at as u64, len as u64);
                store.punch(at as u64, len as u64).unwrap();
                reference.trimmed(at, len);
            }
            Step::Flush => {
                let flush = Waiting::Flush(
                    reference.answered.clone(),
                    reference.writes,
                    log.flush_arrived(),
                );
                reference.waiting.push(flush);
            }
            Step::Answer(_) if reference.waiting.is_empty() => {}
            Step::Answer(n) => match reference.waiting.remove(n % reference.waiting.len()) {
                Waiting::Write(number, id) => {
                    log.acknowledged.writes([id]);
                    reference.write_answered(number);
                }
                Waiting::Flush(promised, before, covered) => {
                    assert!(log.acknowledged.flush(covered));
                    reference.flush_answered(&promised, before, log.ignores_flush);
                }
            },
        }
    }

    proptest! {
        /// After a cut the content is as if unflushed writes had never happened; those drained before had.
        #[test]
        fn only_what_is_durable_remains(steps in steps(), ignores_flush: bool, buffer in 0usize..20_000, cuts in 1usize..3) {
            let store = Store::in_memory(Bytes(SIZE as u64), Bytes(1 << 30)).unwrap();
            let mut log = UndoLog::new(Bytes(buffer as u64), ignores_flush);
            let (medium, buffered) = (vec![0; SIZE], VecDeque::new());
            let (answered, waiting) = (Vec::new(), Vec::new());
            let mut reference = Reference { medium, buffered, answered, buffer, writes: 0, waiting };
            for chunk in steps.chunks(steps.len().div_ceil(cuts).max(1)) {
                chunk.iter().for_each(|what| step(what, &store, &mut log, &mut reference));
                let lost = log.power_off(&store).unwrap();
                let gone: Vec<_> = reference.buffered.drain(..).filter(|write| write.is_answered).collect();
                prop_assert_eq!(lost.writes, gone.len() as u64);
                prop_assert_eq!(lost.bytes.0, gone.iter().map(|write| write.data.len() as u64).sum::<u64>());
                prop_assert_eq!(lost.flushed_writes, gone.iter().filter(|write| write.was_promised).count() as u64);
                prop_assert!(ignores_flush || lost.flushed_writes == 0);
                for flush in reference.waiting.drain(..) {
                    if let Waiting::Flush(_, _, covered) = flush {
                        prop_assert!(!log.acknowledged.flush(covered), "the power failed before it was answered");
                    }
                }
                let mut content = vec![0; SIZE];
                store.read(0, &mut content).unwrap();
                prop_assert!(content == reference.medium);
            }
        }
    }

    fn log_with_two_writes(ignores_flush: bool) -> (Store, UndoLog, [u64; 2]) {
        let store = Store::in_memory(Bytes(4096), Bytes(4096)).unwrap();
        let mut log = UndoLog::new(Bytes(4096), ignores_flush);
        let ids = [0, 512].map(|at| {
            let id = log.before_write(&store, at, 512).unwrap();
            store.write(at, &[5; 512]).unwrap();
            id
        });
        (store, log, ids)
    }

    #[test]
    fn a_write_that_was_not_acknowledged_goes_uncounted() {
        let (store, mut log, ids) = log_with_two_writes(false);
        log.acknowledged.writes([ids[0]]);
        let lost = log.power_off(&store).unwrap();
        assert_eq!(
            lost,
            Lost {
                writes: 1,
                bytes: Bytes(512),
                flushed_writes: 0
            }
        );
        let mut content = [1; 4096];
        store.read(0, &mut content).unwrap();
        assert_eq!(content, [0; 4096]);
    }

    #[test]
    fn a_write_that_is_refused_leaves_no_trace() {
        let (store, mut log, ids) = log_with_two_writes(false);
        log.acknowledged.writes(ids);
        // Beyond the end of the device.
        let refused = UndoLog::write(Some(&mut log), &store, (4000, 512), || {
            store.write(4000, &[7; 512])
        });
        assert_eq!(refused, Err(rustix::io::Errno::NOSPC));
        let written = UndoLog::write(Some(&mut log), &store, (1024, 512), || {
            store.write(1024, &[7; 512])
        })
        .unwrap();
        log.acknowledged.writes(written);
        assert_eq!((log.entries.len(), log.bytes), (3, 1536));
        assert_eq!(
            log.power_off(&store).unwrap(),
            Lost {
                writes: 3,
                bytes: Bytes(1536),
                flushed_writes: 0
            }
        );
    }

    #[test]
    fn a_flush_counts_from_its_answer_on() {
        let (store, mut log, ids) = log_with_two_writes(false);
        log.acknowledged.writes(ids);
        let pending = log.flush_arrived();
        assert_eq!(
            log.power_off(&store).unwrap().writes,
            2,
            "it was not answered"
        );
        assert!(!log.acknowledged.flush(pending), "and must not be any more");
        let covered = log.flush_arrived();
        assert!(log.acknowledged.flush(covered), "the power is back");
    }

    #[test]
    fn a_lying_drive_is_not_accused_for_writes_in_flight() {
        let (store, mut log, ids) = log_with_two_writes(true);
        log.acknowledged.writes([ids[0]]);
        let covered = log.flush_arrived();
        log.acknowledged.writes([ids[1]]);
        assert!(log.acknowledged.flush(covered));
        assert_eq!(
            log.power_off(&store).unwrap(),
            Lost {
                writes: 2,
                bytes: Bytes(1024),
                flushed_writes: 1
            }
        );
    }
}
