//! Parsers of /proc files (proc(5), Documentation/filesystems/proc.rst, Documentation/admin-guide/iostats.rst).
//!
//! Pure functions of a file's text. A text in another form gives `None`; none panics.

use plimsoll_plan::units::{Bytes, Nanos};

/// Ticks since boot, of one CPU or all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CpuTimes {
    pub user: u64,
    pub nice: u64,
    pub system: u64,
    pub idle: u64,
    pub iowait: u64,
    pub irq: u64,
    pub softirq: u64,
    pub steal: u64,
}

impl CpuTimes {
    /// What was spent since an earlier reading. `None` when a counter went back, or when the sum is out of all
    /// proportion. idle and iowait alone may decrease a little (proc(5)): that is no reset.
    pub fn since(&self, old: &Self) -> Option<Self> {
        let spent = Self {
            user: self.user.checked_sub(old.user)?,
            nice: self.nice.checked_sub(old.nice)?,
            system: self.system.checked_sub(old.system)?,
            idle: self.idle.saturating_sub(old.idle),
            iowait: self.iowait.saturating_sub(old.iowait),
            irq: self.irq.checked_sub(old.irq)?,
            softirq: self.softirq.checked_sub(old.softirq)?,
            steal: self.steal.checked_sub(old.steal)?,
        };
        let Self {
            user,
            nice,
            system,
            idle,
            iowait,
            irq,
            softirq,
            steal,
        } = spent;
        let parts = [user, nice, system, idle, iowait, irq, softirq, steal];
        parts.into_iter().try_fold(0_u64, u64::checked_add)?;
        Some(spent)
    }

    /// All ticks; saturates.
    pub fn total(&self) -> u64 {
        let Self {
            user,
            nice,
            system,
            idle,
            iowait,
            irq,
            softirq,
            steal,
        } = *self;
        [user, nice, system, idle, iowait, irq, softirq, steal]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// /proc/stat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stat {
    pub all: CpuTimes,
    /// By CPU number.
    pub each: Vec<(u32, CpuTimes)>,
}

pub fn stat(text: &str) -> Option<Stat> {
    let mut stat = Stat::default();
    let mut lines = text.lines();
    stat.all = cpu_times(lines.next()?.strip_prefix("cpu ")?)?;
    for line in lines.map_while(|line| line.strip_prefix("cpu")) {
        let (number, times) = line.split_once(' ')?;
        stat.each.push((number.parse().ok()?, cpu_times(times)?));
    }
    Some(stat)
}

/// guest and guest_nice are left out: user and nice hold them already.
fn cpu_times(text: &str) -> Option<CpuTimes> {
    let fields: Vec<u64> = text
        .split_ascii_whitespace()
        .map_while(|field| field.parse().ok())
        .collect();
    let &[user, nice, system, idle, ref added_later @ ..] = &fields[..] else {
        return None;
    };
    let mut added_later = added_later.iter().copied().chain(std::iter::repeat(0));
    Some(CpuTimes {
        user,
        nice,
        system,
        idle,
        iowait: added_later.next()?,
        irq: added_later.next()?,
        softirq: added_later.next()?,
        steal: added_later.next()?,
    })
}

/// /proc/meminfo, as far as it is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemInfo {
    pub total: Bytes,
    pub available: Bytes,
    pub cached: Bytes,
    pub dirty: Bytes,
}

pub fn meminfo(text: &str) -> Option<MemInfo> {
    Some(MemInfo {
        total: kib_field(text, "MemTotal")?,
        available: kib_field(text, "MemAvailable")?,
        cached: sum(kib_field(text, "Cached")?, kib_field(text, "Buffers")?),
        dirty: sum(kib_field(text, "Dirty")?, kib_field(text, "Writeback")?),
    })
}

fn sum(a: Bytes, b: Bytes) -> Bytes {
    Bytes(a.0.saturating_add(b.0))
}

/// The value of `Name:   123 kB`.
pub fn kib_field(text: &str, name: &str) -> Option<Bytes> {
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let number: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes(number.checked_mul(1024)?))
}

/// Totals of a file of /proc/pressure (Documentation/accounting/psi.rst).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pressure {
    pub some: Nanos,
    /// Absent for the CPU before kernel 5.13.
    pub full: Option<Nanos>,
}

pub fn pressure(text: &str) -> Option<Pressure> {
    Some(Pressure {
        some: pressure_total(text, "some")?,
        full: pressure_total(text, "full"),
    })
}

fn pressure_total(text: &str, kind: &str) -> Option<Nanos> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(kind)?.strip_prefix(' '))?;
    let us = line
        .split_ascii_whitespace()
        .find_map(|field| field.strip_prefix("total="))?;
    Some(Nanos(us.parse::<u64>().ok()?.checked_mul(1000)?))
}

/// One line of /proc/net/dev.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    pub name: String,
    pub received: u64,
    pub sent: u64,
}

pub fn net_dev(text: &str) -> Option<Vec<Interface>> {
    let mut lines = text.lines();
    lines.next()?.trim_start().strip_prefix("Inter-|")?;
    lines.skip(1).map(interface).collect()
}

fn interface(line: &str) -> Option<Interface> {
    let (name, counters) = line.rsplit_once(':')?;
    let mut counters = counters.split_ascii_whitespace();
    Some(Interface {
        name: name.trim().into(),
        received: counters.next()?.parse().ok()?,
        // Eight columns of what was received, then the bytes sent.
        sent: counters.nth(7)?.parse().ok()?,
    })
}

