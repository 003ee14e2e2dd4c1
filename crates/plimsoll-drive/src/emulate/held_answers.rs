//! Answers that are held back: those whose time is known, and those that wait for completions.

use plimsoll_plan::units::Nanos;
use slab::Slab;

use super::timer::TimerQueue;
use crate::model::{ByRequest, Completion, RequestId};

pub struct HeldAnswers<T> {
    pub timed: TimerQueue<T>,
    waiting: Slab<WaitingAnswer<T>>,
    by_request: ByRequest<usize>,
}

struct WaitingAnswer<T> {
    answer: T,
    requests: usize,
    /// The last completion so far.
    at: Nanos,
}

/// An answer whose time is known.
#[derive(Debug, PartialEq, Eq)]
pub struct TimedAnswer<T> {
    pub answer: T,
    pub at: Nanos,
}

impl<T> Default for HeldAnswers<T> {
    fn default() -> Self {
        Self {
            timed: TimerQueue::default(),
            waiting: Slab::new(),
            by_request: ByRequest::default(),
        }
    }
}

impl<T> HeldAnswers<T> {
    pub fn len(&self) -> usize {
        self.timed.len() + self.waiting.len()
    }

    /// Until these are complete.
    pub fn wait(&mut self, requests: [Option<RequestId>; 2], answer: T) {
        let requests = requests.into_iter().flatten();
        let place = self.waiting.insert(WaitingAnswer {
            answer,
            requests: requests.clone().count(),
            at: Nanos::ZERO,
        });
        requests.for_each(|id| self.by_request.set(id, place));
    }

    /// A request is complete at this time. The answer with its own, if it was the last that this waited for.
    pub fn complete(&mut self, done: Completion) -> Option<TimedAnswer<T>> {
        let place = *self.by_request.get(done.id);
        let waiting = self.waiting.get_mut(place)?;
        waiting.requests -= 1;
        waiting.at = waiting.at.max(done.at);
        (waiting.requests == 0).then(|| {
            let WaitingAnswer { answer, at, .. } = self.waiting.remove(place);
            TimedAnswer { answer, at }
        })
    }

    pub fn push(&mut self, due: Nanos, answer: T) {
        self.timed.push(due, answer);
    }

    /// Everything that is held, in no order.
    pub fn take_all(&mut self) -> Vec<T> {
        let mut all = self.timed.take_all();
        all.extend(self.waiting.drain().map(|own| own.answer));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_waits_for_all_its_requests() {
        let mut held = HeldAnswers::default();
        let ids = [0, 1, 2].map(RequestId::new);
        held.wait([Some(ids[0]), None], "read");
        held.wait([Some(ids[1]), Some(ids[2])], "durable write");
        assert_eq!(held.len(), 2);
        let mut complete = |id, at| held.complete(Completion { id, at: Nanos(at) });
        let answer = |answer, at| {
            Some(TimedAnswer {
                answer,
                at: Nanos(at),
            })
        };
        assert_eq!(complete(ids[2], 9), None);
        assert_eq!(complete(ids[0], 5), answer("read", 5));
        assert_eq!(complete(ids[1], 7), answer("durable write", 9));
        held.wait([Some(ids[0]), None], "late");
        held.push(Nanos(1), "timed");
        assert_eq!((held.take_all(), held.len()), (vec!["timed", "late"], 0));
    }
}
