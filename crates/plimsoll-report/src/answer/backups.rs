//! Backups and restores: how long they take.

use plimsoll_analysis::answer::BackupAnswer;
use plimsoll_analysis::summary::{FigureId, Verdict};

use super::words::{AnswerParts, interval, intervals_drawn, subject};
use crate::message::Messages;
use crate::number::three;
use crate::svg::chart::{Chart, PlotBar, bars};
use crate::svg::color::MediumColors;
use crate::table::Unit::{Plain, Three, Words};
use crate::table::{Table, TableCell, filled};

pub(super) fn parts<'a>(
    m: &Messages,
    all: &'a [BackupAnswer],
    colors: MediumColors<'_>,
) -> AnswerParts<'a> {
    AnswerParts {
        sentences: all.iter().map(|own| sentence(m, own)).collect(),
        table: filled(table(), all.iter().collect()),
        chart: chart(m, all, colors),
        limited_by: Vec::new(),
    }
}

fn kind(m: &Messages, own: &BackupAnswer) -> String {
    m.text(&format!("backup-kind-{}", own.kind.name()))
}

fn sentence(m: &Messages, own: &BackupAnswer) -> String {
    let mut args = vec![
        ("kind", own.kind.name().to_owned()),
        ("medium", subject(m, own.medium.as_ref())),
        ("target", own.target.clone()),
    ];
    if own.verdict == Verdict::Invalid {
        let args = [("media", subject(m, own.medium.as_ref()))];
        return m.text_with("answer-left-out", &args);
    }
    let Some(seconds) = own.seconds else {
        return m.text_with("answer-backup-none", &args);
    };
    args.extend([
        ("seconds", three(seconds.value)),
        ("interval", interval(m, seconds.interval)),
        ("rate", own.mb_per_second.map_or_else(String::new, three)),
        (
            "slower",
            own.slower.map_or_else(String::new, |slower| {
                m.text_with("answer-line-slower", &[("slower", slower.to_string())])
            }),
        ),
    ]);
    m.text_with("answer-backup", &args)
}

fn chart(m: &Messages, all: &[BackupAnswer], colors: MediumColors<'_>) -> Option<Chart> {
    let name = |own: &BackupAnswer| subject(m, own.medium.as_ref());
    let bar = |own: &BackupAnswer| {
        let seconds = own.seconds?;
        Some(PlotBar::of(
            format!("{}, {}", name(own), kind(m, own)),
            colors.of(own.medium.as_deref(), 0),
            seconds.value,
            seconds.interval.map(|own| [own.low, own.high]),
            own.verdict,
        ))
    };
    let all: Vec<PlotBar> = all.iter().filter_map(bar).collect();
    let heading = m.text_with("answer-chart-backup", &[intervals_drawn(m, &all)]);
    bars(m, heading, &all)
}

pub(crate) fn table<'a>() -> Table<'a, &'a BackupAnswer> {
    Table::<&BackupAnswer>::new("answer-backups")
        .prefix("answered-")
        .message("medium", Words, |own, m| subject(m, own.medium.as_ref()))
        .column("target", Words, |own| own.target.clone())
        .column("what", Words, |own| {
            TableCell::word("backup-kind-", own.kind.name())
        })
        .figure(FigureId::Seconds, |own| own.seconds)
        .column("seconds-interval", Three, |own| own.seconds?.interval)
        .figure(FigureId::MbPerSecond, |own| own.mb_per_second)
        .column("ratio", Three, |own| Some(own.ratio?.ratio))
        .if_any(|own| own.ratio.is_some())
        .column("verdict", Plain, |own| own.verdict)
        .spare(&["seconds-interval", "target"])
}
