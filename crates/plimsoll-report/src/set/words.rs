//! What sets of runs show, in words.

use plimsoll_analysis::set::{Crossover, CrossoverFound};

use super::rows::group_name;
use crate::message::Messages;
use crate::number;
use crate::number::three;

/// From how much memory on more of it changes nothing.
pub(super) fn describe(m: &Messages, crossover: &Crossover) -> String {
    let mut args = vec![
        ("group", group_name(m, &crossover.step, &crossover.system)),
        ("load", number::load_or_rate(crossover.load)),
    ];
    let place = if crossover.others.is_empty() {
        m.text_with("set-crossover-place", &args)
    } else {
        args.push(("on", crossover.others.join(", ")));
        m.text_with("set-crossover-place-on", &args)
    };
    let place = m.in_scene(place, crossover.scene);
    format!("{place}: {}", found(m, &crossover.axis, &crossover.found))
}

fn found(m: &Messages, axis: &str, found: &CrossoverFound) -> String {
    let mut args = vec![("axis", axis.to_owned())];
    let id = match found {
        CrossoverFound::From {
            size,
            largest,
            ratio,
        } => {
            args.push(("size", size.clone()));
            args.push(("largest", largest.clone()));
            args.push(("ratio", three(*ratio)));
            "set-crossover-from"
        }
        CrossoverFound::NotReached {
            before,
            largest,
            ratio,
        } => {
            args.extend(last_step(before, largest, *ratio));
            "set-crossover-beyond"
        }
        CrossoverFound::NotDistinguished {
            before,
            largest,
            ratio,
            noise_percent,
        } => {
            args.extend(last_step(before, largest, *ratio));
            args.extend(noise_percent.map(|noise| ("noise", three(noise))));
            match noise_percent {
                Some(_) => "set-crossover-scatter",
                None => "set-crossover-scatter-unknown",
            }
        }
        CrossoverFound::NotEvaluated => "set-crossover-not-evaluated",
    };
    m.text_with(id, &args)
}

fn last_step(before: &str, largest: &str, ratio: f64) -> [(&'static str, String); 3] {
    [
        ("before", before.to_owned()),
        ("largest", largest.to_owned()),
        ("ratio", three(ratio)),
    ]
}
