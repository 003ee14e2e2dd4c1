//! Backups and restores in words and rows.

use plimsoll_analysis::summary::{
    BackupFigures, BackupMedium, BackupOperation, BackupSummary, BesideLoad, Interval,
    MediumFigures, MediumSource, RateCheck, RateNotChecked, Ratio, Sampled,
};
use plimsoll_record::BackupOutcome;

use crate::compare;
use crate::message::Messages;
use crate::number::{NONE, or_none, percent, three};
use crate::table::Table;

pub(crate) fn heading(m: &Messages, backups: &BackupSummary) -> String {
    let method = m.text(if backups.method == "logical" {
        "backup-logical"
    } else {
        "backup-physical"
    });
    let mut with = vec![method];
    with.extend(backups.programs.iter().cloned());
    let args = [("step", backups.step.clone()), ("method", with.join(", "))];
    match backups.beside {
        None => m.text_with("backup-heading", &args),
        Some(BesideLoad {
            users,
            offered_per_second,
            ..
        }) => {
            let [step, method] = args;
            let load = match offered_per_second {
                Some(rate) => m.text_with("load-open", &[("rate", three(rate))]),
                None if users == 1 => m.text("load-one"),
                None => m.text_with("load-closed", &[("users", users.to_string())]),
            };
            m.text_with("backup-heading-beside", &[step, method, ("load", load)])
        }
    }
}

/// The emulated drives among data and targets, each once.
pub(crate) fn drives(m: &Messages, backups: &BackupSummary) -> Vec<String> {
    let mut all: Vec<String> = backups
        .media
        .iter()
        .flat_map(|medium| [&medium.drive, &medium.target_drive])
        .flatten()
        .cloned()
        .collect();
    all.sort();
    all.dedup();
    all.into_iter()
        .map(|drive| m.text_with("emulated-drive", &[("drive", drive)]))
        .collect()
}

fn name(m: &Messages, medium: &BackupMedium) -> String {
    let own = medium.medium.clone().unwrap_or_else(|| NONE.to_owned());
    compare::medium(m, &own, medium.drive.is_some())
}

fn target(m: &Messages, medium: &BackupMedium) -> String {
    compare::medium(m, &medium.target, medium.target_drive.is_some())
}

pub(crate) fn range(interval: Option<Interval>) -> String {
    or_none_text(
        interval.map(|interval| format!("{} to {}", three(interval.low), three(interval.high))),
    )
}

fn or_none_text(text: Option<String>) -> String {
    text.unwrap_or_else(|| NONE.to_owned())
}

/// Of each kind on each medium: how long it took, how much it moved, and how that compares.
pub(crate) fn times(m: &Messages, backups: &BackupSummary) -> Table {
    let ids = vec![
        "backup-column-data",
        "backup-column-target",
        "backup-column-what",
        "backup-column-n",
        "backup-column-seconds",
        "backup-column-interval",
        "backup-column-spread",
        "backup-column-ratio",
        "backup-column-ratio-interval",
        "backup-column-rate",
        "backup-column-gb",
        "backup-column-failed",
    ];
    let row = |medium: &BackupMedium, own: &BackupFigures| {
        let seconds = |of: fn(&Sampled) -> String| or_none_text(own.seconds.as_ref().map(of));
        let lost = own.failed + own.cancelled + own.differs;
        let ratio = |ratio: Option<Ratio>| or_none(ratio.map(|ratio| ratio.ratio), three);
        vec![
            name(m, medium),
            target(m, medium),
            m.text(&format!("backup-kind-{}", own.kind.name())),
            own.complete.to_string(),
            seconds(|s| three(s.mean)),
            range(own.seconds.and_then(|seconds| seconds.interval)),
            seconds(|s| format!("{} to {}", three(s.min), three(s.max))),
            ratio(own.seconds_ratio),
            range(own.seconds_ratio.and_then(|ratio| ratio.interval)),
            or_none(own.mb_per_second.map(|rate| rate.mean), three),
            if own.bytes > 0 {
                three(own.bytes as f64 / 1e9)
            } else {
                NONE.to_owned()
            },
            lost.to_string(),
        ]
    };
    let media = backups
        .media
        .iter()
        .flat_map(|medium| medium.kinds.iter().map(move |own| (medium, own)));
    Table {
        ids,
        words: 3,
        rows: media.map(|(medium, own)| row(medium, own)).collect(),
    }
}

