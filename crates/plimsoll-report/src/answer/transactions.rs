//! Transactions at users or rates: media beside each other, or one medium's loads.

use plimsoll_analysis::answer::{
    AnswerResult, AnswerRow, ComparedBy, LimitedBy, LoadAnswer, MediaAnswer, MediumRatio, NoAnswer,
    RateBasis, RunAnswer,
};
use plimsoll_analysis::summary::{Estimate, FigureId, Interval, Ratio, is_like_speed};
use plimsoll_record::OfferedLoad;

use super::words::{
    AnswerParts, and, at_load, ends, interval, intervals_drawn, medium_and_drive, medium_at_speed,
    speeds, subject, with_p99,
};
use crate::bottleneck::sign_words;
use crate::message::Messages;
use crate::number::{three, whole};
use crate::svg::chart::{Chart, PlotBar, bars};
use crate::svg::color::MediumColors;
use crate::table::Unit::{Plain, Three, Words};
use crate::table::{Table, filled};

pub(super) fn parts<'a>(
    m: &Messages,
    answer: &'a RunAnswer,
    colors: MediumColors<'_>,
) -> AnswerParts<'a> {
    let rows: Vec<Row<'_>> = rows(answer).collect();
    AnswerParts {
        sentences: sentences(m, answer),
        chart: chart(m, answer, colors),
        table: filled(table(), rows),
        limited_by: limited_by(m, answer),
    }
}

/// What the run answers: the sentence, and what has to be known beside it.
fn sentences(m: &Messages, answer: &RunAnswer) -> Vec<String> {
    match &answer.result {
        AnswerResult::Media(own) => of_media(m, own),
        AnswerResult::Load(own) => of_load(m, answer, own),
        AnswerResult::None(why) => none(m, why),
        _ => Vec::new(),
    }
}

fn at(m: &Messages, load: OfferedLoad, basis: RateBasis) -> String {
    let at = at_load(m, load);
    match basis {
        RateBasis::Measured => at,
        RateBasis::Predicted { .. } => m.text_with("answer-at-full-speed", &[("at", at)]),
        RateBasis::Slowed { slower } => m.text_with(
            "answer-at-slowed",
            &[("at", at), ("slower", slower.to_string())],
        ),
    }
}

fn of_media(m: &Messages, own: &MediaAnswer) -> Vec<String> {
    let is_tied = |other: &&MediumRatio| other.is_certain() == Some(false);
    let (tied, others): (Vec<&MediumRatio>, Vec<&MediumRatio>) =
        own.others.iter().partition(is_tied);
    let ratio_id = match own.compared {
        ComparedBy::Throughput => "answer-ratio",
        ComparedBy::ResponseTime => "answer-ratio-response",
    };
    let ratios = others.iter().map(|other| {
        let args = [
            ("medium", other.medium.clone()),
            ("ratio", three(other.ratio.ratio)),
            ("interval", ratio_interval(m, own.compared, other.ratio)),
        ];
        m.text_with(ratio_id, &args)
    });
    let at = at(m, own.load, own.basis);
    let mut args = vec![
        ("at", at.clone()),
        ("best", own.best.clone()),
        ("ratios", and(m, ratios.collect())),
    ];
    let mut sentences = Vec::new();
    if let Some(nearest) = tied.first() {
        let tied = tied.iter().map(|other| other.medium.clone());
        args.push(("tied", and(m, tied.collect())));
        args.push(("ratio", three(nearest.ratio.ratio)));
        args.push(("interval", interval(m, nearest.ratio.interval)));
        let [tied, rest] = match own.compared {
            ComparedBy::Throughput => ["answer-media-tied", "answer-media-others"],
            ComparedBy::ResponseTime => {
                ["answer-media-tied-response", "answer-media-others-response"]
            }
        };
        sentences.push(m.text_with(tied, &args));
        if !others.is_empty() {
            sentences.push(m.text_with(rest, &args));
        }
    } else {
        // Others may carry more.
        if !own.left_out.is_empty() || !own.uncertain.is_empty() {
            let of_valid = m.text_with("answer-of-valid", &[("at", at)]);
            args[0] = ("at", of_valid);
        }
        let id = match own.compared {
            ComparedBy::Throughput => "answer-media",
            ComparedBy::ResponseTime => "answer-media-response",
        };
        sentences.push(m.text_with(id, &args));
    }
    sentences.extend(measured(m, own));
    sentences.extend(beside(m, own));
    if !own.left_out.is_empty() {
        let args = [("media", and(m, own.left_out.clone()))];
        sentences.push(m.text_with("answer-left-out", &args));
    }
    sentences
}

