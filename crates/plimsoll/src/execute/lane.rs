//! Lanes that run at the same time, and what stops them: Ctrl-C, a full disk, a dead server, the failure of an
//! emulated drive or of its power.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use futures_util::future::{join, join_all};
use plimsoll_drive::member_changes::loses_data;
use plimsoll_load::clock::Clock;
use plimsoll_load::engine::LoadControl;
use plimsoll_load::engine::password::with_password_of_environment;
use plimsoll_load::error::SERVERS_DISK;
use plimsoll_load::probe::{Probe, Watch};
use plimsoll_load::runner::{Gate, run_lane_together};
use plimsoll_plan::member_event::{MemberChange, MemberEvent};
use plimsoll_plan::units::Nanos;
use plimsoll_record::Point;
use plimsoll_record::lane::{LaneControl, LaneEnd, LaneMessage, LaneSpec};
use plimsoll_virtual::vfs::VirtualMount;
use plimsoll_worker::fleet::run_lane_on;
use plimsoll_worker::link::Link;
use plimsoll_worker::protocol::JobId;
use plimsoll_worker::session::Together;
use tokio::sync::{mpsc, watch};

use super::backup::{NoiseJob, at_once, merge_results, noise_workers};
use super::drives::MountedDrive;
use super::error::{RunError, StepResult};
use super::execution::{Execution, Parts};
use super::hosts::START_LEAD;
use super::inbox::DriveMessage;
use super::recorder::{LaneRecorder, LaneResult, PowerOff, StartTime};
use super::running::{InstanceId, Running};
use super::wait::{ProgressUnit, RunSink, Tasks, Waiter};
use crate::signals::Interrupt;

/// How often a server started by plimsoll is checked.
const POLL_INTERVAL: Nanos = Nanos::from_millis(250);

/// What one lane does.
pub(super) struct LaneTask {
    pub instance: InstanceId,
    pub spec: LaneSpec,
    pub point: Point,
    pub title: String,
    /// What happens to members of the medium's array.
    pub events: Vec<MemberEvent>,
    /// The hosts that share its load; none: it comes from here.
    pub from: Vec<Arc<Link>>,
    /// Its number for them.
    pub job: JobId,
}

/// What runs at the same time.
pub(super) struct PointTasks {
    pub lanes: Vec<LaneTask>,
    /// Backups of neighbours.
    pub noise: Vec<NoiseJob>,
}

/// A lane that is over.
pub(super) struct EndedLane {
    pub task: LaneTask,
    pub result: LaneResult,
}

impl EndedLane {
    /// A power cut explains a disk that cannot be written.
    pub fn ran_full(&self) -> bool {
        matches!(self.result.end, LaneEnd::DiskFull { .. }) && self.result.power_off.is_none()
    }
}

/// Result of a point.
pub(super) struct PointResult {
    /// In the order of the tasks.
    pub lanes: Vec<EndedLane>,
    /// Of the neighbours' backups.
    pub noise: StepResult<()>,
}

impl Execution<'_> {
    /// Measures one point: all lanes start together, neighbours' backups run beside them. With a power cut, which takes a
    /// single lane, the drive's power fails at the end of the measurement.
    pub(super) fn measure_point(&mut self, tasks: PointTasks) -> StepResult<PointResult> {
        let parts = self.parts();
        let start = StartTime::default();
        let lanes = Lanes::of(tasks.lanes, &parts, &start)?;
        let mut backups = noise_workers(tasks.noise, &parts, &start)?;
        let sink = RefCell::new(parts.sink);
        if let Clock::Virtual(_) = parts.clock {
            let control = LoadControl::default();
            let noise = join_all(backups.iter_mut().map(|backup| backup.run(&control)));
            let (lanes, noise) = lanes.run_beside(parts.clock, &sink, noise, &control)?;
            return Ok(PointResult {
                lanes,
                noise: merge_results(noise),
            });
        }
        std::thread::scope(|scope| {
            let backups = backups
                .into_iter()
                .map(|mut backup| move |control: &LoadControl| at_once(backup.run(control)));
            let backups = Tasks::start(scope, backups);
            let lanes = lanes.run(parts.clock, &sink)?;
            if !lanes.iter().all(|lane| lane.result.is_complete()) {
                backups.cancel();
            }
            // Half a backup has no duration: those under way at the end of the measurement finish.
            let noise = backups.join(&mut Waiter {
                sink: &mut sink.borrow_mut(),
                interrupt: parts.interrupt,
                clock: parts.clock,
                what: "waiting for the backups that are under way",
                counted: ProgressUnit::Nothing,
            })?;
            Ok(PointResult {
                lanes,
                noise: merge_results(noise),
            })
        })
    }
}

/// The lanes of one point.
struct Lanes<'a> {
    lanes: Vec<PointLane<'a>>,
    gate: Gate,
    together: Option<&'a Together>,
}

