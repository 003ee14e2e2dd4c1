//! Workloads, and which of their modes the engines allow.

use super::block;
use super::names::Names;
use crate::Options;
use crate::findings::Findings;
use crate::raw::{PlanTable, RawBackup, RawStep, RawSysbench, RawTpcc, RawWorkload};
use crate::resolved::{Block, Sysbench, Tpcc, TxnMode, Workload};
use crate::toml_text::toml_key;
use crate::value::{At, Whole};

/// A workload by what it loads.
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
    findings: &mut Findings<'_>,
) -> Option<ResolvedWorkload<'r>> {
    let RawWorkload {
        tpcc: with_tpcc,
        sysbench: with_sysbench,
        block: with_block,
        backup: with_backup,
    } = raw.get();
    let spans = raw.get().spans();
    let mut written = ["tpcc", "sysbench", "block", "backup"]
        .iter()
        .zip(spans)
        .filter_map(|(kind, span)| Some((kind, span?)));
    if let Some((first, _)) = written.next()
        && let Some((_, also)) = written.next()
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
        (Some(at), ..) => tpcc(name, at, names, findings)
            .map(Workload::Tpcc)
            .map(ResolvedWorkload::Load),
        (_, Some(at), ..) => sysbench(at, names.options, findings)
            .map(Workload::Sysbench)
            .map(ResolvedWorkload::Load),
        (_, _, Some(at), _) => {
            block::resolve(name, at, names.options, findings).map(ResolvedWorkload::Block)
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
    at: &At<RawTpcc>,
    names: &Names<'_>,
    findings: &mut Findings<'_>,
) -> Option<Tpcc> {
    let help = "state how much data: warehouses = 4 (about 100 MB each)";
    let warehouses = findings
        .required(&at.span(), "warehouses", &at.get().warehouses, help)
        .and_then(|written| size(written, "warehouses", names.options, findings));
    let mode = mode(name, at, names, findings);
    Some(Tpcc {
        warehouses: warehouses?,
        mode: mode?,
        home: at.get().home(),
    })
}

fn sysbench(
    at: &At<RawSysbench>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Sysbench> {
    let raw = at.get();
    let help = "state what a transaction does: script = \"read_write\"";
    let script = findings.required(&at.span(), "script", &raw.script, help);
    let help = "state how much data: rows = 100000 (of each table, about 250 bytes each)";
    let rows = findings
        .required(&at.span(), "rows", &raw.rows, help)
        .and_then(|rows| size(rows, "rows", options, findings));
    let script = script?.value();
    let ranges = match script.has_ranges() {
        true => raw.clone(),
        false => RawSysbench::default(),
    };
    for (key, span) in [
        ("point_selects", raw.point_selects.as_ref().map(At::span)),
        ("range_size", raw.range_size.as_ref().map(At::span)),
    ] {
        if let Some(span) = span
            && !script.has_ranges()
        {
            let message = format!("`{key}` changes nothing for the script {}", script.name());
            findings.warn(
                span,
                message,
                "only read_write and read_only have; remove it",
            );
        }
    }
    Some(Sysbench {
        script,
        tables: raw.tables(),
        rows: rows?,
        distribution: raw.distribution(),
        point_selects: ranges.point_selects(),
        range_size: ranges.range_size(),
    })
}

/// Refuses what a step asks of its workload that sysbench does not have.
pub(super) fn sysbench_lacks(step: &RawStep, names: &Names<'_>, findings: &mut Findings<'_>) {
    let Some(run) = &step.run else { return };
    let workload = names.raw_workload(run.get());
    if workload.is_none_or(|workload| workload.sysbench.is_none()) {
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
    if let Some(think) = &step.keying_and_think
        && step.keying_and_think() > 0.0
    {
        findings.error(
            think.span(),
            format!("`keying_and_think` is not supported for `{}`", run.get()),
            "sysbench's users neither type nor think: remove it, or set a `rate`",
        );
    }
}

/// A number of warehouses or rows, multiplied by the data scale.
fn size<const LEAST: i64, const MOST: i64>(
    at: &At<Whole<LEAST, MOST>>,
    key: &str,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<u32> {
    let scaled = (f64::from(at.value()) * options.data_scale)
        .round()
        .max(1.0);
    if scaled > MOST as f64 {
        let message = format!(
            "times {} this is more than {MOST} {key}",
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
