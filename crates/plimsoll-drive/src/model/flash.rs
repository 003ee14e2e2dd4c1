//! Flash behind NVMe or SATA.
//!
//! A request goes through the command processing and the link, which take one at a time and hold the data sheet's
//! limits. A read then occupies a unit of flash for a lognormal time. A write is acknowledged from the buffer; the buffer
//! drains at the data sheet's write rates, slower with random writes the fuller the drive is (see
//! [`amplification`]).
//!
//! Reads and the draining share the flash: while there is something to drain, a read takes from it the time that the
//! read would take of the whole drive, and may have to wait for the rest of a program operation. So a mix comes out at
//! about the weighted harmonic mean of the two rates (utilisation law, Denning and Buzen 1978).
//!
//! Assumption: the transfer of a read is charged before its flash time, not after. Both orders give the same sum and the
//! same throughput; this one lets reads overtake each other in the flash, as they do.

use super::fill::Mapped;
use super::fluid::Fluid;
use super::random::{LognormalTable, Random, mix};
use super::streams::Streams;
use super::{DriveOp, Op, Setup, Work};
use crate::amplification::amplification;
use crate::spec::{FlashSpec, WriteCache};

/// Requests are spread over the units in pieces of a flash page.
const PAGE: u64 = 16 << 10;

#[derive(Debug, Clone)]
pub struct Flash {
    spec: FlashSpec,
    is_volatile: bool,
    ignores_flush: bool,
    random: Random,
    media: LognormalTable,
    acknowledge: LognormalTable,
    /// When each server is free.
    read_command: u64,
    write_command: u64,
    links: [u64; 2],
    units: Box<[u64]>,
    buffer: Fluid,
    flushing: LastFlush,
    streams: Streams,
    mapped: Mapped,
    /// Work of a random write per byte, and flash bytes per byte, at the present fill.
    random_ns_per_byte: f64,
    amplification: f64,
    /// Bytes in the fast flash.
    slc: f64,
    slc_at: u64,
}

/// The last flush of a volatile buffer.
#[derive(Debug, Clone, Copy, Default)]
struct LastFlush {
    start: u64,
    end: u64,
}

impl Flash {
    pub fn new(spec: &FlashSpec, cache: WriteCache, setup: &Setup) -> Self {
        let mut flash = Self {
            spec: spec.clone(),
            is_volatile: cache == WriteCache::Volatile,
            ignores_flush: setup.ignores_flush,
            random: Random::new(mix(setup.seed)),
            media: LognormalTable::new(spec.media),
            acknowledge: LognormalTable::new(spec.acknowledge),
            read_command: 0,
            write_command: 0,
            links: [0; 2],
            units: vec![0; spec.units.max(1)].into(),
            buffer: Fluid::new(spec.buffer.0),
            flushing: LastFlush::default(),
            streams: Streams::new(),
            mapped: Mapped::new(setup),
            random_ns_per_byte: 0.0,
            amplification: 1.0,
            slc: 0.0,
            slc_at: 0,
        };
        flash.set_random_cost();
        flash
    }

    #[inline]
    pub fn submit(&mut self, now: u64, op: Op, work: &mut Work) -> u64 {
        match op.kind {
            DriveOp::Read => self.read(now, op, work),
            DriveOp::Write => self.write(now, op, work),
            DriveOp::Flush => self.flush(now),
            DriveOp::Trim => {
                if self.mapped.trim(op.offset, op.len) {
                    self.set_random_cost();
                }
                self.write_command = self.write_command.max(now) + self.spec.write_command.0;
                self.write_command + self.spec.trim.0
            }
        }
    }

    pub fn power_cycle(&mut self, now: u64) {
        self.read_command = 0;
        self.write_command = 0;
        self.links = [0; 2];
        self.flushing = LastFlush::default();
        self.units.fill(0);
        self.buffer = Fluid::new(self.spec.buffer.0);
        self.streams = Streams::new();
        // Without power the fast flash was not emptied.
        self.slc_at = now;
    }

