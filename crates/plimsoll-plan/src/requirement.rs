//! A limit that a figure must keep at every load: `p99<200ms`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::duration;
use crate::objective::Quantile;

/// A figure of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredFigure {
    /// Committed New-Orders per minute.
    Nopm,
    /// Completed transactions per second.
    Throughput,
    /// Requests of block I/O per second.
    Iops,
    /// MB/s of block I/O.
    Bandwidth,
    /// Transactions that failed or were dropped, in percent of those that ended.
    Failed,
    /// Of response times, in milliseconds.
    Response(Quantile),
}

impl RequiredFigure {
    const ALL: [(Self, &str); 12] = [
        (Self::Nopm, "nopm"),
        (Self::Throughput, "throughput"),
        (Self::Iops, "iops"),
        (Self::Bandwidth, "mb/s"),
        (Self::Failed, "failed"),
        (Self::Response(Quantile::Mean), "mean"),
        (Self::Response(Quantile::P50), "p50"),
        (Self::Response(Quantile::P90), "p90"),
        (Self::Response(Quantile::P95), "p95"),
        (Self::Response(Quantile::P99), "p99"),
        (Self::Response(Quantile::P999), "p99.9"),
        (Self::Response(Quantile::Max), "max"),
    ];

    /// As people write it.
    pub fn name(self) -> &'static str {
        let named = Self::ALL.into_iter().find(|(figure, _)| *figure == self);
        named.map_or("", |(_, name)| name)
    }

    fn parse(name: &str) -> Result<Self, String> {
        let name = name.trim().to_lowercase();
        let found = Self::ALL.into_iter().find(|(_, known)| *known == name);
        found.map(|(figure, _)| figure).ok_or_else(|| {
            let names = Self::ALL.map(|(_, name)| name).join(", ");
            format!("there is no figure `{name}`; there are {names}")
        })
    }

    /// Whether a higher value is better.
    pub fn is_rate(self) -> bool {
        !matches!(self, Self::Failed | Self::Response(_))
    }
}

/// A limit that a figure must keep. Written and stored as text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requirement {
    pub figure: RequiredFigure,
    /// In the figure's unit; a rate must be above it, everything else below.
    pub limit: f64,
    /// Whether the limit itself will do.
    pub or_equal: bool,
}

impl Requirement {
    /// Whether a value in the figure's unit keeps the limit.
    pub fn is_met_by(&self, value: f64) -> bool {
        let better = match self.figure.is_rate() {
            true => value > self.limit,
            false => value < self.limit,
        };
        better || (self.or_equal && value == self.limit)
    }

    /// A value as the limit is written: `200ms`, `0.1%`, `1000`.
    pub fn write_value(&self, value: f64) -> String {
        match self.figure {
            RequiredFigure::Response(_) => format!("{value}ms"),
            RequiredFigure::Failed => format!("{value}%"),
            _ => value.to_string(),
        }
    }
}

/// `Err` says what is wrong and what to write.
impl FromStr for Requirement {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let example = "write a figure and its limit, such as p99<200ms, failed<0.1% or nopm>1000";
        let at = text.find(['<', '>']).ok_or(example)?;
        let (name, rest) = text.split_at(at);
        let figure = RequiredFigure::parse(name)?;
        let is_above = rest.starts_with('>');
        if is_above != figure.is_rate() {
            let [better, sign] = match figure.is_rate() {
                true => ["higher", ">"],
                false => ["lower", "<"],
            };
            let name = figure.name();
            return Err(format!("{better} is better: write {name}{sign}LIMIT"));
        }
        let limit = &rest[1..];
        let or_equal = limit.starts_with('=');
        let limit = limit.strip_prefix('=').unwrap_or(limit).trim();
        let limit = match figure {
            RequiredFigure::Response(_) => duration::parse(limit)
                .map(|time| time.as_millis_f64())
                .map_err(|why| format!("`{limit}` {why}: write one such as 200ms or 1.5s"))?,
            RequiredFigure::Failed => {
                let percent = limit.strip_suffix('%').map(str::trim_end);
                let share = percent.and_then(number).filter(|share| *share <= 100.0);
                share
                    .ok_or_else(|| format!("`{limit}` is no percentage: write one such as 0.1%"))?
            }
            _ => number(limit)
                .ok_or_else(|| format!("`{limit}` is no number: write one such as 1000"))?,
        };
        Ok(Self {
            figure,
            limit,
            or_equal,
        })
    }
}

fn number(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (value.is_finite() && value >= 0.0).then_some(value)
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.figure.is_rate() { ">" } else { "<" };
        let equal = if self.or_equal { "=" } else { "" };
        let limit = self.write_value(self.limit);
        write!(f, "{}{sign}{equal}{limit}", self.figure.name())
    }
}

impl Serialize for Requirement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Requirement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

/// A requirement of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanRequirement {
    /// The step whose loads must keep it; `None`: all steps.
    pub step: Option<String>,
    pub requirement: Requirement,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Requirement, String> {
        text.parse()
    }

    #[test]
    fn requirements_are_written_as_people_write_them() {
        let p99 = read(" P99 <= 1.5 s ").unwrap();
        assert_eq!(
            (p99.figure, p99.limit, p99.or_equal),
            (RequiredFigure::Response(Quantile::P99), 1500.0, true)
        );
        assert_eq!(p99.to_string(), "p99<=1500ms");
        let values = [
            ("failed<0.1%", 0.1),
            ("nopm>1e4", 1e4),
            ("p99.9<500us", 0.5),
        ];
        for (text, limit) in values {
            assert_eq!(read(text).map(|own| own.limit), Ok(limit), "{text}");
        }
        for (text, why) in [
            ("p99", "write a figure and its limit"),
            ("p98<3ms", "there is no figure `p98`"),
            ("p99>3ms", "lower is better: write p99<LIMIT"),
            ("nopm<3", "higher is better: write nopm>LIMIT"),
            ("p99<200", "write one such as 200ms"),
            ("failed<0.1", "write one such as 0.1%"),
            ("failed<101%", "is no percentage"),
            ("iops>NaN", "is no number"),
            ("iops>-3", "is no number"),
            ("iops>=", "is no number"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_limit_is_kept_on_the_better_side() {
        let met = |text: &str, value: f64| read(text).unwrap().is_met_by(value);
        assert!(met("p99<200ms", 199.9) && !met("p99<200ms", 200.0) && met("p99<=200ms", 200.0));
        assert!(met("nopm>100", 101.0) && !met("nopm>100", 100.0) && met("nopm>=100", 100.0));
        assert!(!met("p99<200ms", f64::NAN) && !met("nopm>=1", f64::NAN));
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back(figure in 0..12usize, limit in 0..=100_000u32, or_equal: bool) {
            let limit = match RequiredFigure::ALL[figure].0 {
                RequiredFigure::Failed => f64::from(limit) / 1000.0,
                _ => f64::from(limit) / 8.0,
            };
            let own = Requirement { figure: RequiredFigure::ALL[figure].0, limit, or_equal };
            prop_assert_eq!(read(&own.to_string()), Ok(own));
        }

        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = read(&text);
        }
    }
}
