//! A short load that stands for what a plan does to a drive.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use plimsoll_load::clock::Clock;
use plimsoll_plan::resolved::{BlockJob, BlockStream, BlockWork, LoadStep, Step, SyncPolicy};
use plimsoll_plan::units::Nanos;
use plimsoll_plan::{MediumId, ResolvedPlan};
use rustix::fs::OFlags;

const BLOCK: usize = 4096;
/// Requests go over a file of so many blocks.
const BLOCKS: u64 = 4096;
/// Each is a thread. Of more, most wait for a processor in any case.
const MOST_THREADS: u32 = 64;
/// CPU time between two requests of a database's user. TPC-C by SQLite and PostgreSQL takes 0.1 to 0.5 ms.
const DATABASE_WORK: Nanos = Nanos::from_micros(100);

/// SQLite writes back its log each 1,000 pages, which are some 50 transactions of TPC-C.
const CHECKPOINT_COMMITS: u64 = 50;
/// Different ones among these pages.
const CHECKPOINT_PAGES: u64 = 300;

/// Requests of 4 KiB from threads that each wait for the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProbeLoad {
    pub threads: u32,
    pub read_percent: u32,
    /// Each write is made durable.
    pub flushes: bool,
    /// Time that a thread computes before each request.
    pub work: Nanos,
    /// After so many durable writes comes a checkpoint: many pages are written at once.
    pub checkpoints: bool,
}

/// The loads that a plan puts on a medium, without repetitions.
pub fn loads_on(plan: &ResolvedPlan, medium: MediumId) -> Vec<ProbeLoad> {
    let mut loads: Vec<ProbeLoad> = Vec::new();
    for step in &plan.steps {
        let load = match step {
            Step::Load(step) if step.on.contains(&medium) => {
                database(users(step).saturating_mul(plan.system(step.system).count))
            }
            Step::Block(step) if step.on.contains(&medium) => {
                let block = &plan.block(step.workload).block;
                match &block.work {
                    BlockWork::Jobs(jobs) => {
                        let deepest = jobs.iter().max_by_key(|job| in_flight(job));
                        let Some(job) = deepest else { continue };
                        requests(job, block.workers)
                    }
                    // Only fio knows what it does.
                    BlockWork::File { .. } => ProbeLoad {
                        work: Nanos::ZERO,
                        checkpoints: false,
                        ..database(block.workers)
                    },
                }
            }
            _ => continue,
        };
        if !loads.contains(&load) {
            loads.push(load);
        }
    }
    if loads.is_empty() {
        // Backups are written to it.
        loads.push(database(1));
    }
    loads
}

/// Most connections of its points, or what a search may reach.
fn users(step: &LoadStep) -> u32 {
    let connections = step.points.iter().map(|load| load.connections());
    connections.max().unwrap_or(1)
}

/// Half of the requests are reads, the others durable writes.
fn database(users: u32) -> ProbeLoad {
    ProbeLoad {
        threads: users.clamp(1, MOST_THREADS),
        read_percent: 50,
        flushes: true,
        work: DATABASE_WORK,
        checkpoints: true,
    }
}

fn in_flight(job: &BlockJob) -> u32 {
    let streams = job.streams.iter().map(BlockStream::in_flight);
    streams.fold(0, u32::saturating_add)
}

fn requests(job: &BlockJob, workers: u32) -> ProbeLoad {
    let threads = in_flight(job).saturating_mul(workers);
    let reads: u64 = job
        .streams
        .iter()
        .map(|stream| u64::from(stream.read_percent) * u64::from(stream.in_flight()))
        .sum();
    ProbeLoad {
        threads: threads.clamp(1, MOST_THREADS),
        read_percent: (reads / u64::from(in_flight(job).max(1))) as u32,
        flushes: job
            .streams
            .iter()
            .any(|stream| stream.sync != SyncPolicy::None),
        work: Nanos::ZERO,
        checkpoints: false,
    }
}

/// State that the threads of a load share.
pub struct RunningLoad {
    clock: Clock,
    commits: AtomicU64,
    stopped: AtomicBool,
}

