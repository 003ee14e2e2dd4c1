//! A database's counters as rates.

use plimsoll_plan::units::Nanos;
use plimsoll_record::metric::MetricKind;

use super::emit::Emit;
use crate::engine::insight::Reading;

/// What was read last, and when.
#[derive(Debug, Default)]
pub(super) struct CounterRates {
    last: Option<(Nanos, Reading)>,
}

impl CounterRates {
    /// Gauges as they are, rates as differences over the time since the last reading, which becomes the interval of
    /// `emit`. A counter that went back (a server that was restarted, statistics that were reset) gives no sample.
    pub fn emit(&mut self, reading: &Reading, emit: &mut Emit<'_>) {
        let last = self.last.replace((emit.at, reading.clone()));
        emit.over = last
            .as_ref()
            .map_or(Nanos::ZERO, |(at, _)| emit.at.saturating_sub(*at));
        for (metric, value) in reading {
            let old = last
                .iter()
                .flat_map(|(_, reading)| reading)
                .find(|(own, _)| own == metric);
            match metric.info().kind {
                MetricKind::Gauge => emit.put(*metric, *value),
                MetricKind::Rate => match old {
                    Some((_, old)) if value >= old => {
                        emit.put(*metric, (value - old) / emit.over.as_secs_f64())
                    }
                    _ => {}
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_record::SubjectId;
    use plimsoll_record::metric::Metric;

    use super::*;

    #[test]
    fn rates_are_differences_and_what_went_back_is_no_rate() {
        let mut counters = CounterRates::default();
        let mut at = |ms, reading: &[(Metric, f64)]| {
            let mut out = Vec::new();
            let emit = &mut Emit {
                out: &mut out,
                subject: SubjectId(1),
                at: Nanos::from_millis(ms),
                over: Nanos::ZERO,
                among: 1,
            };
            counters.emit(&reading.to_vec(), emit);
            out.into_iter()
                .map(|(_, metric, sample)| (metric, sample.value, sample.over))
                .collect::<Vec<_>>()
        };
        let commits = Metric::DbCommits;
        let connections = Metric::DbConnections;
        let syncs = Metric::DbLogSyncs;
        let first = at(1000, &[(commits, 500.0), (connections, 7.0), (syncs, 90.0)]);
        assert_eq!(first, [(connections, 7.0, Nanos::ZERO)]);
        let half = Nanos::from_millis(500);
        let second = at(1500, &[(commits, 530.0), (connections, 8.0), (syncs, 3.0)]);
        assert_eq!(second, [(commits, 60.0, half), (connections, 8.0, half)]);
        let third = at(2000, &[(commits, 530.0), (syncs, 4.0)]);
        assert_eq!(third, [(commits, 0.0, half), (syncs, 2.0, half)]);
    }
}
