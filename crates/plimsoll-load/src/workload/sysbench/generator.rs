//! The scripts: which operations a transaction has, and in which order (`oltp_common.lua`, `oltp_NAME.lua`).

use plimsoll_plan::resolved::{Script, Sysbench};
use plimsoll_stats::Rng;

use super::input::{Bracket, NewRow, Operation, SysbenchInput};
use super::random::{C_GROUPS, Ids, PAD_GROUPS, digits, length};
use super::sql::SysbenchStmt;

/// What one user does, without end.
#[derive(Debug, Clone)]
pub struct SysbenchGenerator {
    rng: Rng,
    ids: Ids,
    sysbench: Sysbench,
}

/// Ranges of the mixed scripts, in their order, one of each.
const RANGES: [SysbenchStmt; 4] = [
    SysbenchStmt::SimpleRange,
    SysbenchStmt::SumRange,
    SysbenchStmt::OrderRange,
    SysbenchStmt::DistinctRange,
];

impl SysbenchGenerator {
    pub fn new(seed: u64, round: u32, user: u32, sysbench: &Sysbench) -> Self {
        let rng = Rng::stream(
            seed,
            &[
                u64::from_be_bytes(*b"sysbench"),
                u64::from(round),
                u64::from(user),
            ],
        );
        Self {
            rng,
            ids: Ids::new(sysbench.distribution, sysbench.rows),
            sysbench: *sysbench,
        }
    }

