//! The queue for SQLite's one writer: first come, first served.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

/// Clones share one queue; all sessions on one database file need the same one.
#[derive(Debug, Clone, Default)]
pub struct WriterQueue(Arc<Mutex<WriteQueueState>>);

#[derive(Debug, Default)]
struct WriteQueueState {
    busy: bool,
    waiting: VecDeque<Arc<QueuedWriter>>,
}

#[derive(Debug)]
struct QueuedWriter {
    thread: Thread,
    called: AtomicBool,
}

/// The right to write, passed on to the longest waiting thread when dropped.
#[derive(Debug)]
pub struct WriteTurn(WriterQueue);

impl WriterQueue {
    fn lock(&self) -> MutexGuard<'_, WriteQueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many threads wait for their turn.
    pub fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Blocks the thread until it is its turn.
    pub fn wait(&self) -> WriteTurn {
        let waiter = {
            let mut state = self.lock();
            if !state.busy {
                state.busy = true;
                return WriteTurn(self.clone());
            }
            let waiter = Arc::new(QueuedWriter {
                thread: std::thread::current(),
                called: AtomicBool::new(false),
            });
            state.waiting.push_back(waiter.clone());
            waiter
        };
        while !waiter.called.load(Ordering::Acquire) {
            std::thread::park();
        }
        WriteTurn(self.clone())
    }
}

impl Drop for WriteTurn {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.lock();
            let next = state.waiting.pop_front();
            state.busy = next.is_some();
            next
        };
        if let Some(waiter) = next {
            waiter.called.store(true, Ordering::Release);
            waiter.thread.unpark();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_in_order_of_arrival() {
        let queue = WriterQueue::default();
        let order = Arc::new(Mutex::new(Vec::new()));
        let turn = queue.wait();
        let threads: Vec<_> = (0..8)
            .map(|i| {
                let waiting = queue.clone();
                let order = order.clone();
                let thread = std::thread::spawn(move || {
                    let _turn = waiting.wait();
                    order.try_lock().expect("no other has the turn").push(i);
                });
                while queue.lock().waiting.len() <= i {
                    std::thread::yield_now();
                }
                thread
            })
            .collect();
        drop(turn);
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
        assert_eq!(*order.lock().unwrap(), (0..8).collect::<Vec<_>>());
        assert!(!queue.lock().busy);
    }
}
