//! Reads each run that a page shows once a second, however many pages show it, and none that no page shows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use crate::live::{LiveEvent, LiveRun, SentUntil, is_growing};

const EVERY: Duration = Duration::from_secs(1);

/// The feeds of runs that are shown.
pub(crate) struct Feeds {
    feeds: Mutex<HashMap<PathBuf, Weak<Feed>>>,
    /// One run is read at a time.
    turn: Arc<Semaphore>,
}

impl Default for Feeds {
    fn default() -> Self {
        Self {
            feeds: Mutex::default(),
            turn: Arc::new(Semaphore::new(1)),
        }
    }
}

/// How the end of a run is found out.
#[derive(Clone)]
pub(crate) struct EndOfRun {
    /// The end of the server: what it serves is read once more, at once.
    pub stop: watch::Receiver<bool>,
    /// Its file alone does not show it: who runs it has more to do, and ends the server.
    pub only_by_stop: bool,
}

/// A run that is shown; it is read as long as somebody holds this.
pub(crate) struct Feed {
    run: Mutex<LiveRun>,
    /// How often it was read, and whether it has ended.
    read: watch::Sender<FeedState>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FeedState {
    pub readings: u64,
    pub ended: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Feeds {
    /// Joins the feed of a run, or begins it.
    pub fn join(&self, path: &Path, end: &EndOfRun) -> Arc<Feed> {
        let mut feeds = lock(&self.feeds);
        feeds.retain(|_, feed| feed.strong_count() > 0);
        let known = feeds.get(path).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let feed = Arc::new(Feed {
                run: Mutex::new(LiveRun::new(path.to_owned())),
                read: watch::Sender::default(),
            });
            feeds.insert(path.to_owned(), Arc::downgrade(&feed));
            let reading = keep_reading(
                Arc::downgrade(&feed),
                path.to_owned(),
                end.clone(),
                Arc::clone(&self.turn),
            );
            tokio::spawn(reading);
            feed
        })
    }
}

impl Feed {
    pub fn subscribe(&self) -> watch::Receiver<FeedState> {
        self.read.subscribe()
    }

    pub fn event(&self, sent: &SentUntil, ended: bool) -> Option<LiveEvent> {
        lock(&self.run).event(sent, ended)
    }

    /// Reads a disk, so not on the thread of connections, which never waits for it. Whether the run has ended.
    fn read_once(&self, path: &Path) -> bool {
        let position = lock(&self.run).position();
        // It may be moved away for another attempt, or be about to be made: the next reading finds out.
        if let Ok(reading) = position.read() {
            lock(&self.run).add(reading);
        }
        lock(&self.run).has_ended() || !is_growing(path)
    }
}

async fn keep_reading(feed: Weak<Feed>, path: PathBuf, mut end: EndOfRun, turn: Arc<Semaphore>) {
    loop {
        let Ok(turn) = Arc::clone(&turn).acquire_owned().await else {
            return;
        };
        let Some(shown) = feed.upgrade() else { return };
        let file = path.clone();
        let stopped = *end.stop.borrow_and_update();
        let by_stop = end.only_by_stop;
        let reading = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let ended = shown.read_once(&file) && !by_stop || stopped;
            shown.read.send_modify(|state| {
                state.readings += 1;
                state.ended = ended;
            });
            ended
        });
        if reading.await.unwrap_or(true) {
            return;
        }
        let _ = timeout(EVERY, end.stop.changed()).await;
    }
}
