//! The calls of TPC-C's functions in `sql/`.

use super::codec::SqlParam;
use super::failure::PostgresFailure;
use super::session::{PostgresSession, error};
use crate::session::{SessionError, TxnEnd};
use crate::workload::statement::Param;
use crate::workload::tpcc::input::{CustomerBy, TpccInput};
use crate::workload::work::TpccProcedures;

/// SQLSTATE that `plimsoll_new_order` raises for an unused item.
const UNUSED_ITEM: &str = "PL001";

/// Lines of an order at most (clause 2.4.1.3).
const MAX_LINES: usize = 15;

/// One of the two is given, the other is NULL.
fn by(customer: &CustomerBy) -> (Option<i32>, Option<&str>) {
    match customer {
        CustomerBy::Id(id) => (Some(*id), None),
        CustomerBy::LastName(name) => (None, Some(name)),
    }
}

impl TpccProcedures for PostgresSession {
    async fn call(&mut self, input: &TpccInput) -> Result<TxnEnd, SessionError> {
        match self.call_function(input).await {
            Ok(()) => Ok(TxnEnd::Committed),
            Err(failure) if failure.is(UNUSED_ITEM) => Ok(TxnEnd::RolledBack),
            Err(failure) => Err(error(failure)),
        }
    }
}

impl PostgresSession {
    async fn call_function(&mut self, input: &TpccInput) -> Result<(), PostgresFailure> {
        match input {
            TpccInput::NewOrder(order) => {
                let mut columns = [[0i32; MAX_LINES]; 3];
                let lines = &order.lines[..order.lines.len().min(MAX_LINES)];
                for (i, line) in lines.iter().enumerate() {
                    (columns[0][i], columns[1][i], columns[2][i]) =
                        (line.item, line.supply_warehouse, line.quantity);
                }
                let [items, supply, quantity] =
                    columns.each_ref().map(|column| &column[..lines.len()]);
                let w = &order.warehouse;
                let d = &order.district;
                let c = &order.customer;
                self.send_call(0, &[w, d, c, &items, &supply, &quantity])
                    .await
            }
            TpccInput::Payment(payment) => {
                let (id, name) = by(&payment.customer);
                let amount = SqlParam(Param::Cents(payment.amount_cents));
                let w = &payment.warehouse;
                let d = &payment.district;
                let cw = &payment.customer_warehouse;
                let cd = &payment.customer_district;
                self.send_call(1, &[w, d, cw, cd, &id, &name, &amount])
                    .await
            }
            TpccInput::OrderStatus(status) => {
                let (id, name) = by(&status.customer);
                self.send_call(2, &[&status.warehouse, &status.district, &id, &name])
                    .await
            }
            TpccInput::Delivery(delivery) => {
                self.send_call(3, &[&delivery.warehouse, &delivery.carrier])
                    .await
            }
            TpccInput::StockLevel(level) => {
                self.send_call(4, &[&level.warehouse, &level.district, &level.threshold])
                    .await
            }
        }
    }
}
