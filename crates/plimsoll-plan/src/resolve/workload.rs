//! Workloads, and which of their modes the engines allow.

use super::block;
use super::names::Names;
use super::values::whole;
use crate::Options;
use crate::findings::Findings;
use crate::raw::{RawBackup, RawStep, RawSysbench, RawTpcc, RawWorkload};
use crate::resolved::{Block, Distribution, Home, Sysbench, Tpcc, TxnMode, Workload};
use crate::toml_text::toml_key;
use crate::value::At;

const MOST_WAREHOUSES: u32 = 100_000;
const MOST_TABLES: u32 = 1_000;
/// Ids are integers of four bytes, and ranges and inserts go beyond the rows.
const MOST_ROWS: u32 = 1_000_000_000;
const MOST_POINT_SELECTS: u32 = 1_000;
const LARGEST_RANGE: u32 = 1_000_000;

/// As in sysbench 1.0.20, `oltp_common.lua`.
const DEFAULT_TABLES: u32 = 1;
const DEFAULT_POINT_SELECTS: u32 = 10;
const DEFAULT_RANGE_SIZE: u32 = 100;

/// What a workload loads.
pub(super) enum ResolvedWorkload<'r> {
    /// A system.
    Load(Workload),
    /// A medium itself.
    Block(Block),
    /// Nothing by itself: it saves the data of another workload, which may stand below it.
    Backup(&'r At<RawBackup>),
}

pub(super) fn resolve<'r>(
    name: &str,
    raw: &'r At<RawWorkload>,
    names: &Names<'_>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<ResolvedWorkload<'r>> {
    let RawWorkload {
        tpcc: with_tpcc,
        sysbench: with_sysbench,
        block: with_block,
        backup: with_backup,
    } = raw.get();
    let kinds = [
        ("tpcc", with_tpcc.as_ref().map(At::span)),
        ("sysbench", with_sysbench.as_ref().map(At::span)),
        ("block", with_block.as_ref().map(At::span)),
        ("backup", with_backup.as_ref().map(At::span)),
    ];
    let mut kinds = kinds
        .into_iter()
        .filter_map(|(kind, span)| Some((kind, span?)));
    let first = kinds.next();
    if let Some((first, _)) = first
        && let Some((_, also)) = kinds.next()
    {
        let help = "make two workloads of it, each with a name of its own";
        findings.error(
            also,
            format!("`{name}` is a {first} workload already"),
            help,
        );
        return None;
    }
    match (with_tpcc, with_sysbench, with_block, with_backup) {
        (Some(at), ..) => tpcc(name, at, names, options, findings)
            .map(Workload::Tpcc)
            .map(ResolvedWorkload::Load),
        (_, Some(at), ..) => sysbench(at, options, findings)
            .map(Workload::Sysbench)
            .map(ResolvedWorkload::Load),
        (_, _, Some(at), _) => {
            block::resolve(name, at, options, findings).map(ResolvedWorkload::Block)
        }
        (.., Some(at)) => Some(ResolvedWorkload::Backup(at)),
        (None, None, None, None) => {
            if !findings.is_incomplete(&raw.span()) {
                let key = toml_key(name);
                let help = format!(
                    "state what users do: [workload.{key}.tpcc] or [workload.{key}.sysbench]; or what fio does: \
                     [workload.{key}.block]; or what is saved: [workload.{key}.backup]"
                );
                findings.error(
                    raw.span(),
                    format!("the workload `{name}` is of no kind"),
                    help,
                );
            }
            None
        }
    }
}

fn tpcc(
    name: &str,
    tpcc: &At<RawTpcc>,
    names: &Names<'_>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Tpcc> {
    let RawTpcc {
        warehouses,
        mode: _,
        home,
    } = tpcc.get();
    let help = "state how much data: warehouses = 4 (about 100 MB each)";
    let warehouses = findings.required(&tpcc.span(), "warehouses", warehouses, help);
    let warehouses =
        warehouses.and_then(|at| size(at, "warehouses", MOST_WAREHOUSES, options, findings));
    let mode = mode(name, tpcc, names, findings);
    let home = home.as_ref().map_or(Home::Fixed, |home| *home.get());
    Some(Tpcc {
        warehouses: warehouses?,
        mode: mode?,
        home,
    })
}

