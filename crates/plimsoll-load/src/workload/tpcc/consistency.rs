//! The twelve consistency conditions of clause 3.3.2, in SQL that all databases accept but for the names of some
//! types and functions (`Dialect::words`).

use plimsoll_record::message::CheckDetail;
use plimsoll_record::message::check::{RowBound, RowRequirement};

use super::random::{CUSTOMERS, DISTRICTS, ITEMS};
use super::rows::TpccTable;
use crate::workload::ConditionResult;

/// A condition that every database must meet after the load and after every run.
#[derive(Debug, Clone, Copy)]
pub struct Condition {
    pub clause: &'static str,
    /// What the condition holds for: each row of this table.
    pub each: TpccTable,
    /// Whether both sides are amounts: an engine that stores cents as integers shows them as such.
    pub money: bool,
    /// The violations: columns `k` (text), `a` and `b` (the two sides as text).
    violations: &'static str,
}

/// What a condition's query found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionRows {
    /// Rows read.
    pub of: i64,
    pub violation: Option<Violation>,
}

/// The first of the rows that violate a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    pub key: String,
    pub left: String,
    pub right: String,
    /// How many there are.
    pub count: i64,
}

impl Condition {
    /// A query that gives one row: the number of rows read, the number of violations (integers), and the first
    /// violation's key, left and right side (text). The last four are NULL when nothing violates the condition.
    pub fn sql(&self) -> String {
        format!(
            "SELECT total, n, k, a, b FROM (SELECT count(*) AS total FROM {}) AS t LEFT JOIN
               (SELECT k, a, b, count(*) OVER () AS n, row_number() OVER (ORDER BY k) AS nth FROM ({}) AS v) AS found
             ON nth = 1",
            self.each.name(),
            self.violations
        )
    }

    /// A condition on an empty table does not hold: nothing is violated, and nothing is shown.
    pub fn verdict(&self, found: &ConditionRows) -> ConditionResult {
        let table = self.each.name().to_owned();
        let detail = match found.violation.clone() {
            Some(violation) => CheckDetail::Fails {
                key: violation.key,
                left: violation.left,
                right: violation.right,
                violations: violation.count,
                rows: found.of,
                table,
            },
            None if found.of == 0 => CheckDetail::TableEmpty { table },
            None => CheckDetail::Holds,
        };
        self.result(detail)
    }

    pub fn result(&self, detail: CheckDetail) -> ConditionResult {
        ConditionResult {
            clause: self.clause,
            holds: detail == CheckDetail::Holds,
            detail,
        }
    }
}

/// A query that gives one row: how many rows each of [`TpccTable::ALL`] has.
pub fn sizes_sql() -> String {
    let counts: Vec<String> = TpccTable::ALL
        .iter()
        .map(|t| format!("(SELECT count(*) FROM {})", t.name()))
        .collect();
    format!("SELECT {}", counts.join(", "))
}

/// What a database that was loaded with so many warehouses lacks, given the row counts of [`TpccTable::ALL`]; `None` when it
/// is whole. Five tables never change in size, three only grow from the initial population (clauses 1.2.1 and 4.3.3.1);
/// NEW-ORDER may become empty.
pub fn lacking(warehouses: i64, rows: &[i64]) -> Option<CheckDetail> {
    let tables: Vec<RowRequirement> = TpccTable::ALL
        .iter()
        .zip(rows)
        .map(|(table, rows)| required(*table, warehouses, *rows))
        .filter(|table| !table.is_met())
        .collect();
    (!tables.is_empty() || warehouses < 1)
        .then_some(CheckDetail::RowsMissing { warehouses, tables })
}

