//! A database server, asked about itself on a thread of its own: a server that answers slowly must delay no other sample.
//!
//! Ten times a second the states of plimsoll's sessions are sampled (of more than four servers at once, forty times a
//! second at one or the other), once a second the counters are read. A server that
//! does not answer is asked again each second, quietly: that it is gone is noticed elsewhere.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

use plimsoll_plan::units::Nanos;
use plimsoll_record::SubjectId;
use plimsoll_record::lane::Endpoint;
use plimsoll_record::message::EventKind;
use plimsoll_record::message::event::Figures;
use plimsoll_record::metric::Metric;
use tokio::sync::watch;

use super::counters::CounterRates;
use super::data::{Rest, thread_cpu};
use super::emit::Emit;
use super::{ProbeMessage, Warning};
use crate::clock::Clock;
use crate::engine::insight::Insight;
use crate::error::LoadError;
use session_sampler::SessionSampler;

mod session_sampler;

/// What an answer may take. Longer than a stalled drive stalls a counter, and short enough to be asked anew.
const PATIENCE: Duration = Duration::from_secs(30);
/// Until a server that did not answer is asked again.
const PAUSE: Nanos = Nanos::SECOND;
/// The size of the data is read at most this often, and seldom enough to cost at most 0.1 % of the time: see [`Rest`].
const SIZE_COST: Nanos = Nanos::from_millis(10);

/// A running thread; ends when dropped.
#[derive(Debug)]
pub(super) struct Asking {
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Asking {
    /// Errors: no thread can be started.
    pub fn start(
        clock: Clock,
        subject: SubjectId,
        endpoint: Endpoint,
        messages: Sender<ProbeMessage>,
        among: &Arc<AtomicU32>,
    ) -> io::Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let among = Arc::clone(among);
        let thread = std::thread::Builder::new()
            .name("insight".into())
            .spawn(move || {
                let among = Among::join(&among);
                let mut asker = Asker {
                    clock: clock.clone(),
                    subject,
                    messages,
                    warned: Vec::new(),
                    answered: false,
                    among,
                };
                if let Err(error) = clock.block_on(asker.until_stopped(&endpoint, stopped)) {
                    // A closed channel: the run has ended.
                    let _ = asker.warn(no_counters(&error));
                }
            })?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic has printed its message.
            let _ = thread.join();
        }
    }
}

struct Asker {
    clock: Clock,
    subject: SubjectId,
    messages: Sender<ProbeMessage>,
    /// Each is sent once.
    warned: Vec<EventKind>,
    answered: bool,
    among: Among,
}

/// Counts the servers that are asked at the same time: they share what sampling may cost.
struct Among(Arc<AtomicU32>);

