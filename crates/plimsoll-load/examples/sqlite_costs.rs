//! Fits what SQLite costs a processor's time ([`plimsoll_virtual::costs::CpuCosts`]) to transactions that run here for real:
//! `cargo run --release -p plimsoll-load --example sqlite_costs -- DIRECTORY`, on tmpfs, on an otherwise idle machine.
//!
//! Each kind of transaction runs on one thread, many times; its CPU time is the lowest tenth of repeated windows. The same
//! transactions run once in virtual time, which counts what they use. Costs are those that explain the times with the smallest
//! relative squares, none below zero.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plimsoll_drive::catalog;
use plimsoll_drive::model::Setup;
use plimsoll_drive::storage_model::StorageModel;
use plimsoll_load::engine::Session;
use plimsoll_load::engine::sqlite::{self, SimulatedSession, SqliteSession, WriterQueue};
use plimsoll_load::workload::{Input, Source};
use plimsoll_plan::resolved::{Distribution, Home, Script, Sysbench, Tpcc, TxnMode, Workload};
use plimsoll_plan::units::Bytes;
use plimsoll_virtual::calendar::VirtualClock;
use plimsoll_virtual::costs::{CpuCosts, CpuUse, CpuUses};
use plimsoll_virtual::drive::VirtualDrive;
use plimsoll_virtual::machine::VirtualMachine;
use plimsoll_virtual::vfs::VirtualMount;
use rustix::time::{ClockId, clock_gettime};

type Failure = Box<dyn std::error::Error>;

const SEED: u64 = 1;
const WINDOWS: usize = 40;
const CAPACITY: Bytes = Bytes(8 << 30);

/// One kind of transaction.
struct Case {
    name: String,
    workload: Workload,
    /// Its number in the workload; all kinds without.
    txn: Option<usize>,
    /// Transactions in a window.
    window: usize,
}

/// A case's figures, for one transaction.
struct Measured {
    name: String,
    cpu_ns: f64,
    uses: CpuUses,
}

fn tpcc() -> Workload {
    Workload::Tpcc(Tpcc {
        warehouses: 2,
        mode: TxnMode::Statements,
        home: Home::Roaming,
    })
}

fn sysbench(script: Script) -> Workload {
    Workload::Sysbench(Sysbench {
        script,
        tables: 2,
        rows: 50_000,
        distribution: Distribution::Uniform,
        point_selects: 10,
        range_size: 100,
    })
}

fn cases() -> Vec<Case> {
    let names = tpcc().txn_names();
    let types = names.iter().enumerate().map(|(txn, name)| Case {
        name: (*name).to_owned(),
        workload: tpcc(),
        txn: Some(txn),
        // Deliveries use new orders up, of which there are 9,000 in a warehouse.
        window: if *name == "delivery" { 20 } else { 200 },
    });
    let mix = Case {
        name: "mix of TPC-C".to_owned(),
        workload: tpcc(),
        txn: None,
        window: 500,
    };
    let scripts = Script::ALL.iter().map(|script| Case {
        name: script.name().to_owned(),
        workload: sysbench(*script),
        txn: None,
        window: 500,
    });
    types.chain([mix]).chain(scripts).collect()
}

