//! Lanes that start at the same time, although their connections take different times to open.

use std::sync::Arc;

use tokio::sync::watch;

/// Shared by the lanes of one point. Passed when all of them have come to it, those left out that could not.
#[derive(Debug, Clone)]
pub struct Gate(Arc<watch::Sender<Standing>>);

#[derive(Debug, Clone, Copy)]
struct Standing {
    expected: u32,
    here: u32,
}

impl Gate {
    pub fn of(lanes: u32) -> Self {
        Self(Arc::new(
            watch::channel(Standing {
                expected: lanes,
                here: 0,
            })
            .0,
        ))
    }

    /// Until all are here.
    pub(super) async fn pass(&self) {
        let mut standing = self.0.subscribe();
        self.0.send_modify(|standing| standing.here += 1);
        // The sender is in self.
        let _ = standing
            .wait_for(|standing| standing.here >= standing.expected)
            .await;
    }

    /// Will not come: the others are not to wait.
    pub(super) fn leave(&self) {
        self.0
            .send_modify(|standing| standing.expected = standing.expected.saturating_sub(1));
    }
}
