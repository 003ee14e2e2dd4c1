//! Lanes that run at the same time, and the events that stop them: Ctrl-C, a full disk, a dead server, the failure of an
//! emulated drive or of its power.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::Poll;

use plimsoll_drive::emulate::protocol::Lost;
use plimsoll_load::clock::Clock;
use plimsoll_load::engine::LoadControl;
use plimsoll_load::error::SERVERS_DISK;
use plimsoll_load::probe::{Probe, Watch};
use plimsoll_load::runner::{Gate, run_lane_together};
use plimsoll_plan::resolved::Cycles;
use plimsoll_plan::units::Nanos;
use plimsoll_record::Point;
use plimsoll_record::lane::{LaneControl, LaneEnd, LaneSpec};
use tokio::sync::watch;

use super::backup::worker::BackupWorker;
use super::backup::{CancelAtEnd, NoiseJobs, backup_worker, merge_results, wait_for_backups};
use super::drives::MountedDrive;
use super::prepare::{Running, key};
use super::recorder::{LaneResult, Recorder, RunSink};
use super::{Execution, RunError, StepResult};

/// How often a server started by plimsoll is checked.
const POLL_INTERVAL: Nanos = Nanos::from_millis(250);

/// A power cut that took place.
#[derive(Debug, Clone, Copy)]
pub(super) struct PowerOff {
    pub at: Nanos,
    pub lost: Lost,
}

/// Signals that a lane reported a full disk: the other lanes of its point stop.
#[derive(Default)]
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

type Cut = RefCell<Option<Result<PowerOff, String>>>;

/// What one lane does.
pub(super) struct LaneTask {
    /// The system's instance.
    pub system: String,
    pub spec: LaneSpec,
    pub point: Point,
    pub title: String,
}

impl Execution<'_> {
    /// Measures one point: the lanes of all its instances start together; neighbours' backups run beside them. With a
    /// power cut, which takes a single lane, the drive's power fails at the end of the measurement.
    pub(super) fn run_lanes(
        &mut self,
        tasks: Vec<LaneTask>,
        noise_jobs: Vec<NoiseJobs>,
        medium: Option<&str>,
    ) -> StepResult<PointResult> {
        let Self {
            running,
            drives,
            probe,
            clock,
            inbox,
            file,
            progress,
            interrupt,
            ..
        } = self;
        let (clock, cut, disk_full) = (clock.clone(), Cut::default(), FullDiskSignal::default());
        let (user, gate) = (interrupt.subscribe(), Gate::of(tasks.len() as u32));
        let timeline = tasks.first().map(|task| task.spec.timeline.clone());
        let sink = RefCell::new(RunSink {
            file,
            inbox,
            progress,
        });
        let drive = medium.and_then(|medium| drives.get(medium));
        let (start_sender, started) = watch::channel(None);
        let mut first_start = Some(start_sender);
        let lanes = tasks.into_iter().enumerate().map(
            |(
                i,
                LaneTask {
                    system,
                    spec,
                    point,
                    title,
                },
            )| {
                let running = running.get(&key(&system, medium));
                let probe = probe.as_ref();
                let environment = LaneEnvironment {
                    running,
                    drive,
                    probe,
                    clock: &clock,
                    cut: &cut,
                    disk_full: &disk_full,
                };
                let (sink, user, gate) = (&sink, user.clone(), gate.clone());
                let start = first_start.take().unwrap_or_else(|| watch::channel(None).0);
                let lane = async move {
                    environment
                        .lane(sink, i == 0, (spec, &point, &title), user, gate, start)
                        .await
                };
                Box::pin(lane) as Lane<'_>
            },
        );
        let lanes: Vec<Lane<'_>> = lanes.collect();
        let workers = workers(noise_jobs, running, &clock, probe.as_ref())?;
        let (control, saves) = (LoadControl::default(), !workers.is_empty());
        std::thread::scope(|scope| {
            // An early return from this scope stops the threads.
            let _ends = CancelAtEnd(&control);
            let (done, results) = mpsc::channel();
            for (mut worker, cycles) in workers {
                let (done, control, started, timeline) =
                    (done.clone(), control.clone(), started.clone(), &timeline);
                scope.spawn(move || {
                    // The receiver lives until all results are there.
                    let _ =
                        done.send(worker.beside(&cycles, &started, timeline.as_ref(), &control));
                });
            }
            drop(done);
            let lane_results = clock.block_on(all(lanes));
            let lane_results = lane_results
                .map_err(|error| RunError::Failed(format!("no runtime for the lanes: {error}")))?;
            let lane_results = lane_results
                .into_iter()
                .collect::<StepResult<Vec<LaneResult>>>()?;
            if lane_results
                .iter()
                .any(|result| result.end != LaneEnd::Complete)
            {
                control.cancel();
            }
            // Half a backup has no duration: those under way at the end of the measurement finish.
            let what = "waiting for the backups that are under way";
            let noise = if saves {
                wait_for_backups(
                    &results,
                    &mut sink.borrow_mut(),
                    interrupt,
                    &clock,
                    &control,
                    what,
                )?
            } else {
                Vec::new()
            };
            let cut = cut.take().transpose().map_err(RunError::Failed)?;
            Ok(PointResult {
                lane_results,
                cut,
                noise: merge_results(noise),
            })
        })
    }
}

