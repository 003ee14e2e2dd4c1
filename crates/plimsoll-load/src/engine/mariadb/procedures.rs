//! The calls of TPC-C's procedures in `sql/`, on MariaDB and MySQL.

use super::failure::MariadbFailure;
use super::session::{MariadbSession, error};
use super::statements::DecimalText;
use crate::session::{SessionError, TxnEnd};
use crate::workload::tpcc::input::{CustomerBy, Payment, TpccInput};
use crate::workload::work::TpccProcedures;

/// SQLSTATE that `plimsoll_new_order` raises for an unused item.
const UNUSED_ITEM: &str = "PL001";

impl TpccProcedures for MariadbSession {
    async fn call(&mut self, input: &TpccInput) -> Result<TxnEnd, SessionError> {
        match self.call_procedure(input).await {
            Ok(()) => Ok(TxnEnd::Committed),
            Err(failed) if failed.state == UNUSED_ITEM => Ok(TxnEnd::RolledBack),
            Err(failed) if failed.is_lost => Err(error(failed)),
            Err(failed) => {
                // MySQL's handlers do not see that a query was cancelled: the procedure's transaction goes on.
                self.control("ROLLBACK").await?;
                Err(error(failed))
            }
        }
    }
}

impl MariadbSession {
    /// The results are received and left unread.
    async fn call_procedure(&mut self, input: &TpccInput) -> Result<(), MariadbFailure> {
        self.round_trips += 1;
        self.call_text.clear();
        write_call(&mut self.call_text, input);
        self.wire.query(&self.call_text).await
    }
}

fn by(customer: &CustomerBy) -> String {
    match customer {
        CustomerBy::Id(id) => format!("{id}, NULL"),
        CustomerBy::LastName(name) => format!("NULL, '{}'", name.replace(['\'', '\\'], "")),
    }
}

/// The CALL with its arguments as text: all are numbers, or letters that plimsoll has drawn itself.
fn write_call(out: &mut String, input: &TpccInput) {
    use std::fmt::Write as _;
    // A String takes all text.
    let _ = match input {
        TpccInput::NewOrder(order) => {
            let w = order.warehouse;
            let d = order.district;
            let c = order.customer;
            let local = i32::from(order.is_local());
            let _ = write!(
                out,
                "CALL plimsoll_new_order({w}, {d}, {c}, {}, {local}, '",
                order.lines.len()
            );
            order.write_lines(out);
            out.write_str("')")
        }
        TpccInput::Payment(payment) => {
            let Payment {
                warehouse,
                district,
                customer_warehouse,
                customer_district,
                customer,
                amount_cents,
            } = payment;
            let customer = by(customer);
            let amount = DecimalText(*amount_cents);
            write!(
                out,
                "CALL plimsoll_payment({warehouse}, {district}, {customer_warehouse}, {customer_district}, {customer}, {amount})"
            )
        }
        TpccInput::OrderStatus(status) => {
            let customer = by(&status.customer);
            write!(
                out,
                "CALL plimsoll_order_status({}, {}, {customer})",
                status.warehouse, status.district
            )
        }
        TpccInput::Delivery(delivery) => {
            write!(
                out,
                "CALL plimsoll_delivery({}, {})",
                delivery.warehouse, delivery.carrier
            )
        }
        TpccInput::StockLevel(level) => {
            write!(
                out,
                "CALL plimsoll_stock_level({}, {}, {})",
                level.warehouse, level.district, level.threshold
            )
        }
    };
}
