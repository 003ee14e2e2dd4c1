//! A workload's statements as SQL Server takes them, without `RETURNING` and `LIMIT`.

use crate::workload::statement::{SplitUpdate, Statement, StatementKind, TakenRow, replace_params};

pub(super) fn text(statement: &Statement) -> String {
    let sql = statement.compact();
    let sql = match (statement.kind, TakenRow::parse(&sql)) {
        (StatementKind::TakeFirst, Some(row)) => delete_first(row),
        _ => translated(&sql),
    };
    let sql = replace_params(&sql, |number| parameter(statement, number));
    match (statement.kind, statement.inserts_into()) {
        // An id is given to a row only where that is asked for, of one table at a time.
        (StatementKind::GivesId, Some(table)) => {
            format!("SET IDENTITY_INSERT {table} ON; {sql}; SET IDENTITY_INSERT {table} OFF")
        }
        _ => sql,
    }
}

/// The oldest row is locked while it is searched for: a second delivery waits for the first.
fn delete_first(row: TakenRow<'_>) -> String {
    let TakenRow {
        column,
        table,
        filter,
    } = row;
    format!(
        "DELETE FROM {table} OUTPUT deleted.{column} WHERE {filter} AND {column} = \
         (SELECT TOP (1) {column} FROM {table} WITH (UPDLOCK) WHERE {filter} ORDER BY {column})"
    )
}

fn translated(sql: &str) -> String {
    let sql = sql
        .replace("{now}", "SYSUTCDATETIME()")
        .replace("substr(", "SUBSTRING(")
        .replace(" || ", " + ");
    // An UPDATE and what it returns go in one request. (An OUTPUT would be one statement. Babelfish computes nothing in it,
    // and gives a row that it had to wait for as it was before.)
    if let Some(SplitUpdate { update, select }) = SplitUpdate::parse(&sql) {
        return format!("{update}; {select}");
    }
    first_only(&sum_as_bigint(&sql))
}

/// `… LIMIT 1` as `SELECT TOP (1) …`.
fn first_only(sql: &str) -> String {
    let select = sql.strip_prefix("SELECT ");
    match select.and_then(|rest| rest.strip_suffix(" LIMIT 1")) {
        Some(rest) => format!("SELECT TOP (1) {rest}"),
        None => sql.to_owned(),
    }
}

/// A sum of integers is an integer, and may be too large for one.
fn sum_as_bigint(sql: &str) -> String {
    let summed = sql.split_once("SUM(");
    match summed.and_then(|(before, rest)| Some((before, rest.split_once(')')?))) {
        Some((before, (column, after))) => format!("{before}SUM(CAST({column} AS bigint)){after}"),
        None => sql.to_owned(),
    }
}

/// An amount comes as cents. A name is compared as the column's type: texts come as Unicode, which no index of the column's
/// would be searched for.
fn parameter(statement: &Statement, number: usize) -> String {
    match statement.name {
        _ if statement.amount == Some(number) => {
            format!("CAST(@P{number} * 0.01 AS numeric(12, 2))")
        }
        Some(name) if name.param == number => {
            format!("CAST(@P{number} AS varchar({}))", name.length)
        }
        _ => format!("@P{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::tpcc::sql::TpccStmt;

    #[test]
    fn what_an_update_returns_is_asked_for_in_the_same_request() {
        assert_eq!(
            text(&TpccStmt::TakeOrderNumber.statement()),
            "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = @P1 AND d_id = @P2; \
             SELECT d_next_o_id - 1, d_tax FROM district WHERE d_w_id = @P1 AND d_id = @P2"
        );
        assert_eq!(
            text(&TpccStmt::DeliverCustomer.statement()),
            "UPDATE customer SET c_balance = c_balance + CAST(@P4 * 0.01 AS numeric(12, 2)), \
             c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = @P1 AND c_d_id = @P2 AND c_id = @P3"
        );
        let paid = text(&TpccStmt::PayCustomer.statement());
        let shown = "CASE c_credit WHEN 'BC' THEN SUBSTRING(c_data, 1, 200) END \
                     FROM customer WHERE c_w_id = @P1 AND c_d_id = @P2 AND c_id = @P3";
        assert!(
            paid.contains("SUBSTRING(@P5 + c_data, 1, 500)") && paid.ends_with(shown),
            "{paid}"
        );
    }

    #[test]
    fn no_statement_has_words_of_another_dialect() {
        for &stmt in TpccStmt::ALL {
            let sql = text(&stmt.statement());
            let foreign = ["RETURNING", "LIMIT", "||", "$", "{", "substr("];
            let found: Vec<_> = foreign.iter().filter(|word| sql.contains(**word)).collect();
            assert!(found.is_empty(), "{found:?}: {sql}");
        }
    }

    #[test]
    fn rows_are_taken_limited_summed_and_given_ids() {
        assert_eq!(
            text(&TpccStmt::TakeNewOrder.statement()),
            "DELETE FROM new_order OUTPUT deleted.no_o_id WHERE no_w_id = @P1 AND no_d_id = @P2 AND no_o_id = \
             (SELECT TOP (1) no_o_id FROM new_order WITH (UPDLOCK) WHERE no_w_id = @P1 AND no_d_id = @P2 \
             ORDER BY no_o_id)"
        );
        assert_eq!(
            text(&TpccStmt::AnyNewOrder.statement()),
            "SELECT TOP (1) 1 FROM new_order WHERE no_w_id = @P1 AND no_d_id = @P2"
        );
        assert_eq!(
            text(&TpccStmt::LastOrder.statement()),
            "SELECT TOP (1) o_id, o_entry_d, o_carrier_id FROM orders \
             WHERE o_w_id = @P1 AND o_d_id = @P2 AND o_c_id = @P3 ORDER BY o_id DESC"
        );
        assert!(text(&TpccStmt::CustomersByName.statement()).contains("CAST(@P3 AS varchar(16))"));
        let sum = Statement::plain("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN $1 AND $2");
        assert_eq!(
            text(&sum),
            "SELECT SUM(CAST(k AS bigint)) FROM sbtest1 WHERE id BETWEEN @P1 AND @P2"
        );
        let insert = Statement {
            kind: StatementKind::GivesId,
            ..Statement::plain("INSERT INTO sbtest2 (id, k) VALUES ($1, $2)")
        };
        assert_eq!(
            text(&insert),
            "SET IDENTITY_INSERT sbtest2 ON; INSERT INTO sbtest2 (id, k) VALUES (@P1, @P2); \
             SET IDENTITY_INSERT sbtest2 OFF"
        );
    }
}