/// What could not be compared and why, and which of the compared figures are of another kind.
fn beside(m: &Messages, own: &MediaAnswer) -> Vec<String> {
    let mut all = Vec::new();
    if !own.other_speeds.is_empty() {
        let speeds = speeds(m, &own.other_speeds);
        all.push(m.text_with("answer-other-speeds", &[("speeds", speeds)]));
    }
    if !own.uncertain.is_empty() {
        let ratios = uncertain_ratios(m, &own.best, &own.uncertain);
        all.push(m.text_with("answer-uncertain", &[("ratios", ratios)]));
    }
    all.extend(unpredicted(m, &own.unpredicted));
    if !own.real.is_empty() {
        let id = match own.basis {
            RateBasis::Predicted { .. } if own.unslowed.is_empty() => "answer-real-predicted",
            _ => "answer-real-emulated",
        };
        all.push(m.text_with(id, &[("real", and(m, own.real.clone()))]));
    }
    if !own.unslowed.is_empty() {
        let media = and(m, own.unslowed.clone());
        all.push(m.text_with("answer-unslowed", &[("media", media)]));
    }
    all
}

/// Names a missing interval of throughput; response times have none.
fn ratio_interval(m: &Messages, compared: ComparedBy, ratio: Ratio) -> String {
    match (compared, ratio.interval) {
        (ComparedBy::Throughput, None) => m.text("answer-no-interval"),
        (_, own) => interval(m, own),
    }
}

fn unpredicted(m: &Messages, media: &[String]) -> Option<String> {
    let args = [("media", and(m, media.to_vec()))];
    (!media.is_empty()).then(|| m.text_with("answer-unpredicted", &args))
}

fn uncertain_ratios(m: &Messages, best: &str, ratios: &[MediumRatio]) -> String {
    let each = ratios.iter().filter_map(|own| {
        let [low, high] = ends(own.ratio)?;
        let args = [
            ("best", best.to_owned()),
            ("medium", own.medium.clone()),
            ("low", low),
            ("high", high),
        ];
        Some(m.text_with("answer-uncertain-ratio", &args))
    });
    and(m, each.collect())
}

/// Beside a prediction, what was measured on slowed drives; the better medium of each pair comes first.
fn measured(m: &Messages, own: &MediaAnswer) -> Option<String> {
    let RateBasis::Predicted { slower } = own.basis else {
        return None;
    };
    let ratio = |other: &MediumRatio| {
        let measured = other.measured?;
        let is_better = measured.ratio >= 1.0;
        let [best, medium] = if is_better {
            [&own.best, &other.medium]
        } else {
            [&other.medium, &own.best]
        };
        let turned = |value: f64| if is_better { value } else { 1.0 / value };
        let ends = measured.interval.map(|own| {
            let [low, high] = [own.low, own.high].map(turned);
            Interval::new(turned(own.mean), low.min(high), low.max(high))
        });
        let args = [
            ("best", best.clone()),
            ("medium", medium.clone()),
            ("ratio", three(turned(measured.ratio))),
            ("interval", interval(m, ends)),
        ];
        Some(m.text_with("answer-measured-ratio", &args))
    };
    let ratios: Vec<String> = own.others.iter().filter_map(ratio).collect();
    (!ratios.is_empty()).then(|| {
        let args = [("slower", slower.to_string()), ("ratios", and(m, ratios))];
        m.text_with("answer-measured", &args)
    })
}

