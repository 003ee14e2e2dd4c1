//! What iostat, vmstat and mpstat sampled, from reports to times.

use plimsoll_plan::units::Nanos;
use plimsoll_record::message::ImportNote;
use plimsoll_record::metric::Metric;

use super::fault::{Fault, Read};
use super::tool::Tool;

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
    pub missing: Vec<ImportNote>,
}

/// One report of a tool, before its length is known.
#[derive(Debug, Clone, Default)]
pub(super) struct SampleReport {
    /// Since 1970.
    pub time: Option<Nanos>,
    pub values: Vec<MetricValue>,
}

#[derive(Debug, Clone)]
pub(super) struct MetricValue {
    pub device: Option<String>,
    pub metric: Metric,
    pub value: f64,
}

impl SampleReport {
    pub fn at(time: Option<Nanos>) -> Self {
        Self {
            time,
            values: Vec::new(),
        }
    }

    /// Parts of one metric (`%user` and `%nice`) add up.
    pub fn add(&mut self, device: Option<&str>, metric: Metric, value: f64) {
        let mut values = self.values.iter_mut();
        let own = values.find(|own| own.metric == metric && own.device.as_deref() == device);
        match own {
            Some(own) => own.value += value,
            None => self.values.push(MetricValue {
                device: device.map(str::to_owned),
                metric,
                value,
            }),
        }
    }
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

/// At least two reports, of which the first may be left out.
pub(super) fn at_least_two(reports: &[SampleReport], text: &str) -> Read<()> {
    if reports.len() < 2 {
        let expected =
            "at least two reports: the first is an average since the machine was started";
        return Err(Fault::end(text, expected));
    }
    Ok(())
}

impl HostSamples {
    /// Of reports in their order, each with the time at which it ended.
    pub(super) fn of_reports(tool: Tool, mut reports: Vec<SampleReport>, first: First) -> Self {
        let mut missing = Vec::new();
        let mut known = rising_times(&reports);
        match first {
            First::Interval => {
                reports.insert(0, SampleReport::default());
                known = known.map(before_first);
            }
            First::Unknown => missing.push(ImportNote::FirstReportLeftOut),
            First::Start | First::SinceBoot => {}
        }
        let started = known.as_ref().and_then(|times| times.first().copied());
        if started.is_none() {
            missing.push(ImportNote::ReportTimesUnknown);
        }
        let apart = (0..reports.len() as u64).map(Nanos::from_secs);
        let times = known.unwrap_or_else(|| apart.collect());
        let mut samples = Vec::new();
        for (report, span) in reports.iter().skip(1).zip(times.windows(2)) {
            let finite = report.values.iter().filter(|own| own.value.is_finite());
            samples.extend(finite.map(|own| HostSample {
                at: span[1].saturating_sub(times[0]),
                over: span[1].saturating_sub(span[0]),
                device: own.device.clone(),
                metric: own.metric,
                value: own.value as f32,
            }));
        }
        Self {
            tool,
            file: String::new(),
            started,
            samples,
            missing,
        }
    }
}

/// They are printed as whole seconds: where two reports share one, all count back from the last, as many whole seconds
/// apart as they are on average.
fn rising_times(reports: &[SampleReport]) -> Option<Vec<Nanos>> {
    let times: Option<Vec<Nanos>> = reports.iter().map(|report| report.time).collect();
    let times = times?;
    if times.windows(2).all(|pair| pair[0] < pair[1]) {
        return Some(times);
    }
    let first = *times.first()?;
    let last = *times.last()?;
    if first == last || !times.is_sorted() {
        return None;
    }
    let intervals = times.len() as u64 - 1;
    let average_s = last.saturating_sub(first).as_secs_f64() / intervals as f64;
    let interval = Nanos::from_secs(average_s.round().max(1.0) as u64);
    let back = (0..=intervals).rev();
    Some(
        back.map(|back| last.saturating_sub(interval * back))
            .collect(),
    )
}

/// With the time at which the first of them began: as long before it as the second came after it.
fn before_first(mut times: Vec<Nanos>) -> Vec<Nanos> {
    let first = times.first().copied().unwrap_or_default();
    let second = times.get(1).copied();
    let length = second.map_or(Nanos::SECOND, |second| second.saturating_sub(first));
    times.insert(0, first.saturating_sub(length));
    times
}
