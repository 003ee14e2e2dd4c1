//! Answers that are held back: those whose time is known, and those that wait for completions.

use plimsoll_plan::units::Nanos;
use slab::Slab;

use super::timer::TimerQueue;
use crate::model::{ByRequest, RequestId};

pub struct HeldAnswers<T> {
    pub timed: TimerQueue<T>,
    waiting: Slab<T>,
    by_request: ByRequest<usize>,
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

    /// Until the request is complete.
    pub fn wait(&mut self, request: RequestId, answer: T) {
        let place = self.waiting.insert(answer);
        self.by_request.set(request, place);
    }

    /// The answer that waited for this request.
    pub fn complete(&mut self, request: RequestId) -> Option<T> {
        self.waiting.try_remove(*self.by_request.get(request))
    }

    pub fn push(&mut self, due: Nanos, answer: T) {
        self.timed.push(due, answer);
    }

    /// Everything that is held, in no order.
    pub fn take_all(&mut self) -> Vec<T> {
        let mut all = self.timed.take_all();
        all.extend(self.waiting.drain());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_waits_for_its_request() {
        let mut held = HeldAnswers::default();
        let ids = [0, 1].map(RequestId::new);
        held.wait(ids[0], "read");
        held.wait(ids[1], "write");
        assert_eq!(held.len(), 2);
        assert_eq!(held.complete(ids[1]), Some("write"));
        assert_eq!(held.complete(ids[0]), Some("read"));
        assert_eq!(held.complete(ids[0]), None);
        held.wait(ids[0], "late");
        held.push(Nanos(1), "timed");
        assert_eq!((held.take_all(), held.len()), (vec!["timed", "late"], 0));
    }
}