impl Case {
    fn load(&self, dir: &Path) -> Result<PathBuf, Failure> {
        let path = dir.join("costs.db");
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
        }
        let (pragmas, control) = (BTreeMap::new(), Default::default());
        match &self.workload {
            Workload::Tpcc(tpcc) => {
                sqlite::load(&path, tpcc, SEED, &pragmas, &control).map(drop)?
            }
            Workload::Sysbench(own) => {
                sqlite::sysbench::load(&path, own, SEED, &pragmas, &control).map(drop)?;
            }
        }
        Ok(path)
    }

    fn inputs(&self) -> impl FnMut() -> Input {
        let (mut source, txn) = (Source::new(&self.workload, SEED, 1, 0), self.txn);
        move || loop {
            let input = source.next();
            if txn.is_none_or(|txn| input.txn() == txn) {
                return input;
            }
        }
    }

    fn measure(&self, dir: &Path) -> Result<Measured, Failure> {
        Ok(Measured {
            name: self.name.clone(),
            cpu_ns: self.cpu_ns(&self.load(dir)?)?,
            uses: self.uses(&self.load(dir)?)?,
        })
    }

    /// For real: a low quantile of windows.
    fn cpu_ns(&self, path: &Path) -> Result<f64, Failure> {
        let writers = WriterQueue::default();
        let mut session =
            SqliteSession::open(path, &BTreeMap::new(), None, writers, &self.workload)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let mut inputs = self.inputs();
        let mut windows = Vec::new();
        for _ in 0..WINDOWS {
            // Not of the window: most are drawn in vain where only one kind is wanted.
            let drawn: Vec<Input> = (0..self.window).map(|_| inputs()).collect();
            let began = thread_cpu_ns();
            for input in &drawn {
                runtime
                    .block_on(session.run(input))
                    .map_err(|_| "a transaction failed")?;
            }
            windows.push((thread_cpu_ns() - began) / self.window as f64);
        }
        windows.sort_by(f64::total_cmp);
        Ok(windows[WINDOWS / 10])
    }

    /// In virtual time: all windows, so that checkpoints have their share.
    fn uses(&self, path: &Path) -> Result<CpuUses, Failure> {
        let clock = VirtualClock::default();
        let entry = catalog::find("kingston-dc1500m-960g")?;
        let setup = Setup {
            capacity: CAPACITY,
            fill: 1.0,
            seed: SEED,
            ignores_flush: false,
        };
        let model = StorageModel::new(&catalog::load(entry.name, entry.text)?, &setup);
        let drive = Arc::new(VirtualDrive::new(clock.clone(), model));
        let machine = VirtualMachine::new(clock.clone(), 1, CpuCosts::REFERENCE);
        let mount = VirtualMount::new(machine.clone(), drive, CAPACITY, None, SEED)?;
        let mut inputs = self.inputs();
        let count = self.window * WINDOWS / 4;
        let all = async {
            let pragmas = BTreeMap::new();
            let writers = WriterQueue::default();
            let opened =
                SimulatedSession::open(path, &pragmas, mount.name(), writers, &self.workload);
            let mut session = opened.await?;
            let before = machine.used();
            for _ in 0..count {
                session
                    .run(&inputs())
                    .await
                    .map_err(|_| "a transaction failed")?;
            }
            let after = machine.used();
            let uses = std::array::from_fn(|i| (after[i] - before[i]) / count as f64);
            Ok::<CpuUses, Failure>(uses)
        };
        clock
            .block_on(all)
            .map_err(|_| "nothing is left to wait for")?
    }
}

fn thread_cpu_ns() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// Costs ≥ 0 with the least squares of relative errors, by coordinate descent (the problem is convex).
fn fit(measured: &[Measured], fitted: &[CpuUse]) -> CpuUses {
    let mut costs = CpuUses::default();
    for _ in 0..200_000 {
        for what in fitted {
            let j = *what as usize;
            let (mut over, mut under) = (0.0, 0.0);
            for case in measured {
                let rest: f64 = (0..costs.len())
                    .filter(|i| *i != j)
                    .map(|i| costs[i] * case.uses[i])
                    .sum();
                let weight = case.uses[j] / case.cpu_ns;
                over += weight * (1.0 - rest / case.cpu_ns);
                under += weight * weight;
            }
            costs[j] = if under > 0.0 {
                (over / under).max(0.0)
            } else {
                0.0
            };
        }
    }
    costs
}

fn main() -> Result<(), Failure> {
    let dir = PathBuf::from(std::env::args().nth(1).ok_or("which directory?")?);
    let mut measured = Vec::new();
    for case in cases() {
        let own = case.measure(&dir)?;
        println!(
            "{:24} {:9.1} µs  {:.2?}",
            own.name,
            own.cpu_ns / 1e3,
            own.uses
        );
        measured.push(own);
    }
    // A sync and a request cost nothing on tmpfs, and a transaction of the client is not run here.
    let fitted: Vec<CpuUse> = CpuUse::ALL
        .into_iter()
        .filter(|what| {
            !matches!(
                what,
                CpuUse::Transaction | CpuUse::Wake | CpuUse::Sync | CpuUse::Request
            )
        })
        .collect();
    let costs = fit(&measured, &fitted);
    for what in &fitted {
        println!("{what:?}: {:.0} ns", costs[*what as usize]);
    }
    for case in &measured {
        let stated: f64 = costs
            .iter()
            .zip(case.uses)
            .map(|(cost, count)| cost * count)
            .sum();
        println!(
            "{:24} {:+6.1} %",
            case.name,
            100.0 * (stated / case.cpu_ns - 1.0)
        );
    }
    Ok(())
}
