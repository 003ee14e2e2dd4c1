//! Backups and restores in words and rows.

use plimsoll_analysis::summary::{
    BackupFigures, BackupMedium, BackupOperation, BackupSummary, Estimate, FigureId, MediumFigures,
    MediumSource, RateCheck, RateNotChecked, Ratio,
};
use plimsoll_record::{BackupKind, BackupOutcome};

use crate::medium;
use crate::message::Messages;
use crate::number::{NONE, percent};
use crate::table::Unit::{Decimals, Plain, Three, Words};
use crate::table::{CellValue, Table, TableCell};

pub(crate) fn heading(m: &Messages, backups: &BackupSummary) -> String {
    let method = m.text(if backups.method == "logical" {
        "backup-logical"
    } else {
        "backup-physical"
    });
    let mut with = vec![method];
    with.extend(backups.programs.iter().cloned());
    let mut args = vec![("step", backups.step.clone()), ("method", with.join(", "))];
    let Some(load) = &backups.beside else {
        return m.text_with("backup-heading", &args);
    };
    args.push(("load", m.load(load.load)));
    m.text_with("backup-heading-beside", &args)
}

/// The emulated drives among data and targets, each once.
pub(crate) fn drives(m: &Messages, backups: &BackupSummary) -> Vec<String> {
    let media = backups.media.iter();
    let drives = media.flat_map(|medium| {
        let drives = [&medium.drive, &medium.target_drive];
        let drives = drives.into_iter().flatten();
        drives.map(|drive| medium::modeled(m, drive, medium.is_simulated))
    });
    let mut all: Vec<String> = drives.collect();
    all.sort();
    all.dedup();
    all
}

fn name(m: &Messages, of: &BackupMedium) -> String {
    let is_emulated = of.drive.is_some() && !of.is_simulated;
    medium::name(m, of.medium.as_deref().unwrap_or(NONE), is_emulated)
}

fn target(m: &Messages, of: &BackupMedium) -> String {
    let is_emulated = of.target_drive.is_some() && !of.is_simulated;
    medium::name(m, &of.target, is_emulated)
}

/// Operations of one kind on one medium.
pub(crate) struct KindRow<'a> {
    medium: &'a BackupMedium,
    own: &'a BackupFigures,
}

impl KindRow<'_> {
    fn seconds(&self) -> Option<Estimate> {
        self.own.figures.get(FigureId::Seconds)
    }

    /// Of the times, to the first medium.
    fn ratio(&self) -> Option<Ratio> {
        self.own.ratios.get(FigureId::Seconds)
    }
}

pub(crate) fn kinds(backups: &BackupSummary) -> Vec<KindRow<'_>> {
    let mut rows = Vec::new();
    for medium in &backups.media {
        rows.extend(medium.kinds.iter().map(|own| KindRow { medium, own }));
    }
    rows
}

/// Of each kind on each medium: how long it took, how much it moved, and how that compares.
pub(crate) fn times<'a>() -> Table<'a, KindRow<'a>> {
    Table::<KindRow<'_>>::new("backup-times")
        .prefix("backup-column-")
        .message("data", Words, |r, m| name(m, r.medium))
        .message("target", Words, |r, m| target(m, r.medium))
        .column("what", Words, |r| kind(r.own.kind))
        .column("n", Plain, |r| r.own.complete)
        .figure(FigureId::Seconds, |r| r.seconds())
        .column("interval", Three, |r| r.seconds()?.interval)
        .column("spread", Three, |r| {
            let seconds = r.seconds()?;
            Some(CellValue::Range(seconds.min, seconds.max))
        })
        .column("ratio", Three, |r| Some(r.ratio()?.ratio))
        .column("ratio-interval", Three, |r| r.ratio()?.interval)
        .figure(FigureId::MbPerSecond, |r| {
            r.own.figures.get(FigureId::MbPerSecond)
        })
        .column("gb", Three, |r| {
            (r.own.bytes > 0).then_some(r.own.bytes as f64 / 1e9)
        })
        .column("failed", Plain, |r| {
            r.own.failed + r.own.cancelled + r.own.differs
        })
        .without_empty_columns()
        .spare(&["spread", "target", "source"])
}

fn kind(kind: BackupKind) -> TableCell {
    TableCell::word("backup-kind-", kind.name())
}

/// A medium while operations of one kind ran.
pub(crate) struct MediumRow<'a> {
    medium: &'a BackupMedium,
    own: &'a BackupFigures,
    /// Whether it is the one that backups are written to.
    is_target: bool,
}

impl MediumRow<'_> {
    fn io(&self) -> Option<MediumFigures> {
        if self.is_target {
            self.own.target_io
        } else {
            self.own.data_io
        }
    }

    fn name(&self, m: &Messages) -> String {
        if self.is_target {
            target(m, self.medium)
        } else {
            name(m, self.medium)
        }
    }

    /// What its figures come from.
    fn source(&self, m: &Messages) -> String {
        let source = if self.is_target {
            &self.medium.target_source
        } else {
            &self.medium.source
        };
        match source {
            Some(MediumSource::Device(name)) => name.clone(),
            Some(MediumSource::Emulator) if self.medium.is_simulated => {
                m.text("medium-source-model")
            }
            Some(MediumSource::Emulator) => m.text("medium-source-emulator"),
            None => NONE.to_owned(),
        }
    }
}

pub(crate) fn media(backups: &BackupSummary) -> Vec<MediumRow<'_>> {
    let mut rows = Vec::new();
    for KindRow { medium, own } in kinds(backups) {
        // Data and backup on one medium are one row.
        let has_target = medium.medium.as_ref() != Some(&medium.target);
        let sides = [false, true].into_iter();
        rows.extend(
            sides
                .filter(|is_target| !is_target || has_target)
                .map(|is_target| MediumRow {
                    medium,
                    own,
                    is_target,
                }),
        );
    }
    rows
}

