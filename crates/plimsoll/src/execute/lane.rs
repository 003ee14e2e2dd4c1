//! Lanes that run at the same time, and what stops them: Ctrl-C, a full disk, a dead server, the failure of an
//! emulated drive or of its power.

use std::cell::Cell;
use std::future::{Future, pending};
use std::sync::Arc;

use futures_util::future::{join, join_all};
use plimsoll_drive::member_changes::loses_data;
use plimsoll_load::clock::Clock;
use plimsoll_load::engine::LoadControl;
use plimsoll_load::engine::password::with_password_of_environment;
use plimsoll_load::error::SERVERS_DISK;
use plimsoll_load::probe::Watch;
use plimsoll_load::runner::{Gate, run_lane_together};
use plimsoll_plan::member_event::{MemberChange, MemberEvent};
use plimsoll_plan::units::Nanos;
use plimsoll_record::Point;
use plimsoll_record::lane::{LaneEnd, LaneMessage, LaneSpec};
use plimsoll_virtual::vfs::VirtualMount;
use plimsoll_worker::fleet::run_lane_on;
use plimsoll_worker::link::Link;
use plimsoll_worker::protocol::JobId;
use tokio::sync::{mpsc, watch};

use super::backup::{NoiseJob, at_once, merge_results, noise_workers};
use super::drives::{DriveInUse, Drives, MountedDrive};
use super::error::{RunError, StepResult};
use super::hosts::START_LEAD;
use super::inbox::DriveMessage;
use super::orders::Orders;
use super::recorder::{LaneRecorder, LaneResult, PowerOff, StartTime};
use super::run::RunContext;
use super::systems::{InstanceId, Running, Systems};
use super::wait::{ProgressUnit, Tasks};

/// How often a server started by plimsoll is checked.
const POLL_INTERVAL: Nanos = Nanos::from_millis(250);

/// Work of one lane.
pub(super) struct LaneTask {
    pub instance: InstanceId,
    pub spec: LaneSpec,
    pub point: Point,
    pub title: String,
    /// Failures and repairs of members of the medium's array.
    pub events: Vec<MemberEvent>,
    /// The hosts that share its load; none: it comes from here.
    pub from: Vec<Arc<Link>>,
    /// Its number for them.
    pub job: JobId,
}

/// Work that runs at the same time.
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

/// Measures one point: all lanes start together, neighbours' backups run beside them. With a power cut, which takes a
/// single lane, the drive's power fails at the end of the measurement.
pub(super) fn measure_point(
    run: RunContext<'_>,
    systems: &Systems<'_>,
    drives: &Drives<'_>,
    tasks: PointTasks,
) -> StepResult<PointResult> {
    let start = StartTime::default();
    let lanes = Lanes::new(run, systems, drives, tasks.lanes, &start)?;
    let mut backups = noise_workers(run, systems, tasks.noise, &start)?;
    if let Clock::Virtual(_) = run.log.clock() {
        let control = LoadControl::default();
        let noise = join_all(backups.iter_mut().map(|backup| backup.run(&control)));
        let (lanes, noise) = lanes.run_beside(noise, &control)?;
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
        let lanes = lanes.run()?;
        if !lanes.iter().all(|lane| lane.result.is_complete()) {
            backups.cancel();
        }
        // Half a backup has no duration: those under way at the end of the measurement finish.
        let text = "waiting for the backups that are under way";
        let noise = backups.join(&run.waiter(text, ProgressUnit::Nothing))?;
        Ok(PointResult {
            lanes,
            noise: merge_results(noise),
        })
    })
}

/// The lanes of one point.
struct Lanes<'a> {
    run: RunContext<'a>,
    lanes: Vec<PointLane<'a>>,
    gate: Gate,
}

impl<'a> Lanes<'a> {
    fn new(
        run: RunContext<'a>,
        systems: &'a Systems<'_>,
        drives: &'a Drives<'_>,
        tasks: Vec<LaneTask>,
        start: &StartTime,
    ) -> StepResult<Self> {
        let lead = match tasks.iter().any(|task| !task.from.is_empty()) {
            true => START_LEAD,
            false => Nanos::ZERO,
        };
        let others = u32::from(run.job.together.is_some());
        let gate = Gate::with_lead(tasks.len() as u32 + others, lead);
        let disk_full = FullDiskSignal::default();
        let mut lanes = Vec::new();
        for task in tasks {
            lanes.push(PointLane {
                run,
                shows_progress: lanes.is_empty(),
                running: systems.get(task.instance)?,
                drive: drives.find(task.instance.medium),
                orders: Orders::new(run.interrupt),
                start: start.clone(),
                gate: gate.clone(),
                disk_full: disk_full.clone(),
                data_lost: Cell::new(false),
                task,
            });
        }
        Ok(Self { run, lanes, gate })
    }

    /// Runs all lanes to their ends. They are tasks of this thread; their users have other threads.
    fn run(self) -> StepResult<Vec<EndedLane>> {
        let nothing = std::future::ready(());
        let (lanes, ()) = self.run_beside(nothing, &LoadControl::default())?;
        Ok(lanes)
    }

