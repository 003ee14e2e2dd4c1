//! The sampling thread.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use plimsoll_plan::units::Nanos;
use plimsoll_record::SubjectId;
use plimsoll_record::lane::Endpoint;

use super::database::Asking;
use super::{ProbeMessage, Sampler, Warning, Watch};
use crate::clock::Clock;
use crate::engine::insight::Insight;

/// The longest sleep before the thread checks whether to end.
const NAP: Nanos = Nanos::from_millis(200);

/// A running sampling thread, and those that ask servers; all end when it is dropped.
#[derive(Debug)]
pub struct Probe {
    shared: Arc<SharedSampler>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    asking: Mutex<BTreeMap<SubjectId, Asking>>,
    /// How many.
    asked: Arc<AtomicU32>,
    clock: Clock,
    news: Sender<ProbeMessage>,
}

#[derive(Debug, Default)]
struct SharedSampler {
    sampler: Mutex<Sampler>,
    ends: AtomicBool,
}

impl SharedSampler {
    /// A sampler whose user panicked holds whole readings still.
    fn sampler(&self) -> MutexGuard<'_, Sampler> {
        self.sampler.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ends(&self) -> bool {
        self.ends.load(Ordering::Acquire)
    }
}

/// Starts a thread that samples on each whole second of the run's timeline, until [`Probe::stop`] or until the receiver
/// receives, and one that notes when plimsoll did not run. The sampling thread's own cost and lateness belong to the subject of [`Watch::Generator`].
///
/// Errors: no thread can be started; the clock is virtual, under which no thread can wait.
pub fn spawn(clock: Clock, news: Sender<ProbeMessage>) -> io::Result<Probe> {
    if let Clock::Virtual(_) = clock {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "a sampling thread needs the real clock",
        ));
    }
    let shared = Arc::new(SharedSampler::default());
    let of_thread = (Arc::clone(&shared), clock.clone(), news.clone());
    let probe = Probe {
        shared: Arc::clone(&shared),
        threads: Mutex::default(),
        asking: Mutex::default(),
        asked: Arc::default(),
        clock: clock.clone(),
        news,
    };
    let sampling = std::thread::Builder::new().name("probe".into());
    let sampling = sampling.spawn(move || run(&of_thread.0, &of_thread.1, &of_thread.2))?;
    probe.threads().push(sampling);
    let ticking = std::thread::Builder::new().name("ticks".into());
    let stopped = shared.sampler().stopped_time();
    let ticking = ticking.spawn(move || {
        while !shared.ends() {
            stopped.tick(&clock);
        }
    })?;
    probe.threads().push(ticking);
    Ok(probe)
}

fn run(shared: &SharedSampler, clock: &Clock, news: &Sender<ProbeMessage>) {
    loop {
        let due = next_second(clock.now());
        while clock.now() < due {
            clock.block_until(due.min(clock.now() + NAP));
            if shared.ends() {
                return;
            }
        }
        // The lock first: waiting for it is lateness, too.
        let mut sampler = shared.sampler();
        let now = clock.now();
        let samples = sampler.sample(now, now.saturating_sub(due));
        drop(sampler);
        if news.send(ProbeMessage::Samples(samples)).is_err() {
            return;
        }
    }
}

/// The first whole second after `now`: seconds that were slept through are not made up for.
fn next_second(now: Nanos) -> Nanos {
    Nanos::from_secs(now.0 / Nanos::SECOND.0 + 1)
}

impl Probe {
    /// See [`Sampler::watch`]; counts from the next whole second on, and what a backup writes from now on.
    pub fn watch(&self, subject: SubjectId, watch: Watch) {
        let mut sampler = self.shared.sampler();
        sampler.watch(subject, watch);
        // The first reading has no rate: it is what the next one is compared with.
        drop(sampler.sample_backup(subject, self.clock.now()));
    }