fn of_load(m: &Messages, answer: &RunAnswer, own: &LoadAnswer) -> Vec<String> {
    let medium = subject(m, own.medium.as_ref());
    let mut args = vec![("at", at(m, own.load, own.basis)), ("medium", medium)];
    // Without a response time the rate is what is left.
    if let (ComparedBy::ResponseTime, Some(ms)) = (own.compared, own.p99_ms) {
        args.push(("p99", three(ms)));
        return vec![m.text_with("answer-load-response", &args)];
    }
    args.push(("p99", with_p99(m, own.p99_ms)));
    args.push(("rate", rate(answer, own.rate)));
    args.push(("interval", rate_interval(m, answer, own.rate)));
    args.push(("unit", unit(m, answer)));
    // Of one medium only its load has to be named.
    let id = match answer.media.len() {
        0 | 1 => "answer-load-one",
        _ => "answer-load",
    };
    let mut sentences = vec![m.text_with(id, &args)];
    sentences.extend(of_steps(m, answer, own));
    if !own.is_peak {
        sentences.push(m.text("answer-load-grows"));
    }
    sentences
}

/// Which step it is, and what the others carry.
fn of_steps(m: &Messages, answer: &RunAnswer, own: &LoadAnswer) -> Option<String> {
    let step = own.step.clone()?;
    let others: Vec<String> = own
        .others
        .iter()
        .map(|other| format!("{} {}", other.step, shown_rate(answer.nopm, other.rate)))
        .collect();
    let args = [("step", step), ("others", others.join(", "))];
    let id = match own.others.is_empty() {
        true => "answer-load-step",
        false => "answer-load-steps",
    };
    Some(m.text_with(id, &args))
}

fn none(m: &Messages, why: &NoAnswer) -> Vec<String> {
    match why {
        NoAnswer::NothingMeasured => vec![m.text("answer-none-nothing")],
        NoAnswer::OneValidMedium { valid } => vec![m.text_with(
            "answer-none-one",
            &[("valid", valid.clone().unwrap_or_default())],
        )],
        NoAnswer::NoCommonLoad => vec![m.text("answer-none-load")],
        NoAnswer::UnequalSpeeds {
            media,
            unpredicted: uncertain,
        } => {
            let first = m.text_with("answer-none-speeds", &[("speeds", speeds(m, media))]);
            [first]
                .into_iter()
                .chain(unpredicted(m, uncertain))
                .collect()
        }
        NoAnswer::WrongOrder {
            best,
            faster,
            ratio,
        } => {
            let args = [
                ("best", best.clone()),
                ("faster", faster.clone()),
                ("ratio", three(ratio.ratio)),
                ("interval", interval(m, ratio.interval)),
            ];
            vec![m.text_with("answer-none-order", &args)]
        }
        NoAnswer::TooUncertain { best, ratios } => {
            let ratios = uncertain_ratios(m, best, ratios);
            vec![m.text_with("answer-none-uncertain", &[("ratios", ratios)])]
        }
    }
}

fn rate(answer: &RunAnswer, rate: Estimate) -> String {
    shown_rate(answer.nopm, rate.value)
}

fn shown_rate(nopm: bool, value: f64) -> String {
    // Three digits that mean something, and none of a decimal of orders.
    if nopm && value < 1000.0 {
        whole(value)
    } else {
        three(value)
    }
}

fn rate_interval(m: &Messages, answer: &RunAnswer, rate: Estimate) -> String {
    let Some(own) = rate.interval else {
        return String::new();
    };
    let [low, high] = [own.low, own.high].map(|end| shown_rate(answer.nopm, end));
    m.text_with("answer-interval", &[("low", low), ("high", high)])
}

fn unit(m: &Messages, answer: &RunAnswer) -> String {
    m.text(if answer.nopm {
        "answer-unit-nopm"
    } else {
        "answer-unit-rate"
    })
}

/// The figure that rows are compared by: predicted for full speed where a drive was slowed and any has such a figure.
fn row_rate(answer: &RunAnswer, row: &AnswerRow) -> Option<Estimate> {
    let mut rows = answer.rows.iter();
    let is_predicted = rows.any(|other| other.at_full_speed.is_some());
    if is_predicted && row.slower.is_some() {
        row.at_full_speed
    } else {
        row.throughput
    }
}