impl<'a> Lanes<'a> {
    fn of(tasks: Vec<LaneTask>, parts: &Parts<'a>, start: &StartTime) -> StepResult<Self> {
        let lead = match tasks.iter().any(|task| !task.from.is_empty()) {
            true => START_LEAD,
            false => Nanos::ZERO,
        };
        let others = u32::from(parts.together.is_some());
        let gate = Gate::with_lead(tasks.len() as u32 + others, lead);
        let disk_full = FullDiskSignal::default();
        let mut lanes = Vec::new();
        for task in tasks {
            lanes.push(PointLane {
                shows_progress: lanes.is_empty(),
                running: parts.running.get(task.instance)?,
                drive: task
                    .instance
                    .medium
                    .and_then(|medium| parts.drives.get(&medium)),
                simulated: task
                    .instance
                    .medium
                    .and_then(|medium| parts.simulated.get(&medium)),
                from_drives: parts.sink.inbox.from_drives.clone(),
                probe: parts.probe,
                clock: parts.clock,
                orders: Orders::of(parts.interrupt),
                start: start.clone(),
                gate: gate.clone(),
                disk_full: disk_full.clone(),
                data_lost: Cell::new(false),
                task,
            });
        }
        Ok(Self {
            lanes,
            gate,
            together: parts.together,
        })
    }

    /// Runs all lanes to their ends. They are tasks of this thread, their users' threads are their own.
    fn run(self, clock: &Clock, sink: &RefCell<RunSink<'_>>) -> StepResult<Vec<EndedLane>> {
        let nothing = std::future::ready(());
        let (lanes, ()) = self.run_beside(clock, sink, nothing, &LoadControl::default())?;
        Ok(lanes)
    }

    /// As [`Self::run`], beside other work of virtual time, which is canceled where a lane does not come to its end.
    fn run_beside<T>(
        self,
        clock: &Clock,
        sink: &RefCell<RunSink<'_>>,
        beside: impl Future<Output = T>,
        control: &LoadControl,
    ) -> StepResult<(Vec<EndedLane>, T)> {
        let lanes = self.lanes.iter().map(|lane| lane.run(sink));
        let lanes = async {
            let results = join_all(lanes).await;
            let is_complete =
                |own: &StepResult<LaneResult>| own.as_ref().is_ok_and(LaneResult::is_complete);
            if !results.iter().all(is_complete) {
                control.cancel();
            }
            results
        };
        let work = async {
            tokio::select! {
                biased;
                results = join(lanes, beside) => results,
                never = self.start_with_others(clock) => never,
            }
        };
        let (results, others) = clock
            .block_on(work)
            .map_err(|error| RunError::failed(format!("no runtime for the lanes: {error}")))?;
        let tasks = self.lanes.into_iter().map(|lane| lane.task);
        let lanes: StepResult<Vec<EndedLane>> = tasks
            .zip(results)
            .map(|(task, result)| result.map(|result| EndedLane { task, result }))
            .collect();
        Ok((lanes?, others))
    }
}

impl Lanes<'_> {
    /// Opens the gate when all hosts that run the same plan have come to it. Never returns.
    async fn start_with_others<T>(&self, clock: &Clock) -> T {
        if let (Some(together), Some(first)) = (self.together, self.lanes.first()) {
            self.gate.others().await;
            let at = together.meet(&first.task.title).await;
            self.gate.open(clock, at);
        }
        pending().await
    }
}

/// One lane, with what it runs on and what can stop it.
struct PointLane<'a> {
    /// More members of the drive's array or cluster failed than it can do without.
    data_lost: Cell<bool>,
    task: LaneTask,
    /// One of the point's lanes does.
    shows_progress: bool,
    running: &'a Running,
    drive: Option<&'a MountedDrive>,
    simulated: Option<&'a VirtualMount>,
    from_drives: Sender<DriveMessage>,
    probe: Option<&'a Probe>,
    clock: &'a Clock,
    orders: Orders,
    /// Shared by the lanes of a point, like the two below.
    start: StartTime,
    gate: Gate,
    disk_full: FullDiskSignal,
}

/// What stops a lane before its end, other than Ctrl-C.
enum StopCause {
    PowerCut(Result<PowerOff, String>),
    /// The log of the lane's server reports a full disk, in this line.
    NoSpace(String),
    /// Found out from the drive, the server or the other lane after the end.
    FoundLater,
}