    /// Asks the server at the endpoint about itself from now on; an engine that is no server is left alone. Whatever
    /// becomes of the server, it is asked until [`Self::unwatch`].
    ///
    /// Errors: no thread can be started.
    pub fn ask(&self, subject: SubjectId, endpoint: Endpoint) -> io::Result<()> {
        if Insight::exists_for(&endpoint) {
            // The thread before it ends first, so that no two ask the same server.
            self.asking().remove(&subject);
            let asking = Asking::start(
                self.clock.clone(),
                subject,
                endpoint,
                self.news.clone(),
                &self.asked,
            )?;
            self.asking().insert(subject, asking);
        }
        Ok(())
    }

    fn asking(&self) -> MutexGuard<'_, BTreeMap<SubjectId, Asking>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Neither watches nor asks it any more.
    pub fn unwatch(&self, subject: SubjectId) {
        let mut sampler = self.shared.sampler();
        let last = sampler.sample_backup(subject, self.clock.now());
        sampler.unwatch(subject);
        drop(sampler);
        if !last.is_empty() {
            // A closed channel: the run is over.
            let _ = self.news.send(ProbeMessage::Samples(last));
        }
        let asking = self.asking().remove(&subject);
        drop(asking);
    }

    /// What could not be read since the last call.
    pub fn take_warnings(&self) -> Vec<Warning> {
        self.shared.sampler().take_warnings()
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the threads, within a second; samples that were sent can still be received. Gives the last warnings.
    pub fn stop(&self) -> Vec<Warning> {
        self.end();
        self.take_warnings()
    }

    fn end(&self) {
        self.shared.ends.store(true, Ordering::Release);
        std::mem::take(&mut *self.asking())
            .into_values()
            .for_each(drop);
        let threads = std::mem::take(&mut *self.threads());
        for thread in threads {
            // A panic has printed its message.
            let _ = thread.join();
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use plimsoll_record::Sample;
    use plimsoll_record::metric::Metric;

    use super::*;
    use crate::clock::VirtualClock;

    #[test]
    fn samples_on_whole_seconds_and_stops_soon() {
        let clock = Clock::real();
        let (sender, receiver) = mpsc::channel();
        let probe = spawn(clock.clone(), sender).unwrap();
        probe.watch(SubjectId(3), Watch::Generator);
        let jitter = |samples: &[(SubjectId, Metric, Sample)]| {
            let (_, _, sample) = samples
                .iter()
                .find(|(_, metric, _)| *metric == Metric::ProbeJitter)
                .unwrap();
            (sample.at, sample.value)
        };
        for _ in 0..2 {
            let ProbeMessage::Samples(samples) =
                receiver.recv_timeout(Duration::from_secs(30)).unwrap()
            else {
                panic!("only samples are sent")
            };
            assert!(
                samples
                    .iter()
                    .all(|(subject, _, _)| *subject == SubjectId(3))
            );
            let (at, late_ms) = jitter(&samples);
            let past_second = Nanos(at.0 % Nanos::SECOND.0).as_millis_f64();
            assert!(
                (f64::from(late_ms) % 1000.0 - past_second).abs() < 1.0,
                "{late_ms} ms late at {at}"
            );
        }
        let before = clock.now();
        assert_eq!(probe.stop(), []);
        drop(probe);
        assert!(clock.now() - before < Nanos::from_secs(10));
        // What it sent before this receives, which may be several seconds on a busy machine.
        receiver.try_iter().for_each(drop);
        assert!(
            receiver.recv().is_err(),
            "the senders of its threads are gone with them"
        );
    }

    #[test]
    fn needs_the_real_clock() {
        let error = spawn(Clock::Virtual(VirtualClock::default()), mpsc::channel().0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }

    #[test]
    fn a_second_slept_through_is_not_made_up_for() {
        assert_eq!(next_second(Nanos::ZERO), Nanos::SECOND);
        assert_eq!(next_second(Nanos::from_millis(3999)), Nanos::from_secs(4));
        assert_eq!(next_second(Nanos::from_secs(4)), Nanos::from_secs(5));
    }
}
