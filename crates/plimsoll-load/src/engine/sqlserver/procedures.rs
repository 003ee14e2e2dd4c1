//! The calls of TPC-C's procedures in `sql/`, as remote calls.

use futures_util::TryStreamExt;
use tiberius::{Command, CommandItem};

use super::failure::SqlserverFailure;
use super::session::{Isolation, SqlserverSession, received};
use super::values::amount;
use crate::session::{SessionError, TxnEnd};
use crate::workload::tpcc::input::{CustomerBy, TpccInput};
use crate::workload::work::TpccProcedures;

/// The error that `plimsoll_new_order` throws for an unused item.
const UNUSED_ITEM: u32 = 50_001;

impl TpccProcedures for SqlserverSession {
    async fn call(&mut self, input: &TpccInput) -> Result<TxnEnd, SessionError> {
        match self.call_procedure(input).await {
            Ok(()) => Ok(TxnEnd::Committed),
            Err(failure) if failure.code == Some(UNUSED_ITEM) => Ok(TxnEnd::RolledBack),
            Err(failure) => Err(self.failed_call(failure).await),
        }
    }
}

impl SqlserverSession {
    /// The results are received and left unread.
    async fn call_procedure(&mut self, input: &TpccInput) -> Result<(), SqlserverFailure> {
        self.round_trips += 1;
        let answer = command(input, self.of_readers).exec(&mut self.client).await;
        let mut answer = answer.map_err(|error| SqlserverFailure::from(&error))?;
        while let Some(_item) = received::<Option<CommandItem>>(answer.try_next().await)? {}
        Ok(())
    }
}

/// One of the two is given, the other is left out.
fn bind_customer<'a>(command: &mut Command<'a>, customer: &'a CustomerBy) {
    match customer {
        CustomerBy::Id(id) => command.bind_param("@in_c", *id),
        CustomerBy::LastName(name) => command.bind_param("@in_last", name.as_str()),
    }
}

/// The remote call with its arguments.
fn command(input: &TpccInput, of_readers: Isolation) -> Command<'_> {
    match input {
        TpccInput::NewOrder(order) => {
            let mut lines = String::new();
            order.write_lines(&mut lines);
            let mut command = Command::new("plimsoll_new_order");
            command.bind_param("@in_w", order.warehouse);
            command.bind_param("@in_d", order.district);
            command.bind_param("@in_c", order.customer);
            command.bind_param("@in_count", order.lines.len() as i32);
            command.bind_param("@in_all_local", i32::from(order.is_local()));
            command.bind_param("@in_lines", lines);
            command
        }
        TpccInput::Payment(payment) => {
            let mut command = Command::new("plimsoll_payment");
            command.bind_param("@in_w", payment.warehouse);
            command.bind_param("@in_d", payment.district);
            command.bind_param("@in_c_w", payment.customer_warehouse);
            command.bind_param("@in_c_d", payment.customer_district);
            bind_customer(&mut command, &payment.customer);
            command.bind_param("@in_amount", amount(payment.amount_cents));
            command
        }
        TpccInput::OrderStatus(status) => {
            let mut command = Command::new("plimsoll_order_status");
            command.bind_param("@in_w", status.warehouse);
            command.bind_param("@in_d", status.district);
            let has_snapshot = of_readers == Isolation::Snapshot;
            command.bind_param("@in_snapshot", i32::from(has_snapshot));
            bind_customer(&mut command, &status.customer);
            command
        }
        TpccInput::Delivery(delivery) => {
            let mut command = Command::new("plimsoll_delivery");
            command.bind_param("@in_w", delivery.warehouse);
            command.bind_param("@in_carrier", delivery.carrier);
            command
        }
        TpccInput::StockLevel(level) => {
            let mut command = Command::new("plimsoll_stock_level");
            command.bind_param("@in_w", level.warehouse);
            command.bind_param("@in_d", level.district);
            command.bind_param("@in_threshold", level.threshold);
            command
        }
    }
}
