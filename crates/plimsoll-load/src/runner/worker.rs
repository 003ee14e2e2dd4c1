//! Worker threads: each has one runtime, several connections and one notebook.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use plimsoll_plan::load::LoadShape;
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::{Endpoint, LaneEnd};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;

use super::connection::Connection;
use super::shared::SharedLane;
use super::tally::Notebook;
use crate::clock::Clock;
use crate::engine::AnySession;
use crate::error::LoadError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WorkerOrder {
    Open,
    Go,
    Abort,
}

enum Answer {
    /// All sessions of the worker are open.
    Ready,
    /// One could not be opened. The others stay open until the workers are ended.
    NotReady(LoadError),
    Ended(Result<(), LaneEnd>),
}

/// The name of the threads that generate load.
pub const USERS_THREAD: &str = "plimsoll-users";

const VANISHED: &str = "a worker ended by a fault of plimsoll";

/// A lane's workers.
pub struct Workers {
    notebooks: Vec<Arc<Notebook>>,
    orders: watch::Sender<WorkerOrder>,
    answers: mpsc::Receiver<Answer>,
    running: usize,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts the workers, which open their sessions.
    pub fn spawn(shared: &Arc<SharedLane>) -> Result<Self, String> {
        let shares = shares(
            shared.spec.connections(),
            shared.opener.connections_per_worker(),
        );
        let (orders, _) = watch::channel(WorkerOrder::Open);
        let (answer, answers) = mpsc::channel(shares.len() * 2);
        let mut workers = Self {
            notebooks: Vec::new(),
            orders,
            answers,
            running: 0,
            threads: Vec::new(),
        };
        for numbers in shares {
            let notebook = Arc::new(Notebook::default());
            workers.notebooks.push(notebook.clone());
            let worker = LoadWorker {
                shared: shared.clone(),
                notebook,
                numbers,
                orders: workers.orders.subscribe(),
                answer: answer.clone(),
            };
            workers.spawn_one(worker, shared.clock.base())?;
            workers.running += 1;
        }
        Ok(workers)
    }

    /// Waits until every session is open, or the first one cannot be. When the server takes no more, all are tried, to
    /// show how many it takes.
    pub async fn ready(&mut self, shared: &SharedLane) -> Result<(), LaneEnd> {
        let mut full = None;
        for _ in 0..self.running {
            match self.answers.recv().await {
                Some(Answer::Ready) => {}
                Some(Answer::NotReady(error @ LoadError::TooManyConnections { .. })) => {
                    full = Some(error)
                }
                Some(Answer::NotReady(error)) => return Err(end_of(error)),
                Some(Answer::Ended(result)) => {
                    self.running -= 1;
                    return result.and_then(|()| {
                        Err(LaneEnd::Failed("a worker ended before it began".into()))
                    });
                }
                None => return Err(LaneEnd::Failed(VANISHED.into())),
            }
        }
        full.map_or(Ok(()), |error| {
            Err(LaneEnd::Failed(too_many(error, shared)))
        })
    }

    fn spawn_one(&mut self, worker: LoadWorker, clock: &Clock) -> Result<(), String> {
        match clock {
            Clock::Virtual(_) => {
                tokio::task::spawn_local(worker.run());
            }
            Clock::Real(_) => {
                let clock = clock.clone();
                let answer = worker.answer.clone();
                let thread =
                    std::thread::Builder::new()
                        .name(USERS_THREAD.into())
                        .spawn(move || {
                            if let Err(error) = clock.block_on(worker.run()) {
                                // The lane may be gone already.
                                let why =
                                    LaneEnd::Failed(format!("no runtime for a worker: {error}"));
                                let _ = answer.try_send(Answer::Ended(Err(why)));
                            }
                        });
                self.threads
                    .push(thread.map_err(|error| format!("no thread for a worker: {error}"))?);
            }
        }
        Ok(())
    }

    pub fn start(&self) {
        self.orders.send_replace(WorkerOrder::Go);
    }

    /// Connections stop where they are; what they had under way is written down as failed.
    pub fn abort(&self) {
        self.orders.send_replace(WorkerOrder::Abort);
    }

    /// Waits until every worker has ended, or the first one failed.
    pub async fn ended(&mut self) -> Result<(), LaneEnd> {
        while self.running > 0 {
            match self.answers.recv().await {
                Some(Answer::Ready | Answer::NotReady(_)) => {}
                Some(Answer::Ended(result)) => {
                    self.running -= 1;
                    result?;
                }
                // Every sender is gone, and some without a result.
                None => {
                    self.running = 0;
                    return Err(LaneEnd::Failed(VANISHED.into()));
                }
            }
        }
        Ok(())
    }

    /// Ends what still runs and waits for it.
    pub async fn finish(&mut self) {
        self.abort();
        // Failures were reported when they happened; here only the end counts.
        while self.running > 0 {
            let _ = self.ended().await;
        }
        for thread in self.threads.drain(..) {
            // A panicking worker has printed its message and sent no end; its entries are kept.
            let _ = thread.join();
        }
    }

    /// Waits no longer for threads that a session blocks: they end with the process, or when their server answers.
    pub fn leave(&mut self) {
        self.running = 0;
        self.threads.clear();
    }

    pub fn notebooks(&self) -> impl Iterator<Item = &Notebook> {
        self.notebooks.iter().map(Arc::as_ref)
    }
}

/// Connections 0..n in equal shares of at most `per_worker`.
fn shares(connections: u32, per_worker: u32) -> Vec<Range<u32>> {
    let workers = connections.div_ceil(per_worker.max(1)).max(1);
    (0..workers)
        .map(|i| (connections * i / workers)..(connections * (i + 1) / workers))
        .collect()
}

