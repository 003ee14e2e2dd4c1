//! Limits of servers that plimsoll starts.

use crate::Options;
use crate::findings::Findings;
use crate::raw::{PlanTable, RawLimits, RawPlan, TableKind};
use crate::resolved::{EngineKind, IoLimits, Limits, ResolvedPlan, SystemKind};
use crate::units::Bytes;
use crate::value::{At, OptionalKey, RawSize};

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
) -> Limits {
    let Some(at) = raw else {
        return Limits::default();
    };
    let raw = at.get();
    if engine == EngineKind::Sqlite {
        raw.refuse(TableKind::SimulatedMachine, findings);
        refuse_part_of_cpu(raw, findings);
    } else {
        raw.refuse(TableKind::Managed, findings);
    }
    let cpu_set = raw.cpu_set.as_ref().map(|at| cpu_set(at, findings));
    let memory = raw
        .memory
        .as_ref()
        .map(|at| memory(at, engine, options, findings));
    let limits = Limits {
        cpus: raw.cpus.value(),
        cpu_speed: raw.cpu_speed.value(),
        cpu_set: cpu_set.unwrap_or_default(),
        memory,
        io: IoLimits {
            read_bytes: raw.read_bytes.value(),
            write_bytes: raw.write_bytes.value(),
            reads: raw.reads.value().map(u64::from),
            writes: raw.writes.value().map(u64::from),
        },
        without: raw.without(),
    };
    if limits.is_none() && !findings.is_incomplete(&at.span()) {
        findings.warn(
            at.span(),
            "`limits` limits nothing",
            "state what: limits = { memory = \"4GiB\" }",
        );
    }
    limits
}

/// SQLite is limited where its machine is a simulated one, of which a plan has one.
pub(super) fn check_simulated(raw: &RawPlan, plan: &ResolvedPlan, findings: &mut Findings<'_>) {
    let mut machine = None;
    for system in &plan.systems {
        if !matches!(system.kind, SystemKind::Sqlite { .. }) {
            continue;
        }
        let machine: &Limits = machine.get_or_insert(&system.limits);
        let at = raw
            .system
            .iter()
            .find(|(name, _)| *name.get() == system.name);
        let Some((name, at)) = at else { continue };
        let (message, help) = match (plan.is_simulated(), system.limits.is_none()) {
            (false, false) => (
                "nothing limits SQLite in real time",
                "remove `limits`, or what needs real time: `emulate`, hosts, keys of a mounted drive",
            ),
            (true, _) if system.limits != *machine => (
                "one plan has one simulated machine, and these limits are not those of the first system",
                "state the same `limits` for all, or several in a [matrix]",
            ),
            _ => continue,
        };
        findings.error(at.get().limits.span_or(&name.span()), message, help);
    }
}

/// A simulated machine has whole processors.
fn refuse_part_of_cpu(raw: &RawLimits, findings: &mut Findings<'_>) {
    if let Some(cpus) = &raw.cpus
        && cpus.value().fract() != 0.0
    {
        let message = format!("`cpus` cannot be {} for SQLite", cpus.value());
        let help =
            "it runs on a simulated machine: state a whole number of `cpus`, and `cpu_speed`";
        findings.error(cpus.span(), message, help);
    }
}

/// A list as the kernel reads it (cpuset(7), "List format").
fn cpu_set(at: &At<String>, findings: &mut Findings<'_>) -> String {
    if !at.get().split(',').all(is_cpu_range) {
        findings.error(
            at.span(),
            "this is no list of CPUs",
            "write it such as \"0-3,8\"",
        );
    }
    at.get().clone()
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
) -> Bytes {
    let written = at.value();
    let least = least_memory(engine);
    if written < least {
        findings.error(
            at.span(),
            format!("{written} is too little for {}", engine.name()),
            format!("write {least} or more"),
        );
    }
    let scaled = (written.0 as f64 * options.data_scale) as u64;
    let least = match engine {
        EngineKind::Sqlite => least,
        _ => LEAST_SCALED_MEMORY.max(least).min(written),
    };
    Bytes(scaled.max(least.0) >> 20 << 20)
}
