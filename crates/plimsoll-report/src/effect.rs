//! What noisy neighbours did, in words and rows.

use plimsoll_analysis::summary::{
    BackupFigures, EffectLoad, FigureId, Interval, MediumEffect, MediumFigures, NoiseEffect,
    VictimEffect,
};
use plimsoll_plan::resolved::TPCC_TXNS;

use crate::ladder::medium_beside;
use crate::load_summary::with_load;
use crate::message::Messages;
use crate::number::{self, or_none, three, whole};
use crate::table::Table;
use crate::table::Unit::{Plain, Three, Words};

pub(crate) fn heading(m: &Messages, effect: &NoiseEffect) -> String {
    let args = [
        ("step", effect.step.clone()),
        ("system", effect.system.clone()),
    ];
    match medium_beside(&effect.system, effect.medium.as_deref()) {
        Some(medium) => {
            let [step, system] = args;
            let medium = ("medium", medium.to_owned());
            m.text_with("effect-heading-on", &[step, system, medium])
        }
        None => m.text_with("effect-heading", &args),
    }
}

/// Who makes the noise, and on what.
pub(crate) fn notes(m: &Messages, effect: &NoiseEffect) -> Vec<String> {
    let mut notes = Vec::new();
    if !effect.neighbours.is_empty() {
        let args = [("neighbours", effect.neighbours.join(", "))];
        notes.push(m.text_with("effect-neighbours", &args));
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

/// All systems under one load, or one of them.
pub(crate) struct EffectRow<'a> {
    effect: &'a NoiseEffect,
    load: &'a EffectLoad,
    own: &'a VictimEffect,
    is_sum: bool,
    class: &'static str,
}

/// A row for each load, and below it one for each system.
pub(crate) fn rows(effect: &NoiseEffect) -> Vec<EffectRow<'_>> {
    let mut rows = Vec::new();
    for load in &effect.loads {
        rows.push(EffectRow {
            effect,
            load,
            own: &load.all,
            is_sum: true,
            class: "total",
        });
        rows.extend(load.victims.iter().map(|own| EffectRow {
            effect,
            load,
            own,
            is_sum: false,
            class: "",
        }));
        if let Some(last) = rows.last_mut().filter(|row| row.class.is_empty()) {
            last.class = "group";
        }
    }
    rows
}

impl EffectRow<'_> {
    /// Load is shared by so many systems.
    fn systems(&self) -> usize {
        if self.is_sum {
            1
        } else {
            self.load.victims.len().max(1)
        }
    }

    fn offered_per_second(&self) -> Option<f64> {
        Some(self.load.load.offered_per_second? / self.systems() as f64)
    }

    /// What the row's systems are asked for.
    fn asked(&self) -> String {
        match self.offered_per_second() {
            Some(rate) => format!("{}/s", three(rate)),
            None if self.is_sum => self.load.load.users.to_string(),
            None => whole(f64::from(self.load.load.users) / self.systems() as f64),
        }
    }

    fn rate(&self) -> FigureId {
        self.effect.rate()
    }

    /// With noise to without.
    fn ratio(&self, figure: FigureId) -> Option<f64> {
        Some(self.own.ratios.get(figure)?.ratio)
    }

    fn interval(&self, figure: FigureId) -> Option<Interval> {
        self.own.ratios.get(figure)?.interval
    }

    fn medium(&self) -> Option<&MediumEffect> {
        self.load.medium.as_ref().filter(|_| self.is_sum)
    }

    fn backups(&self) -> Option<&BackupFigures> {
        self.load.backups.as_ref().filter(|_| self.is_sum)
    }
}