/// The server's message with figures that help: how many it takes, and which key of the plan sets how many are wanted.
fn too_many(error: LoadError, shared: &SharedLane) -> String {
    let LoadError::TooManyConnections { what, why, .. } = error else {
        return error.to_string();
    };
    let takes = shared.opened.load(Ordering::Acquire);
    let wants = shared.spec.connections();
    let fewer = match shared.spec.load {
        _ if takes == 0 => "end what else is connected to it".to_owned(),
        LoadShape::Closed { .. } => format!("let the users share them: connections = {takes}"),
        LoadShape::Open { .. } => format!("have fewer under way at once: users = {takes}"),
    };
    let next = format!("Raise max_connections of the server, or {fewer}.");
    let why = format!("{takes} were opened, and the plan wants {wants} ({why})");
    LoadError::TooManyConnections { what, why, next }.to_string()
}

/// How long a full server may take to end connections.
const ROOM_PATIENCE: Nanos = Nanos::from_secs(3);
const ROOM_RETRY: Nanos = Nanos::from_millis(100);

struct LoadWorker {
    shared: Arc<SharedLane>,
    notebook: Arc<Notebook>,
    numbers: Range<u32>,
    orders: watch::Receiver<WorkerOrder>,
    answer: mpsc::Sender<Answer>,
}

impl LoadWorker {
    async fn run(self) {
        let answer = self.answer.clone();
        let result = self.work().await;
        // The lane is gone.
        let _ = answer.send(Answer::Ended(result)).await;
    }

    async fn work(mut self) -> Result<(), LaneEnd> {
        let mut connections = Vec::new();
        for number in self.numbers.clone() {
            let session = tokio::select! {
                biased;
                _ = self.orders.wait_for(|order| *order == WorkerOrder::Abort) => return Ok(()),
                session = open(&self.shared, number) => session,
            };
            match session {
                Ok(session) => {
                    self.shared.opened.fetch_add(1, Ordering::AcqRel);
                    connections.push(Connection::new(
                        self.shared.clone(),
                        self.notebook.clone(),
                        number,
                        session,
                    ));
                }
                Err(error) => {
                    // The lane is gone, and the wait ends at once.
                    let _ = self.answer.send(Answer::NotReady(error)).await;
                    let _ = self
                        .orders
                        .wait_for(|order| *order == WorkerOrder::Abort)
                        .await;
                    return Ok(());
                }
            }
        }
        if self.answer.send(Answer::Ready).await.is_err() {
            return Ok(());
        }
        // An error means that the lane is gone, as an abort does.
        if !matches!(
            self.orders
                .wait_for(|order| *order != WorkerOrder::Open)
                .await
                .map(|order| *order),
            Ok(WorkerOrder::Go)
        ) {
            return Ok(());
        }
        self.take_its_place().await;
        let mut running = JoinSet::new();
        for connection in connections {
            running.spawn_local(connection.run());
        }
        let result = tokio::select! {
            biased;
            _ = self.orders.wait_for(|order| *order == WorkerOrder::Abort) => Ok(()),
            result = all_of(&mut running) => result,
        };
        // Waits until the connections' futures are gone: what they had under way is written down by then.
        running.shutdown().await;
        result
    }
}

impl LoadWorker {
    /// Sessions of a simulated machine begin one nanosecond after the other: a channel wakes them in no fixed order, and
    /// they share processors and a drive.
    async fn take_its_place(&self) {
        let clock = self.shared.clock.base();
        let shares_machine = matches!(self.shared.spec.endpoint, Endpoint::Sqlite { .. });
        if let (Clock::Virtual(_), true) = (clock, shares_machine) {
            clock.sleep(Nanos(self.numbers.start.into())).await;
        }
    }
}

/// Tries again while the server is full: connections of the load before may not have ended yet.
async fn open(shared: &SharedLane, number: u32) -> Result<AnySession, LoadError> {
    // That of the lane has not begun yet.
    let clock = shared.clock.base();
    let until = clock.now() + ROOM_PATIENCE;
    loop {
        match shared.opener.open(number).await {
            Err(LoadError::TooManyConnections { .. }) if clock.now() < until => {
                clock.sleep(ROOM_RETRY).await;
            }
            opened => return opened,
        }
    }
}

/// How a lane ends that met this.
fn end_of(error: LoadError) -> LaneEnd {
    match error {
        LoadError::DiskFull {
            place,
            why,
            next: _,
        } => LaneEnd::DiskFull { place, why },
        other => LaneEnd::Failed(other.to_string()),
    }
}

async fn all_of(running: &mut JoinSet<Result<(), LoadError>>) -> Result<(), LaneEnd> {
    while let Some(ended) = running.join_next().await {
        match ended {
            Ok(result) => result.map_err(end_of)?,
            Err(panic) => {
                return Err(LaneEnd::Failed(format!(
                    "a connection ended by a fault of plimsoll: {panic}"
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connection_has_one_worker() {
        for (connections, per_worker) in [(1, 16), (16, 16), (17, 16), (89, 1), (100, 16)] {
            let shares = shares(connections, per_worker);
            assert!(
                shares
                    .iter()
                    .all(|share| (1..=per_worker).contains(&(share.len() as u32)))
            );
            assert_eq!(
                shares.into_iter().flatten().collect::<Vec<_>>(),
                (0..connections).collect::<Vec<_>>()
            );
        }
    }
}