    /// As [`Self::run`], beside other work of virtual time, which is canceled where a lane does not complete.
    fn run_beside<T>(
        self,
        beside: impl Future<Output = T>,
        control: &LoadControl,
    ) -> StepResult<(Vec<EndedLane>, T)> {
        let lanes = async {
            let results = join_all(self.lanes.iter().map(PointLane::run)).await;
            let mut lanes = results.iter();
            if !lanes.all(|lane| lane.as_ref().is_ok_and(LaneResult::is_complete)) {
                control.cancel();
            }
            results
        };
        let work = async {
            tokio::select! {
                biased;
                results = join(lanes, beside) => results,
                never = self.start_with_others() => never,
            }
        };
        let (results, others) = self.run.log.block_on(work)?;
        let tasks = self.lanes.into_iter().map(|lane| lane.task);
        let lanes: StepResult<Vec<EndedLane>> = tasks
            .zip(results)
            .map(|(task, result)| result.map(|result| EndedLane { task, result }))
            .collect();
        Ok((lanes?, others))
    }

    /// Opens the gate when all hosts that run the same plan have come to it. Never returns.
    async fn start_with_others<T>(&self) -> T {
        if let (Some(together), Some(first)) = (&self.run.job.together, self.lanes.first()) {
            self.gate.others().await;
            let at = together.meet(&first.task.title).await;
            self.gate.open(self.run.log.clock(), at);
        }
        pending().await
    }
}

/// One lane, with what it runs on and what can stop it.
struct PointLane<'a> {
    run: RunContext<'a>,
    /// More members of the drive's array or cluster failed than it can do without.
    data_lost: Cell<bool>,
    task: LaneTask,
    /// One of the point's lanes does.
    shows_progress: bool,
    running: &'a Running,
    drive: Option<DriveInUse<'a>>,
    orders: Orders,
    /// Shared by the lanes of a point, like the two below.
    start: StartTime,
    gate: Gate,
    disk_full: FullDiskSignal,
}

/// Cause that stops a lane before its end, other than Ctrl-C.
enum StopCause {
    PowerCut(Result<PowerOff, String>),
    /// The log of the lane's server reports a full disk, in this line.
    NoSpace(String),
    /// Found out from the drive, the server or the other lane after the end.
    FoundLater,
}

impl PointLane<'_> {
    /// Runs until its last message is recorded.
    async fn run(&self) -> StepResult<LaneResult> {
        let (out, messages) = mpsc::channel(256);
        let mut recorder = LaneRecorder::new(
            self.run.log,
            &self.task.point,
            self.task.spec.timeline.clone(),
            &self.task.title,
            self.start.clone(),
        );
        recorder.shows_progress = self.shows_progress;
        let lane = self.drive(out);
        let recorded =
            async { tokio::join!(lane, recorder.record(messages, self.orders.user_orders())).1 };
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

    /// Runs the load here, or on the hosts that share it.
    async fn drive(&self, out: mpsc::Sender<LaneMessage>) {
        let spec = self.task.spec.clone();
        let clock = self.run.log.clock().clone();
        let orders = self.orders.lane_orders();
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

    /// Changes members of the drive's array when the plan wants it.
    async fn member_events(&self) -> StepResult<()> {
        if self.task.events.is_empty() {
            return Ok(());
        }
        let begins = self.start.wait().await + self.task.spec.timeline.warm;
        for event in &self.task.events {
            let MemberEvent { at, change } = *event;
            self.run.log.clock().sleep_until(begins + at).await;
            let data_lost = match self.drive {
                Some(DriveInUse::Mounted(drive)) => drive.change_member(change)?,
                Some(DriveInUse::Simulated(mount)) => {
                    self.change_simulated_member(mount, change)?
                }
                None => false,
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
                at: self.run.log.now(),
                kind: event,
            };
            // The inbox lives as long as the run.
            let _ = self.run.log.drive_sender().send(message);
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
        match self.drive {
            Some(DriveInUse::Simulated(mount)) if cut => {
                StopCause::PowerCut(self.cut_simulated_power(mount).await)
            }
            Some(DriveInUse::Mounted(drive)) if cut => {
                StopCause::PowerCut(self.cut_power(drive).await)
            }
            Some(DriveInUse::Mounted(drive)) => {
                drive.ended().await;
                StopCause::FoundLater
            }
            Some(DriveInUse::Simulated(_)) | None => pending().await,
        }
    }

    /// Cuts the power at a moment that no transaction knows. Sessions get errors until they are stopped.
    async fn cut_simulated_power(&self, mount: &VirtualMount) -> Result<PowerOff, String> {
        let start = self.start.wait().await;
        let end = start + self.task.spec.timeline.load_end();
        self.run.log.clock().sleep_until(end).await;
        let seed = self.task.spec.seed.load ^ u64::from(self.task.point.id.0);
        let lost = mount.power_off(seed).map_err(|error| error.to_string())?;
        Ok(PowerOff { at: end, lost })
    }

    /// Cuts the drive's power first, while the database works; then kills the database's processes with their unwritten
    /// data. Both block this thread for some ten milliseconds, in which the lane only waits to be stopped.
    async fn cut_power(&self, drive: &MountedDrive) -> Result<PowerOff, String> {
        let clock = self.run.log.clock();
        let start = self.start.wait().await;
        tokio::select! {
            () = clock.sleep_until(start + self.task.spec.timeline.load_end()) => {}
            () = drive.ended() => return Err(drive.died().unwrap_or_default()),
        }
        // The probe would report the end of its processes.
        self.run.log.unwatch(self.running.subject);
        let at = clock.now();
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
            self.run.log.clock().sleep(POLL_INTERVAL).await;
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
            self.run.log.clock().sleep(POLL_INTERVAL).await;
        }
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