/// One line of /proc/diskstats. Times are milliseconds; a sector is always 512 bytes here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskStats {
    pub name: String,
    pub reads: u64,
    pub read_sectors: u64,
    pub read_ms: u64,
    pub writes: u64,
    pub write_sectors: u64,
    pub write_ms: u64,
    pub busy_ms: u64,
    pub weighted_ms: u64,
    /// Since kernel 5.5.
    pub flushes: Option<u64>,
}

impl DiskStats {
    /// What was done since an earlier reading. `None` when any counter went back: another device took the number, or a
    /// counter wrapped (the times are 32 bits).
    pub fn since(&self, old: &Self) -> Option<Self> {
        if old.name != self.name {
            return None;
        }
        let flushes = match (old.flushes, self.flushes) {
            (Some(old), Some(new)) => Some(new.checked_sub(old)?),
            _ => None,
        };
        Some(Self {
            name: self.name.clone(),
            reads: self.reads.checked_sub(old.reads)?,
            read_sectors: self.read_sectors.checked_sub(old.read_sectors)?,
            read_ms: self.read_ms.checked_sub(old.read_ms)?,
            writes: self.writes.checked_sub(old.writes)?,
            write_sectors: self.write_sectors.checked_sub(old.write_sectors)?,
            write_ms: self.write_ms.checked_sub(old.write_ms)?,
            busy_ms: self.busy_ms.checked_sub(old.busy_ms)?,
            weighted_ms: self.weighted_ms.checked_sub(old.weighted_ms)?,
            flushes,
        })
    }
}

/// The line of one device. `None` as well for a partition before kernel 2.6.25, which had four counters only.
pub fn diskstats(text: &str, major: u32, minor: u32) -> Option<DiskStats> {
    text.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        if fields.next()?.parse() != Ok(major) || fields.next()?.parse() != Ok(minor) {
            return None;
        }
        let name = fields.next()?.to_owned();
        let n: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
        let &[
            reads,
            _,
            read_sectors,
            read_ms,
            writes,
            _,
            write_sectors,
            write_ms,
            _,
            busy_ms,
            weighted_ms,
            ..,
        ] = &n[..]
        else {
            return None;
        };
        let flushes = n.get(15).copied();
        Some(DiskStats {
            name,
            reads,
            read_sectors,
            read_ms,
            writes,
            write_sectors,
            write_ms,
            busy_ms,
            weighted_ms,
            flushes,
        })
    })
}

/// /proc/PID/stat, as far as it is sampled. CPU times are ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PidStat {
    pub parent: u32,
    pub cpu: u64,
    /// CPU of children that ended and were waited for, with theirs.
    pub children_cpu: u64,
    /// Page faults of those children: grows with every child that is waited for.
    pub children_faults: u64,
    pub threads: u64,
    /// Ticks since boot; with the PID, identifies a process.
    pub start: u64,
}

pub fn pid_stat(text: &str) -> Option<PidStat> {
    // The name, in parentheses, may hold anything, parentheses and spaces too.
    let fields: Vec<&str> = text
        .get(text.rfind(')')? + 1..)?
        .split_ascii_whitespace()
        .collect();
    Some(PidStat {
        parent: u32::try_from(number(&fields, 4)?).ok()?,
        cpu: number(&fields, 14)?.checked_add(number(&fields, 15)?)?,
        children_cpu: number(&fields, 16)?.checked_add(number(&fields, 17)?)?,
        children_faults: number(&fields, 11)?.checked_add(number(&fields, 13)?)?,
        threads: number(&fields, 20)?,
        start: number(&fields, 22)?,
    })
}

/// A field by its number in proc_pid_stat(5); the fields begin with the third.
fn number(fields: &[&str], number: usize) -> Option<u64> {
    fields.get(number - 3)?.parse().ok()
}

/// PIDs of /proc/PID/task/TID/children.
pub fn children(text: &str) -> Option<Vec<u32>> {
    text.split_ascii_whitespace()
        .map(|pid| pid.parse().ok())
        .collect()
}

/// /proc/PID/statm, in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statm {
    pub resident: u64,
    pub shared: u64,
}

pub fn statm(text: &str) -> Option<Statm> {
    let mut fields = text.split_ascii_whitespace().skip(1);
    Some(Statm {
        resident: fields.next()?.parse().ok()?,
        shared: fields.next()?.parse().ok()?,
    })
}

/// What a process and its ended, waited-for children had fetched from or sent to storage: /proc/PID/io.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PidIo {
    pub read: u64,
    pub written: u64,
}

pub fn pid_io(text: &str) -> Option<PidIo> {
    Some(PidIo {
        read: named_number(text, "read_bytes:")?,
        written: named_number(text, "write_bytes:")?,
    })
}

/// Of `cpu.stat` of a control group: for how long it was throttled, in µs in version 2 and ns in version 1. `None` of one
/// without a limit, such as the root.
pub fn throttled(text: &str) -> Option<Nanos> {
    let field = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find(|(key, _)| *key == name)?.1.trim().parse().ok()
    };
    field("throttled_usec")
        .map(Nanos::from_micros)
        .or_else(|| field("throttled_time").map(Nanos))
}

/// Of `schedstat` of a thread: how long it waited for a CPU.
pub fn run_delay(text: &str) -> Option<Nanos> {
    text.split_whitespace().nth(1)?.parse().ok().map(Nanos)
}

fn named_number(text: &str, name: &str) -> Option<u64> {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
