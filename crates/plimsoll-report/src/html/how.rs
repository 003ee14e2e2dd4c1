//! How each number is computed, as far as the run has such numbers.

use plimsoll_analysis::Summary;

use crate::text;

type Term = (&'static str, &'static str);

const TPCC: [Term; 2] = [("how-nopm", "how-nopm-text"), ("how-tpm", "how-tpm-text")];
const BLOCK: [Term; 4] = [
    ("how-iops", "how-iops-text"),
    ("how-block-latency", "how-block-latency-text"),
    ("how-curve", "how-curve-text"),
    ("how-rounds", "how-rounds-text"),
];
const TIME: Term = ("how-time", "how-time-text");
const RESPONSE: Term = ("how-response", "how-response-text");
const EVERY: [Term; 2] = [
    ("how-percentile", "how-percentile-text"),
    ("how-interval", "how-interval-text"),
];
const LOAD: [Term; 3] = [
    ("how-repeats", "how-repeats-text"),
    ("how-steady", "how-steady-text"),
    ("how-line", "how-line-text"),
];
const RESOURCE: Term = ("how-resource", "how-resource-text");
const WAITS: Term = ("how-waits", "how-waits-text");

/// Term and explanation.
pub(super) fn terms(summary: &Summary) -> Vec<Term> {
    let block = !summary.blocks.is_empty();
    let load = !block || !summary.ladders.is_empty();
    let mut terms = Vec::new();
    if load && text::has_tpcc(summary) {
        terms.extend(TPCC);
    }
    terms.push(TIME);
    terms.extend(load.then_some(RESPONSE));
    terms.extend(EVERY);
    if load {
        terms.extend(LOAD);
    }
    if block {
        terms.extend(BLOCK);
    }
    terms.push(RESOURCE);
    terms.extend(load.then_some(WAITS));
    terms
}
