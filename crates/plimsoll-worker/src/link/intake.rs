//! Checks what a worker sends, at the one place where it enters: behind it, times, counts and texts are such as a worker
//! sends, in an order that makes sense. A host whose messages are refused is lost.

use std::collections::{BTreeMap, VecDeque};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_plan::schedule::Tick;
use plimsoll_plan::units::Nanos;
use plimsoll_record::hist::Hist;
use plimsoll_record::lane::{
    Counts, LaneEnd, LaneEvent, LaneMessage, LaneSecond, LaneSpec, LateTimes, TransactionStats,
};

use crate::protocol::{
    HostFacts, HostTask, HostTime, Incarnation, JobId, PlanEnd, PlanNews, VERSION, Welcome,
    WorkerReply, WorkerReport, WorkerSample,
};

/// By any clock: later ones are no integers of the run file, or become that when they are added.
const LATEST: Nanos = Nanos(1 << 61);
/// µs since 1970, of the year 9999.
const LATEST_DATE: i64 = 253_402_300_800_000_000;
/// Of anything that is counted, in a second.
const MOST: u64 = 1 << 40;
const MOST_BYTES: u64 = 1 << 56;
const MOST_DISKS: usize = 4096;
/// Bytes of a name, a line, and of an event or a reason.
const LONGEST_NAME: usize = 256;
const LONGEST_LINE: usize = 4 << 10;
const LONGEST_TEXT: usize = 64 << 10;
/// A report may be so far ahead of what is known of the host's clock.
const AHEAD: Nanos = Nanos::from_secs(10);
/// A clock that is never set moves as ours does; one that stands still would begin nothing.
const CLOCK_STRETCH: Nanos = Nanos::from_secs(10);
/// Within the planned end of a lane all its seconds lie.
const OVERTIME: Nanos = Nanos::from_secs(3600);
/// Nothing of a lane that is to run is heard for so long, of a host that answers: it hangs.
const OVERDUE: Nanos = Nanos::from_secs(60);

type Checked = Result<(), String>;

/// What is known of one side's messages so far.
#[derive(Default)]
pub(super) struct Intake {
    /// In the past any job may have been begun.
    is_past: bool,
    pub incarnation: Option<Incarnation>,
    /// A session that has ended is shown by another process, with another clock.
    is_running: bool,
    jobs: BTreeMap<JobId, JobIntake>,
    /// Questions of this connection without an answer.
    pings: VecDeque<Nanos>,
    last: Option<HostTime>,
    /// What the clocks showed at the begin of a stretch.
    stretch: Option<ClockPair>,
}

struct ClockPair {
    controller: Nanos,
    host: Nanos,
}

#[derive(Default)]
struct JobIntake {
    lane: Option<LaneBounds>,
    is_ready: bool,
    /// By the host's clock.
    start: Option<Nanos>,
    has_started: bool,
    tick: Option<Tick>,
    meetings: u32,
    has_ended: bool,
}

/// What a lane's seconds are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneBounds {
    /// Transaction types.
    pub transactions: usize,
    /// From its start to its planned end.
    pub lasts: Nanos,
}

impl From<&LaneSpec> for LaneBounds {
    fn from(spec: &LaneSpec) -> Self {
        Self {
            transactions: spec.workload.txn_names().len(),
            lasts: spec.timeline.end(),
        }
    }
}

/// What the controller's clock and its idea of the host's show when a message arrives.
#[derive(Clone, Copy)]
pub(super) struct FrameArrival {
    pub now: Nanos,
    /// `None` before the first answer.
    pub host: Option<Nanos>,
    /// Reports that have arrived.
    pub received: u64,
}

impl Intake {
    /// Of a session that was begun in the past, as far as it is known.
    pub fn of_past(incarnation: Option<Incarnation>) -> Self {
        Self {
            is_past: true,
            incarnation,
            ..Self::default()
        }
    }

    /// Messages of this job are expected from now on.
    pub fn begin(&mut self, job: JobId, task: &HostTask) {
        let lane = match task {
            HostTask::Lane(spec) => Some(LaneBounds::from(&**spec)),
            HostTask::Plan(_) => None,
        };
        self.expect(job, lane);
    }

