//! Backups and restores, what noise did, and shared media second by second.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{
    BackupMedium, BackupOperation, BackupSummary, Change, Effect, EffectLoad, MediumFigures,
    RateCheck, Timeline, VictimEffect,
};

use crate::table::Table;

struct Operation<'a> {
    step: &'a BackupSummary,
    medium: &'a BackupMedium,
    own: &'a BackupOperation,
}

/// One row for each operation.
pub(super) fn backup(summary: &Summary) -> String {
    let media = summary
        .backups
        .iter()
        .flat_map(|step| step.media.iter().map(move |medium| (step, medium)));
    let rows = media.flat_map(|(step, medium)| {
        let operations = medium.operations.iter();
        operations.map(move |own| Operation { step, medium, own })
    });
    let table = Table::new()
        .field("step", |r: &Operation<'_>| r.step.step.clone())
        .field("method", |r| r.step.method.clone())
        .field("beside_ordinal", |r| {
            r.step.beside.as_ref().map(|load| load.ordinal)
        })
        .field("beside_users", |r| {
            r.step.beside.as_ref().map(|load| load.users)
        })
        .field("medium", |r| r.medium.medium.clone())
        .field("drive", |r| r.medium.drive.clone())
        .field("target", |r| r.medium.target.clone())
        .field("target_drive", |r| r.medium.target_drive.clone())
        .field("system", |r| r.own.system.clone())
        .field("cycle", |r| r.own.cycle)
        .field("kind", |r| r.own.kind.name())
        .field("point", |r| r.own.point.map(|point| point.to_string()))
        .field("start_s", |r| r.own.start_s)
        .field("seconds", |r| r.own.seconds)
        .field("bytes", |r| r.own.bytes)
        .field("mb_per_second", |r| r.own.mb_per_second)
        .field("outcome", |r| r.own.outcome.name());
    let table = medium_fields(table, "data_", |r| r.own.data_io);
    medium_fields(table, "target_", |r| r.own.target_io)
        .field("rate", |r| match r.own.rate {
            RateCheck::Agrees { .. } => "agrees",
            RateCheck::Disagrees { .. } => "disagrees",
            RateCheck::NotEvaluated { .. } => "not_evaluated",
        })
        .field("rate_observed_bytes", |r| match r.own.rate {
            RateCheck::Agrees { observed_bytes, .. }
            | RateCheck::Disagrees { observed_bytes, .. } => Some(observed_bytes),
            RateCheck::NotEvaluated { .. } => None,
        })
        .field("rate_percent", |r| match r.own.rate {
            RateCheck::Agrees { percent, .. } | RateCheck::Disagrees { percent, .. } => {
                Some(percent)
            }
            RateCheck::NotEvaluated { .. } => None,
        })
        .field("detail", |r| r.own.detail.clone())
        .to_csv(rows)
}

fn medium_fields<'a, R>(
    table: Table<'a, R>,
    side: &str,
    of: impl Fn(&R) -> Option<MediumFigures> + Copy + 'a,
) -> Table<'a, R> {
    table
        .field(format!("{side}reads_per_second"), move |r| {
            of(r).map(|io| io.reads_per_second)
        })
        .field(format!("{side}writes_per_second"), move |r| {
            of(r).map(|io| io.writes_per_second)
        })
        .field(format!("{side}read_mb_per_second"), move |r| {
            of(r).map(|io| io.read_mb_per_second)
        })
        .field(format!("{side}write_mb_per_second"), move |r| {
            of(r).map(|io| io.write_mb_per_second)
        })
        .field(format!("{side}read_ms"), move |r| {
            of(r).and_then(|io| io.read_ms)
        })
        .field(format!("{side}write_ms"), move |r| {
            of(r).and_then(|io| io.write_ms)
        })
}

struct EffectRow<'a> {
    effect: &'a Effect,
    rung: &'a EffectLoad,
    own: &'a VictimEffect,
    is_sum: bool,
}

impl EffectRow<'_> {
    /// Load is shared by so many systems.
    fn systems(&self) -> usize {
        if self.is_sum {
            1
        } else {
            self.rung.victims.len().max(1)
        }
    }
}

