//! Lanes that run at the same time and what happens beside them: the user's orders, and the failure of an emulated drive
//! or of its power.

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
use plimsoll_model::lane::{LaneControl, LaneEnd, LaneSpec};
use plimsoll_model::plan::resolved::Cycles;
use plimsoll_model::record::Point;
use plimsoll_model::units::Nanos;
use tokio::sync::watch;

use super::backup::saver::Saver;
use super::backup::{CancelAtEnd, Racket, errand_saver, one_of, until_saved};
use super::drives::MountedDrive;
use super::prepare::{Running, key};
use super::recorder::{Desk, Outcome, Recorder};
use super::{Course, Execution, Halt};

/// How often a server of plimsoll's own is looked for.
const LOOK: Nanos = Nanos::from_millis(250);

/// A power cut that took place.
#[derive(Debug, Clone, Copy)]
pub(super) struct PowerOff {
    pub at: Nanos,
    pub lost: Lost,
}

/// That a lane met a full disk: the others of its point stop with it.
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
pub(super) struct Load {
    /// The system's instance.
    pub system: String,
    pub spec: LaneSpec,
    pub point: Point,
    pub title: String,
}

impl Execution<'_> {
    /// Drives one point: the loads of all its instances, which begin at the same time, and beside them what neighbours
    /// save. The drive's power fails at the end of the measurement if the lanes are told so; that takes a single one.
    pub(super) fn drive(&mut self, loads: Vec<Load>, rackets: Vec<Racket>, medium: Option<&str>) -> Course<Driven> {
        let Self { running, drives, probe, clock, inbox, file, progress, interrupt, .. } = self;
        let (clock, cut, disk_full) = (clock.clone(), Cut::default(), FullDiskSignal::default());
        let (user, gate) = (interrupt.subscribe(), Gate::of(loads.len() as u32));
        let timeline = loads.first().map(|load| load.spec.timeline.clone());
        let desk = RefCell::new(Desk { file, inbox, progress });
        let drive = medium.and_then(|medium| drives.get(medium));
        let (tell_start, started) = watch::channel(None);
        let mut first_start = Some(tell_start);
        let lanes = loads.into_iter().enumerate().map(|(i, Load { system, spec, point, title })| {
            let running = running.get(&key(&system, medium));
            let probe = probe.as_ref();
            let around = Around { running, drive, probe, clock: &clock, cut: &cut, disk_full: &disk_full };
            let (desk, user, gate) = (&desk, user.clone(), gate.clone());
            let start = first_start.take().unwrap_or_else(|| watch::channel(None).0);
            let lane = async move { around.lane(desk, i == 0, (spec, &point, &title), user, gate, start).await };
            Box::pin(lane) as Lane<'_>
        });
        let lanes: Vec<Lane<'_>> = lanes.collect();
        let savers = savers(rackets, running, &clock, probe.as_ref())?;
        let (control, saves) = (LoadControl::default(), !savers.is_empty());
        std::thread::scope(|scope| {
            // Whatever ends this scope early, the threads are told to end as well.
            let _ends = CancelAtEnd(&control);
            let (done, results) = mpsc::channel();
            for (mut saver, cycles) in savers {
                let (done, control, started, timeline) = (done.clone(), control.clone(), started.clone(), &timeline);
                scope.spawn(move || {
                    // The receiver lives until all results are there.
                    let _ = done.send(saver.beside(&cycles, &started, timeline.as_ref(), &control));
                });
            }
            drop(done);
            let outcomes = clock.block_on(all(lanes));
            let outcomes = outcomes.map_err(|error| Halt::Failed(format!("no runtime for the lanes: {error}")))?;
            let outcomes = outcomes.into_iter().collect::<Course<Vec<Outcome>>>()?;
            if outcomes.iter().any(|outcome| outcome.end != LaneEnd::Complete) {
                control.cancel();
            }
            // Backups that are under way when the measurement has ended are let finish: half of one says nothing.
            let what = "waiting for the backups that are under way";
            let noise = if saves {
                until_saved(&results, &mut desk.borrow_mut(), interrupt, &clock, &control, what)?
            } else {
                Vec::new()
            };
            let cut = cut.take().transpose().map_err(Halt::Failed)?;
            Ok(Driven { outcomes, cut, noise: one_of(noise) })
        })
    }
}

/// What a point has come to.
pub(super) struct Driven {
    /// In the order of the loads.
    pub outcomes: Vec<Outcome>,
    pub cut: Option<PowerOff>,
    /// What neighbours saved beside it.
    pub noise: Course<()>,
}

/// Who saves what beside the lanes.
fn savers<'a>(
    rackets: Vec<Racket>,
    running: &'a HashMap<(String, Option<String>), Running>,
    clock: &'a Clock,
    probe: Option<&'a Probe>,
) -> Course<Vec<(Saver<'a>, Cycles)>> {
    let errands = rackets
        .into_iter()
        .flat_map(|Racket { errands, cycles }| errands.into_iter().map(move |errand| (errand, cycles.clone())));
    let one = |(errand, cycles)| Ok((errand_saver(errand, running, clock, probe)?, cycles));
    errands.map(one).collect()
}