    #[inline]
    fn read(&mut self, now: u64, op: Op, work: &mut Work) -> u64 {
        self.read_command = self.read_command.max(now) + self.spec.read_command.0;
        let transfer = op.len as f64 * self.spec.read_ns_per_byte;
        self.links[0] = self.links[0].max(self.read_command) + transfer as u64;
        let busy = transfer.max(self.spec.read_command.0 as f64);
        work.reading.0 += busy as u64;
        self.buffer.drain_until(now);
        self.buffer.lend(busy);
        let draining = self.buffer.is_draining();
        let first = op.offset / PAGE;
        let last = op.offset.saturating_add(op.len.max(1) - 1) / PAGE;
        let start = self.links[0];
        let units = self.units.len() as u64;
        let pages = (last - first + 1).min(units);
        let rounds = (last - first) / units + 1;
        let mut done = start;
        for page in first..first + pages {
            let random = self.random.draw();
            let mut service = self.media.at(random) * rounds;
            if draining {
                // The middle bits: the highest chose the service time.
                service += (self.spec.program.0 * ((random >> 20) & 0xffff)) >> 16;
            }
            let unit = &mut self.units[unit_of(page, units as u32)];
            *unit = (*unit).max(start) + service;
            done = done.max(*unit);
        }
        done + self.spec.firmware.0
    }

    #[inline]
    fn write(&mut self, now: u64, op: Op, work: &mut Work) -> u64 {
        self.write_command = self.write_command.max(now) + self.spec.write_command.0;
        let bytes = op.len as f64;
        let link = &mut self.links[usize::from(!self.spec.half_duplex)];
        *link = (*link).max(self.write_command) + (bytes * self.spec.write_ns_per_byte) as u64;
        let arrived = *link;
        let is_sequential = self.streams.continues(op.offset, op.len);
        if self.mapped.write(op.offset, op.len, is_sequential) {
            self.set_random_cost();
        }
        self.buffer.drain_until(now);
        let (ns_per_byte, amplification) = if is_sequential {
            (self.sequential_ns_per_byte(now, bytes), 1.0)
        } else {
            (self.random_ns_per_byte, self.amplification)
        };
        work.flash_bytes += bytes * amplification;
        work.writing.0 += (bytes * ns_per_byte) as u64;
        let wait = self.buffer.put(bytes, bytes * ns_per_byte);
        arrived.max(now + wait as u64) + self.acknowledge.at(self.random.draw())
    }

    /// A drive flushes once at a time. What is asked for meanwhile is done by the next flush, for all who wait for it.
    fn flush(&mut self, now: u64) -> u64 {
        self.write_command = self.write_command.max(now) + self.spec.write_command.0;
        if self.ignores_flush {
            return self.write_command;
        }
        if !self.is_volatile {
            return self.write_command + self.spec.flush.0;
        }
        self.buffer.drain_until(now);
        let drained = self.write_command.max(now + self.buffer.work() as u64);
        let last = &mut self.flushing;
        if last.start <= now {
            last.start = last.end.max(now);
            last.end = last.start.max(drained) + self.spec.flush.0;
        }
        last.end = last.end.max(drained + self.spec.flush.0);
        last.end
    }

    /// The fast flash takes what it has room for; when the drive has nothing to do, it is emptied at the slow rate.
    #[inline]
    fn sequential_ns_per_byte(&mut self, now: u64, bytes: f64) -> f64 {
        if self.spec.slc.0 == 0 {
            return self.spec.sequential_ns_per_byte;
        }
        if !self.buffer.is_draining() {
            let idle = now.saturating_sub(self.slc_at) as f64;
            self.slc = (self.slc - idle / self.spec.folded_ns_per_byte).max(0.0);
        }
        self.slc_at = now;
        if self.slc + bytes > self.spec.slc.0 as f64 {
            return self.spec.folded_ns_per_byte;
        }
        self.slc += bytes;
        self.spec.sequential_ns_per_byte
    }

    /// No random write costs less than a sequential one.
    fn set_random_cost(&mut self) {
        let full = self.spec.physical_share;
        self.amplification = amplification(full * self.mapped.fill());
        let cost = self.spec.random_ns_per_byte * self.amplification / amplification(full);
        self.random_ns_per_byte = cost.max(self.spec.sequential_ns_per_byte);
    }
}

/// Consecutive pages lie on different units; where a round of them begins is scrambled, so that no stride hits one unit.
#[inline]
fn unit_of(page: u64, units: u32) -> usize {
    let page = page as u32;
    let round = page / units;
    let within = page % units;
    let turned = within
        + ((u64::from((mix(u64::from(round)) >> 32) as u32) * u64::from(units)) >> 32) as u32;
    (if turned >= units {
        turned - units
    } else {
        turned
    }) as usize
}
