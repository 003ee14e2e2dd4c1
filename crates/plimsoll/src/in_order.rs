//! Work on many things at once, its results in the order of the things.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Results that a thread has ready and that were not taken yet: they bound the memory that is used.
const READY: usize = 4;

/// Where a thread puts the results of one thing after the other.
pub struct ResultSender<T>(SyncSender<Option<T>>);

impl<T> ResultSender<T> {
    /// Waits while enough is ready. What nothing takes any more is dropped.
    pub fn send(&self, result: T) {
        let _ = self.0.send(Some(result));
    }

    /// Whether further results are wanted.
    fn end_thing(&self) -> bool {
        self.0.send(None).is_ok()
    }
}

/// Works on all processors; `take` gets the place of a thing and one result of it after the other. An error of `take` is
/// the end.
pub fn work_in_order<I: Sync, T: Send, E>(
    things: &[I],
    work: impl Fn(&I, &ResultSender<T>) + Sync,
    mut take: impl FnMut(usize, T) -> Result<(), E>,
) -> Result<(), E> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(things.len()).max(1);
    thread::scope(|scope| {
        let work = &work;
        let results: Vec<Receiver<Option<T>>> = (0..threads)
            .map(|first| {
                let (sender, receiver) = sync_channel(READY);
                scope.spawn(move || {
                    let sender = ResultSender(sender);
                    for thing in things.iter().skip(first).step_by(threads) {
                        work(thing, &sender);
                        if !sender.end_thing() {
                            return;
                        }
                    }
                });
                receiver
            })
            .collect();
        for place in 0..things.len() {
            while let Ok(Some(result)) = results[place % threads].recv() {
                take(place, result)?;
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
