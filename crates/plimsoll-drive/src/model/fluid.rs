//! A write buffer that drains as a fluid: work and bytes go down together, oldest and newest alike.

/// Acknowledged writes that are not on the medium yet.
#[derive(Debug, Clone)]
pub struct Fluid {
    room: f64,
    /// May exceed the room: then requests wait.
    bytes: f64,
    /// Time the medium needs for them.
    work: f64,
    /// Until when it was drained.
    at: u64,
    /// Time that reads may yet take from the draining.
    lendable: f64,
}

/// Reads take at most this share of the medium's time from the draining, so that it never stands still.
const MOST_LENT: f64 = 0.8;

impl Fluid {
    pub fn new(room: u64) -> Self {
        Self {
            room: room as f64,
            bytes: 0.0,
            work: 0.0,
            at: 0,
            lendable: 0.0,
        }
    }

    #[inline]
    pub fn drain_until(&mut self, now: u64) {
        let span = now.saturating_sub(self.at) as f64;
        self.at = self.at.max(now);
        if span >= self.work {
            (self.bytes, self.work, self.lendable) = (0.0, 0.0, 0.0);
        } else {
            self.bytes -= self.bytes * (span / self.work);
            self.work -= span;
            self.lendable = (self.lendable + span * MOST_LENT).min(1e6);
        }
    }

    /// Puts a write in; gives how long it waits for room.
    #[inline]
    pub fn put(&mut self, bytes: f64, work: f64) -> f64 {
        self.bytes += bytes;
        self.work += work;
        let over = self.bytes - self.room;
        if over > 0.0 {
            self.work * (over / self.bytes)
        } else {
            0.0
        }
    }

    /// A read takes this much of the medium's time, if the medium is draining.
    #[inline]
    pub fn lend(&mut self, work: f64) {
        if self.work > 0.0 {
            let lent = work.min(self.lendable);
            self.work += lent;
            self.lendable -= lent;
        }
    }

    #[inline]
    pub fn is_draining(&self) -> bool {
        self.work > 0.0
    }

    /// Time until all is on the medium.
    pub fn work(&self) -> f64 {
        self.work
    }

    /// Bytes above what fits.
    pub fn over(&self) -> f64 {
        (self.bytes - self.room).max(0.0)
    }

    pub fn bytes(&self) -> f64 {
        self.bytes
    }

    /// The medium has spent this much time on it.
    pub fn spend(&mut self, span: f64) {
        if span >= self.work {
            (self.bytes, self.work) = (0.0, 0.0);
        } else {
            self.bytes -= self.bytes * (span / self.work);
            self.work -= span;
        }
    }
}