impl Among {
    fn join(all: &Arc<AtomicU32>) -> Self {
        all.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(all))
    }

    fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Among {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why asking ends.
enum End {
    /// The receiver is gone.
    Disconnected,
    Server(LoadError),
}

impl From<LoadError> for End {
    fn from(error: LoadError) -> Self {
        Self::Server(error)
    }
}

impl Asker {
    async fn until_stopped(&mut self, endpoint: &Endpoint, mut stopped: watch::Receiver<bool>) {
        tokio::select! {
            // An error means that whoever could stop this is gone.
            _ = stopped.wait_for(|stop| *stop) => {}
            () = self.ask_on(endpoint) => {}
        }
    }

    /// Across the server's deaths and restarts.
    async fn ask_on(&mut self, endpoint: &Endpoint) {
        loop {
            match self.ask(endpoint).await {
                Err(End::Disconnected) => return,
                // The lane reports that the server is away.
                Err(End::Server(_)) if self.answered => {}
                Err(End::Server(error)) => {
                    if self.warn(no_counters(&error)).is_err() {
                        return;
                    }
                }
                Ok(never) => match never {},
            }
            self.clock.sleep(PAUSE).await;
        }
    }

    /// Over one connection, as long as it lasts.
    async fn ask(&mut self, endpoint: &Endpoint) -> Result<std::convert::Infallible, End> {
        let mut insight = in_time(Insight::connect(endpoint)).await?;
        self.send(ProbeMessage::Facts(
            self.subject,
            vec![("wait_states".into(), insight.source())],
        ))?;
        let mut sampler = SessionSampler::new(self.clock.now());
        let mut counters = CounterRates::default();
        let mut costs = ProbeCosts::new();
        let mut size = Rest::default();
        loop {
            let end = sampler.end();
            let due = sampler.next(
                self.clock.now(),
                costs.last,
                insight.rest(),
                self.among.count(),
            );
            if due < end {
                self.clock.sleep_until(due).await;
                let asked = self.clock.now();
                sampler.add(in_time(insight.sample_sessions()).await?);
                costs.spent(self.clock.now() - asked);
                continue;
            }
            self.clock.sleep_until(end).await;
            let at = self.clock.now();
            let reading = in_time(insight.read()).await?;
            costs.spent(self.clock.now() - at);
            let mut samples = Vec::with_capacity(reading.len() + 3);
            let emit = &mut Emit {
                out: &mut samples,
                subject: self.subject,
                at,
                over: Nanos::ZERO,
                among: 1,
            };
            counters.emit(&reading, emit);
            costs.emit(emit);
            if size.is_over(at) {
                let bytes = in_time(insight.size()).await?;
                let took = self.clock.now() - at;
                costs.spent(took);
                let over = size.start(at, took.max(SIZE_COST), 1);
                emit.put_over(Metric::DbSize, over, bytes.0 as f64);
            }
            self.send(ProbeMessage::Samples(samples))?;
            self.answered = true;
            let rows = sampler.take(self.subject, at);
            self.send(ProbeMessage::Waits(rows))?;
            insight
                .lacks()
                .into_iter()
                .try_for_each(|kind| self.warn(kind))?;
        }
    }

    fn warn(&mut self, kind: EventKind) -> Result<(), End> {
        if self.warned.contains(&kind) {
            return Ok(());
        }
        self.warned.push(kind.clone());
        self.send(ProbeMessage::Warning(Warning {
            subject: self.subject,
            kind,
        }))
    }

    fn send(&self, message: ProbeMessage) -> Result<(), End> {
        self.messages.send(message).map_err(|_| End::Disconnected)
    }
}

async fn in_time<T>(answer: impl Future<Output = Result<T, LoadError>>) -> Result<T, LoadError> {
    let answer = tokio::time::timeout(PATIENCE, answer).await;
    answer.unwrap_or_else(|_| {
        Err(LoadError::other(
            "asking the server about itself",
            "it does not answer",
        ))
    })
}

/// What asking costs in the second that goes on.
struct ProbeCosts {
    /// CPU time of this thread at the last sample.
    cpu: Nanos,
    busy: Nanos,
    /// How long the last answer took.
    last: Nanos,
}

impl ProbeCosts {
    fn new() -> Self {
        Self {
            cpu: thread_cpu(),
            busy: Nanos::ZERO,
            last: Nanos::ZERO,
        }
    }

    fn spent(&mut self, time: Nanos) {
        self.busy += time;
        self.last = time;
    }

    fn emit(&mut self, emit: &mut Emit<'_>) {
        let cpu = thread_cpu();
        if emit.over > Nanos::ZERO {
            emit.share(Metric::DbProbeCost, cpu.saturating_sub(self.cpu));
            emit.share(Metric::DbProbeBusy, self.busy);
        }
        (self.cpu, self.busy) = (cpu, Nanos::ZERO);
    }
}

fn no_counters(error: &dyn std::fmt::Display) -> EventKind {
    EventKind::Unreadable {
        source: String::new(),
        error: error.to_string(),
        figures: Figures::Server,
    }
}

#[cfg(test)]
#[path = "database_tests.rs"]
mod tests;