    #[expect(
        clippy::should_implement_trait,
        reason = "never ends, so it is no iterator"
    )]
    pub fn next(&mut self) -> SysbenchInput {
        let mut operations = Vec::with_capacity(1);
        match self.sysbench.script {
            Script::ReadWrite => {
                self.reads(&mut operations);
                self.writes(&mut operations);
            }
            Script::ReadOnly => self.reads(&mut operations),
            Script::WriteOnly => self.writes(&mut operations),
            script => operations.push(self.single(script)),
        }
        SysbenchInput {
            bracket: Bracket::of(self.sysbench.script),
            operations,
        }
    }

    fn table(&mut self) -> u32 {
        self.rng.between(1, u64::from(self.sysbench.tables)) as u32
    }

    fn id(&mut self) -> i32 {
        self.ids.draw(&mut self.rng)
    }

    fn text(&mut self, groups: usize) -> String {
        let mut text = String::with_capacity(length(groups));
        digits(&mut self.rng, groups, &mut text);
        text
    }

    /// The point selects are of one table, each range of one of its own.
    fn reads(&mut self, operations: &mut Vec<Operation>) {
        operations.reserve(self.sysbench.point_selects as usize + RANGES.len() + 4);
        let table = self.table();
        for _ in 0..self.sysbench.point_selects {
            operations.push(Operation::OfId {
                stmt: SysbenchStmt::PointSelect,
                table,
                id: self.id(),
            });
        }
        for stmt in RANGES {
            let table = self.table();
            let first = self.id();
            let last = first + (self.sysbench.range_size - 1).cast_signed();
            operations.push(Operation::Range {
                stmt,
                table,
                first,
                last,
            });
        }
    }

    fn writes(&mut self, operations: &mut Vec<Operation>) {
        operations.push(self.index_update());
        operations.push(self.text_update());
        let table = self.table();
        let id = self.id();
        let k = self.id();
        operations.push(Operation::OfId {
            stmt: SysbenchStmt::Delete,
            table,
            id,
        });
        operations.push(Operation::Insert {
            table,
            id,
            row: self.row(k),
        });
    }

    fn single(&mut self, script: Script) -> Operation {
        match script {
            Script::UpdateIndex => self.index_update(),
            Script::UpdateNonIndex => self.text_update(),
            Script::Insert => {
                let table = self.table();
                let k = self.id();
                Operation::InsertNext {
                    table,
                    row: self.row(k),
                }
            }
            Script::Delete => Operation::OfId {
                stmt: SysbenchStmt::Delete,
                table: self.table(),
                id: self.id(),
            },
            Script::PointSelect | Script::ReadWrite | Script::ReadOnly | Script::WriteOnly => {
                Operation::OfId {
                    stmt: SysbenchStmt::PointSelect,
                    table: self.table(),
                    id: self.id(),
                }
            }
        }
    }

    fn index_update(&mut self) -> Operation {
        Operation::OfId {
            stmt: SysbenchStmt::IndexUpdate,
            table: self.table(),
            id: self.id(),
        }
    }

    fn text_update(&mut self) -> Operation {
        Operation::SetText {
            table: self.table(),
            c: self.text(C_GROUPS),
            id: self.id(),
        }
    }

    fn row(&mut self, k: i32) -> NewRow {
        NewRow {
            k,
            c: self.text(C_GROUPS),
            pad: self.text(PAD_GROUPS),
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_plan::resolved::Distribution;

    use super::*;
    use crate::workload::sysbench::population::testing::SMALL;

    fn drawn(script: Script, seed: u64, user: u32) -> Vec<SysbenchInput> {
        let mut generator = SysbenchGenerator::new(seed, 0, user, &Sysbench { script, ..SMALL });
        (0..200).map(|_| generator.next()).collect()
    }

    fn statements(input: &SysbenchInput) -> Vec<Option<SysbenchStmt>> {
        input.operations.iter().map(Operation::stmt).collect()
    }

    #[test]
    fn every_script_has_the_statements_of_its_own_in_their_order() {
        let reads: Vec<_> = [SysbenchStmt::PointSelect; 10]
            .into_iter()
            .chain(RANGES)
            .map(Some)
            .collect();
        let writes = [
            SysbenchStmt::IndexUpdate,
            SysbenchStmt::TextUpdate,
            SysbenchStmt::Delete,
            SysbenchStmt::Insert,
        ]
        .map(Some)
        .to_vec();
        for (script, bracket, expected) in [
            (
                Script::ReadWrite,
                Bracket::Writes,
                [reads.clone(), writes.clone()].concat(),
            ),
            (Script::ReadOnly, Bracket::Reads, reads),
            (Script::WriteOnly, Bracket::Writes, writes),
            (
                Script::PointSelect,
                Bracket::Autocommit,
                vec![Some(SysbenchStmt::PointSelect)],
            ),
            (
                Script::UpdateIndex,
                Bracket::Autocommit,
                vec![Some(SysbenchStmt::IndexUpdate)],
            ),
            (
                Script::UpdateNonIndex,
                Bracket::Autocommit,
                vec![Some(SysbenchStmt::TextUpdate)],
            ),
            (Script::Insert, Bracket::Autocommit, vec![None]),
            (
                Script::Delete,
                Bracket::Autocommit,
                vec![Some(SysbenchStmt::Delete)],
            ),
        ] {
            for input in drawn(script, 1, 0) {
                assert_eq!(
                    (input.bracket, statements(&input)),
                    (bracket, expected.clone()),
                    "{script:?}"
                );
            }
        }
    }

    #[test]
    fn the_deleted_row_is_the_one_that_comes_back() {
        let mut tables = [0; 3];
        for input in drawn(Script::WriteOnly, 2, 0) {
            let [
                ..,
                Operation::OfId { table, id, .. },
                Operation::Insert {
                    table: back,
                    id: again,
                    row,
                },
            ] = input.operations.as_slice()
            else {
                panic!("{input:?}")
            };
            assert_eq!((table, id), (back, again));
            assert_eq!((row.c.len(), row.pad.len()), (119, 59));
            tables[*table as usize] += 1;
        }
        assert!(
            tables[0] == 0 && tables[1] > 50 && tables[2] > 50,
            "{tables:?}"
        );
    }

    #[test]
    fn ranges_cover_the_range_size() {
        for input in drawn(Script::ReadOnly, 3, 0) {
            for operation in &input.operations {
                if let Operation::Range { first, last, .. } = operation {
                    assert_eq!(last - first, 99);
                }
            }
        }
    }

    #[test]
    fn users_differ_and_seeds_repeat() {
        for &script in Script::ALL {
            assert_eq!(drawn(script, 5, 1), drawn(script, 5, 1));
            assert_ne!(drawn(script, 5, 1), drawn(script, 5, 2));
        }
        let uniform = Sysbench {
            distribution: Distribution::Uniform,
            ..SMALL
        };
        assert_ne!(
            SysbenchGenerator::new(1, 0, 0, &uniform).next(),
            SysbenchGenerator::new(1, 1, 0, &uniform).next(),
            "by round"
        );
    }
}
