//! A comparison as CSV: a row for each load and figure.

use std::fmt::Write as _;

use plimsoll_analysis::compare::RunComparison;
use plimsoll_analysis::summary::Interval;

use super::names;
use crate::set::quoted;

pub fn comparison_csv(comparison: &RunComparison) -> String {
    let mut out = String::from(
        "first,second,step,medium,second_medium,job,users,offered_per_second,share_percent,scene,figure,first_value,\
         second_value,ratio,ratio_low,ratio_high,effect,p,cliffs_delta,first_repeats,second_repeats,forbidden,unlike\n",
    );
    for against in &comparison.others {
        let (first, second) = names(comparison, against);
        for point in &against.points {
            let load = &point.place.load;
            let place = [
                quoted(first),
                quoted(second),
                quoted(&point.place.step),
                quoted(point.place.medium.as_deref().unwrap_or_default()),
                quoted(point.second_place.medium.as_deref().unwrap_or_default()),
                quoted(load.job.as_deref().unwrap_or_default()),
                load.users.to_string(),
                number(load.offered_per_second),
                number(load.share_percent),
                point.place.scene.name().to_owned(),
            ];
            let repeats = [
                point.first.repeats.to_string(),
                point.second.repeats.to_string(),
            ];
            let mut row = |figure: String,
                           values: [Option<f64>; 2],
                           ratio: (Option<f64>, Option<Interval>),
                           effect,
                           ranks| {
                let cells = [number(values[0]), number(values[1]), number(ratio.0)];
                let ends = [
                    number(ratio.1.map(|own| own.low)),
                    number(ratio.1.map(|own| own.high)),
                ];
                let [p, delta]: [String; 2] = ranks;
                let _ = writeln!(
                    out,
                    "{},{figure},{},{},{effect},{p},{delta},{},{},{}",
                    place.join(","),
                    cells.join(","),
                    ends.join(","),
                    repeats.join(","),
                    against.forbidden(),
                    !point.unlike.is_empty(),
                );
            };
            let ranks = [
                number(point.ranks.map(|own| own.p)),
                number(point.ranks.map(|own| own.cliffs_delta)),
            ];
            let rates = [point.first.rate, point.second.rate];
            row(
                point.figure.name().to_owned(),
                rates,
                (point.ratio, point.interval),
                point.effect.name(),
                ranks,
            );
            for own in &point.latencies {
                let name = format!("p{}_ms", (own.quantile * 1000.0).round() / 10.0);
                let ratio = (own.first_ms > 0.0).then(|| own.second_ms / own.first_ms);
                let values = [Some(own.first_ms), Some(own.second_ms)];
                row(
                    name,
                    values,
                    (ratio, own.ratio),
                    own.effect.name(),
                    [String::new(), String::new()],
                );
            }
        }
    }
    out
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
