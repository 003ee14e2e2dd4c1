//! What stands first where nothing but backups was run: how long one takes.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{BackupFigures, BackupMedium, BackupSummary, Sampled};
use plimsoll_record::BackupKind;

use super::super::HeadlineView;
use crate::message::Messages;
use crate::number::three;

/// `None` where no backup came to its end.
pub(in crate::html) fn headline(m: &Messages, summary: &Summary) -> Option<HeadlineView> {
    let step = summary.backups.iter().find(|step| step.beside.is_none())?;
    let (medium, first, seconds) = times(step).next()?;
    let interval = match seconds.interval {
        Some(i) => m.text_with(
            "headline-interval",
            &[("low", three(i.low)), ("high", three(i.high))],
        ),
        None if seconds.n > 1 => m.text_with(
            "headline-spread",
            &[("low", three(seconds.min)), ("high", three(seconds.max))],
        ),
        None => m.text("headline-no-interval"),
    };
    let place = m.text_with(
        "headline-backup-where",
        &[("n", seconds.n.to_string()), ("medium", name(medium))],
    );
    let beside = times(step).skip(1).map(|(medium, figures, seconds)| {
        let args = [("what", kind(m, figures.kind)), ("medium", name(medium))];
        (
            format!("{} s", three(seconds.mean)),
            m.text_with("headline-backup-beside", &args),
        )
    });
    Some(HeadlineView {
        kicker: m.text("headline-backup-kicker"),
        value: three(seconds.mean),
        unit: m.text_with("headline-backup-unit", &[("what", kind(m, first.kind))]),
        interval,
        place,
        drive: medium
            .drive
            .clone()
            .map(|drive| m.text_with("emulated-drive", &[("drive", drive)]))
            .unwrap_or_default(),
        verdict: medium.verdict.name(),
        verdict_word: m.text(&format!("verdict-{}", medium.verdict.name())),
        beside: beside.collect(),
    })
}

/// What came to its end, medium by medium.
fn times(step: &BackupSummary) -> impl Iterator<Item = (&BackupMedium, &BackupFigures, &Sampled)> {
    let kinds = step
        .media
        .iter()
        .flat_map(|medium| medium.kinds.iter().map(move |kind| (medium, kind)));
    kinds.filter_map(|(medium, kind)| Some((medium, kind, kind.seconds.as_ref()?)))
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
                .map(|(value, what)| format!("{value} {what}"))
                .collect::<Vec<_>>()
                .join(", ")
        );
        insta::assert_snapshot!(shown, @r"Backup and restore 11.0 s for one backup | Mean of 3 on fast. | 6.00 s one restore on fast, 22.0 s one backup on slow, 16.0 s one restore on slow");
        let mut none = summarise(&fixture::backup());
        none.backups.clear();
        assert!(super::headline(&m, &none).is_none());
    }
}
