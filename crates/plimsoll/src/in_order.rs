//! Work on many things at once, its results in the order of the things.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Results that a thread has ready and that were not taken yet: they bound the memory that is used.
const READY: usize = 4;

/// Where a thread puts the results of one thing.
pub struct ResultSender<T>(SyncSender<T>);

impl<T> ResultSender<T> {
    /// Waits while enough is ready. What nothing takes any more is dropped.
    pub fn send(&self, result: T) {
        let _ = self.0.send(result);
    }
}

/// Works on all processors, each on the next thing that none has begun; `take` gets the place of a thing and one result of
/// it after the other. An error of `take` is the end.
pub fn work_in_order<I: Sync, T: Send, E>(
    things: &[I],
    work: impl Fn(&I, &ResultSender<T>) + Sync,
    mut take: impl FnMut(usize, T) -> Result<(), E>,
) -> Result<(), E> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let (senders, receivers): (Vec<_>, Vec<_>) = things.iter().map(|_| sync_channel(READY)).unzip();
    let begun = Mutex::new(things.iter().zip(senders));
    let next = || begun.lock().unwrap_or_else(PoisonError::into_inner).next();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..processors.min(things.len()) {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed)
                    && let Some((thing, sender)) = next()
                {
                    work(thing, &ResultSender(sender));
                }
            });
        }
        for (place, results) in receivers.into_iter().enumerate() {
            for result in results {
                take(place, result).inspect_err(|_| is_over.store(true, Ordering::Relaxed))?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_things() {
        let things: Vec<usize> = (0..100).collect();
        let mut taken = Vec::new();
        let work = |thing: &usize, results: &ResultSender<usize>| {
            for part in 0..thing % 7 {
                results.send(thing * 10 + part);
            }
        };
        let done: Result<(), ()> = work_in_order(&things, work, |place, result| {
            taken.push((place, result));
            Ok(())
        });
        let parts = |thing: usize| (0..thing % 7).map(move |part| (thing, thing * 10 + part));
        assert_eq!(done, Ok(()));
        assert_eq!(
            taken,
            things.iter().copied().flat_map(parts).collect::<Vec<_>>()
        );
    }

    #[test]
    fn an_error_ends_the_work() {
        let things: Vec<u32> = (0..10_000).collect();
        let work = |thing: &u32, results: &ResultSender<u32>| results.send(*thing);
        let ended = work_in_order(&things, work, |_, result| {
            if result == 5 { Err(result) } else { Ok(()) }
        });
        assert_eq!(ended, Err(5));
    }
}