/// What the media did while each kind ran.
pub(crate) fn io<'a>() -> Table<'a, MediumRow<'a>> {
    Table::<MediumRow<'_>>::new("backup-io")
        .prefix("backup-column-")
        .message("data", Words, |r, m| name(m, r.medium))
        .column("what", Words, |r| kind(r.own.kind))
        .message("on", Words, MediumRow::name)
        .message("source", Words, MediumRow::source)
        .column("reads", Three, |r| Some(r.io()?.reads_per_second))
        .column("writes", Three, |r| Some(r.io()?.writes_per_second))
        .column("read-mb", Three, |r| Some(r.io()?.read_mb_per_second))
        .column("write-mb", Three, |r| Some(r.io()?.write_mb_per_second))
        .column("read-ms", Three, |r| r.io()?.read_ms)
        .column("write-ms", Three, |r| r.io()?.write_ms)
        .column("ms", Three, |r| r.io()?.ms)
        .without_empty_columns()
        .spare(&["spread", "target", "source"])
}

/// A backup or a restore with the step and the medium of its system.
pub(crate) struct OperationRow<'a> {
    step: &'a BackupSummary,
    medium: &'a BackupMedium,
    own: &'a BackupOperation,
}

pub(crate) fn operation_rows(step: &BackupSummary) -> Vec<OperationRow<'_>> {
    let mut rows = Vec::new();
    for medium in &step.media {
        let operations = medium.operations.iter();
        rows.extend(operations.map(|own| OperationRow { step, medium, own }));
    }
    rows
}

/// Every operation.
pub(crate) fn operations<'a>() -> Table<'a, OperationRow<'a>> {
    let table = Table::<OperationRow<'_>>::new("backup")
        .prefix("backup-column-")
        .field("step", |r| r.step.step.clone())
        .field("method", |r| r.step.method.clone())
        .field("beside_ordinal", |r| Some(r.step.beside.as_ref()?.ordinal))
        .field("beside_users", |r| Some(r.step.beside.as_ref()?.load.users))
        .field("medium", |r| r.medium.medium.clone())
        .field("drive", |r| r.medium.drive.clone())
        .field("target", |r| r.medium.target.clone())
        .field("target_drive", |r| r.medium.target_drive.clone())
        .column("system", Words, |r| r.own.system.clone())
        .key("system")
        .column("what", Words, |r| kind(r.own.kind))
        .column("outcome", Words, |r| {
            let word = TableCell::word("backup-outcome-", r.own.outcome.name());
            word.styled(verdict(r.own.outcome))
        })
        .column("cycle", Plain, |r| r.own.cycle + 1)
        .field("cycle", |r| r.own.cycle)
        .field("kind", |r| r.own.kind.name())
        .field("point", |r| Some(r.own.point?.to_string()))
        .column("at", Decimals(1), |r| r.own.start_s)
        .key("start_s")
        .figure(FigureId::Seconds, |r| r.own.seconds)
        .key("seconds")
        .field("bytes", |r| r.own.bytes)
        .figure(FigureId::MovedMb, |r| r.own.bytes as f64 / 1e6)
        .figure(FigureId::MbPerSecond, |r| r.own.mb_per_second)
        .key("mb_per_second")
        .field("outcome", |r| r.own.outcome.name());
    let table = medium::fields(table, "data_", |r| r.own.data_io);
    medium::fields(table, "target_", |r| r.own.target_io)
        .column("data-ms", Three, |r| r.own.data_io?.ms)
        .column("target-ms", Three, |r| r.own.target_io?.ms)
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
        .message("check", Plain, |r, m| rate(m, r.own))
        .message_field("detail", |r, m| detail(m, r.own))
        .without_empty_columns()
        .spare(&["target-ms", "at"])
}

/// Rule RATE: the difference, or why it is not evaluated.
fn rate(m: &Messages, own: &BackupOperation) -> TableCell {
    let (id, off) = match own.rate {
        RateCheck::Agrees { percent, .. } => ("backup-rate-agrees", percent),
        RateCheck::Disagrees { percent, .. } => ("backup-rate-disagrees", percent),
        RateCheck::NotEvaluated { why } => {
            return match why {
                RateNotChecked::Restore => TableCell::missing("backup-rate-restore"),
                RateNotChecked::NotComplete => TableCell::MISSING,
                RateNotChecked::NotSampled => TableCell::missing("backup-rate-not-sampled"),
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
    let operations = backups.media.iter().flat_map(|medium| &medium.operations);
    operations
        .filter(|own| own.detail.is_some())
        .map(|own| {
            let args = [
                ("system", own.system.clone()),
                ("what", m.text(&format!("backup-kind-{}", own.kind.name()))),
                ("cycle", (own.cycle + 1).to_string()),
                ("detail", detail(m, own)),
            ];
            m.text_with("backup-detail", &args)
        })
        .collect()
}

fn detail(m: &Messages, own: &BackupOperation) -> String {
    let detail = own.detail.as_ref();
    detail
        .map(|detail| m.backup_detail(detail))
        .unwrap_or_default()
}

/// What becomes of an operation, as a verdict on it.
fn verdict(outcome: BackupOutcome) -> &'static str {
    match outcome {
        BackupOutcome::Complete => "valid",
        BackupOutcome::Cancelled => "doubtful",
        BackupOutcome::Failed | BackupOutcome::Differs => "invalid",
    }
}
