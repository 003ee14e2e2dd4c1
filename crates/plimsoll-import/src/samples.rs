//! What iostat, vmstat and mpstat sampled, from reports to times.

use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::Metric;

use super::Tool;

/// One value over one interval.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSample {
    /// End of the interval, from [`HostSamples::started`].
    pub at: Nanos,
    pub over: Nanos,
    /// A device; `None`: the machine.
    pub device: Option<String>,
    pub metric: Metric,
    pub value: f32,
}

/// Everything in one file.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSamples {
    pub tool: Tool,
    pub file: String,
    /// Since 1970; `None` where the output has no times.
    pub started: Option<Nanos>,
    pub samples: Vec<HostSample>,
    pub unknown: Vec<(&'static str, String)>,
}

/// One report of a tool, before its length is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    /// Since 1970.
    pub time: Option<Nanos>,
    pub values: Vec<(Option<String>, Metric, f64)>,
}

/// What the first report of an output covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// No interval: it only marks the start of the next one.
    Start,
    /// The time since the machine was started: an average, which is left out.
    SinceBoot,
    /// One interval, as all others (`-y`).
    Interval,
    /// One of the last two, and nothing shows which: it is left out.
    Unknown,
}

impl HostSamples {
    /// Of reports in their order, each with the time at which it ended.
    pub(super) fn of_reports(tool: Tool, mut reports: Vec<Report>, first: First) -> Self {
        let mut own = Self {
            tool,
            file: String::new(),
            started: None,
            samples: Vec::new(),
            unknown: Vec::new(),
        };
        let mut times = times(&reports);
        if first == First::Interval {
            reports.insert(0, Report::default());
            times = times.map(before_first);
        }
        if first == First::Unknown {
            let text = "The output does not show whether its first report is an average since the machine was started \
                        or one interval (option -y): it is left out.";
            own.unknown.push(("first_report", text.to_owned()));
        }
        let zero = times.as_ref().and_then(|times| times.first().copied());
        own.started = zero;
        if zero.is_none() {
            let text = "The output has no times (option -t) that rise: reports are taken as one second apart.";
            own.unknown.push(("interval", text.to_owned()));
        }
        let time = |i: usize| match (&times, zero) {
            (Some(times), Some(zero)) => times[i].saturating_sub(zero),
            _ => Nanos::from_secs(i as u64),
        };
        for (i, report) in reports.iter().enumerate().skip(1) {
            let (at, over) = (time(i), time(i).saturating_sub(time(i - 1)));
            let finite = report
                .values
                .iter()
                .filter(|(_, _, value)| value.is_finite());
            own.samples
                .extend(finite.map(|(device, metric, value)| HostSample {
                    at,
                    over,
                    device: device.clone(),
                    metric: *metric,
                    value: *value as f32,
                }));
        }
        own
    }
}

/// Rising times of all reports. They are printed as whole seconds: where two reports share one, all count back from the
/// last, as many whole seconds apart as they are on average.
fn times(reports: &[Report]) -> Option<Vec<Nanos>> {
    let times: Vec<Nanos> = reports
        .iter()
        .map(|report| report.time)
        .collect::<Option<_>>()?;
    if times.windows(2).all(|pair| pair[0] < pair[1]) {
        return Some(times);
    }
    let (first, last) = (*times.first()?, *times.last()?);
    if first == last || !times.is_sorted() {
        return None;
    }
    let intervals = times.len() as u64 - 1;
    let average_s = last.saturating_sub(first).as_secs_f64() / intervals as f64;
    let interval = average_s.round().max(1.0) as u64;
    Some(
        (0..=intervals)
            .rev()
            .map(|back| last.saturating_sub(Nanos::from_secs(back * interval)))
            .collect(),
    )
}

/// With the time at which the first of them began: as long before it as the second came after it.
fn before_first(times: Vec<Nanos>) -> Vec<Nanos> {
    let first = times.first().copied().unwrap_or_default();
    let lasted = times
        .get(1)
        .map_or(Nanos::SECOND, |second| second.saturating_sub(first));
    std::iter::once(first.saturating_sub(lasted))
        .chain(times)
        .collect()
}
