//! One lane that several hosts offer the load of: their seconds become one.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_load::clock::Clock;
use plimsoll_load::runner::Gate;
use plimsoll_plan::schedule::{PhaseKind, Tick, Timeline};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{
    GeneratorShare, LaneControl, LaneEnd, LaneEvent, LaneMessage, LaneSecond, LaneSpec, TickPlace,
    TransactionStats,
};
use plimsoll_record::message::EventKind;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use crate::link::{LaneNews, Link};
use crate::protocol::{HostTask, JobId};

/// What is heard of a lane's part; nothing after its link's end.
struct PartNews {
    part: usize,
    news: Option<LaneNews>,
}

/// As [`plimsoll_load::runner::run_lane_together`], with a share of the load on each host.
pub async fn run_lane_on(
    links: &[Arc<Link>],
    job: JobId,
    spec: LaneSpec,
    clock: Clock,
    control: watch::Receiver<LaneControl>,
    out: mpsc::Sender<LaneMessage>,
    gate: Gate,
) {
    let mut fleet = LaneFleet {
        links,
        job,
        clock,
        control,
        out: &out,
        parts: Vec::new(),
        tasks: JoinSet::new(),
        merger: SecondMerger::new(links.len()),
        start: Nanos::ZERO,
        past: None,
    };
    let end = fleet.run(spec, &gate).await;
    // The receiver is gone.
    let _ = out.send(LaneMessage::Ended(end)).await;
}

/// A lane that was begun by a controller which was killed.
pub struct PastLane {
    pub job: JobId,
    pub timeline: Timeline,
    /// When it started, on the run's timeline; `None`: it is computed from a host's clock.
    pub origin: Option<Nanos>,
}

/// As [`run_lane_on`], of a lane of the past: its messages come from the hosts' journals, and where their workers still
/// run, until they have ended. A lane that never started ends without a message but its last.
pub async fn rejoin_lane(
    links: &[Arc<Link>],
    past: PastLane,
    clock: Clock,
    control: watch::Receiver<LaneControl>,
    out: mpsc::Sender<LaneMessage>,
) {
    let mut fleet = LaneFleet {
        links,
        job: past.job,
        clock,
        control,
        out: &out,
        parts: Vec::new(),
        tasks: JoinSet::new(),
        merger: SecondMerger::new(links.len()),
        start: Nanos::ZERO,
        past: Some(RejoinedParts::new(past, links.len())),
    };
    let end = fleet.rejoin().await;
    // The receiver is gone.
    let _ = out.send(LaneMessage::Ended(end)).await;
}

struct LaneFleet<'a> {
    links: &'a [Arc<Link>],
    job: JobId,
    clock: Clock,
    control: watch::Receiver<LaneControl>,
    out: &'a mpsc::Sender<LaneMessage>,
    /// How each part ended.
    parts: Vec<Option<LaneEnd>>,
    tasks: JoinSet<()>,
    merger: SecondMerger,
    /// By the controller's clock.
    start: Nanos,
    past: Option<RejoinedParts>,
}

