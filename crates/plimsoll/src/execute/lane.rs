//! One lane and what happens beside it: the user's orders, and the failure of an emulated drive or of its power.

use std::cell::RefCell;

use plimsoll_drive::emulate::protocol::Lost;
use plimsoll_load::clock::Clock;
use plimsoll_load::probe::{Probe, Watch};
use plimsoll_load::runner::run_lane;
use plimsoll_model::lane::{LaneControl, LaneSpec};
use plimsoll_model::record::Point;
use plimsoll_model::units::Nanos;
use tokio::sync::watch;

use super::drives::MountedDrive;
use super::prepare::{Running, key};
use super::recorder::{Outcome, Recorder};
use super::{Course, Execution, Halt};

/// How often a server of plimsoll's own is looked for.
const LOOK: Nanos = Nanos::from_millis(250);

/// A power cut that took place.
#[derive(Debug, Clone, Copy)]
pub(super) struct PowerOff {
    pub at: Nanos,
    pub lost: Lost,
}

type Cut = RefCell<Option<Result<PowerOff, String>>>;

impl Execution<'_> {
    /// Drives one load point. Its drive's power fails at the end of the measurement if the lane is told so.
    pub(super) fn drive(
        &mut self,
        spec: LaneSpec,
        point: &Point,
        title: &str,
        (system, medium): (&str, Option<&str>),
    ) -> Course<(Outcome, Option<PowerOff>)> {
        let (out, messages) = tokio::sync::mpsc::channel(256);
        let user = self.interrupt.subscribe();
        let lane = watch::channel(*user.borrow()).0;
        let (tell_start, started) = watch::channel(None);
        let (clock, timeline) = (self.clock.clone(), spec.timeline.clone());
        let cut_after = spec.power_cut.then(|| timeline.load_end());
        let (cut, probe) = (Cut::default(), self.probe.as_ref());
        let running = self.running.get(&key(system, medium));
        let on = running.zip(medium.and_then(|medium| self.drives.get(medium)));
        let recorder =
            Recorder::new(&mut self.file, &self.inbox, &mut self.progress, point, timeline, title, tell_start);
        let all = async {
            let run = run_lane(spec, clock.clone(), lane.subscribe(), out);
            let recorded = async { tokio::join!(run, recorder.listen(messages, user.clone())).1 };
            let drive_fails = async {
                match (on, cut_after) {
                    (Some((running, drive)), Some(after)) => {
                        let off = power_cut(running, drive, probe, &clock, started, after).await;
                        *cut.borrow_mut() = Some(off);
                    }
                    (Some((_, drive)), None) => drive.ended().await,
                    (None, _) => std::future::pending().await,
                }
            };
            let fails = async {
                tokio::select! {
                    // First: a power cut ends the server, too.
                    biased;
                    () = drive_fails => {}
                    () = server_dies(running, &clock) => {}
                }
                lane.send_replace(LaneControl::Stop);
                std::future::pending().await
            };
            tokio::select! {
                recorded = recorded => recorded,
                never = relay(user.clone(), &lane) => never,
                never = fails => never,
            }
        };
        let outcome =
            clock.block_on(all).map_err(|error| Halt::Failed(format!("no runtime for the lane: {error}")))??;
        Ok((outcome, cut.into_inner().transpose().map_err(Halt::Failed)?))
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
