//! How a ladder scales, in words: shown where the law fits, and why not where it does not.

use plimsoll_analysis::summary::{FIT_LIMIT, Interval, Ladder, Scaling, ScalingLaw, ScalingPoint};

use crate::message::Messages;
use crate::number::{percent, three, whole};
use crate::table::Table;
use crate::table::Unit::{Percent, Plain, Whole};

/// Sentences about the law, or about why there is none; nothing of a ladder that has no law to fit.
pub(crate) fn describe(m: &Messages, ladder: &Ladder) -> Vec<String> {
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
    let shown = |interval: Interval, format: fn(f64) -> String| {
        let ends = [
            ("value", format(interval.mean)),
            ("low", format(interval.low)),
            ("high", format(interval.high)),
        ];
        m.text_with("scaling-value", &ends)
    };
    let parameters = [
        ("gamma", shown(law.gamma, whole)),
        ("alpha", shown(law.alpha, three)),
        ("beta", shown(law.beta, three)),
        ("off", percent(law.off_percent)),
    ];
    let peak = law.peak.as_ref().map(|peak| {
        let users = peak
            .users_interval
            .map_or_else(|| whole(peak.users), |interval| shown(interval, whole));
        m.text_with(
            "scaling-peak",
            &[("users", users), ("rate", whole(peak.rate))],
        )
    });
    vec![
        m.text_with("scaling-law", &parameters),
        peak.unwrap_or_else(|| m.text("scaling-no-peak")),
    ]
}

/// What was measured beside the law; `None` where there is none.
pub(crate) fn table(ladder: &Ladder) -> Option<(Table<'_, &ScalingPoint>, Vec<&ScalingPoint>)> {
    let Some(Scaling::Fits(law)) = &ladder.scaling else {
        return None;
    };
    let table = Table::<&ScalingPoint>::with_prefix("scaling-")
        .column("users", Plain, |point| point.users)
        .column("measured", Whole, |point| point.measured)
        .column("fitted", Whole, |point| point.fitted)
        .column("residual", Percent, |point| point.residual_percent);
    Some((table, law.points.iter().collect()))
}

/// On the terminal.
pub(crate) fn section(m: &Messages, ladder: &Ladder) -> String {
    let mut parts = describe(m, ladder);
    if parts.is_empty() {
        return String::new();
    }
    parts.extend(table(ladder).map(|(table, rows)| table.to_text(m, &rows)));
    format!("{}\n\n", parts.join("\n"))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use plimsoll_analysis::summarise;
    use plimsoll_analysis::summary::ScalingPeak;
    use plimsoll_record::fixture;

    use super::*;

    fn ladder(scaling: Scaling) -> Ladder {
        let mut ladder = summarise(&fixture::single_point()).ladders.remove(0);
        ladder.scaling = Some(scaling);
        ladder
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
        assert_snapshot!(section(&Messages::english(), &ladder(Scaling::Fits(Box::new(law)))), @r"
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
        let m = Messages::english();
        assert!(section(&m, &ladder(Scaling::DoesNotFit { off_percent: 7.5 })).contains("7.5 %"));
        assert!(section(&m, &ladder(Scaling::TooFew { loads: 4 })).contains('4'));
        assert_eq!(section(&m, &ladder(Scaling::TooFew { loads: 1 })), "");
    }
}
