//! When members of an array or hosts of a cluster began to be rebuilt, and when they were.

use plimsoll_plan::units::Nanos;

/// What a rebuild has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RebuildProgress {
    /// A spare took the member's place.
    BegunOnSpare,
    /// What the host had is rebuilt on others.
    BegunOnOthers,
    Ended {
        began: Nanos,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildReport {
    pub at: Nanos,
    pub member: u32,
    pub progress: RebuildProgress,
}

#[derive(Debug, Clone, Copy)]
struct RebuildUnderWay {
    member: u32,
    began: Nanos,
}

/// Always: a member's rebuild that is under way ends once.
#[derive(Debug, Clone, Default)]
pub struct RebuildLog {
    under_way: Vec<RebuildUnderWay>,
    reports: Vec<RebuildReport>,
}

impl RebuildLog {
    /// Someone asked for it, and knows.
    pub fn begin(&mut self, began: Nanos, member: u32) {
        self.forget(member);
        self.under_way.push(RebuildUnderWay { member, began });
    }

    /// By itself.
    pub fn begin_by_itself(&mut self, at: Nanos, member: u32, progress: RebuildProgress) {
        self.begin(at, member);
        self.reports.push(RebuildReport {
            at,
            member,
            progress,
        });
    }

    /// The member has failed again.
    pub fn forget(&mut self, member: u32) {
        self.under_way.retain(|own| own.member != member);
    }

    pub fn end_all(&mut self, at: Nanos) {
        let ended = self.under_way.drain(..).map(|own| RebuildReport {
            at,
            member: own.member,
            progress: RebuildProgress::Ended { began: own.began },
        });
        self.reports.extend(ended);
    }

    /// What was not taken before.
    pub fn take(&mut self) -> Vec<RebuildReport> {
        std::mem::take(&mut self.reports)
    }
}
