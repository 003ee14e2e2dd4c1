//! What noisy neighbours did, in words and rows.

use plimsoll_analysis::summary::{Effect, EffectLoad, MediumEffect, VictimEffect};
use plimsoll_plan::resolved::TPCC_TXNS;

use crate::message::Messages;
use crate::number::{or_none, three, whole};
use crate::table::Table;
use crate::table::Unit::{Plain, Three, Whole, Words};

pub(crate) fn heading(m: &Messages, effect: &Effect) -> String {
    let args = [
        ("step", effect.step.clone()),
        ("system", effect.system.clone()),
    ];
    let named = |medium: &&String| !effect.system.ends_with(&format!("@{medium}"));
    match effect.medium.as_ref().filter(named) {
        Some(medium) => {
            let [step, system] = args;
            m.text_with(
                "effect-heading-on",
                &[step, system, ("medium", medium.clone())],
            )
        }
        None => m.text_with("effect-heading", &args),
    }
}

/// Who makes the noise, and on what.
pub(crate) fn notes(m: &Messages, effect: &Effect) -> Vec<String> {
    let mut notes = Vec::new();
    if !effect.neighbours.is_empty() {
        notes.push(m.text_with(
            "effect-neighbours",
            &[("neighbours", effect.neighbours.join(", "))],
        ));
    }
    if let Some(drive) = &effect.drive {
        notes.push(m.text_with("emulated-drive", &[("drive", drive.clone())]));
    }
    let txn = if effect.nopm {
        TPCC_TXNS[0].to_owned()
    } else {
        m.text("chart-all")
    };
    notes.push(m.text_with("effect-latency", &[("txn", txn)]));
    notes
}

/// Of all systems together.
fn load(rung: &EffectLoad) -> String {
    rung.offered_per_second.map_or_else(
        || rung.users.to_string(),
        |rate| format!("{}/s", three(rate)),
    )
}

/// What each of equal systems is asked for.
fn load_of_each(rung: &EffectLoad) -> String {
    let n = rung.victims.len().max(1);
    match rung.offered_per_second {
        Some(rate) => format!("{}/s", three(rate / n as f64)),
        None => whole(f64::from(rung.users) / n as f64),
    }
}

/// All systems under one load, or one of them.
pub(crate) struct Row<'a> {
    rung: &'a EffectLoad,
    own: &'a VictimEffect,
    load: String,
    class: &'static str,
}

/// A row for each load, and below it one for each system.
pub(crate) fn rows(effect: &Effect) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for rung in &effect.loads {
        rows.push(Row {
            rung,
            own: &rung.all,
            load: load(rung),
            class: "total",
        });
        rows.extend(rung.victims.iter().map(|own| Row {
            rung,
            own,
            load: load_of_each(rung),
            class: "",
        }));
        if let Some(last) = rows.last_mut().filter(|row| row.class.is_empty()) {
            last.class = "group";
        }
    }
    rows
}

pub(crate) fn table(effect: &Effect) -> Table<'_, Row<'_>> {
    let mut rungs = effect.loads.iter();
    let open = rungs.any(|rung| rung.offered_per_second.is_some());
    let table = Table::<Row<'_>>::with_prefix("effect-column-")
        .column("system", Words, |r| r.own.system.clone())
        .column(if open { "offered" } else { "users" }, Plain, |r| {
            r.load.clone()
        })
        .column("n", Plain, |r| r.rung.pairs);
    let table = if effect.nopm {
        table
            .column("nopm-quiet", Whole, |r| r.own.rate.map(|rate| rate.quiet))
            .column("nopm-noisy", Whole, |r| r.own.rate.map(|rate| rate.noisy))
    } else {
        table
            .column("rate-quiet", Three, |r| r.own.rate.map(|rate| rate.quiet))
            .column("rate-noisy", Three, |r| r.own.rate.map(|rate| rate.noisy))
    };
    table
        .column("ratio", Three, |r| Some(r.own.rate?.ratio?.ratio))
        .column("interval", Three, |r| r.own.rate?.ratio?.interval)
        .column("p50", Three, |r| Some(r.own.p50_ms?.ratio?.ratio))
        .column("p95", Three, |r| Some(r.own.p95_ms?.ratio?.ratio))
        .column("p99-quiet", Three, |r| r.own.p99_ms.map(|p99| p99.quiet))
        .column("p99-noisy", Three, |r| r.own.p99_ms.map(|p99| p99.noisy))
        .column("p99", Three, |r| Some(r.own.p99_ms?.ratio?.ratio))
        .without_empty_columns()
        .row_class(|r| r.class)
        .spare(&["p50", "n"])
}

/// For each load, the figures that are not in the table.
pub(crate) fn describe(m: &Messages, effect: &Effect) -> Vec<String> {
    let several = effect.loads.len() > 1;
    let of_rung = |rung: &EffectLoad| {
        let all = [
            victims(m, rung),
            medium(m, effect, rung.medium),
            backups(m, rung),
            neighbours(m, rung),
        ];
        let all: Vec<String> = all.into_iter().flatten().collect();
        let all = all.join(" ");
        if several {
            m.text_with("effect-at", &[("load", load(rung)), ("effects", all)])
        } else {
            all
        }
    };
    effect
        .loads
        .iter()
        .map(of_rung)
        .filter(|text| !text.is_empty())
        .collect()
}

fn victims(m: &Messages, rung: &EffectLoad) -> Option<String> {
    let worst = &rung.victims[rung.worst?];
    let args = [
        ("mean", three(rung.mean_ratio?)),
        ("system", worst.system.clone()),
        ("worst", three(worst.rate?.ratio?.ratio)),
    ];
    Some(m.text_with("effect-victims", &args))
}

fn medium(m: &Messages, effect: &Effect, found: Option<MediumEffect>) -> Option<String> {
    let found = found?;
    let name = effect.medium.clone().unwrap_or_default();
    let ms = |ms: Option<f64>| or_none(ms, three);
    let args = [
        ("medium", name),
        ("quiet", three(found.quiet.iops)),
        ("noisy", three(found.noisy.iops)),
        ("quietms", ms(found.quiet.ms)),
        ("noisyms", ms(found.noisy.ms)),
        (
            "quietmb",
            three(found.quiet.read_mb_per_second + found.quiet.write_mb_per_second),
        ),
        (
            "noisymb",
            three(found.noisy.read_mb_per_second + found.noisy.write_mb_per_second),
        ),
    ];
    Some(m.text_with("effect-medium", &args))
}

fn backups(m: &Messages, rung: &EffectLoad) -> Option<String> {
    let backups = rung.backups.as_ref()?;
    let Some(seconds) = backups.seconds else {
        return Some(m.text("effect-no-backup"));
    };
    let args = [
        ("n", seconds.n.to_string()),
        ("mean", three(seconds.mean)),
        ("min", three(seconds.min)),
        ("max", three(seconds.max)),
        (
            "rate",
            or_none(backups.mb_per_second.map(|rate| rate.mean), three),
        ),
    ];
    Some(m.text_with("effect-backups", &args))
}

fn neighbours(m: &Messages, rung: &EffectLoad) -> Option<String> {
    Some(m.text_with(
        "effect-neighbours-rate",
        &[("rate", three(rung.neighbours_per_second?))],
    ))
}
