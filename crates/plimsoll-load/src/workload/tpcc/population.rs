//! The initial population (clause 4.3.3.1), generated once for all engines.
//!
//! It is cut into chunks that can be filled in any order and by any number of loaders: each draws from its own random
//! stream, so equal seeds give equal data however the work was shared out.

use plimsoll_stats::Rng;

use super::fill::{FIRST_NEW_ORDER, Filler};
use super::random::{CUSTOMERS, Constants, DISTRICTS, ITEMS, int};
use super::rows::{RowSink, TpccTable};

/// Version of the tables and of what is in them: data of another version is loaded again. 2: states are letters, and all
/// letters and digits are equally frequent.
pub const VERSION: i32 = 2;

/// The population of a number of warehouses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TpccPopulation {
    pub warehouses: u32,
    pub seed: u64,
}

/// One table's rows of one warehouse, in primary-key order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    pub table: TpccTable,
    /// 1 to the number of warehouses; 0 for the items, which all warehouses share.
    pub warehouse: i32,
    rows: u64,
}

impl Chunk {
    /// Exactly how many rows [`TpccPopulation::fill`] makes of this chunk.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}

/// Tables by the work they are, greatest first: loaders that take chunks in this order end at about the same time.
const BY_SIZE: [TpccTable; 8] = [
    TpccTable::Stock,
    TpccTable::OrderLine,
    TpccTable::Customer,
    TpccTable::Orders,
    TpccTable::History,
    TpccTable::NewOrder,
    TpccTable::District,
    TpccTable::Warehouse,
];

/// Stream of the numbers of lines per order, which orders and order lines both draw.
const LINE_COUNTS: u64 = 100;

impl TpccPopulation {
    /// All work there is, the largest chunks first.
    pub fn chunks(&self) -> Vec<Chunk> {
        let items = Chunk {
            table: TpccTable::Item,
            warehouse: 0,
            rows: ITEMS as u64,
        };
        let rest = BY_SIZE.iter().flat_map(|&table| {
            (1..=self.warehouses as i32).map(move |warehouse| Chunk {
                table,
                warehouse,
                rows: self.rows_of(table, warehouse),
            })
        });
        std::iter::once(items).chain(rest).collect()
    }

    /// Rows of all tables together, exactly.
    pub fn rows(&self) -> u64 {
        self.chunks().iter().map(Chunk::rows).sum()
    }

    fn rows_of(&self, table: TpccTable, warehouse: i32) -> u64 {
        let per_district = (DISTRICTS * CUSTOMERS) as u64;
        match table {
            TpccTable::Item | TpccTable::Stock => ITEMS as u64,
            TpccTable::Warehouse => 1,
            TpccTable::District => DISTRICTS as u64,
            TpccTable::Customer | TpccTable::History | TpccTable::Orders => per_district,
            TpccTable::NewOrder => (DISTRICTS * (CUSTOMERS + 1 - FIRST_NEW_ORDER)) as u64,
            TpccTable::OrderLine => (1..=DISTRICTS)
                .flat_map(|d| self.line_counts(warehouse, d))
                .map(|n| n as u64)
                .sum(),
        }
    }

    /// O_OL_CNT of a district's orders, in order of O_ID.
    fn line_counts(&self, warehouse: i32, district: i32) -> impl Iterator<Item = i32> + use<> {
        let mut rng = Rng::stream(self.seed, &[LINE_COUNTS, warehouse as u64, district as u64]);
        (0..CUSTOMERS).map(move |_| int(&mut rng, 5, 15))
    }