    pub fn expect(&mut self, job: JobId, lane: Option<LaneBounds>) {
        let own = JobIntake {
            lane,
            ..JobIntake::default()
        };
        self.jobs.insert(job, own);
    }

    pub fn start(&mut self, job: JobId, at: Nanos) {
        if let Some(job) = self.jobs.get_mut(&job) {
            job.start = Some(at);
        }
    }

    pub fn asked(&mut self, sent: Nanos) {
        self.pings.push_back(sent);
    }

    /// Of a new connection, where so many reports have been received.
    pub fn welcome(&mut self, welcome: &Welcome, received: u64) -> Checked {
        refuse_if(welcome.version != VERSION, "another version's welcome")?;
        let known = *self.incarnation.get_or_insert(welcome.incarnation);
        refuse_if(known != welcome.incarnation, "another session's welcome")?;
        refuse_if(
            welcome.reports < received,
            "fewer reports than it had sent before",
        )?;
        self.is_running = welcome.is_running;
        self.pings.clear();
        facts(&welcome.facts)
    }

    pub fn reply(&mut self, reply: &WorkerReply, arrival: FrameArrival) -> Checked {
        match reply {
            WorkerReply::Pong { sent, clock } => self.pong(*sent, *clock, arrival.now),
            WorkerReply::Numbered { number, report } => {
                refuse_if(*number != arrival.received, "reports out of their order")?;
                self.report(report, arrival)
            }
            WorkerReply::Refused { why } => text("a reason", why, LONGEST_LINE),
            WorkerReply::Welcome(_) => refuse_if(true, "a second welcome"),
            WorkerReply::Forgotten => Ok(()),
        }
    }

    fn pong(&mut self, sent: Nanos, host: HostTime, now: Nanos) -> Checked {
        let is_asked = self.pings.pop_front() == Some(sent);
        refuse_if(!is_asked, "an answer to what was not asked")?;
        if !self.is_running {
            return Ok(());
        }
        time(host.clock)?;
        refuse_if(
            !(0..=LATEST_DATE).contains(&host.date),
            "a date that cannot be",
        )?;
        let is_back = self.last.is_some_and(|last| host.clock < last.clock);
        refuse_if(is_back, "a clock that runs backwards")?;
        self.last = Some(host);
        let pair = ClockPair {
            controller: now,
            host: host.clock,
        };
        let stretch = self.stretch.get_or_insert(ClockPair { ..pair });
        // Its answer may have waited for as long as a link is silent.
        if sent > stretch.controller + CLOCK_STRETCH {
            let moved = host.clock.saturating_sub(stretch.host);
            let lasted = sent.saturating_sub(stretch.controller);
            refuse_if(moved.0 < lasted.0 / 2, "a clock that stands still")?;
            *stretch = pair;
        }
        Ok(())
    }

    fn report(&mut self, report: &WorkerReport, arrival: FrameArrival) -> Checked {
        let job = match report {
            WorkerReport::Samples(samples) => {
                return samples
                    .iter()
                    .try_for_each(|sample| self.sample(sample, arrival));
            }
            WorkerReport::Ready { job }
            | WorkerReport::Lane { job, .. }
            | WorkerReport::Plan { job, .. } => job,
        };
        let is_past = self.is_past;
        if is_past {
            self.jobs.entry(*job).or_default();
        }
        let Some(job) = self.jobs.get_mut(job) else {
            return refuse_if(true, "messages of a job that it was not given");
        };
        refuse_if(job.has_ended, "messages of a job after its end")?;
        match report {
            WorkerReport::Samples(_) => Ok(()),
            WorkerReport::Ready { .. } => {
                let is_again = job.is_ready && !is_past;
                job.is_ready = true;
                refuse_if(is_again, "that a job is ready once more")
            }
            WorkerReport::Lane { message, .. } => job.lane(message, is_past, arrival),
            WorkerReport::Plan { news, .. } => job.plan(news, is_past),
        }
    }