impl LaneFleet<'_> {
    async fn run(&mut self, spec: LaneSpec, gate: &Gate) -> LaneEnd {
        let mut news = self.begin(spec);
        if let Err(end) = self.open(&mut news).await {
            gate.leave(&self.clock);
            self.order(LaneControl::Stop);
            return self.drain(&mut news, end).await;
        }
        let at = gate.pass(&self.clock).await;
        self.start = at;
        for link in self.links {
            link.start(self.job, at);
        }
        if self.out.send(LaneMessage::Started { at }).await.is_err() {
            self.order(LaneControl::Stop);
        }
        let end = self.drive(&mut news).await;
        self.drain(&mut news, end).await
    }

    async fn rejoin(&mut self) -> LaneEnd {
        let (to_fleet, mut news) = mpsc::channel(64);
        for (part, link) in self.links.iter().enumerate() {
            if let Some(receiver) = link.past_job(self.job) {
                self.tasks
                    .spawn_local(forward(part, receiver, to_fleet.clone()));
            }
            self.parts.push(None);
        }
        drop(to_fleet);
        let end = self.drive(&mut news).await;
        match self.awaits_start() {
            true => end,
            false => self.drain(&mut news, end).await,
        }
    }

    /// Of a lane of the past.
    fn awaits_start(&self) -> bool {
        self.past.as_ref().is_some_and(RejoinedParts::awaits_start)
    }

    /// All that there was has been read, and some part has not started.
    fn never_starts(&self) -> bool {
        self.links.iter().all(|link| link.has_read_backlog())
    }

    /// Gives each host its part.
    fn begin(&mut self, spec: LaneSpec) -> mpsc::Receiver<PartNews> {
        let (to_fleet, news) = mpsc::channel(64);
        let of = self.links.len() as u32;
        for (part, link) in self.links.iter().enumerate() {
            let index = part as u32;
            let share = GeneratorShare { index, of };
            let task = LaneSpec {
                share,
                ..spec.clone()
            };
            let receiver = link.run(self.job, HostTask::Lane(Box::new(task)));
            self.tasks
                .spawn_local(forward(part, receiver, to_fleet.clone()));
            self.parts.push(None);
        }
        news
    }

    /// Waits until all sessions of all hosts are open.
    async fn open(&mut self, news: &mut mpsc::Receiver<PartNews>) -> Result<(), LaneEnd> {
        let mut ready = 0;
        let mut control = self.control.clone();
        while ready < self.links.len() {
            let heard = tokio::select! {
                biased;
                _ = control.wait_for(|order| *order != LaneControl::Run) => return Err(LaneEnd::Closed),
                heard = news.recv() => heard,
            };
            match heard {
                Some(PartNews {
                    news: Some(LaneNews::Ready),
                    ..
                }) => ready += 1,
                Some(PartNews { part, news }) => {
                    if let Some(end) = self.take(part, news).await {
                        return Err(end);
                    }
                }
                None => return Err(LaneEnd::Failed(SILENT.into())),
            }
        }
        Ok(())
    }

    /// Until all parts have ended, or the first one failed.
    async fn drive(&mut self, news: &mut mpsc::Receiver<PartNews>) -> LaneEnd {
        let mut control = self.control.clone();
        let mut given = LaneControl::Run;
        loop {
            let clock = self.clock.clone();
            let heard = tokio::select! {
                biased;
                // Without a sender of orders the wait would end at once, each time.
                order = control.wait_for(|order| *order > given), if given < LaneControl::Stop => {
                    given = order.map_or(LaneControl::Stop, |order| *order);
                    self.order(given);
                    continue;
                }
                heard = news.recv() => heard,
                () = clock.sleep(START_PATIENCE), if self.awaits_start() => {
                    if !self.never_starts() {
                        continue;
                    }
                    self.order(LaneControl::Stop);
                    return LaneEnd::Closed;
                }
            };
            let Some(PartNews { part, news: heard }) = heard else {
                return LaneEnd::Failed(SILENT.into());
            };
            if let Some(end) = self.take(part, heard).await {
                self.order(LaneControl::Stop);
                return end;
            }
            if self.parts.iter().all(Option::is_some) {
                return self.common_end();
            }
        }
    }

    /// Takes what still comes.
    async fn drain(&mut self, news: &mut mpsc::Receiver<PartNews>, end: LaneEnd) -> LaneEnd {
        while self.parts.iter().any(Option::is_none) {
            match news.recv().await {
                Some(PartNews { part, news }) => drop(self.take(part, news).await),
                None => break,
            }
        }
        end
    }

    fn order(&self, order: LaneControl) {
        for link in self.links {
            link.order(self.job, order);
        }
    }

    async fn send(&self, message: LaneMessage) {
        // The receiver is gone: the fleet notices by its orders.
        let _ = self.out.send(message).await;
    }

    /// Returns the lane's end where this part's decides it.
    async fn take(&mut self, part: usize, heard: Option<LaneNews>) -> Option<LaneEnd> {
        match heard {
            Some(LaneNews::Message(LaneMessage::Started { at })) => {
                self.note_start(part, at).await;
                None
            }
            // No plan is among a lane's jobs.
            Some(LaneNews::Ready | LaneNews::Plan(_)) => None,
            Some(LaneNews::Message(LaneMessage::Second(second))) => {
                if self.ends_with(part, &second) {
                    return None;
                }
                for second in self.merger.add(part, *second) {
                    self.send(LaneMessage::Second(Box::new(second))).await;
                }
                None
            }
            Some(LaneNews::Message(LaneMessage::Ended(end))) => {
                let decides = matches!(end, LaneEnd::Failed(_) | LaneEnd::DiskFull { .. });
                let own = self.of_host(part, end);
                let is_whole = self.past.is_none() || own == LaneEnd::Complete;
                self.parts[part] = Some(own.clone());
                if is_whole {
                    for second in self.merger.end(part) {
                        self.send(LaneMessage::Second(Box::new(second))).await;
                    }
                }
                decides.then_some(own)
            }
            Some(LaneNews::Message(LaneMessage::Event(mut event))) => {
                event.host = Some(self.links[part].host().name.clone());
                self.send(LaneMessage::Event(event)).await;
                None
            }
            Some(LaneNews::Message(message)) => {
                self.send(message).await;
                None
            }
            Some(LaneNews::Lost(why)) => Some(self.end_by_loss(part, why).await),
            None if self.parts[part].is_none() => Some(self.end_by_loss(part, SILENT.into()).await),
            None => None,
        }
    }

    /// A lane of the past starts with its last part: the others wait for the same moment.
    async fn note_start(&mut self, part: usize, at: Nanos) {
        let host = self.links[part].past_time(at);
        let Some(origin) = self.past.as_mut().and_then(|past| past.start(part, host)) else {
            return;
        };
        self.start = origin;
        self.send(LaneMessage::Started { at: origin }).await;
    }

    /// Workers without a controller end at different moments: a part's second that was cut short, and what follows it,
    /// would be seconds of a smaller load.
    fn ends_with(&mut self, part: usize, second: &LaneSecond) -> bool {
        self.past
            .as_mut()
            .is_some_and(|past| past.ends_with(part, second.tick))
    }

    /// A host that is not waited for any more does not make the user's end a failure.
    async fn end_by_loss(&mut self, part: usize, why: String) -> LaneEnd {
        let end = self.lost(part, why).await;
        match *self.control.borrow() {
            LaneControl::Stop => LaneEnd::Stopped,
            LaneControl::Run | LaneControl::Close => end,
        }
    }

    async fn lost(&mut self, part: usize, why: String) -> LaneEnd {
        let host = self.links[part].host().name.clone();
        let end = LaneEnd::Failed(format!("the host {host} was lost: {why}"));
        self.parts[part] = Some(end.clone());
        let since = self.merger.reached(part);
        let at = match self.past {
            // The run's clock stood still since.
            Some(_) => since,
            None => self.clock.now().saturating_sub(self.start),
        };
        let since_s = since.as_secs_f64();
        let kind = EventKind::HostLost { host, why, since_s };
        self.send(LaneMessage::Event(LaneEvent::new(at, kind)))
            .await;
        end
    }

    fn of_host(&self, part: usize, end: LaneEnd) -> LaneEnd {
        let host = &self.links[part].host().name;
        match end {
            LaneEnd::Failed(why) => LaneEnd::Failed(format!("on {host}: {why}")),
            LaneEnd::DiskFull { place, why } => LaneEnd::DiskFull {
                place: format!("{place} ({host})"),
                why,
            },
            end @ (LaneEnd::Complete | LaneEnd::Closed | LaneEnd::Stopped) => end,
        }
    }

    fn common_end(&self) -> LaneEnd {
        let ends = || self.parts.iter().flatten();
        [LaneEnd::Stopped, LaneEnd::Closed]
            .into_iter()
            .find(|end| ends().any(|own| own == end))
            .unwrap_or(LaneEnd::Complete)
    }
}

