//! The five transactions run by the client, one prepared statement at a time (clauses 2.4.2, 2.5.2, 2.6.2, 2.7.4,
//! 2.8.2).
//!
//! They are right under READ COMMITTED with any number of users: whatever is changed is changed by `UPDATE … RETURNING`
//! or `DELETE … RETURNING`, never read first. Rows are locked in one order everywhere, so that deadlocks stay rare:
//! New-Order takes its district, then stock by item and warehouse; Payment customer, district, warehouse (the one that
//! everybody wants is held for the shortest time); Delivery the districts in ascending order.

use super::generator::UNUSED_ITEM;
use super::input::{
    CustomerBy, Delivery, Line, NewOrder, OrderStatus, Payment, StockLevel, TpccInput,
};
use super::random::DISTRICTS;
use super::sql::TpccStmt;
use crate::session::{SessionError, TxnEnd};
use crate::workload::statement::{Param, Rows, SqlSession, TxnAccess, Value, end};

/// Runs one attempt. On an error the database transaction is rolled back before it is returned.
pub async fn run(session: &mut impl SqlSession, input: &TpccInput) -> Result<TxnEnd, SessionError> {
    let access = match input {
        TpccInput::NewOrder(_) | TpccInput::Payment(_) | TpccInput::Delivery(_) => TxnAccess::Write,
        // An order and its lines belong together.
        TpccInput::OrderStatus(_) | TpccInput::StockLevel(_) => TxnAccess::ReadSnapshot,
    };
    session.begin(access).await?;
    let done = profile(session, input).await;
    end(session, done).await
}

async fn profile<S: SqlSession>(
    session: &mut S,
    input: &TpccInput,
) -> Result<TxnEnd, SessionError> {
    match input {
        TpccInput::NewOrder(input) => {
            let total = new_order(session, input).await?;
            return Ok(if total.is_some() {
                TxnEnd::Committed
            } else {
                TxnEnd::RolledBack
            });
        }
        TpccInput::Payment(input) => payment(session, input).await?,
        TpccInput::OrderStatus(input) => order_status(session, input).await?,
        TpccInput::Delivery(input) => drop(delivery(session, input).await?),
        TpccInput::StockLevel(input) => drop(stock_level(session, input).await?),
    }
    Ok(TxnEnd::Committed)
}

fn int(value: i32) -> Param<'static> {
    Param::Int(i64::from(value))
}

/// An amount in cents, a rate in ten-thousandths, or a plain number.
fn number(value: &Value) -> Result<i64, SessionError> {
    match value {
        Value::Int(n) | Value::Cents(n) | Value::Rate(n) => Ok(*n),
        Value::Null | Value::Text(_) => Err(SessionError::Failed(format!(
            "a number was expected, not {value:?}"
        ))),
    }
}

fn text(value: &Value) -> Result<&str, SessionError> {
    match value {
        // CHAR columns come padded from some engines.
        Value::Text(text) => Ok(text.trim_end()),
        _ => Err(SessionError::Failed(format!(
            "a text was expected, not {value:?}"
        ))),
    }
}

/// The only row; that it is there follows from the population.
fn row(rows: Rows, what: &str, key: &[i32]) -> Result<Vec<Value>, SessionError> {
    rows.into_iter().next().ok_or_else(|| {
        SessionError::Failed(format!(
            "{what} {key:?} is not in the database: it was not loaded for this plan"
        ))
    })
}

/// What an order's terminal shows beyond what the statements gave (clause 2.4.3.3).
#[derive(Debug, PartialEq, Eq)]
struct Ordered {
    total_cents: i64,
    /// Lines whose item and stock are both "ORIGINAL": `B` on the terminal, the others `G`.
    brand_lines: usize,
}

