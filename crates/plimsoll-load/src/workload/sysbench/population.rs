//! The rows that a load puts in (`create_table` of `oltp_common.lua`), generated once for all engines: ids in ascending
//! order, `k` drawn as ids are, texts of digits. Each table draws from a stream of its own.

use plimsoll_plan::resolved::{Distribution, Sysbench};
use plimsoll_stats::Rng;

use super::random::{C_GROUPS, Ids, PAD_GROUPS, digits};
use crate::workload::tpcc::rows::RowSink;

/// What the tables hold before anybody has worked on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SysbenchPopulation {
    pub tables: u32,
    pub rows: u32,
    /// That of `k`.
    pub distribution: Distribution,
    pub seed: u64,
}

impl SysbenchPopulation {
    pub fn new(sysbench: &Sysbench, seed: u64) -> Self {
        let Sysbench {
            script: _,
            tables,
            rows,
            distribution,
            point_selects: _,
            range_size: _,
        } = *sysbench;
        Self {
            tables,
            rows,
            distribution,
            seed,
        }
    }

    /// Rows of all tables together.
    pub fn total(&self) -> u64 {
        u64::from(self.tables) * u64::from(self.rows)
    }

    /// The rows of a table, counted from 1.
    pub fn table(&self, table: u32) -> SysbenchRows {
        let rng = Rng::stream(
            self.seed,
            &[u64::from_be_bytes(*b"sbtest  "), u64::from(table)],
        );
        let ids = Ids::new(self.distribution, self.rows);
        SysbenchRows {
            rng,
            ids,
            done: 0,
            rows: self.rows,
            text: String::new(),
        }
    }
}

/// Rows of one table that have not been put anywhere yet.
#[derive(Debug)]
pub struct SysbenchRows {
    rng: Rng,
    ids: Ids,
    done: u32,
    rows: u32,
    text: String,
}

impl SysbenchRows {
    /// Hands up to `most` further rows to the sink, in the columns' order; how many there were: 0 at the end.
    pub fn fill(&mut self, most: u32, sink: &mut impl RowSink) -> u32 {
        let last = self.rows.min(self.done.saturating_add(most));
        let count = last - self.done;
        for id in self.done + 1..=last {
            sink.int(id.cast_signed());
            digits(&mut self.rng, C_GROUPS, &mut self.text);
            sink.int(self.ids.draw(&mut self.rng));
            sink.text(&self.text);
            digits(&mut self.rng, PAD_GROUPS, &mut self.text);
            sink.text(&self.text);
            sink.end_row();
        }
        self.done = last;
        count
    }
}

#[cfg(test)]
pub mod testing {
    use plimsoll_plan::resolved::Script;

    use super::*;

    /// Two tables of a hundred rows, and what else is sysbench's default.
    pub const SMALL: Sysbench = Sysbench {
        script: Script::ReadWrite,
        tables: 2,
        rows: 100,
        distribution: Distribution::Special,
        point_selects: 10,
        range_size: 100,
    };
}

#[cfg(test)]
mod tests {
    use super::testing::SMALL;
    use super::*;

    #[derive(Default, PartialEq, Debug)]
    struct RowTexts(Vec<String>);

    impl RowSink for RowTexts {
        fn int(&mut self, value: i32) {
            self.0.push(value.to_string());
        }
        fn cents(&mut self, _: i64) {
            unreachable!("no such column");
        }
        fn rate(&mut self, _: i32) {
            unreachable!("no such column");
        }
        fn text(&mut self, value: &str) {
            self.0.push(value.to_owned());
        }
        fn timestamp(&mut self, _: i64) {
            unreachable!("no such column");
        }
        fn null(&mut self) {
            unreachable!("no such column");
        }
        fn end_row(&mut self) {}
    }

    fn texts(population: SysbenchPopulation, table: u32, most: u32) -> Vec<String> {
        let mut rows = population.table(table);
        let mut texts = RowTexts::default();
        while rows.fill(most, &mut texts) > 0 {}
        texts.0
    }

    #[test]
    fn tables_differ_and_pieces_do_not_matter() {
        let population = SysbenchPopulation::new(&SMALL, 7);
        let whole = texts(population, 1, u32::MAX);
        assert_eq!(whole.len(), 400);
        assert!(
            whole
                .chunks(4)
                .zip(1..)
                .all(|(row, id)| row[0] == id.to_string() && row[3].len() == 59)
        );
        assert_eq!(whole, texts(population, 1, 7));
        assert_ne!(whole, texts(population, 2, 7));
        assert_ne!(
            whole,
            texts(
                SysbenchPopulation {
                    seed: 8,
                    ..population
                },
                1,
                7
            )
        );
        assert_eq!(population.total(), 200);
    }
}
