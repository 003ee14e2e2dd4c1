//! What a disk has acknowledged and not written yet.
//!
//! The head writes it out when it has nothing else to do. A flush or a full buffer makes the head do so at once: what
//! then leaves keeps its room until it is on the platter.

use super::fluid::Fluid;

/// Most that waits to be written, in nanoseconds of the head's time. Assumed: Linux waits 15 s for a flush of its own and
/// calls that generous (`ata_eh_flush_timeouts`); one manual states 30 s at most (Hitachi HTC426020G7CE00, FLUSH CACHE),
/// others that it may take longer. Disks limit how long they write out at a time (US patent 9,141,531, claim 2).
pub const LONGEST_DRAIN: f64 = 15e9;

#[derive(Debug, Clone)]
pub struct WriteBuffer {
    room: f64,
    waiting: Fluid,
    /// How often the head has to move for what waits.
    moves: f64,
    /// The head is on its way with this; nothing comes before it.
    leaving: Fluid,
}

/// When what was asked of the buffer is done: there is room, or all is written.
pub struct BufferDone {
    pub at: u64,
    /// When the head is free.
    pub free: u64,
}

impl WriteBuffer {
    pub fn new(room: u64) -> Self {
        Self {
            room: room as f64,
            waiting: Fluid::new(room),
            moves: 0.0,
            leaving: Fluid::new(room),
        }
    }

    /// Whether anything waits.
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_draining()
    }

    pub fn moves(&self) -> f64 {
        self.moves
    }

    pub fn put(&mut self, bytes: u64, work: u64, moves: bool) {
        self.waiting.put(bytes as f64, work as f64);
        self.moves += f64::from(u8::from(moves));
    }

    /// When there is room for what was put in last. Above the room or the longest drain the head writes at once, else
    /// the write waits for enough to have left.
    pub fn make_room(&mut self, now: u64, free: u64) -> BufferDone {
        self.leaving.drain_until(now);
        let over = self.waiting.over();
        let work = self.waiting.work();
        let span = (work * (over / self.waiting.bytes())).max(work - LONGEST_DRAIN);
        if span > 0.0 {
            let free = self.leave(span, now, free);
            return BufferDone { at: free, free };
        }
        let at = now + self.wait_for_leaving() as u64;
        BufferDone { at, free }
    }

    fn wait_for_leaving(&self) -> f64 {
        let leaving = self.leaving.work();
        if leaving <= 0.0 {
            return 0.0;
        }
        let over = self.leaving.bytes() + self.waiting.bytes() - self.room;
        let late = leaving + self.waiting.work() - LONGEST_DRAIN;
        (leaving * (over / self.leaving.bytes()))
            .max(late)
            .clamp(0.0, leaving)
    }

    /// Everything leaves.
    pub fn flush(&mut self, now: u64, free: u64) -> BufferDone {
        self.leaving.drain_until(now);
        if self.is_waiting() {
            let free = self.leave(self.waiting.work(), now, free);
            return BufferDone { at: free, free };
        }
        let at = now + self.leaving.work() as u64;
        BufferDone { at, free }
    }

    /// The head spends its time on it until it is free again.
    fn leave(&mut self, span: f64, now: u64, free: u64) -> u64 {
        let before = self.waiting.bytes();
        self.spend(span);
        let free = free.max(now) + span as u64;
        let until = (free - now) as f64;
        self.leaving
            .put(before - self.waiting.bytes(), until - self.leaving.work());
        free
    }

    /// The head has spent this much time on what waits.
    pub fn spend(&mut self, span: f64) {
        let left = 1.0 - (span / self.waiting.work()).min(1.0);
        self.moves *= left;
        self.waiting.spend(span);
    }

    /// Time until all that waits is written.
    pub fn work(&self) -> f64 {
        self.waiting.work()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn what_leaves_keeps_its_room_until_it_is_written() {
        let mut buffer = WriteBuffer::new(1000);
        buffer.put(800, 8 * SECOND, true);
        assert_eq!(buffer.make_room(0, 0).at, 0, "it fits");
        let free = buffer.flush(0, SECOND).at;
        assert_eq!(free, 9 * SECOND, "after what the head did before");
        assert_eq!(buffer.flush(SECOND, free).at, free, "it is not written yet");
        assert!(!buffer.is_waiting());
        buffer.put(500, SECOND, true);
        let room = buffer.make_room(SECOND, free);
        assert_eq!(room.free, free, "the head does nothing more for it");
        let left = 800.0 * 8.0 / 9.0;
        let expected = 1.0 + 8.0 * (500.0 + left - 1000.0) / left;
        assert!(
            (room.at as f64 / 1e9 - expected).abs() < 1e-6,
            "{}",
            room.at
        );
        assert_eq!(buffer.make_room(free, free).at, free);
    }

    #[test]
    fn a_buffer_is_full_by_bytes_or_by_time() {
        let mut buffer = WriteBuffer::new(1000);
        buffer.put(1250, 5 * SECOND, true);
        let room = buffer.make_room(0, 0);
        assert_eq!((room.at, room.free), (SECOND, SECOND), "a fifth of it");
        let mut slow = WriteBuffer::new(1000);
        slow.put(10, 20 * SECOND, true);
        assert_eq!(slow.make_room(0, 0).at, 5 * SECOND);
        assert_eq!(slow.work(), LONGEST_DRAIN);
        assert!((slow.moves() - 0.75).abs() < 1e-9);
    }
}
