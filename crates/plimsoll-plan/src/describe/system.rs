//! Systems as TOML.

use crate::load::{MockScript, SlowShare, Stall};
use crate::resolved::{Limits, ResolvedPlan, System, SystemKind};
use crate::toml_table::{TomlItem, TomlTable};
use crate::units::Nanos;

pub(super) fn system(plan: &ResolvedPlan, system: &System) -> TomlTable {
    let host = system.host.map(|host| plan.host(host).name.as_str());
    TomlTable::new()
        .with("engine", system.kind.engine().name())
        .with_some("count", (system.count != 1).then_some(system.count))
        .with_some("host", host)
        .with_flag("log_disk", system.log_disk)
        .and(kind(&system.kind))
        .with_table("limits", limits(&system.limits))
}

fn kind(kind: &SystemKind) -> TomlTable {
    match kind {
        SystemKind::Mock(script) => TomlTable::new().with_table("mock", mock(script)),
        SystemKind::Existing {
            engine: _,
            url,
            schema,
            change_tables,
        } => TomlTable::new()
            .with("url", url.redacted())
            .with("schema", schema.as_str())
            .with_some("change_tables", change_tables.then_some(schema.as_str())),
        SystemKind::Sqlite { settings } => {
            TomlTable::new().with_table("settings", settings.clone().into_iter().collect())
        }
        SystemKind::Managed {
            engine: _,
            settings,
            binaries,
        } => TomlTable::new()
            .with_text("binaries", binaries)
            .with_table("settings", settings.clone().into_iter().collect()),
    }
}

fn limits(limits: &Limits) -> TomlTable {
    if limits.is_none() {
        return TomlTable::new();
    }
    TomlTable::new()
        .with_some("cpus", limits.cpus.map(TomlItem::Decimal))
        .with_some("cpu_speed", limits.cpu_speed.map(TomlItem::Decimal))
        .with_text("cpu_set", &limits.cpu_set)
        .with_some("memory", limits.memory)
        .with_some("read_bytes", limits.io.read_bytes)
        .with_some("write_bytes", limits.io.write_bytes)
        .with_some("reads", limits.io.reads)
        .with_some("writes", limits.io.writes)
        .with("without", limits.without.name())
}

fn mock(script: &MockScript) -> TomlTable {
    let exponential = (script.exponential > Nanos::ZERO).then_some(script.exponential);
    let slow = script
        .slow
        .map(|SlowShare { share, by }| TomlTable::new().with("share", share).with("by", by));
    TomlTable::new()
        .with("latency", script.latency)
        .with("jitter", script.jitter)
        .with_some("exponential", exponential)
        .with_some("slow", slow)
        .with("stalls", stretches(&script.stalls))
        .with("outages", stretches(&script.outages))
        .with_some("fail_every", script.fail_every)
        .with_some("retry_every", script.retry_every)
}

fn stretches(stretches: &[Stall]) -> Vec<TomlTable> {
    stretches
        .iter()
        .map(|stall| {
            TomlTable::new()
                .with("at", stall.at)
                .with("lasts", stall.lasts)
        })
        .collect()
}