/// A bar for each row that has the figure.
fn chart(m: &Messages, answer: &RunAnswer, colors: MediumColors<'_>) -> Option<Chart> {
    let speed = match basis(answer) {
        Some(RateBasis::Predicted { .. }) => m.text("answer-chart-full-speed"),
        Some(RateBasis::Slowed { .. }) => m.text("answer-chart-slowed"),
        _ => String::new(),
    };
    let id = if answer.nopm {
        "answer-chart-nopm"
    } else {
        "answer-chart-rate"
    };
    let is_media = has_media(answer);
    let rows = answer.rows.iter().enumerate();
    let all = rows.filter_map(|(place, row)| {
        let rate = row_rate(answer, row)?;
        Some(PlotBar::of(
            bar_name(m, answer, row),
            colors.of(row.medium.as_deref(), if is_media { place } else { 0 }),
            rate.value,
            rate.interval.map(|own| [own.low, own.high]),
            row.verdict,
        ))
    });
    let all: Vec<PlotBar> = all.collect();
    let heading = m.text_with(id, &[("speed", speed), intervals_drawn(m, &all)]);
    bars(m, heading, &all)
}

fn basis(answer: &RunAnswer) -> Option<RateBasis> {
    match &answer.result {
        AnswerResult::Media(own) => Some(own.basis),
        AnswerResult::Load(own) => Some(own.basis),
        _ => None,
    }
}

/// The medium with its drive, or of one medium the load.
fn bar_name(m: &Messages, answer: &RunAnswer, row: &AnswerRow) -> String {
    if has_media(answer) {
        // A bar of what was measured is that of the slowed drive.
        let is_predicted = matches!(basis(answer), Some(RateBasis::Predicted { .. }));
        let drive = if is_predicted {
            rated_drive(row)
        } else {
            row.drive.as_deref()
        };
        return medium_and_drive(row.medium.as_deref(), drive);
    }
    match row.load.offered_per_second {
        Some(rate) => m.text_with("answer-at-rate", &[("rate", three(rate))]),
        None => m.text_with("answer-users-of", &[("users", row.load.users.to_string())]),
    }
}

/// What people call the drive; its bar may be about full speed.
fn rated_drive(row: &AnswerRow) -> Option<&str> {
    let drive = row.drive.as_deref()?;
    let slowed = row.slower.map(|slower| format!(", {slower} times slower"));
    Some(
        slowed
            .and_then(|slowed| drive.strip_suffix(&slowed))
            .unwrap_or(drive),
    )
}

/// Whether rows are media at one load; else one medium's loads.
fn has_media(answer: &RunAnswer) -> bool {
    let first = answer.rows.first().map(|row| &row.medium);
    answer.rows.iter().any(|row| Some(&row.medium) != first)
}

/// A row of the small table.
pub(crate) struct Row<'a> {
    row: &'a AnswerRow,
    nopm: bool,
    /// Whether rows are media at one load; else one medium's loads.
    media: bool,
    /// What was measured stands beside a prediction.
    is_predicted: bool,
    /// Drives ran at speeds of their own.
    is_unlike: bool,
    /// Ratios are those of this one to the others.
    is_best: bool,
}

fn rows(answer: &RunAnswer) -> impl Iterator<Item = Row<'_>> {
    let media = has_media(answer);
    let nopm = answer.nopm;
    let is_predicted = answer.rows.iter().any(|own| own.at_full_speed.is_some());
    let speed = answer.rows.first().and_then(|own| own.slower);
    let is_unlike = answer
        .rows
        .iter()
        .any(|own| !is_like_speed(own.slower, speed));
    let best = match &answer.result {
        AnswerResult::Media(own) => Some(own.best.clone()),
        _ => None,
    };
    answer.rows.iter().map(move |row| Row {
        row,
        nopm,
        media,
        is_predicted,
        is_unlike,
        is_best: best.is_some() && best == row.medium,
    })
}

fn measured_rate(r: &Row<'_>) -> Option<f64> {
    Some(r.row.throughput?.value)
}