impl PointLane<'_> {
    /// Until its last message is recorded.
    async fn run(&self, sink: &RefCell<RunSink<'_>>) -> StepResult<LaneResult> {
        let (out, messages) = mpsc::channel(256);
        let mut recorder = LaneRecorder::new(
            sink,
            &self.task.point,
            self.task.spec.timeline.clone(),
            &self.task.title,
            self.start.clone(),
        );
        recorder.shows_progress = self.shows_progress;
        let lane = self.drive(out);
        let recorded =
            async { tokio::join!(lane, recorder.record(messages, self.orders.of_user())).1 };
        let mut cause = None;
        let stopped = async {
            cause = Some(self.stop_cause().await);
            self.orders.stop();
        };
        let events = self.member_events();
        let work = self.orders.beside(recorded, stopped);
        let mut result = self.orders.with_events(work, events).await?;
        match cause {
            Some(StopCause::PowerCut(cut)) => {
                result.power_off = Some(cut.map_err(RunError::failed)?);
            }
            Some(StopCause::NoSpace(why)) => {
                let place = SERVERS_DISK.into();
                result.end = LaneEnd::DiskFull { place, why };
            }
            Some(StopCause::FoundLater) | None => {}
        }
        self.disk_full.note(&result.end);
        result.data_lost = self.data_lost.get();
        Ok(result)
    }

    /// Here, or on the hosts that share its load.
    async fn drive(&self, out: mpsc::Sender<LaneMessage>) {
        let spec = self.task.spec.clone();
        let clock = self.clock.clone();
        let orders = self.orders.of_lane();
        let gate = self.gate.clone();
        let from = &self.task.from;
        if from.is_empty() {
            run_lane_together(spec, clock, orders, out, gate).await;
        } else {
            let spec = LaneSpec {
                endpoint: with_password_of_environment(spec.endpoint),
                ..spec
            };
            run_lane_on(from, self.task.job, spec, clock, orders, out, gate).await;
        }
    }

    /// What happens to members of the drive's array, when the plan has it.
    async fn member_events(&self) -> StepResult<()> {
        if self.task.events.is_empty() {
            return Ok(());
        }
        let begins = self.start.wait().await + self.task.spec.timeline.warm;
        for event in &self.task.events {
            let MemberEvent { at, change } = *event;
            self.clock.sleep_until(begins + at).await;
            let data_lost = match (self.drive, self.simulated) {
                (Some(drive), _) => drive
                    .child
                    .change_member(change)
                    .map_err(|error| RunError::failed(error.to_string()))?,
                (None, Some(mount)) => self.change_simulated_member(mount, change)?,
                (None, None) => false,
            };
            self.data_lost.set(self.data_lost.get() || data_lost);
        }
        Ok(())
    }

    /// Whether data are lost by that.
    fn change_simulated_member(
        &self,
        mount: &VirtualMount,
        change: MemberChange,
    ) -> StepResult<bool> {
        let event = mount.drive().change_member(change).ok_or_else(|| {
            RunError::failed(format!(
                "this cannot happen to the drive now: {}",
                change.keys().join(", ")
            ))
        })?;
        let data_lost = loses_data(&event);
        if data_lost {
            mount.lose_data();
        }
        if let Some(subject) = self.running.medium {
            let message = DriveMessage::Warning {
                subject,
                at: self.clock.now(),
                kind: event,
            };
            // The inbox lives as long as the run.
            let _ = self.from_drives.send(message);
        }
        Ok(data_lost)
    }

    async fn stop_cause(&self) -> StopCause {
        tokio::select! {
            // First: a power cut ends the server, too.
            biased;
            cause = self.drive_fails() => cause,
            line = self.server_lacks_space() => StopCause::NoSpace(line),
            () = self.server_dies() => StopCause::FoundLater,
            () = self.disk_full.given() => StopCause::FoundLater,
        }
    }

    async fn drive_fails(&self) -> StopCause {
        let cut = self.task.spec.power_cut;
        match (self.drive, self.simulated) {
            (_, Some(mount)) if cut => StopCause::PowerCut(self.cut_simulated_power(mount).await),
            (Some(drive), _) if cut => StopCause::PowerCut(self.cut_power(drive).await),
            (Some(drive), _) => {
                drive.ended().await;
                StopCause::FoundLater
            }
            (None, _) => pending().await,
        }
    }

    /// At a moment that no transaction knows. Sessions get errors until they are stopped.
    async fn cut_simulated_power(&self, mount: &VirtualMount) -> Result<PowerOff, String> {
        let start = self.start.wait().await;
        let end = start + self.task.spec.timeline.load_end();
        self.clock.sleep_until(end).await;
        let seed = self.task.spec.seed.load ^ u64::from(self.task.point.id.0);
        let lost = mount.power_off(seed).map_err(|error| error.to_string())?;
        Ok(PowerOff { at: end, lost })
    }

    /// Cuts the drive's power first, while the database works; then kills the database's processes with their unwritten
    /// data. Both block this thread for some ten milliseconds, in which the lane only waits to be stopped.
    async fn cut_power(&self, drive: &MountedDrive) -> Result<PowerOff, String> {
        let start = self.start.wait().await;
        tokio::select! {
            () = self.clock.sleep_until(start + self.task.spec.timeline.load_end()) => {}
            () = drive.ended() => return Err(drive.died().unwrap_or_default()),
        }
        // The probe would report the end of its processes.
        if let Some(probe) = self.probe {
            probe.unwatch(self.running.subject);
        }
        let at = self.clock.now();
        let lost = drive.power_off().map_err(|error| error.to_string())?;
        let crashed = self.running.instance.crash();
        crashed.map_err(|error| error.to_string())?;
        Ok(PowerOff { at, lost })
    }

    /// Waits until the log of a server started by plimsoll reports a full disk. The server may exit, fail some of its
    /// transactions, or wait for space without an answer to any client.
    async fn server_lacks_space(&self) -> String {
        let Some(mut log) = self.running.instance.log_tail() else {
            return pending().await;
        };
        loop {
            self.clock.sleep(POLL_INTERVAL).await;
            if let Some(line) = log.lack_of_space() {
                return line;
            }
        }
    }

    /// Waits for the death of a server started by plimsoll: unlike another server, it will not come back.
    async fn server_dies(&self) {
        if !matches!(self.running.instance.watch(), Some(Watch::Processes { .. })) {
            return pending().await;
        }
        while self.running.instance.died().is_none() {
            self.clock.sleep(POLL_INTERVAL).await;
        }
    }
}