/// Clause 2.4.2. Gives nothing when an unused item makes it roll back.
async fn new_order<S: SqlSession>(
    session: &mut S,
    input: &NewOrder,
) -> Result<Option<Ordered>, SessionError> {
    let w = input.warehouse;
    let d = input.district;
    let c = input.customer;
    let customer = session
        .query(TpccStmt::OrderingCustomer, &[int(w), int(d), int(c)])
        .await?;
    let customer = row(customer, "customer", &[w, d, c])?;
    let district = row(
        session
            .query(TpccStmt::TakeOrderNumber, &[int(w), int(d)])
            .await?,
        "district",
        &[w, d],
    )?;
    let order = Param::Int(number(&district[0])?);
    let all_local = input.lines.iter().all(|line| line.supply_warehouse == w);
    let header = [
        order,
        int(d),
        int(w),
        int(c),
        int(input.lines.len() as i32),
        int(all_local.into()),
    ];
    session.execute(TpccStmt::InsertOrder, &header).await?;
    session
        .execute(TpccStmt::InsertNewOrder, &[order, int(d), int(w)])
        .await?;

    // In order of item and warehouse, so that two orders never wait for each other's stock in a circle. The unused item
    // has the highest number and stays the last.
    let mut lines: Vec<_> = (1..).zip(&input.lines).collect();
    lines.sort_unstable_by_key(|(ol_number, line)| (line.item, line.supply_warehouse, *ol_number));
    let mut sum = 0;
    let mut brand_lines = 0;
    for (ol_number, line) in lines {
        let key = [order, int(d), int(w), int(ol_number)];
        let Some((amount, brand)) = order_line(session, key, input, line).await? else {
            return Ok(None);
        };
        sum += amount;
        brand_lines += usize::from(brand);
    }
    let total_cents = total(
        sum,
        number(&customer[1])?,
        number(&customer[0])?,
        number(&district[1])?,
    );
    Ok(Some(Ordered {
        total_cents,
        brand_lines,
    }))
}

