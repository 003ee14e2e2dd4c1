//! Orders to a lane, and what happens beside it.

use std::future::{Future, pending};

use plimsoll_record::lane::LaneControl;
use tokio::sync::watch;

use super::error::StepResult;
use crate::signals::Interrupt;

/// A lane's orders: the user's, and a stop that does not come from the user.
pub(super) struct Orders {
    user: watch::Receiver<LaneControl>,
    lane: watch::Sender<LaneControl>,
}

impl Orders {
    pub fn new(interrupt: &Interrupt) -> Self {
        let user = interrupt.subscribe();
        let lane = watch::channel(*user.borrow()).0;
        Self { user, lane }
    }

    pub fn user_orders(&self) -> watch::Receiver<LaneControl> {
        self.user.clone()
    }

    pub fn lane_orders(&self) -> watch::Receiver<LaneControl> {
        self.lane.subscribe()
    }

    pub fn stop(&self) {
        self.lane.send_replace(LaneControl::Stop);
    }

    /// The work's result. Beside it, forwards the user's orders and runs `on_failure`.
    pub async fn beside<T>(
        &self,
        work: impl Future<Output = T>,
        on_failure: impl Future<Output = ()>,
    ) -> T {
        tokio::select! {
            result = work => result,
            never = self.forward() => never,
            never = async { on_failure.await; pending().await } => never,
        }
    }

    /// The work's result. Beside it runs `events`, whose failure ends the work.
    pub async fn with_events<T>(
        &self,
        work: impl Future<Output = StepResult<T>>,
        events: impl Future<Output = StepResult<()>>,
    ) -> StepResult<T> {
        let mut failed = None;
        let events = async {
            if let Err(error) = events.await {
                failed = Some(error);
                self.stop();
            }
            pending::<()>().await
        };
        let result = tokio::select! {
            result = work => result,
            () = events => pending().await,
        };
        failed.map_or(result, Err)
    }

    /// Forwards the user's orders forever; does not weaken an order that the lane already has.
    async fn forward<T>(&self) -> T {
        let mut user = self.user.clone();
        while user.changed().await.is_ok() {
            let wanted = *user.borrow_and_update();
            self.lane.send_modify(|order| *order = wanted.max(*order));
        }
        pending().await
    }
}
