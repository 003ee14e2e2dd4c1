//! What stands first where nothing but backups was run: how long one takes.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{BackupMedium, BackupSummary, Sampled};
use plimsoll_record::BackupKind;

use super::super::headline::{Beside, HeadlineView, certainty, word};
use crate::medium;
use crate::message::Messages;
use crate::number::three;

/// Operations of one kind that have a duration.
struct TimedOperations<'a> {
    medium: &'a BackupMedium,
    kind: BackupKind,
    seconds: Sampled,
}

/// Medium by medium.
fn timed(step: &BackupSummary) -> Vec<TimedOperations<'_>> {
    let mut all = Vec::new();
    for medium in &step.media {
        all.extend(medium.kinds.iter().filter_map(|own| {
            Some(TimedOperations {
                medium,
                kind: own.kind,
                seconds: own.seconds?,
            })
        }));
    }
    all
}

/// `None` where no backup completed.
pub(in crate::html) fn headline(m: &Messages, summary: &Summary) -> Option<HeadlineView> {
    let step = summary
        .figures
        .backups
        .iter()
        .find(|step| step.beside.is_none())?;
    let all = timed(step);
    let (first, others) = all.split_first()?;
    let seconds = first.seconds;
    let place = [("n", seconds.n.to_string()), ("medium", name(first.medium))];
    let unit = [("what", kind(m, first.kind))];
    Some(HeadlineView {
        kicker: m.text("headline-backup-kicker"),
        value: three(seconds.mean),
        unit: m.text_with("headline-backup-unit", &unit),
        interval: certainty(
            m,
            seconds.interval.map(|own| [own.low, own.high]),
            [seconds.min, seconds.max],
            seconds.n > 1,
            three,
        ),
        place: m.text_with("headline-backup-where", &place),
        drive: medium::emulated(m, first.medium.drive.as_ref()),
        verdict: first.medium.verdict.name(),
        verdict_word: word(m, first.medium.verdict),
        beside: others.iter().map(|own| beside(m, own)).collect(),
    })
}

fn beside(m: &Messages, own: &TimedOperations<'_>) -> Beside {
    let args = [("what", kind(m, own.kind)), ("medium", name(own.medium))];
    Beside {
        value: format!("{} s", three(own.seconds.mean)),
        label: m.text_with("headline-backup-beside", &args),
    }
}

fn kind(m: &Messages, kind: BackupKind) -> String {
    m.text(&format!("backup-kind-{}", kind.name()))
}

fn name(medium: &BackupMedium) -> String {
    medium.medium.clone().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use plimsoll_analysis::summarise;
    use plimsoll_record::fixture;

    use super::*;

    #[test]
    fn a_run_of_backups_begins_with_how_long_one_takes() {
        let m = Messages::english();
        let headline =
            headline(&m, &summarise(&fixture::backup())).expect("backups came to their end");
        let shown = format!(
            "{} {} {} | {} | {}",
            headline.kicker,
            headline.value,
            headline.unit,
            headline.place,
            headline
                .beside
                .iter()
                .map(|own| format!("{} {}", own.value, own.label))
                .collect::<Vec<_>>()
                .join(", ")
        );
        insta::assert_snapshot!(shown, @r"Backup and restore 11.0 s for one backup | Mean of 3 on fast. | 6.00 s one restore on fast, 22.0 s one backup on slow, 16.0 s one restore on slow");
        let mut none = summarise(&fixture::backup());
        none.figures.backups.clear();
        assert!(super::headline(&m, &none).is_none());
    }
}