fn sysbench(
    at: &At<RawSysbench>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Sysbench> {
    let RawSysbench {
        script,
        tables,
        rows,
        distribution,
        point_selects,
        range_size,
    } = at.get();
    let help = "state what a transaction does: script = \"read_write\"";
    let script = findings
        .required(&at.span(), "script", script, help)
        .map(|script| *script.get());
    let help = "state how much data: rows = 100000 (of each table, about 250 bytes each)";
    let rows = findings.required(&at.span(), "rows", rows, help);
    let rows = rows.and_then(|at| size(at, "rows", MOST_ROWS, options, findings));
    for (key, value) in [("point_selects", point_selects), ("range_size", range_size)] {
        if let Some(value) = value
            && let Some(script) = script.filter(|script| !script.has_ranges())
        {
            let message = format!("`{key}` changes nothing for the script {}", script.name());
            findings.warn(
                value.span(),
                message,
                "only read_write and read_only have; remove it",
            );
        }
    }
    let mut number = |value: &Option<At<i64>>, key: &str, default, bounds| match value {
        None => Some(default),
        Some(value) => whole(value, &format!("`{key}`"), bounds, findings),
    };
    let tables = number(tables, "tables", DEFAULT_TABLES, 1..=MOST_TABLES);
    let point_selects = number(
        point_selects,
        "point_selects",
        DEFAULT_POINT_SELECTS,
        0..=MOST_POINT_SELECTS,
    );
    let range_size = number(
        range_size,
        "range_size",
        DEFAULT_RANGE_SIZE,
        1..=LARGEST_RANGE,
    );
    let script = script?;
    let ranged = |value: Option<u32>, default| {
        value.map(|value| if script.has_ranges() { value } else { default })
    };
    Some(Sysbench {
        script,
        tables: tables?,
        rows: rows?,
        distribution: distribution
            .as_ref()
            .map_or(Distribution::Special, |distribution| *distribution.get()),
        point_selects: ranged(point_selects, DEFAULT_POINT_SELECTS)?,
        range_size: ranged(range_size, DEFAULT_RANGE_SIZE)?,
    })
}

/// What a step asks of its workload that sysbench does not have.
pub(super) fn sysbench_lacks(step: &RawStep, names: &Names<'_>, findings: &mut Findings<'_>) {
    let Some(run) = &step.run else { return };
    let Some((_, workload)) = names
        .raw
        .workload
        .iter()
        .find(|(name, _)| name.get() == run.get())
    else {
        return;
    };
    if workload.get().sysbench.is_none() {
        return;
    }
    if let Some(cut) = &step.power_cut {
        let message = format!(
            "which transactions of `{}` survive a power cut cannot be determined",
            run.get()
        );
        findings.error(
            cut.span(),
            message,
            "sysbench's tables keep no trace of them: use a tpcc workload, or remove it",
        );
    }
    if let Some(think) = step
        .keying_and_think
        .as_ref()
        .filter(|think| *think.get() > 0.0)
    {
        let message = format!("`keying_and_think` has no meaning for `{}`", run.get());
        findings.error(
            think.span(),
            message,
            "sysbench's users neither type nor think: remove it, or set a `rate`",
        );
    }
}

/// Multiplied by the data scale.
fn size(
    at: &At<i64>,
    key: &str,
    most: u32,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<u32> {
    let written = whole(at, &format!("`{key}`"), 1..=most, findings)?;
    let scaled = (f64::from(written) * options.data_scale).round().max(1.0);
    if scaled > f64::from(most) {
        let message = format!(
            "times {} this is more than {most} {key}",
            options.data_scale
        );
        findings.error(at.span(), message, "choose a smaller --data-scale");
        return None;
    }
    Some(scaled as u32)
}

/// As written if every engine has it. If nothing is written, the same mode for all steps, so that they do the same.
fn mode(
    name: &str,
    tpcc: &At<RawTpcc>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<TxnMode> {
    let engines = names.engines(name);
    let lacking = engines.iter().find(|(_, engine)| !engine.has_procedures());
    match (&tpcc.get().mode, lacking) {
        (Some(mode), Some((system, engine))) if *mode.get() == TxnMode::Procedures => {
            let message = format!(
                "the system `{system}` is {}, which has no procedures",
                engine.name()
            );
            findings.error(mode.span(), message, "mode = \"statements\"");
            None
        }
        (Some(mode), _) => Some(*mode.get()),
        (None, None) => Some(TxnMode::Procedures),
        (None, Some((lacking, _))) => {
            if let Some((other, _)) = engines.iter().find(|(_, engine)| engine.has_procedures()) {
                let message = format!(
                    "`{name}` runs as statements on `{other}` too, because `{lacking}` has no procedures"
                );
                findings.warn(
                    tpcc.span(),
                    message,
                    "set mode = \"statements\", or give each system its own workload",
                );
            }
            Some(TxnMode::Statements)
        }
    }
}