/// A lane's orders: the user's, and a stop that does not come from the user.
pub(super) struct Orders {
    user: watch::Receiver<LaneControl>,
    lane: watch::Sender<LaneControl>,
}

impl Orders {
    pub fn of(interrupt: &Interrupt) -> Self {
        let user = interrupt.subscribe();
        let lane = watch::channel(*user.borrow()).0;
        Self { user, lane }
    }

    pub fn of_user(&self) -> watch::Receiver<LaneControl> {
        self.user.clone()
    }

    pub fn of_lane(&self) -> watch::Receiver<LaneControl> {
        self.lane.subscribe()
    }

    pub fn stop(&self) {
        self.lane.send_replace(LaneControl::Stop);
    }

    /// The work's result. Forwards the user's orders beside it, and does what is to be done on a failure.
    pub async fn beside<T>(
        &self,
        work: impl Future<Output = T>,
        on_failure: impl Future<Output = ()>,
    ) -> T {
        tokio::select! {
            result = work => result,
            never = self.forward() => never,
            never = async { on_failure.await; pending().await } => never,
        }
    }

    /// The work's result, with what happens meanwhile; what fails of that ends the work.
    pub async fn with_events<T>(
        &self,
        work: impl Future<Output = StepResult<T>>,
        events: impl Future<Output = StepResult<()>>,
    ) -> StepResult<T> {
        let mut failed = None;
        let events = async {
            if let Err(error) = events.await {
                failed = Some(error);
                self.stop();
            }
            pending::<()>().await
        };
        let result = tokio::select! {
            result = work => result,
            () = events => pending().await,
        };
        failed.map_or(result, Err)
    }

    /// Forwards the user's orders forever; does not weaken an order that the lane already has.
    async fn forward<T>(&self) -> T {
        let mut user = self.user.clone();
        while user.changed().await.is_ok() {
            let wanted = *user.borrow_and_update();
            self.lane.send_modify(|order| *order = wanted.max(*order));
        }
        pending().await
    }
}

/// Signals that a lane reported a full disk: the other lanes of its point stop.
#[derive(Clone, Default)]
struct FullDiskSignal(watch::Sender<bool>);

impl FullDiskSignal {
    /// Signals the end if it is that of a full disk.
    fn note(&self, end: &LaneEnd) {
        if matches!(end, LaneEnd::DiskFull { .. }) {
            self.0.send_replace(true);
        }
    }

    async fn given(&self) {
        // The sender lives as long as this future: an error cannot come.
        let _ = self.0.subscribe().wait_for(|full| *full).await;
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_load::clock::VirtualClock;

    use super::*;

    #[test]
    fn a_full_disk_of_one_lane_stops_the_others() {
        let signal = FullDiskSignal::default();
        let clock = Clock::Virtual(VirtualClock::default());
        let full = async {
            signal.note(&LaneEnd::Complete);
            clock.sleep(POLL_INTERVAL).await;
            signal.note(&LaneEnd::DiskFull {
                place: "/data".into(),
                why: "ENOSPC".into(),
            });
            clock.now()
        };
        let other = async {
            tokio::select! {
                () = signal.given() => clock.now(),
                () = clock.sleep(POLL_INTERVAL * 100) => clock.now(),
            }
        };
        let lanes = async { tokio::join!(full, other) };
        let (ended, stopped) = clock.block_on(lanes).unwrap();
        assert_eq!(ended, stopped);
    }
}
