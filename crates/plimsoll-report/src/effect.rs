//! What noisy neighbours did, in words and rows.

use plimsoll_analysis::summary::{Change, Effect, EffectRung, MediumEffect, Ratio, VictimEffect};
use plimsoll_plan::resolved::TPCC_TXNS;

use crate::backup::range;
use crate::message::Messages;
use crate::number::{or_none, three, whole};
use crate::table::Table;

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
fn load(rung: &EffectRung) -> String {
    rung.offered_per_second.map_or_else(
        || rung.users.to_string(),
        |rate| format!("{}/s", three(rate)),
    )
}

/// What each of equal systems is asked for.
fn load_of_each(rung: &EffectRung) -> String {
    let n = rung.victims.len().max(1);
    match rung.offered_per_second {
        Some(rate) => format!("{}/s", three(rate / n as f64)),
        None => whole(f64::from(rung.users) / n as f64),
    }
}

fn ratio(change: Option<Change>) -> Option<Ratio> {
    change.and_then(|change| change.ratio)
}

/// A row for each load, and below it one for each system.
pub(crate) fn table(effect: &Effect) -> Table {
    let ids = vec![
        "effect-column-system",
        if effect
            .rungs
            .iter()
            .any(|rung| rung.offered_per_second.is_some())
        {
            "effect-column-offered"
        } else {
            "effect-column-users"
        },
        "effect-column-n",
        if effect.nopm {
            "effect-column-nopm-quiet"
        } else {
            "effect-column-rate-quiet"
        },
        if effect.nopm {
            "effect-column-nopm-noisy"
        } else {
            "effect-column-rate-noisy"
        },
        "effect-column-ratio",
        "effect-column-interval",
        "effect-column-p50",
        "effect-column-p95",
        "effect-column-p99-quiet",
        "effect-column-p99-noisy",
        "effect-column-p99",
    ];
    let shown = |value: f64| {
        if effect.nopm {
            whole(value)
        } else {
            three(value)
        }
    };
    let row = |rung: &EffectRung, own: &VictimEffect, load: String| {
        let times = |change: Option<Change>| or_none(ratio(change).map(|ratio| ratio.ratio), three);
        vec![
            own.system.clone(),
            load,
            rung.pairs.to_string(),
            or_none(own.rate.map(|rate| rate.quiet), shown),
            or_none(own.rate.map(|rate| rate.noisy), shown),
            times(own.rate),
            range(ratio(own.rate).and_then(|ratio| ratio.interval)),
            times(own.p50_ms),
            times(own.p95_ms),
            or_none(own.p99_ms.map(|p99| p99.quiet), three),
            or_none(own.p99_ms.map(|p99| p99.noisy), three),
            times(own.p99_ms),
        ]
    };
    let rows = effect.rungs.iter().flat_map(|rung| {
        let each = rung
            .victims
            .iter()
            .map(move |victim| (rung, victim, load_of_each(rung)));
        std::iter::once((rung, &rung.all, load(rung))).chain(each)
    });
    let rows = rows.map(|(rung, own, load)| row(rung, own, load)).collect();
    Table {
        ids,
        words: 1,
        rows,
    }
}

/// For each load, the figures that are not in the table.
pub(crate) fn describe(m: &Messages, effect: &Effect) -> Vec<String> {
    let several = effect.rungs.len() > 1;
    let of_rung = |rung: &EffectRung| {
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
        .rungs
        .iter()
        .map(of_rung)
        .filter(|text| !text.is_empty())
        .collect()
}

fn victims(m: &Messages, rung: &EffectRung) -> Option<String> {
    let worst = &rung.victims[rung.worst?];
    let args = [
        ("mean", three(rung.mean_ratio?)),
        ("system", worst.system.clone()),
        ("worst", three(ratio(worst.rate)?.ratio)),
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

fn backups(m: &Messages, rung: &EffectRung) -> Option<String> {
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

fn neighbours(m: &Messages, rung: &EffectRung) -> Option<String> {
    Some(m.text_with(
        "effect-neighbours-rate",
        &[("rate", three(rung.neighbours_per_second?))],
    ))
}
