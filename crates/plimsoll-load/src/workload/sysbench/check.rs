//! What holds of the tables after a load: every script but insert and delete leaves exactly the ids that were
//! there, insert adds others, delete removes some, and no value is ever written in part.

use plimsoll_plan::resolved::{Script, Sysbench};
use plimsoll_record::message::CheckDetail;
use plimsoll_record::message::check::RowBound;

use super::random::{C_GROUPS, PAD_GROUPS, length};
use super::sql::table_name;
use crate::workload::ConditionResult;
use crate::workload::statement::TableSyntax;

/// What [`sql`] finds in one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableCheck {
    pub rows: i64,
    /// Rows whose ids are 1 to the number of rows loaded, and the sum of these ids.
    pub loaded: i64,
    pub sum: i64,
    /// Rows whose texts have their full length.
    pub whole: i64,
}

/// Columns as in [`TableCheck`]; reads the table once, without trusting an index.
pub fn sql(sysbench: &Sysbench, table: u32, syntax: &TableSyntax) -> String {
    let rows = sysbench.rows;
    let integer = syntax.integer;
    let length_of = syntax.length;
    format!(
        "SELECT count(*), count(CASE WHEN id BETWEEN 1 AND {rows} THEN 1 END), \
         CAST(coalesce(sum(CAST(CASE WHEN id BETWEEN 1 AND {rows} THEN id END AS {integer})), 0) AS {integer}), \
         count(CASE WHEN {length_of}(c) = {} AND {length_of}(pad) = {} THEN 1 END) FROM {}",
        length(C_GROUPS),
        length(PAD_GROUPS),
        table_name(table)
    )
}

/// One verdict for each condition over all tables; `found` is in the tables' order.
pub fn verdicts(sysbench: &Sysbench, found: &[TableCheck]) -> Vec<ConditionResult> {
    let loaded = i64::from(sysbench.rows);
    let bound = match sysbench.script {
        Script::Insert => RowBound::AtLeast,
        Script::Delete => RowBound::AtMost,
        _ => RowBound::Exactly,
    };
    let conditions = TableConditions { bound, loaded };
    vec![
        conditions.verdict("rows", found, |table| bound.allows(table.rows, loaded)),
        conditions.verdict("ids", found, |table| conditions.ids_hold(table)),
        conditions.verdict("values", found, |table| table.whole == table.rows),
    ]
}

#[derive(Debug, Clone, Copy)]
struct TableConditions {
    bound: RowBound,
    loaded: i64,
}

impl TableConditions {
    /// Ids that are all in the range, as many as it has, and of its sum: a duplicate would show in one of them, unless it
    /// stood beside a gap of the same sum. Where rows are deleted, no id may be outside of the range.
    fn ids_hold(self, table: &TableCheck) -> bool {
        let sum = self.loaded * (self.loaded + 1) / 2;
        match self.bound {
            RowBound::AtMost => table.loaded == table.rows,
            RowBound::Exactly | RowBound::AtLeast => {
                table.loaded == self.loaded && table.sum == sum
            }
        }
    }

    fn verdict(
        self,
        clause: &'static str,
        found: &[TableCheck],
        holds: impl Fn(&TableCheck) -> bool,
    ) -> ConditionResult {
        let Self { bound, loaded } = self;
        let violation = found.iter().zip(1..).find(|(found, _)| !holds(found));
        let detail = match violation {
            None => CheckDetail::TablesHold { bound, loaded },
            Some((found, table)) => CheckDetail::TableDiffers {
                bound,
                loaded,
                table: table_name(table),
                rows: found.rows,
                in_range: found.loaded,
                sum: found.sum,
                whole: found.whole,
            },
        };
        ConditionResult {
            clause,
            holds: violation.is_none(),
            detail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::sysbench::population::testing::SMALL;

    const GOOD: TableCheck = TableCheck {
        rows: 100,
        loaded: 100,
        sum: 5050,
        whole: 100,
    };

    fn failing(script: Script, second: TableCheck) -> Vec<&'static str> {
        let verdicts = verdicts(&Sysbench { script, ..SMALL }, &[GOOD, second]);
        verdicts
            .iter()
            .filter(|verdict| !verdict.holds)
            .map(|verdict| verdict.clause)
            .collect()
    }

    #[test]
    fn each_script_leaves_what_it_can_leave() {
        let more = TableCheck {
            rows: 105,
            whole: 105,
            ..GOOD
        };
        let less = TableCheck {
            rows: 99,
            loaded: 99,
            sum: 5049,
            whole: 99,
        };
        for &script in Script::ALL {
            assert!(failing(script, GOOD).is_empty(), "{script:?}");
            let with_more = failing(script, more);
            let with_less = failing(script, less);
            match script {
                Script::Insert => assert_eq!((with_more, with_less), (vec![], vec!["rows", "ids"])),
                Script::Delete => assert_eq!((with_more, with_less), (vec!["rows", "ids"], vec![])),
                _ => assert_eq!((with_more, with_less), (vec!["rows"], vec!["rows", "ids"])),
            }
        }
    }

    #[test]
    fn a_violation_names_its_table_and_figures() {
        let verdicts = verdicts(&SMALL, &[GOOD, TableCheck { whole: 98, ..GOOD }]);
        assert!(verdicts[0].holds && verdicts[1].holds && !verdicts[2].holds);
        let expected = CheckDetail::TableDiffers {
            bound: RowBound::Exactly,
            loaded: 100,
            table: "sbtest2".to_owned(),
            rows: 100,
            in_range: 100,
            sum: 5050,
            whole: 98,
        };
        assert_eq!(verdicts[2].detail, expected);
    }
}
