//! The queue for SQLite's one writer: first come, first served. A session waits as a thread, or as a fiber in virtual time.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use plimsoll_virtual::costs::CpuUse;
use plimsoll_virtual::fiber;
use plimsoll_virtual::machine::Wait;
use tokio::sync::Notify;

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
    who: WaitingSession,
    called: AtomicBool,
}

#[derive(Debug)]
enum WaitingSession {
    Thread(Thread),
    Fiber(Arc<Notify>),
}

impl WaitingSession {
    /// The caller.
    fn current() -> Self {
        match fiber::is_inside() {
            true => Self::Fiber(Arc::default()),
            false => Self::Thread(std::thread::current()),
        }
    }

    /// Stops the caller, which this is. May return early.
    fn stop(&self) {
        match self {
            Self::Thread(_) => std::thread::park(),
            Self::Fiber(woken) => fiber::wait(Wait::Woken(woken.clone())),
        }
    }

    fn wake(&self) {
        match self {
            Self::Thread(thread) => thread.unpark(),
            Self::Fiber(woken) => woken.notify_one(),
        }
    }
}

/// The right to write, passed on to the longest waiting session when dropped.
#[derive(Debug)]
pub struct WriteTurn {
    queue: WriterQueue,
    /// False of a fiber that was given up while it waited: it finds the database locked.
    is_held: bool,
}

impl WriterQueue {
    fn lock(&self) -> MutexGuard<'_, WriteQueueState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many sessions wait for their turn.
    pub fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Stops the session until it is its turn.
    pub fn wait(&self) -> WriteTurn {
        let waiter = {
            let mut state = self.lock();
            if !state.busy {
                state.busy = true;
                return self.turn(true);
            }
            let waiter = Arc::new(QueuedWriter {
                who: WaitingSession::current(),
                called: AtomicBool::new(false),
            });
            state.waiting.push_back(waiter.clone());
            waiter
        };
        while !waiter.called.load(Ordering::Acquire) {
            if fiber::is_ending() {
                let mut state = self.lock();
                state.waiting.retain(|other| !Arc::ptr_eq(other, &waiter));
                return self.turn(waiter.called.load(Ordering::Acquire));
            }
            waiter.who.stop();
        }
        fiber::charge(CpuUse::Wake, 1.0);
        self.turn(true)
    }

    fn turn(&self, is_held: bool) -> WriteTurn {
        let queue = self.clone();
        WriteTurn { queue, is_held }
    }
}

impl Drop for WriteTurn {
    fn drop(&mut self) {
        if !self.is_held {
            return;
        }
        // What the session did with its turn takes its time before the next one begins.
        fiber::settle();
        let next = {
            let mut state = self.queue.lock();
            let next = state.waiting.pop_front();
            state.busy = next.is_some();
            next
        };
        if let Some(waiter) = next {
            waiter.called.store(true, Ordering::Release);
            waiter.who.wake();
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