/// Media at one load, or one medium's loads.
pub(crate) fn table<'a>() -> Table<'a, Row<'a>> {
    let is_open = |r: &Row<'_>| r.row.load.is_open();
    let table = Table::<Row<'_>>::new("answer")
        .prefix("answered-")
        .message("medium", Words, |r, m| {
            let slower = (r.row.slower).filter(|_| !r.is_predicted || r.is_unlike);
            medium_at_speed(m, r.row.medium.as_deref().unwrap_or_default(), slower)
        })
        .if_any(|r| r.media)
        .column("users", Plain, |r| r.row.load.users.to_string())
        .if_any(move |r| !r.media && !is_open(r))
        .column("offered", Three, |r| r.row.load.offered_per_second)
        .if_any(move |r| !r.media && is_open(r));
    let ratio = |r: &Row<'_>| match r.row.ratio {
        Some(ratio) => Some(ratio.ratio),
        None => r.is_best.then_some(1.0),
    };
    let percent = |own: Option<Estimate>| Some(own?.interval?.relative()? * 100.0);
    table
        .figure(FigureId::Nopm, measured_rate)
        .digits(Three)
        .if_any(|r| r.nopm && !r.is_predicted)
        .figure(FigureId::Nopm, measured_rate)
        .digits(Three)
        .value("slowed")
        .if_any(|r| r.nopm && r.is_predicted && !r.is_unlike)
        .figure(FigureId::Nopm, measured_rate)
        .digits(Three)
        .value("as-run")
        .if_any(|r| r.nopm && r.is_predicted && r.is_unlike)
        .figure(FigureId::Transactions, measured_rate)
        .if_any(|r| !r.nopm && !r.is_predicted)
        .figure(FigureId::Transactions, measured_rate)
        .value("slowed")
        .if_any(|r| !r.nopm && r.is_predicted && !r.is_unlike)
        .figure(FigureId::Transactions, measured_rate)
        .value("as-run")
        .if_any(|r| !r.nopm && r.is_predicted && r.is_unlike)
        .figure(FigureId::IntervalPercent, move |r| {
            percent(r.row.throughput)
        })
        .in_text()
        .if_any(|r| r.row.throughput.is_some_and(|own| own.interval.is_some()))
        .column("full-speed", Three, |r| Some(r.row.at_full_speed?.value))
        .if_any(|r| r.row.at_full_speed.is_some())
        .figure(FigureId::IntervalPercent, move |r| {
            percent(r.row.at_full_speed)
        })
        .in_text()
        .if_any(|r| r.row.at_full_speed.is_some())
        .figure(FigureId::P99, |r| r.row.p99_ms)
        .unless_any(|r| r.row.at_full_speed.is_some())
        .figure(FigureId::P99, |r| r.row.p99_ms)
        .value("slowed")
        .if_any(|r| r.is_predicted && !r.is_unlike)
        .figure(FigureId::P99, |r| r.row.p99_ms)
        .value("as-run")
        .if_any(|r| r.is_predicted && r.is_unlike)
        .column("best-ratio", Three, ratio)
        .if_any(move |r| r.row.ratio.is_some() && !is_open(r))
        .column("best-p99-ratio", Three, ratio)
        .if_any(move |r| r.row.ratio.is_some() && is_open(r))
        .column("ratio-interval", Three, |r| r.row.ratio?.interval)
        .if_any(|r| r.row.ratio.is_some_and(|own| own.interval.is_some()))
        .column("verdict", Plain, |r| r.row.verdict)
        .spare(&[
            "interval-percent",
            "interval-percent",
            "ratio-interval",
            "p99",
            "p99-slowed",
            "p99-as-run",
        ])
}

/// What limits each medium, in words.
fn limited_by(m: &Messages, answer: &RunAnswer) -> Vec<String> {
    let text = |own: &LimitedBy| {
        // Of both it is known what time went to.
        if !own.is_predicted && answer.simulated.is_none() {
            let args = [
                ("medium", subject(m, own.medium.as_ref())),
                ("sign", sign_words(m, own.limiter, own.percent)),
            ];
            return m.text_with("answer-sign", &args);
        }
        let locks = own
            .locks_percent
            .map(|percent| m.text_with("answer-limited-locks", &[("percent", whole(percent))]));
        let args = [
            ("locks", locks.unwrap_or_default()),
            ("medium", subject(m, own.medium.as_ref())),
            (
                "what",
                m.text(&format!("answer-limiter-{}", own.limiter.name())),
            ),
            ("percent", whole(own.percent)),
        ];
        m.text_with("answer-limited", &args)
    };
    answer.limited_by.iter().map(text).collect()
}
