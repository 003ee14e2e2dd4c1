//! What stands first: the highest rate of the run's transactions.

use plimsoll_analysis::Summary;
use plimsoll_analysis::summary::{LadderSummary, LoadSummary, Verdict};

use crate::ladder;
use crate::message::Messages;
use crate::number::{percent, three, whole};

pub(super) struct HeadlineView {
    pub kicker: String,
    pub value: String,
    pub unit: String,
    pub interval: String,
    pub place: String,
    /// That the drive was emulated; else empty.
    pub drive: String,
    /// Of this point.
    pub verdict: &'static str,
    pub verdict_word: String,
    /// What stands beside it.
    pub beside: Vec<Beside>,
}

/// A figure beside the headline.
pub(super) struct Beside {
    pub value: String,
    pub label: String,
}

/// The word of a verdict.
pub(super) fn word(m: &Messages, verdict: Verdict) -> String {
    m.text(&format!("verdict-{}", verdict.name()))
}

/// How sure a figure is: its interval, or else the range of several.
pub(super) fn certainty(
    m: &Messages,
    interval: Option<[f64; 2]>,
    range: [f64; 2],
    several: bool,
    shown: fn(f64) -> String,
) -> String {
    let (id, ends) = match interval {
        Some(ends) => ("headline-interval", ends),
        None if several => ("headline-spread", range),
        None => return m.text("headline-no-interval"),
    };
    let [low, high] = ends.map(shown);
    m.text_with(id, &[("low", low), ("high", high)])
}

/// `None` where no point has a usable rate.
pub(super) fn transactions(m: &Messages, summary: &Summary) -> Option<HeadlineView> {
    let (ladder, load) = summary.figures.headline()?;
    let point = &ladder.points[load.typical];
    let (figure, unit) = match load.nopm {
        Some(nopm) => (nopm, "headline-nopm"),
        None => (load.completed_per_second?, "headline-rate"),
    };
    let shown = if load.nopm.is_some() { whole } else { three };
    let place = [
        ("point", m.point(point)),
        ("measured", three(point.measured_s)),
        ("repeats", load.repeats().to_string()),
    ];
    let is_repeated = load.repeats() > 1;
    Some(HeadlineView {
        kicker: m.text("headline-kicker"),
        value: shown(figure.median),
        unit: m.text(unit),
        interval: certainty(
            m,
            figure.interval.map(|own| [own.low, own.high]),
            [figure.min, figure.max],
            is_repeated,
            shown,
        ),
        place: m.text_with(
            if is_repeated {
                "headline-median"
            } else {
                "headline-where"
            },
            &place,
        ),
        drive: ladder::emulated(m, ladder),
        verdict: load.verdict.name(),
        verdict_word: word(m, load.verdict),
        beside: beside(m, ladder, load),
    })
}

fn beside(m: &Messages, ladder: &LadderSummary, load: &LoadSummary) -> Vec<Beside> {
    let point = &ladder.points[load.typical];
    let resources = &point.resources;
    let device = resources.device.clone();
    let written = device.as_ref().and(resources.device_write_mb_per_second);
    let txn = ("txn", ladder::main_txn(m, ladder));
    let figures = [
        (
            load.tpm.map(|tpm| whole(tpm.median)),
            m.text("headline-tpm"),
        ),
        (point.tpm_per_user.map(whole), m.text("headline-per-user")),
        (
            load.p99_ms.map(|p99| format!("{} ms", three(p99.median))),
            m.text_with("headline-p99", &[txn]),
        ),
        (
            resources
                .host_cpu_busy_percent
                .map(|busy| format!("{} %", percent(busy))),
            m.text("headline-cpu"),
        ),
        (
            written.map(|mb| format!("{} MB/s", three(mb))),
            m.text_with("headline-write", &[("device", device.unwrap_or_default())]),
        ),
    ];
    let known = figures.into_iter();
    known
        .filter_map(|(value, label)| {
            let value = value?;
            Some(Beside { value, label })
        })
        .collect()
}