/// One line: looks the item up, takes it from stock, notes it under `key` (order, district, warehouse, number). Gives the
/// amount in cents and whether it is of the brand, or nothing for the unused item.
async fn order_line<S: SqlSession>(
    session: &mut S,
    key: [Param<'_>; 4],
    order: &NewOrder,
    line: &Line,
) -> Result<Option<(i64, bool)>, SessionError> {
    let Line {
        item,
        supply_warehouse: supply,
        quantity,
    } = *line;
    let found = session.query(TpccStmt::Item, &[int(item)]).await?;
    if found.is_empty() && item == UNUSED_ITEM {
        return Ok(None);
    }
    let found = row(found, "item", &[item])?;
    let price = number(&found[0])?;
    let remote = supply != order.warehouse;
    let take = [
        int(item),
        int(supply),
        int(quantity),
        int(remote.into()),
        int(order.district),
    ];
    let stock = row(
        session.query(TpccStmt::TakeStock, &take).await?,
        "stock",
        &[item, supply],
    )?;
    let amount = i64::from(quantity) * price;
    let [o, d, w, ol_number] = key;
    let amount_cents = Param::Cents(amount);
    let dist_info = Param::Text(text(&stock[1])?);
    let columns = [
        o,
        d,
        w,
        ol_number,
        int(item),
        int(supply),
        int(quantity),
        amount_cents,
        dist_info,
    ];
    session.execute(TpccStmt::InsertOrderLine, &columns).await?;
    Ok(Some((amount, is_brand(text(&found[2])?, text(&stock[2])?))))
}

/// Clause 2.4.2.2: I_DATA and S_DATA both hold the string "ORIGINAL".
fn is_brand(item_data: &str, stock_data: &str) -> bool {
    item_data.contains("ORIGINAL") && stock_data.contains("ORIGINAL")
}

/// Clause 2.4.2.2: sum × (1 − c_discount) × (1 + w_tax + d_tax), in cents, rounded half up.
fn total(sum_cents: i64, discount: i64, w_tax: i64, d_tax: i64) -> i64 {
    let exact =
        i128::from(sum_cents) * i128::from(10_000 - discount) * i128::from(10_000 + w_tax + d_tax);
    ((exact + 50_000_000) / 100_000_000) as i64
}

/// Clause 2.5.2.2: of n customers of that name, sorted by first name, the one at n/2 rounded up.
async fn by_name<S: SqlSession>(
    session: &mut S,
    w: i32,
    d: i32,
    name: &str,
) -> Result<Vec<Value>, SessionError> {
    let mut found = session
        .query(
            TpccStmt::CustomersByName,
            &[int(w), int(d), Param::Text(name)],
        )
        .await?;
    if found.is_empty() {
        return Err(SessionError::Failed(format!(
            "no customer is called {name} in district {d} of warehouse {w}: it was not loaded for this plan"
        )));
    }
    Ok(found.swap_remove(middle(found.len())))
}

/// Index of position n/2 rounded up, counted from 1.
fn middle(n: usize) -> usize {
    n.div_ceil(2) - 1
}

/// Clause 2.5.2.
async fn payment<S: SqlSession>(session: &mut S, input: &Payment) -> Result<(), SessionError> {
    let w = input.warehouse;
    let d = input.district;
    let cw = input.customer_warehouse;
    let cd = input.customer_district;
    let amount = Param::Cents(input.amount_cents);
    let amount_cents = input.amount_cents;
    let c = match &input.customer {
        CustomerBy::Id(id) => *id,
        CustomerBy::LastName(name) => number(&by_name(session, cw, cd, name).await?[0])? as i32,
    };
    let note = format!(
        "{c} {cd} {cw} {d} {w} {}.{:02}|",
        amount_cents / 100,
        amount_cents % 100
    );
    let customer = [int(cw), int(cd), int(c), amount, Param::Text(&note)];
    row(
        session.query(TpccStmt::PayCustomer, &customer).await?,
        "customer",
        &[cw, cd, c],
    )?;
    let district = session
        .query(TpccStmt::PayDistrict, &[int(w), int(d), amount])
        .await?;
    let district = row(district, "district", &[w, d])?;
    let warehouse = row(
        session
            .query(TpccStmt::PayWarehouse, &[int(w), amount])
            .await?,
        "warehouse",
        &[w],
    )?;
    // Clause 2.5.2.2: W_NAME and D_NAME, four spaces between them.
    let data = format!("{}    {}", text(&warehouse[0])?, text(&district[0])?);
    let history = [
        int(c),
        int(cd),
        int(cw),
        int(d),
        int(w),
        amount,
        Param::Text(&data),
    ];
    session.execute(TpccStmt::InsertHistory, &history).await
}

/// Clause 2.6.2.
async fn order_status<S: SqlSession>(
    session: &mut S,
    input: &OrderStatus,
) -> Result<(), SessionError> {
    let w = input.warehouse;
    let d = input.district;
    let c = match &input.customer {
        CustomerBy::LastName(name) => number(&by_name(session, w, d, name).await?[0])? as i32,
        CustomerBy::Id(c) => {
            row(
                session
                    .query(TpccStmt::CustomerById, &[int(w), int(d), int(*c)])
                    .await?,
                "customer",
                &[w, d, *c],
            )?;
            *c
        }
    };
    let order = row(
        session
            .query(TpccStmt::LastOrder, &[int(w), int(d), int(c)])
            .await?,
        "order of customer",
        &[w, d, c],
    )?;
    let order = Param::Int(number(&order[0])?);
    session
        .query(TpccStmt::OrderLines, &[int(w), int(d), order])
        .await
        .map(drop)
}

/// Clause 2.7.4: delivers the oldest undelivered order of each district, and gives how many there were.
///
/// Deviation from clause 2.7.2: no queue and no result file. The user waits for the delivery, and its time is measured.
/// A district without an undelivered order is skipped (clause 2.7.4.2); skipped ones are not counted towards the clause's
/// 1 %.
async fn delivery<S: SqlSession>(session: &mut S, input: &Delivery) -> Result<usize, SessionError> {
    let w = input.warehouse;
    let mut delivered = 0;
    for d in 1..=DISTRICTS {
        let Some(order) = take_new_order(session, w, d).await? else {
            continue;
        };
        let key = [int(w), int(d), Param::Int(order)];
        let header = [key[0], key[1], key[2], int(input.carrier)];
        let header = row(
            session.query(TpccStmt::DeliverOrder, &header).await?,
            "order",
            &[w, d, order as i32],
        )?;
        let mut sum = 0;
        for line in session.query(TpccStmt::DeliverLines, &key).await? {
            sum += number(&line[0])?;
        }
        let customer = [
            int(w),
            int(d),
            Param::Int(number(&header[0])?),
            Param::Cents(sum),
        ];
        session
            .execute(TpccStmt::DeliverCustomer, &customer)
            .await?;
        delivered += 1;
    }
    Ok(delivered)
}

/// How often a delivery searches again after another session took the order that it wanted.
const TAKE_ATTEMPTS: usize = 10;

/// The number of the oldest undelivered order, which from now on is no other session's.
///
/// Under READ COMMITTED the statement may wait for another delivery of the same order and then, when that commits, finds
/// nothing although younger orders are left. Nothing found is therefore believed only after a look-up of its own.
async fn take_new_order<S: SqlSession>(
    session: &mut S,
    w: i32,
    d: i32,
) -> Result<Option<i64>, SessionError> {
    for _ in 0..TAKE_ATTEMPTS {
        if let Some(taken) = session
            .query(TpccStmt::TakeNewOrder, &[int(w), int(d)])
            .await?
            .first()
        {
            return number(&taken[0]).map(Some);
        }
        if session
            .query(TpccStmt::AnyNewOrder, &[int(w), int(d)])
            .await?
            .is_empty()
        {
            return Ok(None);
        }
    }
    Err(SessionError::Retry(format!(
        "other deliveries were faster {TAKE_ATTEMPTS} times in district {d}"
    )))
}

/// Clause 2.8.2: items below the threshold among the lines of the district's last 20 orders.
async fn stock_level<S: SqlSession>(
    session: &mut S,
    input: &StockLevel,
) -> Result<i64, SessionError> {
    let w = input.warehouse;
    let d = input.district;
    let next = row(
        session
            .query(TpccStmt::NextOrderNumber, &[int(w), int(d)])
            .await?,
        "district",
        &[w, d],
    )?;
    let next = number(&next[0])?;
    let range = [
        int(w),
        int(d),
        Param::Int(next - 20),
        Param::Int(next),
        int(input.threshold),
    ];
    number(
        &row(
            session.query(TpccStmt::LowStock, &range).await?,
            "stock level",
            &[w, d],
        )?[0],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_customer_is_rounded_up() {
        assert_eq!(
            [1, 2, 3, 4, 5, 6].map(|n| middle(n) + 1),
            [1, 1, 2, 2, 3, 3]
        );
    }

    #[test]
    fn a_brand_is_original_in_both() {
        assert!(is_brand("xORIGINALy", "ORIGINAL"));
        assert!(
            !is_brand("ORIGINAL", "generic")
                && !is_brand("generic", "ORIGINAL")
                && !is_brand("", "")
        );
    }

    #[test]
    fn totals_follow_clause_2_4_2_2() {
        assert_eq!(total(10_000, 0, 0, 0), 10_000);
        assert_eq!(total(10_000, 5_000, 2_000, 1_000), 6_500);
        assert_eq!(
            total(999, 1_234, 567, 89),
            933,
            "999 × 0.8766 × 1.0656 = 933.16"
        );
        assert_eq!(total(150_000_000, 0, 2_000, 2_000), 210_000_000);
    }
}