/// How long nothing is heard before a lane of the past that has not started is given up.
const START_PATIENCE: Nanos = Nanos::SECOND;

/// What is known of the parts of a lane of the past.
struct RejoinedParts {
    lane: PastLane,
    has_started: Vec<bool>,
    has_ended: Vec<bool>,
}

impl RejoinedParts {
    fn new(lane: PastLane, parts: usize) -> Self {
        Self {
            lane,
            has_started: vec![false; parts],
            has_ended: vec![false; parts],
        }
    }

    fn awaits_start(&self) -> bool {
        !self.has_started.iter().all(|started| *started)
    }

    /// The lane's start, with its last part. `at`: by this part's clock, on the run's timeline.
    fn start(&mut self, part: usize, at: Option<Nanos>) -> Option<Nanos> {
        self.has_started[part] = true;
        self.lane.origin = self.lane.origin.or(at);
        self.lane.origin.filter(|_| !self.awaits_start())
    }

    fn ends_with(&mut self, part: usize, tick: Tick) -> bool {
        let is_whole =
            tick.phase == PhaseKind::Cool || self.lane.timeline.tick_at(tick.start) == Some(tick);
        self.has_ended[part] |= !is_whole;
        self.has_ended[part]
    }
}

const SILENT: &str = "its link ended without a result";

