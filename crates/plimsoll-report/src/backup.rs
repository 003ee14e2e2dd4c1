//! Backups and restores in words and rows.

use plimsoll_analysis::summary::{
    BackupFigures, BackupMedium, BackupOperation, BackupSummary, BesideLoad, MediumFigures,
    MediumSource, RateCheck, RateNotChecked,
};
use plimsoll_record::{BackupKind, BackupOutcome};

use crate::compare;
use crate::message::Messages;
use crate::number::{NONE, percent, three};
use crate::table::Unit::{Decimals, Plain, Three, Words};
use crate::table::{Cell, Table, Value};

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

/// Operations of one kind on one medium.
pub(crate) struct KindRow<'a> {
    medium: &'a BackupMedium,
    own: &'a BackupFigures,
}

pub(crate) fn kinds(backups: &BackupSummary) -> Vec<KindRow<'_>> {
    let mut rows = Vec::new();
    for medium in &backups.media {
        rows.extend(medium.kinds.iter().map(|own| KindRow { medium, own }));
    }
    rows
}

/// Of each kind on each medium: how long it took, how much it moved, and how that compares.
pub(crate) fn times(m: &Messages) -> Table<'_, KindRow<'_>> {
    Table::<KindRow<'_>>::with_prefix("backup-column-")
        .column("data", Words, |r| name(m, r.medium))
        .column("target", Words, |r| target(m, r.medium))
        .column("what", Words, |r| kind(r.own.kind))
        .column("n", Plain, |r| r.own.complete)
        .column("seconds", Three, |r| r.own.seconds.map(|s| s.mean))
        .column("interval", Three, |r| r.own.seconds?.interval)
        .column("spread", Three, |r| {
            r.own.seconds.map(|s| Value::Range(s.min, s.max))
        })
        .column("ratio", Three, |r| r.own.seconds_ratio.map(|own| own.ratio))
        .column("ratio-interval", Three, |r| r.own.seconds_ratio?.interval)
        .column("rate", Three, |r| r.own.mb_per_second.map(|rate| rate.mean))
        .column("gb", Three, |r| {
            (r.own.bytes > 0).then_some(r.own.bytes as f64 / 1e9)
        })
        .column("failed", Plain, |r| {
            r.own.failed + r.own.cancelled + r.own.differs
        })
        .without_empty_columns()
        .spare(&["spread", "target", "source"])
}

fn kind(kind: BackupKind) -> Cell {
    Cell::word("backup-kind-", kind.name())
}

/// A medium while operations of one kind ran.
pub(crate) struct MediumRow<'a> {
    data: String,
    kind: BackupKind,
    on: String,
    source: Option<&'a MediumSource>,
    io: Option<MediumFigures>,
}

pub(crate) fn media<'a>(m: &Messages, backups: &'a BackupSummary) -> Vec<MediumRow<'a>> {
    let mut rows = Vec::new();
    for KindRow { medium, own } in kinds(backups) {
        let row = |on, source: &'a Option<MediumSource>, io| MediumRow {
            data: name(m, medium),
            kind: own.kind,
            on,
            source: source.as_ref(),
            io,
        };
        rows.push(row(name(m, medium), &medium.source, own.data_io));
        // Data and backup on one medium are asked for together.
        if medium.medium.as_ref() != Some(&medium.target) {
            rows.push(row(target(m, medium), &medium.target_source, own.target_io));
        }
    }
    rows
}

/// What the media did while each kind ran.
pub(crate) fn io(m: &Messages) -> Table<'_, MediumRow<'_>> {
    Table::<MediumRow<'_>>::with_prefix("backup-column-")
        .column("data", Words, |r| r.data.clone())
        .column("what", Words, |r| kind(r.kind))
        .column("on", Words, |r| r.on.clone())
        .column("source", Words, |r| source_name(m, r.source))
        .column("reads", Three, |r| r.io.map(|io| io.reads_per_second))
        .column("writes", Three, |r| r.io.map(|io| io.writes_per_second))
        .column("read-mb", Three, |r| r.io.map(|io| io.read_mb_per_second))
        .column("write-mb", Three, |r| r.io.map(|io| io.write_mb_per_second))
        .column("read-ms", Three, |r| r.io?.read_ms)
        .column("write-ms", Three, |r| r.io?.write_ms)
        .column("ms", Three, |r| r.io?.ms)
        .without_empty_columns()
        .spare(&["spread", "target", "source"])
}

pub(crate) fn source_name(m: &Messages, source: Option<&MediumSource>) -> String {
    match source {
        Some(MediumSource::Device(name)) => name.clone(),
        Some(MediumSource::Emulator) => m.text("medium-source-emulator"),
        None => NONE.to_owned(),
    }
}

pub(crate) fn all_operations(backups: &BackupSummary) -> Vec<&BackupOperation> {
    let media = backups.media.iter();
    media.flat_map(|medium| &medium.operations).collect()
}

/// Every operation.
pub(crate) fn operations(m: &Messages) -> Table<'_, &BackupOperation> {
    Table::<&BackupOperation>::with_prefix("backup-column-")
        .column("system", Words, |own| own.system.clone())
        .column("what", Words, |own| kind(own.kind))
        .column("outcome", Words, |own| {
            let word = Cell::word("backup-outcome-", own.outcome.name());
            word.styled(verdict(own.outcome))
        })
        .column("cycle", Plain, |own| own.cycle + 1)
        .column("at", Decimals(1), |own| own.start_s)
        .column("seconds", Three, |own| own.seconds)
        .column("mb", Three, |own| own.bytes as f64 / 1e6)
        .column("rate", Three, |own| own.mb_per_second)
        .column("data-ms", Three, |own| own.data_io?.ms)
        .column("target-ms", Three, |own| own.target_io?.ms)
        .column("check", Plain, |own| rate(m, own))
        .without_empty_columns()
        .spare(&["target-ms", "at"])
}

/// Rule RATE: the difference, or why it is not evaluated.
fn rate(m: &Messages, own: &BackupOperation) -> Cell {
    let (id, off) = match own.rate {
        RateCheck::Agrees { percent, .. } => ("backup-rate-agrees", percent),
        RateCheck::Disagrees { percent, .. } => ("backup-rate-disagrees", percent),
        RateCheck::NotEvaluated { why } => {
            return match why {
                RateNotChecked::Restore => Cell::missing("backup-rate-restore"),
                RateNotChecked::NotComplete => Cell::MISSING,
                RateNotChecked::NotSampled => Cell::missing("backup-rate-not-sampled"),
            };
        }
    };
    let off = if off.abs() < 0.05 {
        "0.0".to_owned()
    } else {
        percent(off)
    };
    m.text_with(id, &[("percent", off)]).into()
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
    let operations = all_operations(backups).into_iter();
    operations.filter(describe).map(line).collect()
}

/// What becomes of an operation, as a verdict on it.
pub(crate) fn verdict(outcome: BackupOutcome) -> &'static str {
    match outcome {
        BackupOutcome::Complete => "sound",
        BackupOutcome::Cancelled => "doubtful",
        BackupOutcome::Failed | BackupOutcome::Differs => "invalid",
    }
}
