//! The resolved plan as TOML, with nothing left to a default.

mod block;
mod step;
mod system;

use crate::ids::HostId;
use crate::ids::MediumId;
use crate::resolved::{
    Backup, EmulatedDrive, Medium, MediumKind, PlanHost, ResolvedPlan, Sysbench, Tpcc, Workload,
};
use crate::toml_table::{TomlItem, TomlTable};

/// The plan as TOML that [`super::parse`] reads as an equal plan: scaled already, every default filled in, passwords
/// left out. Shown by `--dry-run`.
pub fn describe(plan: &ResolvedPlan) -> String {
    let ResolvedPlan {
        scale, data_scale, ..
    } = plan;
    let table = table(plan);
    if *scale == 1.0 && *data_scale == 1.0 {
        table.to_string()
    } else {
        format!("# Times are multiplied by {scale} and data by {data_scale} already.\n{table}")
    }
}

/// The plan by the keys that people write.
pub fn table(plan: &ResolvedPlan) -> TomlTable {
    let workloads = plan
        .workloads
        .iter()
        .map(|named| (&named.name, workload(&named.workload)));
    let blocks = plan
        .blocks
        .iter()
        .map(|named| (&named.name, ("block", block::block(&named.block))));
    let backups = plan
        .backups
        .iter()
        .map(|named| (&named.name, ("backup", backup(plan, &named.backup))));
    let workloads = workloads
        .chain(blocks)
        .chain(backups)
        .map(|(name, (kind, table))| (name, TomlTable::new().with_table(kind, table)));
    TomlTable::new()
        .with("title", plan.title.as_str())
        .with_some("seed", plan.seed)
        .with("data_seed", plan.data_seed)
        .with_list("on_hosts", hosts(plan, &plan.on_hosts))
        .with_list("require", requirements(plan, None))
        .with_flag("emulate", plan.emulate)
        .with_flag("abort_on_fail", plan.abort_on_fail)
        .with_table(
            "medium",
            named(plan.media.iter().map(|own| (&own.name, medium(own)))),
        )
        .with_table(
            "host",
            named(plan.hosts.iter().map(|own| (&own.name, host(own)))),
        )
        .with_table(
            "system",
            named(
                plan.systems
                    .iter()
                    .map(|own| (&own.name, system::system(plan, own))),
            ),
        )
        .with_table("workload", named(workloads))
        .with_table("audit", audit(plan))
        .with_tables("step", plan.steps.iter().map(|own| step::step(plan, own)))
}

/// Tables below headings, by name.
fn named<'p>(tables: impl Iterator<Item = (&'p String, TomlTable)>) -> TomlTable {
    tables
        .map(|(name, table)| (name.as_str(), TomlItem::Table(table)))
        .collect()
}

/// Only what the plan changes: what it leaves alone is that of the plimsoll that audits.
fn audit(plan: &ResolvedPlan) -> TomlTable {
    plan.audit
        .adjusted()
        .iter()
        .map(|threshold| (threshold.key, TomlItem::Decimal(threshold.value)))
        .collect()
}

/// Requirements of a step, or of the plan.
fn requirements(plan: &ResolvedPlan, step: Option<&str>) -> Vec<String> {
    plan.requirements
        .iter()
        .filter(|required| required.step.as_deref() == step)
        .map(|required| required.requirement.to_string())
        .collect()
}

fn hosts<'p>(plan: &'p ResolvedPlan, hosts: &[HostId]) -> Vec<&'p str> {
    hosts
        .iter()
        .map(|host| plan.host(*host).name.as_str())
        .collect()
}

fn media<'p>(plan: &'p ResolvedPlan, media: &[MediumId]) -> Vec<&'p str> {
    media
        .iter()
        .map(|medium| plan.medium(*medium).name.as_str())
        .collect()
}

fn medium(medium: &Medium) -> TomlTable {
    let path = medium.path.as_str();
    match &medium.kind {
        MediumKind::Device => TomlTable::new().with("device", path),
        MediumKind::Directory => TomlTable::new().with("path", path),
        MediumKind::Emulated(emulated) => TomlTable::new().with("path", path).and(drive(emulated)),
    }
}

fn drive(drive: &EmulatedDrive) -> TomlTable {
    let table = TomlTable::new()
        .with("drive", drive.drive.as_str())
        .with("capacity", drive.capacity);
    let table = match (drive.auto, drive.slower) {
        (true, _) => table.with("speed", "auto"),
        (false, 1.0) => table.with("speed", "full"),
        (false, slower) => table.with("slower", slower),
    };
    table
        .with("fill", drive.fill)
        .with("form", drive.form.name())
        .with("filesystem", drive.filesystem.name())
        .with("backing", drive.backing.name())
        .with("flush", drive.flush.name())
        .with("without_fuse", drive.without_fuse.name())
}

fn host(host: &PlanHost) -> TomlTable {
    TomlTable::new()
        .with("patience", host.patience)
        .with_text("via", &host.shown_via())
        .with_some("program", host.program.as_deref())
}

/// Kind of a workload, and its table.
fn workload(workload: &Workload) -> (&'static str, TomlTable) {
    match workload {
        Workload::Tpcc(Tpcc {
            warehouses,
            mode,
            home,
        }) => {
            let table = TomlTable::new()
                .with("warehouses", *warehouses)
                .with("mode", mode.name())
                .with("home", home.name());
            ("tpcc", table)
        }
        Workload::Sysbench(sysbench) => ("sysbench", sysbench_table(sysbench)),
    }
}

fn sysbench_table(sysbench: &Sysbench) -> TomlTable {
    let table = TomlTable::new()
        .with("script", sysbench.script.name())
        .with("tables", sysbench.tables)
        .with("rows", sysbench.rows)
        .with("distribution", sysbench.distribution.name());
    if !sysbench.script.has_ranges() {
        return table;
    }
    table
        .with("point_selects", sysbench.point_selects)
        .with("range_size", sysbench.range_size)
}

fn backup(plan: &ResolvedPlan, backup: &Backup) -> TomlTable {
    TomlTable::new()
        .with("data", plan.workload(backup.data).name.as_str())
        .with("method", backup.method.name())
        .with("jobs", backup.jobs)
        .with("restore", backup.restore)
}
