//! Backups and restores, what noise did, and shared media second by second.

use plimsoll_analysis::summary::{
    BackupMedium, BackupOperation, BackupSummary, Change, Effect, EffectRung, MediumFigures,
    RateCheck, Summary, Timeline, VictimEffect,
};

use super::quoted;

const BACKUP: &str = "step,method,beside_ordinal,beside_users,medium,drive,target,target_drive,system,cycle,kind,point,\
    start_s,seconds,bytes,mb_per_second,outcome,data_reads_per_second,data_writes_per_second,data_read_mb_per_second,\
    data_write_mb_per_second,data_read_ms,data_write_ms,target_reads_per_second,target_writes_per_second,\
    target_read_mb_per_second,target_write_mb_per_second,target_read_ms,target_write_ms,rate,rate_seen_bytes,\
    rate_percent,detail\n";

fn opt(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn name(value: Option<&String>) -> String {
    value.map(|value| quoted(value)).unwrap_or_default()
}

fn push(out: &mut String, cells: &[String]) {
    out.push_str(&cells.join(","));
    out.push('\n');
}

/// One row for each operation.
pub(super) fn backup(summary: &Summary) -> String {
    let mut out = String::from(BACKUP);
    for own in &summary.backups {
        for medium in &own.media {
            medium
                .operations
                .iter()
                .for_each(|operation| push(&mut out, &operation_cells(own, medium, operation)));
        }
    }
    out
}

fn operation_cells(
    own: &BackupSummary,
    medium: &BackupMedium,
    operation: &BackupOperation,
) -> Vec<String> {
    let beside = |of: fn(&plimsoll_analysis::summary::BesideLoad) -> u32| {
        own.beside
            .as_ref()
            .map(of)
            .map_or_else(String::new, |n| n.to_string())
    };
    let mut cells = vec![
        quoted(&own.step),
        quoted(&own.method),
        beside(|load| load.ordinal),
        beside(|load| load.users),
        name(medium.medium.as_ref()),
        name(medium.drive.as_ref()),
        quoted(&medium.target),
        name(medium.target_drive.as_ref()),
        quoted(&operation.system),
        operation.cycle.to_string(),
        operation.kind.name().to_owned(),
        operation
            .point
            .map_or_else(String::new, |point| point.to_string()),
        operation.start_s.to_string(),
        operation.seconds.to_string(),
        operation.bytes.to_string(),
        opt(operation.mb_per_second),
        operation.outcome.name().to_owned(),
    ];
    for io in [operation.data_io, operation.target_io] {
        let of = |of: fn(&MediumFigures) -> Option<f64>| opt(io.as_ref().and_then(of));
        cells.extend([
            of(|io| Some(io.reads_per_second)),
            of(|io| Some(io.writes_per_second)),
            of(|io| Some(io.read_mb_per_second)),
            of(|io| Some(io.write_mb_per_second)),
            of(|io| io.read_ms),
            of(|io| io.write_ms),
        ]);
    }
    cells.extend(match operation.rate {
        RateCheck::Agrees {
            seen_bytes,
            percent,
        } => [
            "agrees".to_owned(),
            seen_bytes.to_string(),
            percent.to_string(),
        ],
        RateCheck::Disagrees {
            seen_bytes,
            percent,
        } => [
            "disagrees".to_owned(),
            seen_bytes.to_string(),
            percent.to_string(),
        ],
        RateCheck::NotEvaluated { .. } => {
            ["not_evaluated".to_owned(), String::new(), String::new()]
        }
    });
    cells.push(quoted(&operation.detail));
    cells
}

const EFFECT: &str = "step,medium,drive,mode,ordinal,users,offered_per_second,pairs,system,is_sum,nopm,rate_quiet,\
    rate_noisy,rate_ratio,rate_ratio_low,rate_ratio_high,p50_quiet_ms,p50_noisy_ms,p50_ratio,p95_quiet_ms,p95_noisy_ms,\
    p95_ratio,p99_quiet_ms,p99_noisy_ms,p99_ratio,p99_ratio_low,p99_ratio_high,medium_iops_quiet,medium_iops_noisy,\
    medium_ms_quiet,medium_ms_noisy,backups,backup_seconds,verdict\n";

/// One row for each load of all systems together, and one for each of them.
pub(super) fn effect(summary: &Summary) -> String {
    let mut out = String::from(EFFECT);
    for own in &summary.effects {
        for rung in &own.rungs {
            push(&mut out, &effect_cells(own, rung, &rung.all, true));
            rung.victims
                .iter()
                .for_each(|victim| push(&mut out, &effect_cells(own, rung, victim, false)));
        }
    }
    out
}

fn effect_cells(own: &Effect, rung: &EffectRung, of: &VictimEffect, is_sum: bool) -> Vec<String> {
    let systems = if is_sum { 1 } else { rung.victims.len().max(1) };
    let mut cells = vec![
        quoted(&own.step),
        name(own.medium.as_ref()),
        name(own.drive.as_ref()),
        quoted(&own.mode),
        rung.ordinal.to_string(),
        (rung.users as usize / systems).to_string(),
        opt(rung.offered_per_second.map(|rate| rate / systems as f64)),
        rung.pairs.to_string(),
        quoted(&of.system),
        is_sum.to_string(),
        own.nopm.to_string(),
    ];
    let ratio = |change: Option<Change>| change.and_then(|change| change.ratio);
    let interval = |change: Option<Change>| ratio(change).and_then(|ratio| ratio.interval);
    for (change, with_interval) in [
        (of.rate, true),
        (of.p50_ms, false),
        (of.p95_ms, false),
        (of.p99_ms, true),
    ] {
        cells.extend([
            opt(change.map(|c| c.quiet)),
            opt(change.map(|c| c.noisy)),
            opt(ratio(change).map(|r| r.ratio)),
        ]);
        if with_interval {
            cells.extend([
                opt(interval(change).map(|i| i.low)),
                opt(interval(change).map(|i| i.high)),
            ]);
        }
    }
    let medium = rung.medium.filter(|_| is_sum);
    let backups = rung.backups.as_ref().filter(|_| is_sum);
    cells.extend([
        opt(medium.map(|medium| medium.quiet.iops)),
        opt(medium.map(|medium| medium.noisy.iops)),
        opt(medium.and_then(|medium| medium.quiet.ms)),
        opt(medium.and_then(|medium| medium.noisy.ms)),
        backups.map_or_else(String::new, |backups| backups.complete.to_string()),
        opt(backups
            .and_then(|backups| backups.seconds)
            .map(|seconds| seconds.mean)),
        rung.verdict.name().to_owned(),
    ]);
    cells
}

const MEDIUM: &str = "at_s,step,data_medium,medium,what,per_second,iops,reads_per_second,writes_per_second,\
    read_mb_per_second,write_mb_per_second,read_ms,write_ms,ms,p99_ms,grown_mb_per_second\n";

/// One row for each second of each medium, of the systems that are measured, of neighbours, and of growing files.
pub(super) fn medium(summary: &Summary) -> String {
    let mut out = String::from(MEDIUM);
    summary
        .timelines
        .iter()
        .for_each(|own| timeline(&mut out, own));
    out
}

fn timeline(out: &mut String, own: &Timeline) {
    let mut row = |at_s: f64, medium: &str, what: &str, cells: [String; 11]| {
        let place = [
            at_s.to_string(),
            quoted(&own.step),
            name(own.medium.as_ref()),
            quoted(medium),
            what.to_owned(),
        ];
        push(out, &place.into_iter().chain(cells).collect::<Vec<_>>());
    };
    let none = || -> [String; 11] { std::array::from_fn(|_| String::new()) };
    for medium in &own.media {
        let what = if medium.target { "target" } else { "data" };
        for second in &medium.seconds {
            let f = &second.figures;
            let [iops, reads, writes, read_mb, write_mb] = [
                f.iops,
                f.reads_per_second,
                f.writes_per_second,
                f.read_mb_per_second,
                f.write_mb_per_second,
            ]
            .map(|value| value.to_string());
            let [read_ms, write_ms, ms] = [f.read_ms, f.write_ms, f.ms].map(opt);
            let empty = String::new;
            let cells = [
                empty(),
                iops,
                reads,
                writes,
                read_mb,
                write_mb,
                read_ms,
                write_ms,
                ms,
                empty(),
                empty(),
            ];
            row(second.at_s, &medium.medium, what, cells);
        }
    }
    for (what, seconds) in [
        ("measured", &own.transactions),
        ("neighbours", &own.neighbours),
    ] {
        for second in seconds {
            let mut cells = none();
            cells[0] = second.per_second.to_string();
            cells[9] = opt(second.p99_ms);
            row(second.at_s, "", what, cells);
        }
    }
    for second in &own.written {
        let mut cells = none();
        cells[10] = second.mb_per_second.to_string();
        row(second.at_s, "", "files", cells);
    }
}
