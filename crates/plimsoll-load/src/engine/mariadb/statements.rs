//! A workload's statements as MariaDB and MySQL take them.
//!
//! They have no `UPDATE … RETURNING`: such a statement becomes an UPDATE, which locks the row, and a SELECT of what it has
//! left there, one more round trip. Parameters are `?` in order of appearance.

use std::fmt;

use plimsoll_plan::resolved::ServerKind;

use crate::workload::statement::{
    SplitUpdate, Statement, StatementKind, TakenRow, Value, replace_params,
};

/// One or two requests that do what a statement does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Texts {
    /// Changes rows before [`Self::text`] asks for them.
    pub change: Option<Text>,
    pub text: Text,
    /// Changes the row that [`Self::text`] has found: the first of its columns is one more parameter.
    pub after: Option<Text>,
}

/// A statement's text, and which parameter stands at each `?`, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    pub sql: String,
    pub params: Vec<usize>,
}

impl TakenRow<'_> {
    /// Oldest row first, and a second delivery waits for the first: locking reads see what is committed.
    fn delete_first(&self) -> String {
        let Self {
            column,
            table,
            filter,
        } = self;
        format!("DELETE FROM {table} WHERE {filter} ORDER BY {column} LIMIT 1 RETURNING {column}")
    }

    /// The same where DELETE returns nothing: finds and locks it, and deletes it by its column, the parameter of this number.
    fn find_and_delete(&self, param: usize) -> [String; 2] {
        let Self {
            column,
            table,
            filter,
        } = self;
        [
            format!(
                "SELECT {column} FROM {table} WHERE {filter} ORDER BY {column} LIMIT 1 FOR UPDATE"
            ),
            format!("DELETE FROM {table} WHERE {filter} AND {column} = ${param}"),
        ]
    }
}

pub fn texts(statement: &Statement, server: ServerKind) -> Texts {
    let sql = statement.compact();
    let alone = |sql: &str| Texts {
        change: None,
        text: text(statement, sql),
        after: None,
    };
    match (statement.kind, TakenRow::parse(&sql)) {
        (StatementKind::TakeFirst, Some(row)) if server == ServerKind::Mysql => {
            let params = sql.matches('$').count();
            let [find, delete] = row.find_and_delete(params + 1);
            Texts {
                after: Some(text(statement, &delete)),
                ..alone(&find)
            }
        }
        (StatementKind::TakeFirst, Some(row)) => alone(&row.delete_first()),
        (StatementKind::Latest, _) => alone(&format!("{sql} LOCK IN SHARE MODE")),
        _ => match SplitUpdate::parse(&sql) {
            Some(split) => Texts {
                change: Some(text(statement, &split.update)),
                ..alone(&split.select)
            },
            None => alone(&sql),
        },
    }
}

fn text(statement: &Statement, sql: &str) -> Text {
    let sql = sql
        .replace("{now}", "UTC_TIMESTAMP(6)")
        .replace(" AS INTEGER)", " AS SIGNED)");
    let mut params = Vec::new();
    let sql = replace_params(&sql, |number| {
        params.push(number.saturating_sub(1));
        // A text in arithmetic would count as a floating-point number.
        let mark = match statement.amount == Some(number) {
            true => "CAST(? AS DECIMAL(12,2))",
            false => "?",
        };
        mark.to_owned()
    });
    Text { sql, params }
}

/// `-12.05` for −1205 cents.
#[derive(Debug, Clone, Copy)]
pub struct DecimalText(pub i64);

impl fmt::Display for DecimalText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let magnitude = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:02}", magnitude / 100, magnitude % 100)
    }
}

/// A decimal with up to two places is cents, with up to four a rate.
pub fn number(text: &str) -> Option<Value> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let places = if part.len() <= 2 { 2 } else { 4 };
    let scaled: i64 = format!("{whole}{part:0<places$}").parse().ok()?;
    if part.len() > 4 {
        return None;
    }
    Some(if places == 2 {
        Value::Cents(sign * scaled)
    } else {
        Value::Rate(sign * scaled)
    })
}

/// Days since 1970-01-01: Howard Hinnant's `days_from_civil` (<https://howardhinnant.github.io/date_algorithms.html>).
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workload::tpcc::sql::TpccStmt;

    #[test]
    fn an_update_that_returns_is_two_statements() {
        let Texts { change, text, .. } =
            texts(&TpccStmt::PayDistrict.statement(), ServerKind::Mariadb);
        let change = change.unwrap();
        assert_eq!(
            change.sql,
            "UPDATE district SET d_ytd = d_ytd + CAST(? AS DECIMAL(12,2)) WHERE d_w_id = ? AND d_id = ?"
        );
        assert_eq!(change.params, [2, 0, 1]);
        let columns = "d_name, d_street_1, d_street_2, d_city, d_state, d_zip";
        assert_eq!(
            text.sql,
            format!("SELECT {columns} FROM district WHERE d_w_id = ? AND d_id = ?")
        );
        assert_eq!(text.params, [0, 1]);
        for &stmt in TpccStmt::ALL {
            let Texts { change, text, .. } = texts(&stmt.statement(), ServerKind::Mariadb);
            let updates = text.sql.starts_with("UPDATE") && text.sql.contains("RETURNING");
            assert!(!updates && !text.sql.contains(['$', '{']), "{text:?}");
            assert_eq!(text.sql.matches('?').count(), text.params.len());
            assert!(
                change.is_none_or(|change| !change.sql.contains("RETURNING")),
                "{stmt:?}"
            );
        }
    }

    #[test]
    fn mysql_returns_from_no_change() {
        for &stmt in TpccStmt::ALL {
            let Texts {
                change,
                text,
                after,
            } = texts(&stmt.statement(), ServerKind::Mysql);
            let all = [change, Some(text), after];
            let returns = |own: &Text| own.sql.contains("RETURNING");
            assert!(!all.iter().flatten().any(returns), "{stmt:?}");
        }
        let taken = texts(&TpccStmt::TakeNewOrder.statement(), ServerKind::Mysql);
        assert_eq!(taken.after.unwrap().params, [0, 1, 2]);
        let taken = texts(&TpccStmt::TakeNewOrder.statement(), ServerKind::Mariadb);
        assert_eq!(
            taken.text.sql,
            "DELETE FROM new_order WHERE no_w_id = ? AND no_d_id = ? ORDER BY no_o_id LIMIT 1 RETURNING no_o_id"
        );
    }

    #[test]
    fn numbers_and_dates_come_back() {
        assert_eq!(number("-12.05"), Some(Value::Cents(-1_205)));
        assert_eq!(
            [number("0.1234"), number("7"), number("0.12345")],
            [Some(Value::Rate(1_234)), Some(Value::Cents(700)), None]
        );
        assert_eq!(
            [days(1970, 1, 1), days(2000, 2, 29), days(2026, 1, 1)],
            [0, 11_016, 20_454]
        );
        for cents in [0, 5, -5, 123_456, -100] {
            assert_eq!(
                number(&DecimalText(cents).to_string()),
                Some(Value::Cents(cents))
            );
        }
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(text in ".*") {
            let _ = number(&text);
        }
    }
}
