//! How a ladder scales, in words: shown where the law fits, and why not where it does not.

use plimsoll_analysis::summary::{
    FIT_LIMIT, Interval, LadderSummary, Scaling, ScalingLaw, ScalingPoint,
};

use crate::document::{ReportBlock, ReportSection};
use crate::ladder;
use crate::message::Messages;
use crate::number::{percent, three, whole};
use crate::table::Table;
use crate::table::Unit::{Percent, Plain, Whole};

/// Sentences about the law, or about why there is none; nothing of a ladder that has no law to fit.
fn describe(m: &Messages, ladder: &LadderSummary) -> Vec<String> {
    match &ladder.scaling {
        None => Vec::new(),
        // A short ladder was not meant to show how a system scales.
        Some(Scaling::TooFew { loads }) if *loads < 3 => Vec::new(),
        Some(Scaling::TooFew { loads }) => {
            vec![m.text_with("scaling-too-few", &[("loads", loads.to_string())])]
        }
        Some(Scaling::DoesNotFit { off_percent }) => {
            let args = [
                ("off", percent(*off_percent)),
                ("limit", percent(FIT_LIMIT * 100.0)),
            ];
            vec![m.text_with("scaling-unfit", &args)]
        }
        Some(Scaling::Unresolved) => vec![m.text("scaling-unresolved")],
        Some(Scaling::Fits(law)) => law_text(m, law),
    }
}

fn law_text(m: &Messages, law: &ScalingLaw) -> Vec<String> {
    let parameters = [
        ("gamma", with_interval(m, law.gamma, whole)),
        ("alpha", with_interval(m, law.alpha, three)),
        ("beta", with_interval(m, law.beta, three)),
        ("off", percent(law.off_percent)),
    ];
    let peak = match &law.peak {
        None => m.text("scaling-no-peak"),
        Some(peak) => {
            let users = match peak.users_interval {
                Some(interval) => with_interval(m, interval, whole),
                None => whole(peak.users),
            };
            let args = [("users", users), ("rate", whole(peak.rate))];
            m.text_with("scaling-peak", &args)
        }
    };
    vec![m.text_with("scaling-law", &parameters), peak]
}

fn with_interval(m: &Messages, interval: Interval, format: fn(f64) -> String) -> String {
    let ends = [
        ("value", format(interval.mean)),
        ("low", format(interval.low)),
        ("high", format(interval.high)),
    ];
    m.text_with("scaling-value", &ends)
}

/// What was measured beside the law.
pub(crate) fn table<'a>() -> Table<'a, &'a ScalingPoint> {
    Table::<&ScalingPoint>::new("scaling")
        .prefix("scaling-")
        .column("users", Plain, |point| point.users)
        .column("measured", Whole, |point| point.measured)
        .column("fitted", Whole, |point| point.fitted)
        .column("residual", Percent, |point| point.residual_percent)
}

/// None where there is no law.
fn points(ladder: &LadderSummary) -> Vec<&ScalingPoint> {
    match &ladder.scaling {
        Some(Scaling::Fits(law)) => law.points.iter().collect(),
        _ => Vec::new(),
    }
}

/// The law, and what was measured beside it; nothing of a ladder that has no law to fit.
pub(super) fn add(m: &Messages, ladder: &LadderSummary, section: &mut ReportSection) {
    let sentences = describe(m, ladder);
    if sentences.is_empty() {
        return;
    }
    section.gap();
    section.page(ReportBlock::heading(m.text("scaling-title")));
    for sentence in sentences {
        section.both(ReportBlock::text(sentence));
    }
    let label = ladder::heading(m, ladder);
    section.both(ReportBlock::table(m, &label, &table(), &points(ladder)));
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use plimsoll_analysis::summarise;
    use plimsoll_analysis::summary::ScalingPeak;
    use plimsoll_record::fixture;

    use super::*;
    use crate::render;

    fn text(scaling: Scaling) -> String {
        let mut ladder = summarise(&fixture::single_point())
            .figures
            .ladders
            .remove(0);
        ladder.scaling = Some(scaling);
        let mut section = ReportSection::bare("scaling");
        add(&Messages::english(), &ladder, &mut section);
        render::text::sections([&section])
    }

    #[test]
    fn a_law_has_its_intervals_and_residuals() {
        let interval = |mean: f64| Interval::new(mean, mean * 0.9, mean * 1.2);
        let point = |users, measured, fitted, residual_percent| ScalingPoint {
            users,
            measured,
            fitted,
            residual_percent,
        };
        let law = ScalingLaw {
            gamma: interval(1000.0),
            alpha: interval(0.05),
            beta: interval(0.0002),
            peak: Some(ScalingPeak {
                users: 68.9,
                users_interval: Some(interval(68.9)),
                rate: 12_345.0,
            }),
            off_percent: 1.25,
            points: vec![
                point(1, 1003.0, 1000.0, 0.3),
                point(2, 1890.0, 1904.0, -0.74),
            ],
        };
        assert_snapshot!(text(Scaling::Fits(Box::new(law))), @r"
    Universal Scalability Law: one user 1,000 (900 to 1,200); contention α 0.0500 (0.0450 to 0.0600); coherency β 0.000200 (0.000180 to 0.000240). Residuals: 1.2 %.
    Its peak: 12,345 at 69 (62 to 83) users.
    users  measured  fitted  residual
                                    %
        1     1,003   1,000       0.3
        2     1,890   1,904      -0.7
    ");
    }

    #[test]
    fn a_law_that_does_not_fit_has_a_reason() {
        assert!(text(Scaling::DoesNotFit { off_percent: 7.5 }).contains("7.5 %"));
        assert!(text(Scaling::TooFew { loads: 4 }).contains('4'));
        assert_eq!(text(Scaling::TooFew { loads: 1 }), "");
    }
}
