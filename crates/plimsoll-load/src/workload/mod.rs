//! What users do. A workload draws inputs from a seed; an engine's session carries them out.

use plimsoll_plan::resolved::{Pacing, Workload};
use plimsoll_plan::units::Nanos;
use plimsoll_record::lane::Seeds;
use plimsoll_record::message::CheckDetail;
use plimsoll_record::receipt::CommitPlace;
use plimsoll_stats::Rng;

pub mod statement;
pub mod sysbench;
pub mod tpcc;
pub mod work;

/// The result of a consistency condition on a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionResult {
    /// Of the specification: `3.3.2.1`.
    pub clause: &'static str,
    pub holds: bool,
    /// What was compared; of a condition that does not hold with the first violation.
    pub detail: CheckDetail,
}

/// One intent's input, drawn before its clock starts. A closed set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    Tpcc(tpcc::input::TpccInput),
    Sysbench(sysbench::input::SysbenchInput),
}

impl Input {
    /// Index into [`plimsoll_plan::resolved::Workload::txn_names`].
    pub fn txn(&self) -> usize {
        match self {
            Self::Tpcc(input) => input.txn(),
            // A script has one type.
            Self::Sysbench(_) => 0,
        }
    }

    /// Where a committed transaction can be found in the database, if it can.
    pub fn place(&self) -> Option<CommitPlace> {
        match self {
            Self::Tpcc(input) => tpcc::commit_counts::place(input),
            Self::Sysbench(_) => None,
        }
    }
}

/// What one virtual user does, without end. Pacing is drawn from a stream of its own: equal seeds give equal inputs with
/// and without think times.
#[derive(Debug, Clone)]
pub struct Source {
    pacing: Rng,
    generator: InputGenerator,
}

#[derive(Debug, Clone)]
enum InputGenerator {
    Tpcc(tpcc::generator::TpccGenerator),
    Sysbench(sysbench::generator::SysbenchGenerator),
}

impl Source {
    /// `user` counts from 0; rounds draw different inputs.
    pub fn new(workload: &Workload, seeds: impl Into<Seeds>, round: u32, user: u32) -> Self {
        let seeds = seeds.into();
        let seed = seeds.load;
        let generator = match workload {
            Workload::Tpcc(tpcc) => InputGenerator::Tpcc(tpcc::generator::TpccGenerator::new(
                seeds, round, user, tpcc,
            )),
            Workload::Sysbench(sysbench) => InputGenerator::Sysbench(
                sysbench::generator::SysbenchGenerator::new(seed, round, user, sysbench),
            ),
        };
        Self {
            pacing: Rng::stream(
                seed,
                &[
                    u64::from_be_bytes(*b" pacing "),
                    u64::from(round),
                    u64::from(user),
                ],
            ),
            generator,
        }
    }

    #[expect(
        clippy::should_implement_trait,
        reason = "never ends, so it is no iterator"
    )]
    pub fn next(&mut self) -> Input {
        match &mut self.generator {
            InputGenerator::Tpcc(generator) => Input::Tpcc(generator.next()),
            InputGenerator::Sysbench(generator) => Input::Sysbench(generator.next()),
        }
    }

    /// Keying time before and think time after a transaction of this type.
    pub fn pacing(&mut self, txn: usize, pacing: &Pacing) -> (Nanos, Nanos) {
        match self.generator {
            InputGenerator::Tpcc(_) => tpcc::generator::pacing(txn, &mut self.pacing, pacing),
            InputGenerator::Sysbench(_) => (Nanos::ZERO, Nanos::ZERO),
        }
    }
}