    /// Makes the chunk's rows. `now_micros` (since 1970-01-01 UTC) is the load's date: C_SINCE, H_DATE, O_ENTRY_D.
    pub fn fill(&self, chunk: &Chunk, now_micros: i64, sink: &mut impl RowSink) {
        let rng = Rng::stream(self.seed, &[chunk.table as u64, chunk.warehouse as u64]);
        let mut filler = Filler::new(rng, chunk.warehouse, now_micros);
        match chunk.table {
            TpccTable::Item => filler.items(sink),
            TpccTable::Warehouse => filler.warehouse(sink),
            TpccTable::District => filler.districts(sink),
            TpccTable::Customer => filler.customers(&Constants::new(self.seed), sink),
            TpccTable::History => filler.history(sink),
            TpccTable::Stock => filler.stock(sink),
            TpccTable::Orders => (1..=DISTRICTS)
                .for_each(|d| filler.orders(d, self.line_counts(chunk.warehouse, d), sink)),
            TpccTable::NewOrder => filler.new_orders(sink),
            TpccTable::OrderLine => {
                (1..=DISTRICTS).for_each(|d| {
                    filler.order_lines(d, self.line_counts(chunk.warehouse, d), sink)
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::workload::tpcc::random::last_name;

    /// Rows as text, for reading.
    #[derive(Default)]
    struct Rows {
        rows: Vec<Vec<String>>,
        row: Vec<String>,
    }

    impl RowSink for Rows {
        fn int(&mut self, value: i32) {
            self.row.push(value.to_string());
        }
        fn cents(&mut self, value: i64) {
            self.row.push(value.to_string());
        }
        fn rate(&mut self, ten_thousandths: i32) {
            self.row.push(ten_thousandths.to_string());
        }
        fn text(&mut self, value: &str) {
            self.row.push(value.to_owned());
        }
        fn timestamp(&mut self, micros: i64) {
            self.row.push(micros.to_string());
        }
        fn null(&mut self) {
            self.row.push("NULL".to_owned());
        }
        fn end_row(&mut self) {
            self.rows.push(std::mem::take(&mut self.row));
        }
    }

    fn rows(population: &TpccPopulation, table: TpccTable, warehouse: i32) -> Vec<Vec<String>> {
        let chunks = population.chunks();
        let chunk = chunks
            .iter()
            .find(|c| c.table == table && c.warehouse == warehouse)
            .unwrap();
        let mut sink = Rows::default();
        population.fill(chunk, 77, &mut sink);
        assert_eq!(sink.rows.len() as u64, chunk.rows(), "{table:?}");
        assert!(
            sink.rows.iter().all(|r| r.len() == table.columns().len()),
            "{table:?}"
        );
        sink.rows
    }

    const TWO: TpccPopulation = TpccPopulation {
        warehouses: 2,
        seed: 11,
    };

    #[test]
    fn every_table_has_the_specified_rows_and_no_key_twice() {
        let keys = [1, 1, 2, 3, 0, 2, 3, 3, 4];
        for (&table, key) in TpccTable::ALL.iter().zip(keys) {
            let rows = rows(&TWO, table, if table == TpccTable::Item { 0 } else { 2 });
            if key > 0 {
                let distinct: std::collections::HashSet<_> =
                    rows.iter().map(|r| &r[..key]).collect();
                assert_eq!(distinct.len(), rows.len(), "{table:?}");
            }
        }
        let lines = TWO
            .chunks()
            .iter()
            .filter(|c| c.table == TpccTable::OrderLine)
            .map(Chunk::rows)
            .sum::<u64>();
        assert_eq!(
            TWO.rows() - lines,
            100_000 + 2 * (1 + 10 + 3 * 30_000 + 100_000 + 9_000)
        );
        assert!((590_000..610_000).contains(&lines), "{lines}");
    }

    #[test]
    fn chunks_are_equal_whatever_was_filled_before() {
        let first = rows(&TWO, TpccTable::Customer, 2);
        rows(&TWO, TpccTable::Stock, 1);
        assert_eq!(
            first,
            rows(
                &TpccPopulation {
                    warehouses: 5,
                    ..TWO
                },
                TpccTable::Customer,
                2
            )
        );
        assert_ne!(first, rows(&TWO, TpccTable::Customer, 1));
        assert_ne!(
            first,
            rows(&TpccPopulation { seed: 12, ..TWO }, TpccTable::Customer, 2)
        );
    }

    #[test]
    fn order_lines_agree_with_their_orders() {
        let mut lines: HashMap<(String, String), i32> = HashMap::new();
        for line in rows(&TWO, TpccTable::OrderLine, 1) {
            *lines.entry((line[1].clone(), line[0].clone())).or_default() += 1;
            let delivered = line[0].parse::<i32>().unwrap() < 2_101;
            let amount: i64 = line[8].parse().unwrap();
            assert_eq!(
                (line[6].as_str(), amount == 0),
                if delivered {
                    ("77", true)
                } else {
                    ("NULL", false)
                }
            );
            assert!((0..=999_999).contains(&amount) && line[9].len() == 24 && line[7] == "5");
        }
        let orders = rows(&TWO, TpccTable::Orders, 1);
        for order in &orders {
            assert_eq!(
                order[6],
                lines[&(order[1].clone(), order[0].clone())].to_string()
            );
            assert_eq!(
                order[5] == "NULL",
                order[0].parse::<i32>().unwrap() >= 2_101
            );
        }
        for district in orders.chunks(3_000) {
            let customers: std::collections::HashSet<_> =
                district.iter().map(|order| &order[3]).collect();
            assert_eq!(customers.len(), 3_000, "the customers are a permutation");
            assert!(district.iter().any(|order| order[0] != order[3]));
        }
    }

    /// FNV-1a over all values.
    struct Checksum(u64);

    impl Checksum {
        fn add(&mut self, value: &[u8]) {
            self.0 = value.iter().fold(self.0, |sum, byte| {
                (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            });
        }
    }

    impl RowSink for Checksum {
        fn int(&mut self, value: i32) {
            self.add(&value.to_le_bytes());
        }
        fn cents(&mut self, value: i64) {
            self.add(&value.to_le_bytes());
        }
        fn rate(&mut self, ten_thousandths: i32) {
            self.add(&ten_thousandths.to_le_bytes());
        }
        fn text(&mut self, value: &str) {
            self.add(value.as_bytes());
        }
        fn timestamp(&mut self, micros: i64) {
            self.add(&micros.to_le_bytes());
        }
        fn null(&mut self) {
            self.add(b"NULL");
        }
        fn end_row(&mut self) {
            self.add(b"\n");
        }
    }

    /// When this fails because other rows are made, raise [`VERSION`]: loaded data of the version before is not equal.
    #[test]
    fn other_rows_have_another_version() {
        let population = TpccPopulation {
            warehouses: 1,
            seed: 11,
        };
        let mut sum = Checksum(0xcbf2_9ce4_8422_2325);
        population
            .chunks()
            .iter()
            .for_each(|chunk| population.fill(chunk, 77, &mut sum));
        assert_eq!((VERSION, sum.0), (2, 4_500_401_940_473_983_067));
    }

    #[test]
    fn states_are_two_letters() {
        let letters = |state: &String| {
            state.len() == 2 && state.bytes().all(|byte| byte.is_ascii_alphabetic())
        };
        for (table, column) in [
            (TpccTable::Warehouse, 5),
            (TpccTable::District, 6),
            (TpccTable::Customer, 9),
        ] {
            assert!(
                rows(&TWO, table, 1).iter().all(|row| letters(&row[column])),
                "{table:?}"
            );
        }
    }

    #[test]
    fn customers_follow_the_specification() {
        let customers = rows(&TWO, TpccTable::Customer, 1);
        for customer in customers
            .iter()
            .filter(|c| c[0].parse::<i32>().unwrap() <= 1_000)
        {
            assert_eq!(
                customer[5],
                last_name(customer[0].parse::<i32>().unwrap() - 1)
            );
        }
        let bad = customers.iter().filter(|c| c[13] == "BC").count();
        assert!((2_700..3_300).contains(&bad), "{bad}");
        assert!(
            customers
                .iter()
                .all(|c| c[4] == "OE" && c[16] == "-1000" && (300..=500).contains(&c[20].len()))
        );
    }
}