async fn forward(part: usize, mut from: mpsc::Receiver<LaneNews>, to: mpsc::Sender<PartNews>) {
    while let Some(news) = from.recv().await {
        let news = Some(news);
        if to.send(PartNews { part, news }).await.is_err() {
            return;
        }
    }
    // The fleet is gone, and needs nothing.
    let _ = to.send(PartNews { part, news: None }).await;
}

/// Puts the seconds of several generators together. Their timelines are equal, but for where an order closed them: a
/// second is the n-th of its phase. One that a lost generator has not sent is left out: without its part of the load it
/// would look like a slower system.
pub struct SecondMerger {
    parts: Vec<FleetPart>,
    waiting: BTreeMap<TickPlace, LaneSecond>,
}

#[derive(Default)]
struct FleetPart {
    place: Option<TickPlace>,
    /// The end of its last second, on the lane's timeline.
    reached: Nanos,
    /// It sends nothing more, and nothing of it is missing.
    has_ended: bool,
}

impl SecondMerger {
    pub fn new(parts: usize) -> Self {
        Self {
            parts: std::iter::repeat_with(FleetPart::default)
                .take(parts)
                .collect(),
            waiting: BTreeMap::new(),
        }
    }

    /// Returns what is complete by it: seconds of which every part has sent its own or a later one.
    pub fn add(&mut self, part: usize, second: LaneSecond) -> Vec<LaneSecond> {
        let own = &mut self.parts[part];
        let place = TickPlace::after(own.place, second.tick.phase);
        own.place = Some(place);
        own.reached = second.tick.end;
        match self.waiting.get_mut(&place) {
            Some(waiting) => merge(waiting, &second),
            None => {
                self.waiting.insert(place, second);
            }
        }
        self.complete()
    }

    fn end(&mut self, part: usize) -> Vec<LaneSecond> {
        self.parts[part].has_ended = true;
        self.complete()
    }

    /// The end of its last second. Those of a part that sends nothing more, and has not ended, are the last ones that are
    /// complete.
    fn reached(&self, part: usize) -> Nanos {
        self.parts[part].reached
    }

    fn complete(&mut self) -> Vec<LaneSecond> {
        let unended = self.parts.iter().filter(|part| !part.has_ended);
        let Some(slowest) = unended.map(|part| part.place).min() else {
            return std::mem::take(&mut self.waiting).into_values().collect();
        };
        let mut complete = Vec::new();
        while let Some(first) = self.waiting.first_entry()
            && Some(*first.key()) <= slowest
        {
            complete.push(first.remove());
        }
        complete
    }
}

fn merge(whole: &mut LaneSecond, part: &LaneSecond) {
    let LaneSecond {
        tick,
        in_flight,
        tallies,
        earlier,
        late,
        overflow,
        merge_lag,
        absence,
    } = part;
    whole.tick.start = whole.tick.start.min(tick.start);
    whole.tick.end = whole.tick.end.max(tick.end);
    whole.in_flight += in_flight;
    merge_tallies(&mut whole.tallies, tallies);
    for part in earlier {
        let known = whole.earlier.iter_mut().find(|own| own.place == part.place);
        match known {
            Some(own) => merge_tallies(&mut own.tallies, &part.tallies),
            None => whole.earlier.push(part.clone()),
        }
    }
    whole.late += late;
    whole.overflow += overflow;
    whole.merge_lag = whole.merge_lag.max(*merge_lag);
    // The server is away for one generator as for another.
    whole.absence.server = whole.absence.server.max(absence.server);
    whole.absence.connections += absence.connections;
}

fn merge_tallies(whole: &mut [TransactionStats], part: &[TransactionStats]) {
    whole
        .iter_mut()
        .zip(part)
        .for_each(|(whole, part)| whole.merge(part));
}

#[cfg(test)]
mod tests;
