//! Filling tables fast: work shared out among several connections, each on a thread of its own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::ServerClient;
use super::part::TablePart;
use crate::engine::LoadControl;
use crate::engine::server::target::Target;
use crate::error::LoadError;
use crate::scratch::wait_until;

/// After this time a load goes on without checking for a stop.
const LONGEST_SECONDS: u64 = 30 * 24 * 3600;

/// Work for one connection.
pub(super) enum BulkJob {
    Fill(TablePart),
    Run(String),
}

impl BulkJob {
    fn run(&self, client: &mut dyn ServerClient, control: &LoadControl) -> Result<(), LoadError> {
        match self {
            Self::Fill(part) => client.fill(part, control),
            Self::Run(sql) => client.execute(sql, sql),
        }
    }
}

/// Jobs that several connections take in turn.
struct BulkQueue<'a> {
    jobs: &'a [BulkJob],
    next: AtomicUsize,
    failed: AtomicBool,
    control: &'a LoadControl,
}

impl BulkQueue<'_> {
    /// Whoever is free takes the next.
    fn work(&self, mut client: Box<dyn ServerClient>) -> Result<(), LoadError> {
        while let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            self.control.check()?;
            if let Err(error) = job.run(client.as_mut(), self.control) {
                self.next.store(self.jobs.len(), Ordering::Relaxed);
                self.control.check()?;
                if self.failed.swap(true, Ordering::Relaxed) {
                    // It was ended because of another one's failure, which is reported.
                    return Ok(());
                }
                return Err(error);
            }
        }
        Ok(())
    }

    fn is_to_end(&self) -> bool {
        self.control.is_cancelled() || self.failed.load(Ordering::Relaxed)
    }
}

/// Does all jobs on several connections. Ends early when one fails or the user wants it to end; `main` then stops what
/// the server is doing for the others.
pub(super) fn share_out(
    target: &Target,
    jobs: &[BulkJob],
    main: &mut dyn ServerClient,
    control: &LoadControl,
) -> Result<(), LoadError> {
    let connections = thread::available_parallelism().map_or(2, usize::from);
    let mut clients = Vec::new();
    let mut cancels = Vec::new();
    for _ in 0..connections.min(jobs.len()) {
        let mut client = target.open("The workload's")?;
        let id = client.id()?.to_string();
        cancels.push(target.dialect().cancel.replace("{id}", &id));
        clients.push(client);
    }
    let queue = BulkQueue {
        jobs,
        next: AtomicUsize::new(0),
        failed: AtomicBool::new(false),
        control,
    };
    thread::scope(|scope| {
        let running: Vec<_> = clients
            .into_iter()
            .map(|client| scope.spawn(|| queue.work(client)))
            .collect();
        wait_until(LONGEST_SECONDS, || {
            if queue.is_to_end() {
                cancels
                    .drain(..)
                    .for_each(|sql| drop(main.execute("stopping the load", &sql)));
            }
            running.iter().all(|worker| worker.is_finished())
        });
        let ends = running.into_iter().map(|worker| worker.join());
        let ends: Vec<_> = ends
            .map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        ends.into_iter().collect()
    })
}
