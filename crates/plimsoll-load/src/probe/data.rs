//! The size of a database's files, looked up only as often as that costs next to nothing.

use std::io;
use std::path::PathBuf;

use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::message::event::Figures;
use plimsoll_record::metric::Metric;

use super::emit::Emit;
use super::source::Warnings;
use crate::scratch::data_size as size;

/// Spreads something costly so that all that is as costly takes at most 0.1 % of one core together: after a cost of `c`,
/// one of `n` rests for `1000 * c * n`, at least until the next second and at most half a minute.
#[derive(Debug, Default)]
pub(super) struct Rest {
    until: Nanos,
    last: Option<Nanos>,
}

impl Rest {
    const SHARE: u64 = 1000;
    const LONGEST: Nanos = Nanos::from_secs(30);
    /// A sample comes up to this much earlier than a whole interval after a late one.
    const SLACK: Nanos = Nanos::from_millis(500);

    pub fn is_over(&self, now: Nanos) -> bool {
        now >= self.until
    }

    /// Starts the rest; gives the time since the last start, zero at the first.
    pub fn start(&mut self, now: Nanos, cost: Nanos, among: u64) -> Nanos {
        let rest = Nanos(
            cost.0
                .saturating_mul(Self::SHARE)
                .saturating_mul(among.max(1)),
        );
        let rest = rest.min(Self::LONGEST).saturating_sub(Self::SLACK);
        self.until = Nanos(now.0.saturating_add(rest.0));
        self.last
            .replace(now)
            .map_or(Nanos::ZERO, |last| now.saturating_sub(last))
    }
}

/// CPU time of this thread so far.
pub(super) fn thread_cpu() -> Nanos {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let s = u64::try_from(time.tv_sec).unwrap_or(0);
    let ns = u64::try_from(time.tv_nsec).unwrap_or(0);
    Nanos(s.saturating_mul(Nanos::SECOND.0).saturating_add(ns))
}

/// A directory, or a file with its siblings.
#[derive(Debug)]
pub(super) struct DataProbe {
    path: PathBuf,
    rest: Rest,
}

impl DataProbe {
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            rest: Rest::default(),
        }
    }

    pub fn sample(&mut self, warnings: &mut Warnings, emit: &mut Emit<'_>) {
        if !self.rest.is_over(emit.at) {
            return;
        }
        let started = thread_cpu();
        let size = size(&self.path);
        let over = self
            .rest
            .start(emit.at, thread_cpu().saturating_sub(started), emit.among);
        match size {
            Ok(size) => emit.put_over(Metric::SystemData, over, size.0 as f64),
            Err((path, error)) => {
                warnings.unreadable(emit.subject, path.display(), &error, Figures::DataSize)
            }
        }
    }
}

/// Files that something writes just now. They are few, and what is asked is how they grow from second to second, so they
/// are listed each time.
#[derive(Debug)]
pub(super) struct Growth {
    path: PathBuf,
    last: Option<Bytes>,
}

impl Growth {
    pub fn new(path: PathBuf) -> Self {
        Self { path, last: None }
    }

    pub fn sample(&mut self, warnings: &mut Warnings, emit: &mut Emit<'_>) {
        match size(&self.path) {
            Ok(size) => {
                // Files that were removed or cut are no growth.
                if let (Some(last), true) = (self.last.replace(size), emit.over > Nanos::ZERO) {
                    emit.per_second(Metric::BackupWritten, size.0.saturating_sub(last.0));
                }
            }
            // It has been removed already.
            Err((_, error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err((path, error)) => {
                warnings.unreadable(emit.subject, path.display(), &error, Figures::BackupWrites)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_costs_much_rests_long() {
        let second = Nanos::SECOND;
        let mut rest = Rest::default();
        assert!(rest.is_over(Nanos::ZERO));
        assert_eq!(rest.start(second, Nanos::from_micros(900), 1), Nanos::ZERO);
        assert!(rest.is_over(second * 2));
        assert_eq!(rest.start(second * 2, Nanos::from_micros(2_500), 2), second);
        assert!(!rest.is_over(second * 6));
        assert!(rest.is_over(second * 7));
        rest.start(second * 7, Nanos(u64::MAX), 3);
        assert!(rest.is_over(second * 37));
    }
}