/// Result of a point.
pub(super) struct PointResult {
    /// In the order of the tasks.
    pub lane_results: Vec<LaneResult>,
    pub cut: Option<PowerOff>,
    /// Result of the neighbours' backups.
    pub noise: StepResult<()>,
}

/// The backup workers that run beside the lanes.
fn workers<'a>(
    noise_jobs: Vec<NoiseJobs>,
    running: &'a HashMap<(String, Option<String>), Running>,
    clock: &'a Clock,
    probe: Option<&'a Probe>,
) -> StepResult<Vec<(BackupWorker<'a>, Cycles)>> {
    let jobs = noise_jobs
        .into_iter()
        .flat_map(|NoiseJobs { jobs, cycles }| {
            jobs.into_iter().map(move |job| (job, cycles.clone()))
        });
    let one = |(job, cycles)| Ok((backup_worker(job, running, clock, probe)?, cycles));
    jobs.map(one).collect()
}

type Lane<'a> = Pin<Box<dyn Future<Output = StepResult<LaneResult>> + 'a>>;

/// The results of all futures, run concurrently on this thread.
async fn all<T>(mut futures: Vec<Pin<Box<dyn Future<Output = T> + '_>>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in futures
            .iter_mut()
            .zip(&mut done)
            .filter(|(_, done)| done.is_none())
        {
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// What a lane runs with, and the sources of events that stop it.
struct LaneEnvironment<'a> {
    running: Option<&'a Running>,
    drive: Option<&'a MountedDrive>,
    probe: Option<&'a Probe>,
    clock: &'a Clock,
    cut: &'a Cut,
    disk_full: &'a FullDiskSignal,
}

impl LaneEnvironment<'_> {
    async fn lane(
        &self,
        sink: &RefCell<RunSink<'_>>,
        shows_progress: bool,
        (spec, point, title): (LaneSpec, &Point, &str),
        user: watch::Receiver<LaneControl>,
        gate: Gate,
        start_sender: watch::Sender<Option<Nanos>>,
    ) -> StepResult<LaneResult> {
        let (out, messages) = tokio::sync::mpsc::channel(256);
        let lane = watch::channel(*user.borrow()).0;
        let started = start_sender.subscribe();
        let cut_after = spec.power_cut.then(|| spec.timeline.load_end());
        let recorder = Recorder::new(sink, point, spec.timeline.clone(), title, start_sender);
        let recorder = if shows_progress {
            recorder
        } else {
            recorder.quiet()
        };
        let run = run_lane_together(spec, self.clock.clone(), lane.subscribe(), out, gate);
        let recorded = async { tokio::join!(run, recorder.record(messages, user.clone())).1 };
        let full = Cell::default();
        let fails = async {
            tokio::select! {
                // First: a power cut ends the server, too.
                biased;
                () = self.drive_fails(cut_after, started) => {}
                line = lack_of_space(self.running, self.clock) => full.set(Some(line)),
                () = server_dies(self.running, self.clock) => {}
                () = self.disk_full.given() => {}
            }
            lane.send_replace(LaneControl::Stop);
            std::future::pending().await
        };
        let result = tokio::select! {
            recorded = recorded => recorded,
            never = relay(user.clone(), &lane) => never,
            never = fails => never,
        }?;
        let result = match full.take() {
            Some(why) => LaneResult {
                end: LaneEnd::DiskFull {
                    place: SERVERS_DISK.into(),
                    why,
                },
                ..result
            },
            None => result,
        };
        self.disk_full.note(&result.end);
        Ok(result)
    }

    async fn drive_fails(&self, cut_after: Option<Nanos>, started: watch::Receiver<Option<Nanos>>) {
        match (self.running.zip(self.drive), cut_after) {
            (Some((running, drive)), Some(after)) => {
                let off = power_cut(running, drive, self.probe, self.clock, started, after).await;
                *self.cut.borrow_mut() = Some(off);
            }
            (Some((_, drive)), None) => drive.ended().await,
            (None, _) => std::future::pending().await,
        }
    }
}