/// One row for each load of all systems together, and one for each of them.
pub(super) fn effect(summary: &Summary) -> String {
    let mut rows = Vec::new();
    for effect in &summary.effects {
        for rung in &effect.loads {
            let row_of = |own, is_sum| EffectRow {
                effect,
                rung,
                own,
                is_sum,
            };
            rows.push(row_of(&rung.all, true));
            rows.extend(rung.victims.iter().map(|victim| row_of(victim, false)));
        }
    }
    let table = Table::new()
        .field("step", |r: &EffectRow<'_>| r.effect.step.clone())
        .field("medium", |r| r.effect.medium.clone())
        .field("drive", |r| r.effect.drive.clone())
        .field("mode", |r| r.effect.mode.clone())
        .field("ordinal", |r| r.rung.ordinal)
        .field("users", |r| r.rung.users as usize / r.systems())
        .field("offered_per_second", |r| {
            let all = r.rung.offered_per_second;
            all.map(|rate| rate / r.systems() as f64)
        })
        .field("pairs", |r| r.rung.pairs)
        .field("system", |r| r.own.system.clone())
        .field("is_sum", |r| r.is_sum)
        .field("nopm", |r| r.effect.nopm)
        .field("rate_quiet", |r| r.own.rate.map(|rate| rate.quiet))
        .field("rate_noisy", |r| r.own.rate.map(|rate| rate.noisy));
    let table = ratio_fields(table, "rate", |r| r.own.rate)
        .interval_fields("rate_ratio", |r| r.own.rate?.ratio?.interval);
    let table = time_fields(table, "p50", |r| r.own.p50_ms);
    let table = time_fields(table, "p95", |r| r.own.p95_ms);
    let table = time_fields(table, "p99", |r| r.own.p99_ms)
        .interval_fields("p99_ratio", |r| r.own.p99_ms?.ratio?.interval);
    noise_fields(table)
        .field("verdict", |r| r.rung.verdict)
        .to_csv(rows)
}

fn ratio_fields<'a>(
    table: Table<'a, EffectRow<'a>>,
    name: &str,
    of: impl Fn(&EffectRow<'_>) -> Option<Change> + 'a,
) -> Table<'a, EffectRow<'a>> {
    table.field(format!("{name}_ratio"), move |r| {
        of(r).and_then(|change| Some(change.ratio?.ratio))
    })
}

fn time_fields<'a>(
    table: Table<'a, EffectRow<'a>>,
    name: &str,
    of: impl Fn(&EffectRow<'_>) -> Option<Change> + Copy + 'a,
) -> Table<'a, EffectRow<'a>> {
    let table = table
        .field(format!("{name}_quiet_ms"), move |r| of(r).map(|c| c.quiet))
        .field(format!("{name}_noisy_ms"), move |r| of(r).map(|c| c.noisy));
    ratio_fields(table, name, of)
}

/// What is known of all systems together only.
fn noise_fields<'a>(table: Table<'a, EffectRow<'a>>) -> Table<'a, EffectRow<'a>> {
    let medium = |r: &EffectRow<'_>| r.rung.medium.filter(|_| r.is_sum);
    table
        .field("medium_iops_quiet", move |r| {
            medium(r).map(|medium| medium.quiet.iops)
        })
        .field("medium_iops_noisy", move |r| {
            medium(r).map(|medium| medium.noisy.iops)
        })
        .field("medium_ms_quiet", move |r| {
            medium(r).and_then(|medium| medium.quiet.ms)
        })
        .field("medium_ms_noisy", move |r| {
            medium(r).and_then(|medium| medium.noisy.ms)
        })
        .field("backups", |r| {
            let backups = r.rung.backups.as_ref().filter(|_| r.is_sum);
            backups.map(|backups| backups.complete)
        })
        .field("backup_seconds", |r| {
            let backups = r.rung.backups.as_ref().filter(|_| r.is_sum);
            backups.and_then(|backups| Some(backups.seconds?.mean))
        })
}

/// A second of a medium, of systems together, or of growing files.
struct Second<'a> {
    timeline: &'a Timeline,
    at_s: f64,
    medium: &'a str,
    what: &'static str,
    per_second: Option<f64>,
    figures: Option<MediumFigures>,
    p99_ms: Option<f64>,
    grown_mb_per_second: Option<f64>,
}

/// One row for each second of each medium, of the systems that are measured, of neighbours, and of growing files.
pub(super) fn medium(summary: &Summary) -> String {
    let table = Table::new()
        .field("at_s", |r: &Second<'_>| r.at_s)
        .field("step", |r| r.timeline.step.clone())
        .field("data_medium", |r| r.timeline.medium.clone())
        .field("medium", |r| r.medium)
        .field("what", |r| r.what)
        .field("per_second", |r| r.per_second)
        .field("iops", |r| r.figures.map(|io| io.iops));
    medium_fields(table, "", |r| r.figures)
        .field("ms", |r| r.figures.and_then(|io| io.ms))
        .field("p99_ms", |r| r.p99_ms)
        .field("grown_mb_per_second", |r| r.grown_mb_per_second)
        .to_csv(summary.timelines.iter().flat_map(seconds))
}

fn seconds(timeline: &Timeline) -> Vec<Second<'_>> {
    let empty = |at_s, what| Second {
        timeline,
        at_s,
        medium: "",
        what,
        per_second: None,
        figures: None,
        p99_ms: None,
        grown_mb_per_second: None,
    };
    let mut all = Vec::new();
    for medium in &timeline.media {
        let what = if medium.target { "target" } else { "data" };
        all.extend(medium.seconds.iter().map(|second| Second {
            medium: &medium.medium,
            figures: Some(second.figures),
            ..empty(second.at_s, what)
        }));
    }
    for (what, seconds) in [
        ("measured", &timeline.transactions),
        ("neighbours", &timeline.neighbours),
    ] {
        all.extend(seconds.iter().map(|second| Second {
            per_second: Some(second.per_second),
            p99_ms: second.p99_ms,
            ..empty(second.at_s, what)
        }));
    }
    all.extend(timeline.written.iter().map(|second| Second {
        grown_mb_per_second: Some(second.mb_per_second),
        ..empty(second.at_s, "files")
    }));
    all
}
