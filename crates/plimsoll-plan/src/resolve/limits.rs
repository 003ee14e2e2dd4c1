//! Limits of servers that plimsoll starts.

use super::values::{size, whole};
use crate::Options;
use crate::findings::Findings;
use crate::raw::{RawLimits, RawPlan};
use crate::resolved::{
    EngineKind, IoLimits, Limits, ResolvedPlan, System, SystemKind, WithoutLimits,
};
use crate::units::Bytes;
use crate::value::{At, RawSize};

/// Least that a server starts with.
const LEAST_MEMORY: Bytes = Bytes::mib(128);
/// Sessions are not scaled: 89 of PostgreSQL's do not fit in 128 MiB.
const LEAST_SCALED_MEMORY: Bytes = Bytes::mib(512);
/// Some pages of each file.
const LEAST_MEMORY_OF_SQLITE: Bytes = Bytes::mib(1);
/// MySQL 9.7 takes 545 MB when it has started.
const LEAST_MEMORY_OF_MYSQL: Bytes = Bytes::mib(640);

pub(super) fn resolve(
    raw: Option<&At<RawLimits>>,
    engine: EngineKind,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Limits> {
    let Some(at) = raw else {
        return Some(Limits::default());
    };
    let RawLimits {
        cpus,
        cpu_speed,
        cpu_set,
        memory,
        read_bytes,
        write_bytes,
        reads,
        writes,
        without,
    } = at.get();
    if engine == EngineKind::Sqlite {
        refuse_servers_limits(at, findings)?;
    }
    let cpu_speed = optional(cpu_speed.as_ref(), |at| {
        self::cpu_speed(at, engine, findings)
    });
    let cpus = optional(cpus.as_ref(), |at| self::cpus(at, findings));
    let cpu_set = optional(cpu_set.as_ref(), |at| self::cpu_set(at, findings));
    let memory = optional(memory.as_ref(), |at| {
        self::memory(at, engine, options, findings)
    });
    let read_bytes = optional(read_bytes.as_ref(), |at| some(at, findings));
    let write_bytes = optional(write_bytes.as_ref(), |at| some(at, findings));
    let reads = optional(reads.as_ref(), |at| per_second(at, "`reads`", findings));
    let writes = optional(writes.as_ref(), |at| per_second(at, "`writes`", findings));
    let limits = Limits {
        cpus: cpus?,
        cpu_speed: cpu_speed?,
        cpu_set: cpu_set?.unwrap_or_default(),
        memory: memory?,
        io: IoLimits {
            read_bytes: read_bytes?,
            write_bytes: write_bytes?,
            reads: reads?,
            writes: writes?,
        },
        without: without
            .as_ref()
            .map_or(WithoutLimits::Refuse, |without| *without.get()),
    };
    if limits.is_none() && !findings.is_incomplete(&at.span()) {
        findings.warn(
            at.span(),
            "`limits` limits nothing",
            "state what: limits = { memory = \"4GiB\" }",
        );
    }
    Some(limits)
}

/// SQLite is limited where its machine is a simulated one, of which a plan has one.
pub(super) fn of_simulated(raw: &RawPlan, plan: &ResolvedPlan, findings: &mut Findings<'_>) {
    let is_sqlite = |own: &&System| matches!(own.kind, SystemKind::Sqlite { .. });
    let mut machine = None;
    for own in plan.systems.iter().filter(is_sqlite) {
        let machine: &Limits = machine.get_or_insert(&own.limits);
        let at = raw.system.iter().find(|(name, _)| *name.get() == own.name);
        let Some((name, at)) = at else { continue };
        let (message, help) = match (plan.is_simulated(), own.limits.is_none()) {
            (false, false) => (
                "nothing limits SQLite in real time",
                "remove `limits`, or what needs real time: `emulate`, hosts, keys of a mounted drive",
            ),
            (true, _) if own.limits != *machine => (
                "one plan has one simulated machine, and these limits are not those of the first system",
                "state the same `limits` for all, or several in a [matrix]",
            ),
            _ => continue,
        };
        let span = at.get().limits.as_ref().map_or(name.span(), At::span);
        findings.error(span, message, help);
    }
}

/// A simulated machine has so many processors and so much memory.
fn refuse_servers_limits(at: &At<RawLimits>, findings: &mut Findings<'_>) -> Option<()> {
    let RawLimits {
        cpus,
        cpu_speed: _,
        cpu_set,
        memory: _,
        read_bytes,
        write_bytes,
        reads,
        writes,
        without: _,
    } = at.get();
    let is_whole = cpus.as_ref().is_none_or(|cpus| cpus.get().fract() == 0.0);
    let has_others = cpu_set.is_some()
        || read_bytes.is_some()
        || write_bytes.is_some()
        || reads.is_some()
        || writes.is_some();
    if is_whole && !has_others {
        return Some(());
    }
    let help = "SQLite runs on a simulated machine: state `memory`, a whole number of `cpus` and `cpu_speed`; for limits of \
                the drive name another drive";
    findings.error(at.span(), "SQLite has no such limits", help);
    None
}

/// `None` is a fault; `Some(None)` that nothing was written.
fn optional<R, T>(raw: Option<R>, resolve: impl FnOnce(R) -> Option<T>) -> Option<Option<T>> {
    raw.map_or(Some(None), |raw| resolve(raw).map(Some))
}

fn cpus(at: &At<f64>, findings: &mut Findings<'_>) -> Option<f64> {
    let cpus = *at.get();
    if (0.05..=4096.0).contains(&cpus) {
        return Some(cpus);
    }
    findings.error(
        at.span(),
        format!("`cpus` cannot be {cpus}"),
        "0.05 to 4096 is possible",
    );
    None
}

fn cpu_speed(at: &At<f64>, engine: EngineKind, findings: &mut Findings<'_>) -> Option<f64> {
    let speed = *at.get();
    let (message, help) = match engine {
        EngineKind::Sqlite if (0.1..=10.0).contains(&speed) => return Some(speed),
        EngineKind::Sqlite => (
            format!("`cpu_speed` cannot be {speed}"),
            "0.1 to 10 is possible",
        ),
        _ => (
            "`cpu_speed` is of simulated processors".to_owned(),
            "limit `cpus`: only SQLite runs on simulated processors",
        ),
    };
    findings.error(at.span(), message, help);
    None
}

fn per_second(at: &At<i64>, key: &str, findings: &mut Findings<'_>) -> Option<u64> {
    whole(at, key, 1..=u32::MAX, findings).map(u64::from)
}

/// A list as the kernel reads it (cpuset(7), "List format").
fn cpu_set(at: &At<String>, findings: &mut Findings<'_>) -> Option<String> {
    if at.get().split(',').all(is_cpu_range) {
        return Some(at.get().clone());
    }
    findings.error(
        at.span(),
        "this is no list of CPUs",
        "write it such as \"0-3,8\"",
    );
    None
}

fn is_cpu_range(part: &str) -> bool {
    let (from, to) = part.split_once('-').unwrap_or((part, part));
    from.parse::<u16>()
        .ok()
        .zip(to.parse::<u16>().ok())
        .is_some_and(|(from, to)| from <= to)
}

const fn least_memory(engine: EngineKind) -> Bytes {
    match engine {
        EngineKind::Mysql => LEAST_MEMORY_OF_MYSQL,
        EngineKind::Sqlite => LEAST_MEMORY_OF_SQLITE,
        _ => LEAST_MEMORY,
    }
}

fn memory(
    at: &At<RawSize>,
    engine: EngineKind,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Bytes> {
    let written = size(at, findings)?;
    let least = least_memory(engine);
    if written < least {
        findings.error(
            at.span(),
            format!("{written} is too little for {}", engine.name()),
            format!("write {least} or more"),
        );
        return None;
    }
    let scaled = (written.0 as f64 * options.data_scale) as u64;
    let least = match engine {
        EngineKind::Sqlite => least,
        _ => LEAST_SCALED_MEMORY.max(least).min(written),
    };
    Some(Bytes(scaled.max(least.0) >> 20 << 20))
}

fn some(at: &At<RawSize>, findings: &mut Findings<'_>) -> Option<Bytes> {
    let rate = size(at, findings)?;
    if rate == Bytes(0) {
        findings.error(
            at.span(),
            "nothing per second is no rate",
            "write such as \"500MB\", or leave it out",
        );
        return None;
    }
    Some(rate)
}