impl RunningLoad {
    pub fn new() -> Self {
        Self {
            clock: Clock::real(),
            commits: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// Memory in which a block begins at a multiple of its size, as direct I/O requires.
struct AlignedBlock(Vec<u8>);

impl AlignedBlock {
    fn new() -> Self {
        // Zeros may not be kept as data.
        Self(vec![0x5a; 2 * BLOCK])
    }

    fn block(&mut self) -> &mut [u8] {
        let start = self.0.as_ptr().align_offset(BLOCK);
        &mut self.0[start..start + BLOCK]
    }
}

/// Written files that requests go to: some past the page cache, checkpoints through it.
pub struct ProbeFiles {
    direct: PathBuf,
    cached: PathBuf,
}

impl ProbeFiles {
    pub fn create(dir: &Path) -> std::io::Result<Self> {
        let files = Self {
            direct: dir.join("direct"),
            cached: dir.join("cached"),
        };
        fill(&files.direct)?;
        fill(&files.cached)?;
        Ok(files)
    }

    /// Makes the requests of one thread until its load is stopped.
    pub fn request(
        &self,
        load: &ProbeLoad,
        thread: u32,
        running: &RunningLoad,
    ) -> std::io::Result<()> {
        let file = File::options()
            .read(true)
            .write(true)
            .custom_flags(OFlags::DIRECT.bits().cast_signed())
            .open(&self.direct)?;
        let mut memory = AlignedBlock::new();
        let mut n = u64::from(thread) * 977;
        while !running.stopped.load(Ordering::Relaxed) {
            compute(&running.clock, load.work);
            n = n.wrapping_add(1);
            // Spreads reads evenly among writes.
            if n.wrapping_mul(37) % 100 < u64::from(load.read_percent) {
                rustix::io::pread(&file, memory.block(), offset(n))?;
                continue;
            }
            rustix::io::pwrite(&file, memory.block(), offset(n))?;
            if load.flushes {
                file.sync_data()?;
                let commits = running.commits.fetch_add(1, Ordering::Relaxed) + 1;
                if load.checkpoints && commits.is_multiple_of(CHECKPOINT_COMMITS) {
                    self.checkpoint(commits / CHECKPOINT_COMMITS, &mut memory)?;
                }
            }
        }
        Ok(())
    }

    /// Writes pages through the page cache, all over the file, and makes them durable.
    fn checkpoint(&self, number: u64, memory: &mut AlignedBlock) -> std::io::Result<()> {
        let file = File::options().write(true).open(&self.cached)?;
        for page in 0..CHECKPOINT_PAGES {
            let n = number.wrapping_mul(CHECKPOINT_PAGES).wrapping_add(page);
            rustix::io::pwrite(&file, memory.block(), offset(n))?;
        }
        file.sync_data()
    }
}

/// Strides that are coprime to the number of blocks visit all of them out of order.
fn offset(n: u64) -> u64 {
    n.wrapping_mul(4099) % BLOCKS * BLOCK as u64
}

fn fill(path: &Path) -> std::io::Result<()> {
    let file = File::options()
        .write(true)
        .create_new(true)
        .custom_flags(OFlags::DIRECT.bits().cast_signed())
        .open(path)?;
    let mut memory = AlignedBlock::new();
    for n in 0..BLOCKS {
        rustix::io::pwrite(&file, memory.block(), n * BLOCK as u64)?;
    }
    file.sync_all()
}

/// Keeps a processor busy.
fn compute(clock: &Clock, work: Nanos) {
    let end = clock.now() + work;
    while clock.now() < end {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::parse;

    use super::*;
    use crate::drive_file;

    const PLAN: &str = r#"
title = "t"
[medium.a]
drive = "kingston-dc1500m-960g"
[medium.b]
drive = "kingston-dc1500m-960g"
[medium.c]
drive = "kingston-dc1500m-960g"
[system.db]
engine = "sqlite"
[system.two]
engine = "sqlite"
count = 3
[workload.w.tpcc]
warehouses = 1
[workload.io.block]
size = "64MiB"
job = [{ name = "r", read = 100, random = 100, block = "4KiB", depth = 4 },
{ name = "m", read = 70, random = 100, block = "4KiB", depth = 8, threads = 2 }]
[[step]]
run = "w"
system = "db"
on = ["a"]
users = [1, 4]
[[step]]
run = "w"
system = "db"
on = ["a"]
users = 4
[[step]]
run = "w"
system = "two"
on = ["b"]
users = 30
[[step]]
run = "io"
on = ["b", "c"]
"#;

    #[test]
    fn a_load_is_as_deep_as_the_plan() {
        let plan = parse(PLAN, &drive_file::options())
            .unwrap_or_else(|errors| panic!("{errors}"))
            .plan;
        let loads: Vec<Vec<ProbeLoad>> = plan.medium_ids().map(|id| loads_on(&plan, id)).collect();
        let block = ProbeLoad {
            threads: 16,
            read_percent: 70,
            flushes: false,
            work: Nanos::ZERO,
            checkpoints: false,
        };
        assert_eq!(loads[0], [database(4)], "the same load once");
        assert_eq!(loads[1], [database(MOST_THREADS), block]);
        assert_eq!(loads[2], [block]);
    }

    #[test]
    fn requests_go_on_until_they_are_stopped() {
        let dir = tempfile::tempdir_in(".").unwrap();
        let files = ProbeFiles::create(dir.path()).unwrap();
        let running = RunningLoad::new();
        std::thread::scope(|scope| {
            let users: Vec<_> = (0..2)
                .map(|n| {
                    let (files, running) = (&files, &running);
                    scope.spawn(move || files.request(&database(2), n, running))
                })
                .collect();
            // A machine that does other things may take seconds for the first one.
            for _ in 0..1_000 {
                compute(&running.clock, Nanos::from_millis(20));
                if running.commits.load(Ordering::Relaxed) > 0 {
                    break;
                }
            }
            running.stop();
            for user in users {
                user.join().unwrap().unwrap();
            }
        });
        assert!(running.commits.into_inner() > 0);
    }
}
