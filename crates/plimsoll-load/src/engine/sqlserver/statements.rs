//! The client-side transactions' statements as SQL Server takes them, without `RETURNING` and `LIMIT`.

use crate::workload::tpcc::sql::TpccStmt;

/// The oldest is locked while it is searched for: a second delivery waits for the first.
const TAKE_NEW_ORDER: &str = "DELETE FROM new_order OUTPUT deleted.no_o_id WHERE no_w_id = @P1 AND no_d_id = @P2 AND no_o_id = \
     (SELECT TOP (1) no_o_id FROM new_order WITH (UPDLOCK) WHERE no_w_id = @P1 AND no_d_id = @P2 ORDER BY no_o_id)";
const ANY_NEW_ORDER: &str = "SELECT TOP (1) 1 FROM new_order WHERE no_w_id = @P1 AND no_d_id = @P2";
const LAST_ORDER: &str = "SELECT TOP (1) o_id, o_entry_d, o_carrier_id FROM orders \
     WHERE o_w_id = @P1 AND o_d_id = @P2 AND o_c_id = @P3 ORDER BY o_id DESC";

pub(super) fn text(stmt: TpccStmt) -> String {
    match stmt {
        TpccStmt::TakeNewOrder => TAKE_NEW_ORDER.into(),
        TpccStmt::AnyNewOrder => ANY_NEW_ORDER.into(),
        TpccStmt::LastOrder => LAST_ORDER.into(),
        other => translated(other),
    }
}

fn translated(stmt: TpccStmt) -> String {
    let words: Vec<&str> = stmt.sql().split_ascii_whitespace().collect();
    let sql = words
        .join(" ")
        .replace("{now}", "SYSUTCDATETIME()")
        .replace("substr(", "SUBSTRING(")
        .replace(" || ", " + ");
    let sql = without_returning(&sql);
    let mut parts = sql.split('$');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + &parameter(stmt, part))
}

/// `UPDATE … RETURNING …` as an UPDATE, which locks the row, and a SELECT of what it has left there, in one request. (An
/// OUTPUT would be one statement. Babelfish computes nothing in it, and gives a row that it had to wait for as it was
/// before.)
fn without_returning(sql: &str) -> String {
    let Some((update, returning)) = sql.split_once(" RETURNING ") else {
        return sql.to_owned();
    };
    let table = update.split(' ').nth(1).unwrap_or_default();
    let filter = update
        .rsplit_once(" WHERE ")
        .map_or("", |(_, filter)| filter);
    format!("{update}; SELECT {returning} FROM {table} WHERE {filter}")
}

/// What follows a `$`: its number, and the text up to the next. An amount comes as cents. A last name is compared as the
/// column's type: texts come as Unicode, which no index of the column's would be searched for.
fn parameter(stmt: TpccStmt, part: &str) -> String {
    let digits = part.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = part.split_at(digits.unwrap_or(part.len()));
    let number: usize = digits.parse().unwrap_or_default();
    if stmt.amount() == Some(number) {
        format!("CAST(@P{digits} * 0.01 AS numeric(12, 2)){rest}")
    } else if stmt == TpccStmt::CustomersByName && number == 3 {
        format!("CAST(@P{digits} AS varchar(16)){rest}")
    } else {
        format!("@P{digits}{rest}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_update_returns_is_asked_for_in_the_same_request() {
        assert_eq!(
            text(TpccStmt::TakeOrderNumber),
            "UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = @P1 AND d_id = @P2; \
             SELECT d_next_o_id - 1, d_tax FROM district WHERE d_w_id = @P1 AND d_id = @P2"
        );
        assert_eq!(
            text(TpccStmt::DeliverCustomer),
            "UPDATE customer SET c_balance = c_balance + CAST(@P4 * 0.01 AS numeric(12, 2)), \
             c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = @P1 AND c_d_id = @P2 AND c_id = @P3"
        );
        let paid = text(TpccStmt::PayCustomer);
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
            let sql = text(stmt);
            let foreign = ["RETURNING", "LIMIT", "||", "$", "{", "substr("];
            let found: Vec<_> = foreign.iter().filter(|word| sql.contains(**word)).collect();
            assert!(found.is_empty(), "{found:?}: {sql}");
        }
    }
}