/// What the media did while each kind ran.
pub(crate) fn io(m: &Messages, backups: &BackupSummary) -> Table {
    let ids = vec![
        "backup-column-data",
        "backup-column-what",
        "backup-column-on",
        "backup-column-source",
        "backup-column-reads",
        "backup-column-writes",
        "backup-column-read-mb",
        "backup-column-write-mb",
        "backup-column-read-ms",
        "backup-column-write-ms",
        "backup-column-ms",
    ];
    let mut rows = Vec::new();
    for medium in &backups.media {
        for own in &medium.kinds {
            let what = m.text(&format!("backup-kind-{}", own.kind.name()));
            let mut sides = vec![(name(m, medium), &medium.source, own.data_io)];
            // Data and backup on one medium are asked for together.
            if medium.medium.as_ref() != Some(&medium.target) {
                sides.push((target(m, medium), &medium.target_source, own.target_io));
            }
            for (on, source, io) in sides {
                let mut row = vec![
                    name(m, medium),
                    what.clone(),
                    on,
                    source_name(m, source.as_ref()),
                ];
                row.extend(io_cells(io));
                rows.push(row);
            }
        }
    }
    Table {
        ids,
        words: 4,
        rows,
    }
}

pub(crate) fn source_name(m: &Messages, source: Option<&MediumSource>) -> String {
    match source {
        Some(MediumSource::Device(name)) => name.clone(),
        Some(MediumSource::Emulator) => m.text("medium-source-emulator"),
        None => NONE.to_owned(),
    }
}

fn io_cells(io: Option<MediumFigures>) -> [String; 7] {
    let of = |of: fn(&MediumFigures) -> Option<f64>| or_none(io.as_ref().and_then(of), three);
    [
        of(|io| Some(io.reads_per_second)),
        of(|io| Some(io.writes_per_second)),
        of(|io| Some(io.read_mb_per_second)),
        of(|io| Some(io.write_mb_per_second)),
        of(|io| io.read_ms),
        of(|io| io.write_ms),
        of(|io| io.ms),
    ]
}

/// Every operation.
pub(crate) fn operations(m: &Messages, backups: &BackupSummary) -> Table {
    let ids = vec![
        "backup-column-system",
        "backup-column-what",
        "backup-column-outcome",
        "backup-column-cycle",
        "backup-column-at",
        "backup-column-seconds",
        "backup-column-mb",
        "backup-column-rate",
        "backup-column-data-ms",
        "backup-column-target-ms",
        "backup-column-check",
    ];
    let row = |own: &BackupOperation| {
        let ms = |io: Option<MediumFigures>| or_none(io.and_then(|io| io.ms), three);
        vec![
            own.system.clone(),
            m.text(&format!("backup-kind-{}", own.kind.name())),
            m.text(&format!("backup-outcome-{}", own.outcome.name())),
            (own.cycle + 1).to_string(),
            format!("{:.1}", own.start_s),
            three(own.seconds),
            three(own.bytes as f64 / 1e6),
            or_none(own.mb_per_second, three),
            ms(own.data_io),
            ms(own.target_io),
            rate(m, own),
        ]
    };
    let all = backups.media.iter().flat_map(|medium| &medium.operations);
    Table {
        ids,
        words: 3,
        rows: all.map(row).collect(),
    }
}

/// Rule RATE: the difference, or why it is not evaluated.
fn rate(m: &Messages, own: &BackupOperation) -> String {
    let off = |percent: f64| {
        if percent.abs() < 0.05 {
            "0.0".to_owned()
        } else {
            self::percent(percent)
        }
    };
    match own.rate {
        RateCheck::Agrees { percent, .. } => {
            m.text_with("backup-rate-agrees", &[("percent", off(percent))])
        }
        RateCheck::Disagrees { percent, .. } => {
            m.text_with("backup-rate-disagrees", &[("percent", off(percent))])
        }
        RateCheck::NotEvaluated {
            why: RateNotChecked::Restore,
        } => m.text("backup-rate-restore"),
        RateCheck::NotEvaluated {
            why: RateNotChecked::NotComplete,
        } => NONE.to_owned(),
        RateCheck::NotEvaluated {
            why: RateNotChecked::NotSampled,
        } => m.text("backup-rate-not-seen"),
    }
}

/// What was done, in the words of who did it: of failures and of restores, whose data were compared.
pub(crate) fn details(m: &Messages, backups: &BackupSummary) -> Vec<String> {
    let describe = |own: &&BackupOperation| !own.detail.is_empty();
    let line = |own: &BackupOperation| {
        let args = [
            ("system", own.system.clone()),
            ("what", m.text(&format!("backup-kind-{}", own.kind.name()))),
            ("cycle", (own.cycle + 1).to_string()),
            ("detail", own.detail.clone()),
        ];
        m.text_with("backup-detail", &args)
    };
    backups
        .media
        .iter()
        .flat_map(|medium| &medium.operations)
        .filter(describe)
        .map(line)
        .collect()
}

/// What becomes of an operation, as a verdict on it.
pub(crate) fn verdict(outcome: BackupOutcome) -> &'static str {
    match outcome {
        BackupOutcome::Complete => "sound",
        BackupOutcome::Cancelled => "doubtful",
        BackupOutcome::Failed | BackupOutcome::Differs => "invalid",
    }
}
