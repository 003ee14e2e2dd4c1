//! The text format of Prometheus, version 0.0.4: families of samples.

use std::collections::BTreeMap;
use std::fmt::Write;

use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::{CoarseHist, coarse_bounds};

/// Shortest upper bound of a histogram's buckets; each further one is 1.5 or 1.33 times as long. All are bounds of coarse
/// buckets, too, so that no value is counted on the wrong side of one.
const SHORTEST: Nanos = Nanos(1 << 16);
/// Bounds up to 69 s.
const BOUNDS: u32 = 41;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FamilyKind {
    Counter,
    Gauge,
    Histogram,
}

impl FamilyKind {
    fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// What samples of one name mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FamilyInfo<'a> {
    pub name: &'a str,
    pub kind: FamilyKind,
    pub help: &'a str,
}

pub(crate) struct Label<'a> {
    pub name: &'static str,
    pub value: &'a str,
}

struct MetricFamily {
    kind: FamilyKind,
    help: String,
    lines: String,
}

/// Families by name, as they are written.
#[derive(Default)]
pub(crate) struct Exposition(BTreeMap<String, MetricFamily>);

impl Exposition {
    fn lines(&mut self, info: FamilyInfo<'_>) -> &mut String {
        let family = self.0.entry(info.name.to_owned());
        let family = family.or_insert_with(|| MetricFamily {
            kind: info.kind,
            help: info.help.to_owned(),
            lines: String::new(),
        });
        &mut family.lines
    }

    pub fn sample(&mut self, info: FamilyInfo<'_>, labels: &[Label<'_>], value: f64) {
        let lines = self.lines(info);
        line(lines, info.name, labels, value);
    }

    /// Times in seconds.
    pub fn histogram(&mut self, info: FamilyInfo<'_>, labels: &[Label<'_>], times: &CoarseHist) {
        let bucket = format!("{}_bucket", info.name);
        let lines = self.lines(info);
        let mut below = 0;
        let mut buckets = times.buckets().peekable();
        for bound in (0..BOUNDS).map(bound) {
            while let Some((_, count)) = buckets.next_if(|(own, _)| coarse_bounds(*own).1 <= bound)
            {
                below += count;
            }
            let bound = bound.as_secs_f64().to_string();
            line(lines, &bucket, &with_bound(labels, &bound), below as f64);
        }
        let count = times.count() as f64;
        line(lines, &bucket, &with_bound(labels, "+Inf"), count);
        let sum = times.sum() as f64 / 1e9;
        line(lines, &format!("{}_sum", info.name), labels, sum);
        line(lines, &format!("{}_count", info.name), labels, count);
    }

    pub fn into_text(self) -> String {
        let mut text = String::new();
        for (name, family) in self.0 {
            let MetricFamily { kind, help, lines } = family;
            let help = help.replace('\\', "\\\\").replace('\n', " ");
            // Writing to text does not fail.
            let _ = write!(
                text,
                "# HELP {name} {help}\n# TYPE {name} {}\n{lines}",
                kind.name()
            );
        }
        text
    }
}

fn with_bound<'a>(labels: &[Label<'a>], bound: &'a str) -> Vec<Label<'a>> {
    let own = labels.iter().map(|label| Label {
        name: label.name,
        value: label.value,
    });
    let bound = Label {
        name: "le",
        value: bound,
    };
    own.chain([bound]).collect()
}

/// 1, 1.5, 2, 3, 4, 6, … times the shortest.
fn bound(place: u32) -> Nanos {
    let octave = SHORTEST.0 << (place / 2);
    Nanos(octave + if place % 2 == 1 { octave / 2 } else { 0 })
}

fn line(lines: &mut String, name: &str, labels: &[Label<'_>], value: f64) {
    lines.push_str(name);
    for (place, label) in labels.iter().enumerate() {
        let before = if place == 0 { '{' } else { ',' };
        let value = escaped(label.value);
        // Writing to text does not fail.
        let _ = write!(lines, "{before}{}=\"{value}\"", label.name);
    }
    if !labels.is_empty() {
        lines.push('}');
    }
    let _ = writeln!(lines, " {value}");
}

fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    value.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: FamilyInfo<'_> = FamilyInfo {
        name: "t_seconds",
        kind: FamilyKind::Histogram,
        help: "Times.",
    };

    #[test]
    fn a_histogram_counts_each_value_once() {
        let mut exposition = Exposition::default();
        let times = [
            1_000,
            65_536,
            98_303,
            98_304,
            2_000_000_000,
            100_000_000_000,
        ];
        let times = CoarseHist::of(times.map(Nanos));
        exposition.histogram(TIMES, &[], &times);
        let text = exposition.into_text();
        assert!(text.starts_with("# HELP t_seconds Times.\n# TYPE t_seconds histogram\n"));
        // A bound holds what is below it: the shortest has one value, the next two more.
        assert!(text.contains("_bucket{le=\"0.000065536\"} 1\n"), "{text}");
        assert!(text.contains("_bucket{le=\"0.000098304\"} 3\n"), "{text}");
        assert!(text.contains("_bucket{le=\"0.000131072\"} 4\n"), "{text}");
        assert!(text.contains("_bucket{le=\"68.719476736\"} 5\n"), "{text}");
        assert!(text.contains("_bucket{le=\"+Inf\"} 6\n"), "{text}");
        assert!(
            text.ends_with("t_seconds_sum 102.000263143\nt_seconds_count 6\n"),
            "{text}"
        );
    }

    #[test]
    fn labels_are_escaped() {
        let mut exposition = Exposition::default();
        let info = FamilyInfo {
            name: "a",
            kind: FamilyKind::Gauge,
            help: "b\nc",
        };
        let label = Label {
            name: "l",
            value: "\"\\\n",
        };
        exposition.sample(info, &[label], 1.5);
        let expected = "# HELP a b c\n# TYPE a gauge\na{l=\"\\\"\\\\\\n\"} 1.5\n";
        assert_eq!(exposition.into_text(), expected);
    }
}