/// Rates and response times with noise and without.
pub(crate) fn table<'a>() -> Table<'a, EffectRow<'a>> {
    let table = Table::new("effect")
        .prefix("effect-column-")
        .field("step", |r: &EffectRow<'_>| r.effect.step.clone())
        .field("medium", |r| r.effect.medium.clone())
        .field("drive", |r| r.effect.drive.clone())
        .field("mode", |r| r.effect.mode.clone())
        .field("ordinal", |r| r.load.ordinal)
        .field("users", |r| r.load.load.users as usize / r.systems())
        .field("offered_per_second", EffectRow::offered_per_second)
        .field("pairs", |r| r.load.pairs)
        .column("system", Words, |r| r.own.system.clone())
        .key("system");
    let table = with_load(table, |r| r.load.load.is_open(), EffectRow::asked)
        .column("n", Plain, |r| r.load.pairs)
        .field("is_sum", |r| r.is_sum)
        .field("nopm", |r| r.effect.nopm)
        .figure(FigureId::Nopm, |r| r.own.quiet.value(r.rate()))
        .value("quiet")
        .if_any(|r| r.effect.nopm)
        .figure(FigureId::Nopm, |r| r.own.noisy.value(r.rate()))
        .value("noisy")
        .if_any(|r| r.effect.nopm)
        .figure(FigureId::Transactions, |r| r.own.quiet.value(r.rate()))
        .value("quiet")
        .unless_any(|r| r.effect.nopm)
        .key("rate_quiet")
        .figure(FigureId::Transactions, |r| r.own.noisy.value(r.rate()))
        .value("noisy")
        .unless_any(|r| r.effect.nopm)
        .key("rate_noisy")
        .column("ratio", Three, |r| r.ratio(r.rate()))
        .key("rate_ratio")
        .column("interval", Three, |r| r.interval(r.rate()))
        .interval_fields("rate_ratio", |r| r.interval(r.rate()))
        .field("p50_quiet_ms", |r| r.own.quiet.value(FigureId::P50))
        .field("p50_noisy_ms", |r| r.own.noisy.value(FigureId::P50))
        .figure(FigureId::P50, |r| r.ratio(FigureId::P50))
        .ratio()
        .key("p50_ratio")
        .field("p95_quiet_ms", |r| r.own.quiet.value(FigureId::P95))
        .field("p95_noisy_ms", |r| r.own.noisy.value(FigureId::P95))
        .figure(FigureId::P95, |r| r.ratio(FigureId::P95))
        .ratio()
        .key("p95_ratio")
        .figure(FigureId::P99, |r| r.own.quiet.value(FigureId::P99))
        .value("quiet")
        .key("p99_quiet_ms")
        .figure(FigureId::P99, |r| r.own.noisy.value(FigureId::P99))
        .value("noisy")
        .key("p99_noisy_ms")
        .figure(FigureId::P99, |r| r.ratio(FigureId::P99))
        .ratio()
        .key("p99_ratio")
        .interval_fields("p99_ratio", |r| r.interval(FigureId::P99));
    noise_fields(table)
        .field("verdict", |r| r.load.verdict)
        .without_empty_columns()
        .row_class(|r| r.class)
        .spare(&["p50-ratio", "n"])
}

/// What is known of all systems together only.
fn noise_fields<'a>(table: Table<'a, EffectRow<'a>>) -> Table<'a, EffectRow<'a>> {
    table
        .field("medium_iops_quiet", |r| Some(r.medium()?.quiet.iops))
        .field("medium_iops_noisy", |r| Some(r.medium()?.noisy.iops))
        .field("medium_ms_quiet", |r| r.medium()?.quiet.ms)
        .field("medium_ms_noisy", |r| r.medium()?.noisy.ms)
        .field("backups", |r| Some(r.backups()?.complete))
        .field("backup_seconds", |r| {
            r.backups()?.figures.value(FigureId::Seconds)
        })
}

/// For each load, the figures that are not in the table.
pub(crate) fn describe(m: &Messages, effect: &NoiseEffect) -> Vec<String> {
    let mut lines = Vec::new();
    for load in &effect.loads {
        let all = [
            victims(m, effect, load),
            medium(m, effect, load.medium.as_ref()),
            backups(m, load),
            neighbours(m, load),
        ];
        let all: Vec<String> = all.into_iter().flatten().collect();
        let all = all.join(" ");
        if effect.loads.len() > 1 {
            let asked = number::load_or_rate(load.load);
            lines.push(m.text_with("effect-at", &[("load", asked), ("effects", all)]));
        } else if !all.is_empty() {
            lines.push(all);
        }
    }
    lines
}

fn victims(m: &Messages, effect: &NoiseEffect, load: &EffectLoad) -> Option<String> {
    let worst = &load.victims[load.worst?];
    let args = [
        ("mean", three(load.mean_ratio?)),
        ("system", worst.system.clone()),
        ("worst", three(worst.ratios.get(effect.rate())?.ratio)),
    ];
    Some(m.text_with("effect-victims", &args))
}

fn medium(m: &Messages, effect: &NoiseEffect, found: Option<&MediumEffect>) -> Option<String> {
    let found = found?;
    let name = effect.medium.clone().unwrap_or_default();
    let args = [
        ("medium", name),
        ("quiet", three(found.quiet.iops)),
        ("noisy", three(found.noisy.iops)),
        ("quietms", or_none(found.quiet.ms, three)),
        ("noisyms", or_none(found.noisy.ms, three)),
        ("quietmb", moved_mb(found.quiet)),
        ("noisymb", moved_mb(found.noisy)),
    ];
    Some(m.text_with("effect-medium", &args))
}

fn moved_mb(figures: MediumFigures) -> String {
    three(figures.read_mb_per_second + figures.write_mb_per_second)
}

fn backups(m: &Messages, load: &EffectLoad) -> Option<String> {
    let backups = load.backups.as_ref()?;
    let Some(seconds) = backups.figures.get(FigureId::Seconds) else {
        return Some(m.text("effect-no-backup"));
    };
    let args = [
        ("n", seconds.n.to_string()),
        ("mean", three(seconds.value)),
        ("min", three(seconds.min)),
        ("max", three(seconds.max)),
        (
            "rate",
            or_none(backups.figures.value(FigureId::MbPerSecond), three),
        ),
    ];
    Some(m.text_with("effect-backups", &args))
}

fn neighbours(m: &Messages, load: &EffectLoad) -> Option<String> {
    Some(m.text_with(
        "effect-neighbours-rate",
        &[("rate", three(load.neighbours_per_second?))],
    ))
}
