//! Answers that are held back: those whose time is known, and those that wait for completions.

use std::collections::HashMap;

use plimsoll_plan::units::Nanos;

use super::timer::TimerQueue;
use crate::model::RequestId;

pub struct HeldAnswers<T> {
    pub timed: TimerQueue<T>,
    /// By number: an array has others in between, for what comes before a request.
    waiting: HashMap<RequestId, T>,
}

impl<T> Default for HeldAnswers<T> {
    fn default() -> Self {
        Self {
            timed: TimerQueue::default(),
            waiting: HashMap::new(),
        }
    }
}

impl<T> HeldAnswers<T> {
    pub fn len(&self) -> usize {
        self.timed.len() + self.waiting.len()
    }

    /// Until the request is complete.
    pub fn wait(&mut self, request: RequestId, answer: T) {
        self.waiting.insert(request, answer);
    }

    /// The answer that waited for this request.
    pub fn complete(&mut self, request: RequestId) -> Option<T> {
        self.waiting.remove(&request)
    }

    pub fn push(&mut self, due: Nanos, answer: T) {
        self.timed.push(due, answer);
    }

    /// Everything that is held, in no order.
    pub fn take_all(&mut self) -> Vec<T> {
        let mut all = self.timed.take_all();
        all.extend(self.waiting.drain().map(|(_, answer)| answer));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_waits_for_its_request() {
        let mut held = HeldAnswers::default();
        // The array used 1 for a write before a flush.
        let ids = [0, 2].map(RequestId::new);
        held.wait(ids[0], "durable write");
        held.wait(ids[1], "write");
        assert_eq!(held.len(), 2);
        assert_eq!(held.complete(ids[1]), Some("write"));
        assert_eq!(held.complete(ids[0]), Some("durable write"));
        assert_eq!(held.complete(ids[0]), None);
        held.wait(ids[0], "late");
        held.push(Nanos(1), "timed");
        assert_eq!((held.take_all(), held.len()), (vec!["timed", "late"], 0));
    }
}