    fn sample(&self, sample: &WorkerSample, arrival: FrameArrival) -> Checked {
        text("the name of a metric", &sample.metric, LONGEST_NAME)?;
        if let Some(disk) = &sample.disk {
            text("the name of a disk", disk, LONGEST_NAME)?;
        }
        refuse_if(
            !sample.value.is_finite(),
            "a sample without a finite number",
        )?;
        past(sample.at, arrival, self.is_past)?;
        refuse_if(
            sample.over > sample.at + AHEAD,
            "a sample over more than its session's time",
        )
    }

    /// Why a host that answers is lost all the same: a lane of its is not going on.
    pub fn overdue(&self, host: Nanos) -> Option<&'static str> {
        let is_overdue = |job: &JobIntake| {
            let reached = job.tick.map_or(Nanos::ZERO, |tick| tick.end);
            let due = job.start.map(|start| start + reached + OVERDUE);
            job.lane.is_some() && !job.has_ended && due.is_some_and(|due| host > due)
        };
        let is_any = self.jobs.values().any(is_overdue);
        is_any.then_some("it answers, and reports nothing more of its load")
    }
}

impl JobIntake {
    fn lane(&mut self, message: &LaneMessage, is_past: bool, arrival: FrameArrival) -> Checked {
        match message {
            LaneMessage::Started { at } => {
                time(*at)?;
                let is_due = !self.has_started && self.start == Some(*at);
                self.has_started = true;
                refuse_if(
                    !is_due && !is_past,
                    "a start that it was not given the time of",
                )
            }
            LaneMessage::Second(second) => {
                let is_due = self.has_started || is_past;
                refuse_if(!is_due, "a second of a load that has not started")?;
                self.second(second)?;
                match self.start {
                    Some(start) => past(start + second.tick.end, arrival, is_past),
                    None => Ok(()),
                }
            }
            LaneMessage::Event(event) => self.event(event),
            LaneMessage::Acknowledged(_) => refuse_if(true, "counts of a power cut"),
            LaneMessage::Ended(end) => {
                self.has_ended = true;
                match end {
                    LaneEnd::Failed(why) => text("a reason", why, LONGEST_TEXT),
                    LaneEnd::DiskFull { place, why } => {
                        text("a place", place, LONGEST_LINE)?;
                        text("a reason", why, LONGEST_TEXT)
                    }
                    LaneEnd::Complete | LaneEnd::Closed | LaneEnd::Stopped => Ok(()),
                }
            }
        }
    }

    fn longest(&self) -> Nanos {
        self.lane.map_or(LATEST, |lane| lane.lasts + OVERTIME)
    }

    fn second(&mut self, second: &LaneSecond) -> Checked {
        let Tick { start, end, phase } = second.tick;
        let is_after = self
            .tick
            .is_none_or(|last| start >= last.end && phase >= last.phase);
        let is_tick = start <= end && end <= self.longest() && phase.is_under_load();
        refuse_if(
            !is_after || !is_tick,
            "a second that does not follow the one before",
        )?;
        self.tick = Some(second.tick);
        let types = second.tallies.len();
        let is_whole = self.lane.is_none_or(|lane| types == lane.transactions);
        refuse_if(
            !is_whole,
            "a second with other transactions than its load has",
        )?;
        second.tallies.iter().try_for_each(tally)?;
        self.times(second)?;
        count(second.in_flight)?;
        count(second.late)?;
        count(second.overflow)?;
        let waits = [
            second.merge_lag,
            second.absence.server,
            second.absence.connections,
        ];
        refuse_if(
            waits.iter().any(|wait| wait.0 > MOST_BYTES),
            "a wait that is longer than any",
        )
    }

    fn times(&self, second: &LaneSecond) -> Checked {
        let types = second.tallies.len();
        let is_known = |late: &LateTimes| {
            let LateTimes { place, tallies } = late;
            let has_counts = tallies.iter().any(|own| own.counts != Counts::default());
            place.phase.is_under_load()
                && place.phase <= second.tick.phase
                && tallies.len() == types
                && !has_counts
        };
        refuse_if(
            !second.earlier.iter().all(is_known),
            "times of a second that was not before",
        )?;
        second
            .tallies
            .iter()
            .enumerate()
            .try_for_each(|(txn, own)| {
                let earlier = second.earlier.iter().map(|late| &late.tallies[txn]);
                let all: Vec<&TransactionStats> = std::iter::once(own).chain(earlier).collect();
                expect_times(own.counts.completed(), &all)
            })
    }

