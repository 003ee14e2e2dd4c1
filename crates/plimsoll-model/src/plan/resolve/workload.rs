//! Workloads, and which of their modes the engines allow.

use super::{Names, toml_key, whole};
use crate::plan::Options;
use crate::plan::findings::Findings;
use crate::plan::raw::{RawTpcc, RawWorkload};
use crate::plan::resolved::{Home, Tpcc, TxnMode, Workload};
use crate::plan::value::At;

const MOST_WAREHOUSES: u32 = 100_000;

pub(super) fn resolve(
    name: &str,
    raw: &At<RawWorkload>,
    names: &Names<'_>,
    options: &Options,
    findings: &mut Findings<'_>,
) -> Option<Workload> {
    let help = format!("say what users do: [workload.{}.tpcc]", toml_key(name));
    let tpcc = findings.required(&raw.span(), "tpcc", &raw.get().tpcc, &help)?;
    let RawTpcc { warehouses, mode: _, home } = tpcc.get();
    let help = "say how much data: warehouses = 4 (about 100 MB each)";
    let warehouses = findings.required(&tpcc.span(), "warehouses", warehouses, help);
    let warehouses = warehouses.and_then(|warehouses| size(warehouses, options, findings));
    let mode = mode(name, tpcc, names, findings);
    let home = home.as_ref().map_or(Home::Fixed, |home| *home.get());
    Some(Workload::Tpcc(Tpcc { warehouses: warehouses?, mode: mode?, home }))
}

fn size(warehouses: &At<i64>, options: &Options, findings: &mut Findings<'_>) -> Option<u32> {
    let written = whole(warehouses, "`warehouses`", 1..=MOST_WAREHOUSES, findings)?;
    let scaled = (f64::from(written) * options.data_scale).round().max(1.0);
    if scaled > f64::from(MOST_WAREHOUSES) {
        let message = format!("times {} this is more than {MOST_WAREHOUSES} warehouses", options.data_scale);
        findings.error(warehouses.span(), message, "choose a smaller --data-scale");
        return None;
    }
    Some(scaled as u32)
}

/// As written if every engine has it. If nothing is written, the same mode for all steps, so that they do the same.
fn mode(name: &str, tpcc: &At<RawTpcc>, names: &Names<'_>, findings: &mut Findings<'_>) -> Option<TxnMode> {
    let engines = names.engines(name);
    let lacking = engines.iter().find(|(_, engine)| !engine.has_procedures());
    match (&tpcc.get().mode, lacking) {
        (Some(mode), Some((system, engine))) if *mode.get() == TxnMode::Procedures => {
            let message = format!("the system `{system}` is {}, which has no procedures", engine.name());
            findings.error(mode.span(), message, "mode = \"statements\"");
            None
        }
        (Some(mode), _) => Some(*mode.get()),
        (None, None) => Some(TxnMode::Procedures),
        (None, Some((lacking, _))) => {
            if let Some((other, _)) = engines.iter().find(|(_, engine)| engine.has_procedures()) {
                let message =
                    format!("`{name}` runs as statements on `{other}` too, because `{lacking}` has no procedures");
                findings.warn(
                    tpcc.span(),
                    message,
                    "mode = \"statements\" says so; or give each system its own workload",
                );
            }
            Some(TxnMode::Statements)
        }
    }
}
