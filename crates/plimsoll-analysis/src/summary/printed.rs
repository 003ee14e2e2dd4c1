//! Latencies that other tools printed, by what they mean: no histogram is behind them, and rules may compare them.

use plimsoll_record::{PointId, Record, Reported};

/// Names of a mean, as tools print it.
const MEANS: [&str; 4] = ["avg", "average", "mean", "resp"];
/// sysbench's and fio's buckets are up to 1.8 % wide.
const BUCKET_PERCENT: f64 = 2.0;

/// Latencies that a tool printed of one kind of transaction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PrintedLatencies {
    /// Empty: all transactions.
    pub txn: String,
    /// What they are of: `clat_ns`, `latency`; may be empty.
    family: String,
    pub mean_ms: Option<f64>,
    /// With the share of transactions that did not take longer, from the minimum (0) to the maximum (1).
    pub percentiles: Vec<PrintedPercentile>,
    /// Half a unit of the last printed digit, in percent of the value, of the figure where it is most.
    pub rounding_percent: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PrintedPercentile {
    pub name: String,
    pub share: f64,
    pub ms: f64,
}

enum Meaning {
    Mean,
    Share(f64),
}

/// What a figure is of, and what it means.
struct PrintedName<'a> {
    family: &'a str,
    meaning: Meaning,
}

/// `latency avg`, `clat_ns 99.99 %`, `P99`, `p99_ms`, `95th`, `Percentile 99`, `read_max`.
fn parse(name: &str) -> Option<PrintedName<'_>> {
    let name = name.trim_end_matches(" %").trim_end_matches(" percentile");
    let at = name.rfind([' ', '_']).filter(|_| !name.ends_with("_ms"));
    let (family, key) = match at {
        Some(at) => (&name[..at], &name[at + 1..]),
        None => ("", name),
    };
    let key = key.to_ascii_lowercase();
    let meaning = match key.trim_end_matches("_ms") {
        "min" | "minimum" => Meaning::Share(0.0),
        "max" | "maximum" => Meaning::Share(1.0),
        own if MEANS.contains(&own) => Meaning::Mean,
        own => Meaning::Share(share(own)?),
    };
    Some(PrintedName { family, meaning })
}

/// `99.9`, `p99`, `95th`.
fn share(key: &str) -> Option<f64> {
    let digits = key.strip_prefix('p').unwrap_or(key);
    let digits = digits.trim_end_matches(char::is_alphabetic);
    let percent: f64 = digits.parse().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}

fn factor_to_ms(unit: &str) -> Option<f64> {
    match unit {
        "ms" => Some(1.0),
        "us" => Some(1e-3),
        "ns" => Some(1e-6),
        _ => None,
    }
}

impl PrintedLatencies {
    /// Of the whole time of a point.
    pub fn of_point(record: &Record, point: PointId) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        let own = record.reported.iter().filter(|own| own.point == point);
        for figure in own.filter(|own| own.over.is_none() && own.value > 0.0) {
            let Some((named, factor)) = parse(&figure.name).zip(factor_to_ms(&figure.unit)) else {
                continue;
            };
            let place = all
                .iter()
                .position(|known| known.txn == figure.txn && known.family == named.family);
            let place = place.unwrap_or_else(|| {
                all.push(Self::empty(figure, named.family));
                all.len() - 1
            });
            all[place].add(figure, named.meaning, factor);
        }
        all.iter_mut().for_each(Self::sort);
        all
    }

    fn empty(figure: &Reported, family: &str) -> Self {
        Self {
            txn: figure.txn.clone(),
            family: family.to_owned(),
            mean_ms: None,
            percentiles: Vec::new(),
            rounding_percent: BUCKET_PERCENT,
        }
    }

    fn add(&mut self, figure: &Reported, meaning: Meaning, factor: f64) {
        let ms = figure.value * factor;
        let decimals = figure.printed.split_once('.').map_or(0, |own| own.1.len());
        let half_digit = 0.5 / 10f64.powi(decimals.min(300) as i32);
        let rounding_percent = half_digit / figure.value * 100.0;
        self.rounding_percent = self.rounding_percent.max(rounding_percent);
        match meaning {
            Meaning::Mean => self.mean_ms = Some(ms),
            Meaning::Share(share) => self.percentiles.push(PrintedPercentile {
                name: figure.name.clone(),
                share,
                ms,
            }),
        }
    }

    fn sort(&mut self) {
        self.percentiles.sort_by(|a, b| a.share.total_cmp(&b.share));
    }
}

/// The printed mean of all transactions of a type (empty: of all types), with its rounding in percent. fio's is that from
/// submission to completion, where it prints several.
pub(crate) fn mean_ms(all: &[PrintedLatencies], txn: &str) -> Option<PrintedMean> {
    let own = all.iter().filter(|own| own.txn == txn);
    // Lateness and handing over are parts of a response.
    let responses = own.filter(|own| own.family != "schedule lag" && own.family != "slat_ns");
    let means = responses.filter_map(|own| {
        Some(PrintedMean {
            ms: own.mean_ms?,
            rounding_percent: own.rounding_percent,
        })
    });
    means.max_by(|a, b| a.ms.total_cmp(&b.ms))
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PrintedMean {
    pub ms: f64,
    pub rounding_percent: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(name: &str, printed: &str, unit: &str) -> Reported {
        Reported {
            point: PointId(1),
            source: "a tool".to_owned(),
            txn: String::new(),
            name: name.to_owned(),
            value: printed.parse().unwrap(),
            printed: printed.to_owned(),
            unit: unit.to_owned(),
            over: None,
        }
    }

    #[test]
    fn names_of_all_tools_have_their_meaning() {
        let meaning = |name: &str| {
            let PrintedName { family, meaning } = parse(name)?;
            Some((
                family.to_owned(),
                match meaning {
                    Meaning::Mean => -1.0,
                    Meaning::Share(share) => share,
                },
            ))
        };
        for (name, family, share) in [
            ("latency average", "latency", -1.0),
            ("latency avg", "latency", -1.0),
            ("latency 95th percentile", "latency", 0.95),
            ("clat_ns mean", "clat_ns", -1.0),
            ("clat_ns 99.99 %", "clat_ns", 0.9999),
            ("P99", "", 0.99),
            ("AVG", "", -1.0),
            ("p95_ms", "", 0.95),
            ("avg_ms", "", -1.0),
            ("99.9th", "", 0.999),
            ("Percentile 99.9", "Percentile", 0.999),
            ("resp", "", -1.0),
            ("resp_max", "resp", 1.0),
            ("schedule lag max", "schedule lag", 1.0),
        ] {
            let (own, found) = meaning(name).unwrap_or_else(|| panic!("{name}"));
            assert_eq!(own, family, "{name}");
            assert!((found - share).abs() < 1e-9, "{name}: {found}");
        }
        for name in [
            "tps",
            "elapsed_ms",
            "latency stddev",
            "initial connection time",
            "iops",
        ] {
            assert_eq!(meaning(name), None, "{name}");
        }
    }

    #[test]
    fn a_mean_has_the_rounding_of_its_digits() {
        let mut own = PrintedLatencies::empty(&figure("latency avg", "0.04", "ms"), "latency");
        own.add(&figure("latency avg", "0.04", "ms"), Meaning::Mean, 1.0);
        let mean = mean_ms(&[own], "").unwrap();
        assert_eq!(mean.ms, 0.04);
        assert!((mean.rounding_percent - 12.5).abs() < 1e-9, "{mean:?}");
    }
}