/// Waits until the log of a server started by plimsoll reports a full disk. The server may exit, fail some of its
/// transactions, or wait for space without an answer to any client.
async fn lack_of_space(running: Option<&Running>, clock: &Clock) -> String {
    let Some(mut log) = running.and_then(|running| running.instance.log_tail()) else {
        return std::future::pending().await;
    };
    loop {
        clock.sleep(POLL_INTERVAL).await;
        if let Some(line) = log.lack_of_space() {
            return line;
        }
    }
}

/// Waits for the death of a server started by plimsoll: unlike another server, it will not come back.
async fn server_dies(running: Option<&Running>, clock: &Clock) {
    let Some(running) =
        running.filter(|running| matches!(running.instance.watch(), Some(Watch::Processes { .. })))
    else {
        return std::future::pending().await;
    };
    while running.instance.died().is_none() {
        clock.sleep(POLL_INTERVAL).await;
    }
}

/// Forwards the user's orders forever; does not weaken an order that the lane already has.
pub(super) async fn relay<T>(
    mut user: watch::Receiver<LaneControl>,
    lane: &watch::Sender<LaneControl>,
) -> T {
    while user.changed().await.is_ok() {
        let wanted = *user.borrow_and_update();
        lane.send_modify(|order| *order = wanted.max(*order));
    }
    std::future::pending().await
}

/// Cuts the drive's power first, while the database works; then kills the database's processes with their unwritten
/// data. Both block this thread for some ten milliseconds, in which the lane only waits to be stopped.
async fn power_cut(
    running: &Running,
    drive: &MountedDrive,
    probe: Option<&Probe>,
    clock: &Clock,
    mut started: watch::Receiver<Option<Nanos>>,
    after: Nanos,
) -> Result<PowerOff, String> {
    let start = match started.wait_for(Option::is_some).await {
        Ok(start) => start.unwrap_or_default(),
        // The lane ended before it began.
        Err(_) => std::future::pending().await,
    };
    tokio::select! {
        () = clock.sleep_until(start + after) => {}
        () = drive.ended() => return Err(drive.died().unwrap_or_default()),
    }
    // The probe would report the end of its processes.
    if let Some(probe) = probe {
        probe.unwatch(running.subject);
    }
    let at = clock.now();
    let lost = drive.power_off().map_err(|error| error.to_string())?;
    running
        .instance
        .crash()
        .map_err(|error| error.to_string())?;
    Ok(PowerOff { at, lost })
}

#[cfg(test)]
mod tests {
    use plimsoll_load::clock::VirtualClock;

    use super::*;

    #[test]
    fn a_full_disk_of_one_lane_stops_the_others() {
        let (signal, clock) = (
            FullDiskSignal::default(),
            Clock::Virtual(VirtualClock::default()),
        );
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
        let lanes: Vec<Pin<Box<dyn Future<Output = Nanos> + '_>>> =
            vec![Box::pin(full), Box::pin(other)];
        let ends = clock.block_on(all(lanes)).unwrap();
        assert_eq!(ends[0], ends[1]);
    }
}