type Lane<'a> = Pin<Box<dyn Future<Output = Course<Outcome>> + 'a>>;

/// What all futures come to, side by side on this thread.
async fn all<T>(mut futures: Vec<Pin<Box<dyn Future<Output = T> + '_>>>) -> Vec<T> {
    let mut done: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in futures.iter_mut().zip(&mut done).filter(|(_, done)| done.is_none()) {
            if let Poll::Ready(value) = future.as_mut().poll(context) {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// What happens beside a lane.
struct Around<'a> {
    running: Option<&'a Running>,
    drive: Option<&'a MountedDrive>,
    probe: Option<&'a Probe>,
    clock: &'a Clock,
    cut: &'a Cut,
    disk_full: &'a FullDiskSignal,
}

impl Around<'_> {
    async fn lane(
        &self,
        desk: &RefCell<Desk<'_>>,
        speaks: bool,
        (spec, point, title): (LaneSpec, &Point, &str),
        user: watch::Receiver<LaneControl>,
        gate: Gate,
        tell_start: watch::Sender<Option<Nanos>>,
    ) -> Course<Outcome> {
        let (out, messages) = tokio::sync::mpsc::channel(256);
        let lane = watch::channel(*user.borrow()).0;
        let started = tell_start.subscribe();
        let cut_after = spec.power_cut.then(|| spec.timeline.load_end());
        let recorder = Recorder::new(desk, point, spec.timeline.clone(), title, tell_start);
        let recorder = if speaks { recorder } else { recorder.quiet() };
        let run = run_lane_together(spec, self.clock.clone(), lane.subscribe(), out, gate);
        let recorded = async { tokio::join!(run, recorder.listen(messages, user.clone())).1 };
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
        let outcome = tokio::select! {
            recorded = recorded => recorded,
            never = relay(user.clone(), &lane) => never,
            never = fails => never,
        }?;
        let outcome = match full.take() {
            Some(why) => Outcome { end: LaneEnd::DiskFull { place: SERVERS_DISK.into(), why }, ..outcome },
            None => outcome,
        };
        self.disk_full.note(&outcome.end);
        Ok(outcome)
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

/// Waits until the log of a server of plimsoll's own tells of a full disk. The server may end of it, fail some of its
/// transactions, or wait for space and answer nobody meanwhile.
async fn lack_of_space(running: Option<&Running>, clock: &Clock) -> String {
    let Some(mut log) = running.and_then(|running| running.instance.log_tail()) else {
        return std::future::pending().await;
    };
    loop {
        clock.sleep(LOOK).await;
        if let Some(line) = log.lack_of_space() {
            return line;
        }
    }
}

/// Waits for the end of a server of plimsoll's own: users need not wait for it to come back, as they do for others.
async fn server_dies(running: Option<&Running>, clock: &Clock) {
    let Some(running) = running.filter(|running| matches!(running.instance.watch(), Some(Watch::Processes { .. })))
    else {
        return std::future::pending().await;
    };
    while running.instance.died().is_none() {
        clock.sleep(LOOK).await;
    }
}

/// Passes the user's orders on, without end; an order to stop that the lane has already stands.
pub(super) async fn relay<T>(mut user: watch::Receiver<LaneControl>, lane: &watch::Sender<LaneControl>) -> T {
    while user.changed().await.is_ok() {
        let wanted = *user.borrow_and_update();
        lane.send_modify(|order| *order = wanted.max(*order));
    }
    std::future::pending().await
}

/// The drive goes first, while the database is at work; then the database's processes, with all that they had not
/// written. Both block this thread for some ten milliseconds, in which the lane only waits to be stopped.
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
    // That its processes end is no news.
    if let Some(probe) = probe {
        probe.unwatch(running.subject);
    }
    let at = clock.now();
    let lost = drive.power_off().map_err(|error| error.to_string())?;
    running.instance.crash().map_err(|error| error.to_string())?;
    Ok(PowerOff { at, lost })
}

#[cfg(test)]
mod tests {
    use plimsoll_load::clock::VirtualClock;

    use super::*;

    #[test]
    fn a_full_disk_of_one_lane_stops_the_others() {
        let (signal, clock) = (FullDiskSignal::default(), Clock::Virtual(VirtualClock::default()));
        let full = async {
            signal.note(&LaneEnd::Complete);
            clock.sleep(LOOK).await;
            signal.note(&LaneEnd::DiskFull { place: "/data".into(), why: "ENOSPC".into() });
            clock.now()
        };
        let other = async {
            tokio::select! {
                () = signal.given() => clock.now(),
                () = clock.sleep(LOOK * 100) => clock.now(),
            }
        };
        let lanes: Vec<Pin<Box<dyn Future<Output = Nanos> + '_>>> = vec![Box::pin(full), Box::pin(other)];
        let ends = clock.block_on(all(lanes)).unwrap();
        assert_eq!(ends[0], ends[1]);
    }
}
