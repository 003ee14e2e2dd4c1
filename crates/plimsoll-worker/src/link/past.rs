//! A session whose controller was killed: what it measured is read, and nothing is begun.

use plimsoll_plan::units::Nanos;

use super::intake::LaneBounds;
use crate::protocol::{Incarnation, JobId};

/// Where a run can be joined if its controller is killed: what the controller has of a session by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalAnchor {
    /// Of the session.
    pub incarnation: Incarnation,
    /// Reports that have arrived.
    pub received: u64,
    /// The session's clock minus the run's, ns.
    pub ahead: i64,
}

/// What is wanted of a session's journal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastSession {
    /// `None`: the run file has none, so all reports are read, and the host's samples are left out.
    pub anchor: Option<JournalAnchor>,
    /// The run file has the host's samples until then.
    pub sampled_until: Nanos,
    /// Jobs whose messages are wanted.
    pub jobs: Vec<PastJob>,
}

/// A job that was begun in the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PastJob {
    pub job: JobId,
    /// `None` of a plan.
    pub lane: Option<LaneBounds>,
}

/// Later times are no integers of a run file.
const LATEST: Nanos = Nanos(1 << 62);

impl PastSession {
    /// On the run's timeline.
    pub(super) fn run_time(&self, host: Nanos) -> Option<Nanos> {
        let ahead = self.anchor?.ahead;
        let at = i128::from(host.0) - i128::from(ahead);
        let at = u64::try_from(at).ok().map(Nanos);
        at.filter(|at| *at < LATEST)
    }

    /// The run's time of a sample that the run file lacks.
    pub(super) fn sample_time(&self, host: Nanos) -> Option<Nanos> {
        // Two samples are a second apart.
        let next = self.sampled_until + Nanos::from_millis(500);
        self.run_time(host).filter(|at| *at > next)
    }

    pub(super) fn received(&self) -> u64 {
        self.anchor.map_or(0, |anchor| anchor.received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_session_that_began_before_or_after_the_run_are_found() {
        let past = |ahead: i64| PastSession {
            anchor: Some(JournalAnchor {
                incarnation: Incarnation::draw(),
                received: 3,
                ahead,
            }),
            sampled_until: Nanos::from_secs(9),
            ..PastSession::default()
        };
        let second = 1_000_000_000;
        let host = Nanos::from_secs(10);
        assert_eq!(past(-2 * second).run_time(host), Some(Nanos::from_secs(12)));
        assert_eq!(past(2 * second).run_time(host), Some(Nanos::from_secs(8)));
        assert_eq!(past(11 * second).run_time(host), None);
        assert_eq!(past(-second).sample_time(host), Some(Nanos::from_secs(11)));
        assert_eq!(past(second).sample_time(host), None);
        assert_eq!(past(i64::MIN).run_time(host), None);
        assert_eq!(PastSession::default().run_time(host), None);
    }
}