/// Beside the rows that a table has, those that it must have.
fn required(table: TpccTable, warehouses: i64, rows: i64) -> RowRequirement {
    let customers = i64::from(DISTRICTS * CUSTOMERS);
    let (bound, each) = match table {
        TpccTable::Item | TpccTable::Stock => (RowBound::Exactly, i64::from(ITEMS)),
        TpccTable::Warehouse => (RowBound::Exactly, 1),
        TpccTable::District => (RowBound::Exactly, i64::from(DISTRICTS)),
        TpccTable::Customer => (RowBound::Exactly, customers),
        TpccTable::History | TpccTable::Orders => (RowBound::AtLeast, customers),
        TpccTable::OrderLine => (RowBound::AtLeast, customers * MIN_LINES),
        TpccTable::NewOrder => (RowBound::AtLeast, 0),
    };
    // All warehouses have the same items.
    let warehouses = if table == TpccTable::Item {
        1
    } else {
        warehouses
    };
    RowRequirement {
        table: table.name().to_owned(),
        rows,
        bound,
        expected: each.saturating_mul(warehouses),
    }
}

/// Lines of an order at least (clause 2.4.1.3).
const MIN_LINES: i64 = 5;

/// `3.3.2.1` to `3.3.2.12`.
pub const CONDITIONS: [Condition; 12] = [
    Condition {
        clause: "3.3.2.1",
        each: TpccTable::Warehouse,
        money: true,
        violations: "SELECT concat('w_id=', w_id) AS k, CAST(w_ytd AS TEXT) AS a, CAST(coalesce(s, 0) AS TEXT) AS b
            FROM warehouse LEFT JOIN (SELECT d_w_id, sum(d_ytd) AS s FROM district GROUP BY d_w_id) AS d ON d_w_id = w_id
            WHERE w_ytd <> coalesce(s, 0)",
    },
    // The clause does not apply to NEW-ORDER where a district has no undelivered order.
    Condition {
        clause: "3.3.2.2",
        each: TpccTable::District,
        money: false,
        violations: "SELECT concat('w_id=', d_w_id, ', d_id=', d_id) AS k, CAST(d_next_o_id - 1 AS TEXT) AS a,
              concat(coalesce(CAST(o AS TEXT), 'none'), ' and ', coalesce(CAST(n AS TEXT), 'none')) AS b
            FROM district
            LEFT JOIN (SELECT o_w_id, o_d_id, max(o_id) AS o FROM orders GROUP BY o_w_id, o_d_id) AS o
              ON o_w_id = d_w_id AND o_d_id = d_id
            LEFT JOIN (SELECT no_w_id, no_d_id, max(no_o_id) AS n FROM new_order GROUP BY no_w_id, no_d_id) AS n
              ON no_w_id = d_w_id AND no_d_id = d_id
            WHERE d_next_o_id - 1 <> coalesce(o, 0) OR d_next_o_id - 1 <> n",
    },
    Condition {
        clause: "3.3.2.3",
        each: TpccTable::District,
        money: false,
        violations: "SELECT concat('w_id=', no_w_id, ', d_id=', no_d_id) AS k,
              CAST(max(no_o_id) - min(no_o_id) + 1 AS TEXT) AS a, CAST(count(*) AS TEXT) AS b
            FROM new_order GROUP BY no_w_id, no_d_id HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*)",
    },
    Condition {
        clause: "3.3.2.4",
        each: TpccTable::District,
        money: false,
        violations: "SELECT concat('w_id=', d_w_id, ', d_id=', d_id) AS k, CAST(coalesce(o, 0) AS TEXT) AS a,
              CAST(coalesce(l, 0) AS TEXT) AS b
            FROM district
            LEFT JOIN (SELECT o_w_id, o_d_id, sum(o_ol_cnt) AS o FROM orders GROUP BY o_w_id, o_d_id) AS o
              ON o_w_id = d_w_id AND o_d_id = d_id
            LEFT JOIN (SELECT ol_w_id, ol_d_id, count(*) AS l FROM order_line GROUP BY ol_w_id, ol_d_id) AS l
              ON ol_w_id = d_w_id AND ol_d_id = d_id
            WHERE coalesce(o, 0) <> coalesce(l, 0)",
    },
    Condition {
        clause: "3.3.2.5",
        each: TpccTable::Orders,
        money: false,
        violations: "SELECT concat('w_id=', o_w_id, ', d_id=', o_d_id, ', o_id=', o_id) AS k,
              concat('carrier ', coalesce(CAST(o_carrier_id AS TEXT), 'null')) AS a,
              CASE WHEN no_o_id IS NULL THEN 'not in NEW-ORDER' ELSE 'in NEW-ORDER' END AS b
            FROM orders LEFT JOIN new_order ON no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id
            WHERE (o_carrier_id IS NULL AND no_o_id IS NULL) OR (o_carrier_id IS NOT NULL AND no_o_id IS NOT NULL)",
    },
    Condition {
        clause: "3.3.2.6",
        each: TpccTable::Orders,
        money: false,
        violations: "SELECT concat('w_id=', o_w_id, ', d_id=', o_d_id, ', o_id=', o_id) AS k,
              CAST(o_ol_cnt AS TEXT) AS a, CAST(coalesce(l, 0) AS TEXT) AS b
            FROM orders LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) AS l FROM order_line
                GROUP BY ol_w_id, ol_d_id, ol_o_id) AS l
              ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
            WHERE o_ol_cnt <> coalesce(l, 0)",
    },
    Condition {
        clause: "3.3.2.7",
        each: TpccTable::OrderLine,
        money: false,
        violations: "SELECT concat('w_id=', ol_w_id, ', d_id=', ol_d_id, ', o_id=', ol_o_id, ', number=', ol_number) AS k,
              CASE WHEN ol_delivery_d IS NULL THEN 'delivery null' ELSE 'delivered' END AS a,
              concat('carrier ', coalesce(CAST(o_carrier_id AS TEXT), 'null')) AS b
            FROM order_line JOIN orders ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id
            WHERE (ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL)
               OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL)",
    },
    Condition {
        clause: "3.3.2.8",
        each: TpccTable::Warehouse,
        money: true,
        violations: "SELECT concat('w_id=', w_id) AS k, CAST(w_ytd AS TEXT) AS a, CAST(coalesce(s, 0) AS TEXT) AS b
            FROM warehouse LEFT JOIN (SELECT h_w_id, sum(h_amount) AS s FROM history GROUP BY h_w_id) AS h
              ON h_w_id = w_id
            WHERE w_ytd <> coalesce(s, 0)",
    },
    Condition {
        clause: "3.3.2.9",
        each: TpccTable::District,
        money: true,
        violations: "SELECT concat('w_id=', d_w_id, ', d_id=', d_id) AS k, CAST(d_ytd AS TEXT) AS a, CAST(coalesce(s, 0) AS TEXT) AS b
            FROM district
            LEFT JOIN (SELECT h_w_id, h_d_id, sum(h_amount) AS s FROM history GROUP BY h_w_id, h_d_id) AS h
              ON h_w_id = d_w_id AND h_d_id = d_id
            WHERE d_ytd <> coalesce(s, 0)",
    },
    Condition {
        clause: "3.3.2.10",
        each: TpccTable::Customer,
        money: true,
        violations: "SELECT concat('w_id=', c_w_id, ', d_id=', c_d_id, ', c_id=', c_id) AS k,
              CAST(c_balance AS TEXT) AS a, CAST(coalesce(s, 0) - coalesce(h, 0) AS TEXT) AS b
            FROM customer
            LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(s) AS s FROM orders JOIN
                (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS s FROM order_line WHERE ol_delivery_d IS NOT NULL
                  GROUP BY ol_w_id, ol_d_id, ol_o_id) AS l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
                GROUP BY o_w_id, o_d_id, o_c_id) AS o
              ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
            LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS h FROM history
                GROUP BY h_c_w_id, h_c_d_id, h_c_id) AS h
              ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id
            WHERE c_balance <> coalesce(s, 0) - coalesce(h, 0)",
    },
    // The clause has 2,100, which is so as long as nothing has been delivered since the load; each delivery adds one to
    // the difference and one to its customer's C_DELIVERY_CNT, so this form holds at any time and is the same at the start.
    Condition {
        clause: "3.3.2.11",
        each: TpccTable::District,
        money: false,
        violations: "SELECT concat('w_id=', d_w_id, ', d_id=', d_id) AS k,
              CAST(coalesce(o, 0) - coalesce(n, 0) AS TEXT) AS a, CAST(2100 + coalesce(c, 0) AS TEXT) AS b
            FROM district
            LEFT JOIN (SELECT o_w_id, o_d_id, count(*) AS o FROM orders GROUP BY o_w_id, o_d_id) AS o
              ON o_w_id = d_w_id AND o_d_id = d_id
            LEFT JOIN (SELECT no_w_id, no_d_id, count(*) AS n FROM new_order GROUP BY no_w_id, no_d_id) AS n
              ON no_w_id = d_w_id AND no_d_id = d_id
            LEFT JOIN (SELECT c_w_id, c_d_id, sum(c_delivery_cnt) AS c FROM customer GROUP BY c_w_id, c_d_id) AS c
              ON c_w_id = d_w_id AND c_d_id = d_id
            WHERE coalesce(o, 0) - coalesce(n, 0) <> 2100 + coalesce(c, 0)",
    },
    Condition {
        clause: "3.3.2.12",
        each: TpccTable::Customer,
        money: true,
        violations: "SELECT concat('w_id=', c_w_id, ', d_id=', c_d_id, ', c_id=', c_id) AS k,
              CAST(c_balance + c_ytd_payment AS TEXT) AS a, CAST(coalesce(s, 0) AS TEXT) AS b
            FROM customer
            LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(s) AS s FROM orders JOIN
                (SELECT ol_w_id, ol_d_id, ol_o_id, sum(ol_amount) AS s FROM order_line WHERE ol_delivery_d IS NOT NULL
                  GROUP BY ol_w_id, ol_d_id, ol_o_id) AS l ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
                GROUP BY o_w_id, o_d_id, o_c_id) AS o
              ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id
            WHERE c_balance + c_ytd_payment <> coalesce(s, 0)",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_table_does_not_meet_a_condition() {
        for condition in CONDITIONS {
            let verdict = condition.verdict(&ConditionRows {
                of: 0,
                violation: None,
            });
            let table = condition.each.name().to_owned();
            assert!(!verdict.holds, "{verdict:?}");
            assert_eq!(verdict.detail, CheckDetail::TableEmpty { table });
            assert!(
                condition
                    .verdict(&ConditionRows {
                        of: 1,
                        violation: None
                    })
                    .holds
            );
        }
    }

    #[test]
    fn every_table_but_new_order_is_missed() {
        let whole = [100_000, 2, 20, 60_000, 60_001, 200_000, 60_001, 0, 300_000];
        assert_eq!(lacking(2, &whole), None);
        for (i, table) in TpccTable::ALL
            .iter()
            .enumerate()
            .filter(|(_, table)| **table != TpccTable::NewOrder)
        {
            let mut rows = whole;
            rows[i] = 0;
            let Some(CheckDetail::RowsMissing { tables, .. }) = lacking(2, &rows) else {
                panic!("{} is whole", table.name());
            };
            assert_eq!(
                (tables[0].table.as_str(), tables[0].rows),
                (table.name(), 0)
            );
        }
        let Some(CheckDetail::RowsMissing { tables, .. }) = lacking(3, &whole) else {
            panic!("there are two warehouses");
        };
        assert!(tables.contains(&RowRequirement {
            table: "stock".to_owned(),
            rows: 200_000,
            bound: RowBound::Exactly,
            expected: 300_000,
        }));
        assert!(lacking(0, &[100_000, 0, 0, 0, 0, 0, 0, 0, 0]).is_some());
        assert!(lacking(i64::MAX, &whole).is_some());
    }
}