    fn event(&self, event: &LaneEvent) -> Checked {
        refuse_if(event.at > self.longest(), "an event after its load")?;
        let written = serde_json::to_vec(&event.kind).map_or(usize::MAX, |text| text.len());
        refuse_if(
            written > LONGEST_TEXT,
            "an event that is longer than 64 KiB",
        )
    }

    fn plan(&mut self, news: &PlanNews, is_past: bool) -> Checked {
        match news {
            PlanNews::Progress(line) => text("progress", line, LONGEST_LINE),
            PlanNews::Meeting { number, what } => {
                let is_next = *number == self.meetings || is_past;
                self.meetings = number.saturating_add(1);
                refuse_if(!is_next, "meetings out of their order")?;
                text("a meeting", what, LONGEST_LINE)
            }
            PlanNews::FilePart(part) => refuse_if(
                STANDARD.decode(part).is_err(),
                "a part of its run file that is no base64",
            ),
            PlanNews::Ended(end) => {
                self.has_ended = true;
                match end {
                    PlanEnd::Failed(why) => text("a reason", why, LONGEST_TEXT),
                    PlanEnd::Complete | PlanEnd::Incomplete => Ok(()),
                }
            }
        }
    }
}

fn refuse_if(is_wrong: bool, what: &str) -> Checked {
    match is_wrong {
        true => Err(format!("it sent {what}")),
        false => Ok(()),
    }
}

fn text(what: &str, text: &str, longest: usize) -> Checked {
    match text.len() > longest {
        true => Err(format!("it sent {what} of {} bytes", text.len())),
        false => Ok(()),
    }
}

fn facts(facts: &HostFacts) -> Checked {
    let HostFacts {
        host_name,
        kernel,
        architecture,
        processors: _,
        program,
        disks,
    } = facts;
    refuse_if(disks.len() > MOST_DISKS, "more disks than a host has")?;
    let names = [host_name, kernel, architecture, program].into_iter();
    names.chain(disks).try_for_each(|name| {
        text("a name", name, LONGEST_NAME)?;
        refuse_if(
            name.chars().any(char::is_control),
            "a name with control characters",
        )
    })
}

fn time(at: Nanos) -> Checked {
    refuse_if(at > LATEST, "a time that no clock shows")
}

/// Of a host's clock that is known: nothing has happened that is still to come.
fn past(at: Nanos, arrival: FrameArrival, is_past: bool) -> Checked {
    time(at)?;
    let is_known = arrival.host.filter(|_| !is_past);
    let is_future = is_known.is_some_and(|now| at > now + AHEAD);
    refuse_if(is_future, "a time that is still to come")
}

fn count(n: u64) -> Checked {
    refuse_if(n > MOST, "a count that is higher than any")
}

fn tally(stats: &TransactionStats) -> Checked {
    let Counts {
        offered,
        committed,
        rolled_back,
        failed,
        dropped,
        retries,
        round_trips,
        bytes,
    } = stats.counts;
    for n in [
        offered,
        committed,
        rolled_back,
        failed,
        dropped,
        retries,
        round_trips,
    ] {
        count(n)?;
    }
    refuse_if(bytes > MOST_BYTES, "a count that is higher than any")?;
    Ok(())
}

/// A second has the times of all transactions that it counts as completed, and a service time of no other.
fn expect_times(completed: u64, stats: &[&TransactionStats]) -> Checked {
    let times = |hist: fn(&TransactionStats) -> &Hist| {
        let counts = stats.iter().map(|own| hist(own).finished());
        counts.fold(0, u64::saturating_add)
    };
    let counted = [times(|own| &own.response), times(TransactionStats::service)];
    refuse_if(
        counted.iter().any(|n| *n != completed),
        "a histogram of other transactions than it counts",
    )
}

#[cfg(test)]
mod tests;
