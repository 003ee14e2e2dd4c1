//! Bulk load (MS-TDS "Bulk Load BCP"): one INSERT BULK for each part of a table.

use futures_util::io::{AsyncRead, AsyncWrite};
use tiberius::error::Error;
use tiberius::{BulkLoadRequest, ColumnData, SqlBulkCopyOption, TokenRow};
use tokio::runtime::Runtime;

use super::connect::Tds;
use super::failure::server_error;
use super::values;
use crate::engine::LoadControl;
use crate::engine::sql::part::{PartSink, TablePart};
use crate::error::LoadError;
use crate::workload::tpcc::rows::RowSink;

/// Rows between two turns of the runtime.
const BATCH: usize = 500;

/// Puts the rows of a part into its table, with the ids that they have.
pub(super) fn fill(
    client: &mut Tds,
    runtime: &Runtime,
    part: &TablePart,
    control: &LoadControl,
) -> Result<(), LoadError> {
    let table = part.table();
    let failed = |error: &Error| server_error(&format!("filling table {table}"), error);
    let columns = part.columns();
    let options = SqlBulkCopyOption::KeepIdentity.into();
    let request = runtime.block_on(client.bulk_insert_with_options(&table, columns, options, &[]));
    let mut rows = BulkSink {
        request: request.map_err(|error| failed(&error))?,
        runtime,
        columns,
        row: TokenRow::with_capacity(columns.len()),
        batch: Vec::with_capacity(BATCH),
        control,
        failed: None,
    };
    part.fill(&mut rows);
    rows.flush();
    // Dropped before its end, a load is undone.
    control.check()?;
    if let Some(error) = &rows.failed {
        return Err(failed(error));
    }
    let done = runtime.block_on(rows.request.finalize());
    done.map(drop).map_err(|error| failed(&error))
}

struct BulkSink<'a, S: AsyncRead + AsyncWrite + Unpin + Send> {
    request: BulkLoadRequest<'a, S>,
    runtime: &'a Runtime,
    columns: &'static [&'static str],
    row: TokenRow<'static>,
    batch: Vec<TokenRow<'static>>,
    control: &'a LoadControl,
    /// The rest of the rows goes nowhere then.
    failed: Option<Error>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> BulkSink<'_, S> {
    fn flush(&mut self) {
        let rows = self.batch.len() as u64;
        let batch = std::mem::take(&mut self.batch);
        if self.is_closed() {
            return;
        }
        let request = &mut self.request;
        let sent = self.runtime.block_on(async {
            for row in batch {
                request.send(row).await?;
            }
            Ok(())
        });
        match sent {
            Ok(()) => self.control.add(rows),
            Err(error) => self.failed = Some(error),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> PartSink for BulkSink<'_, S> {
    fn is_closed(&self) -> bool {
        self.failed.is_some() || self.control.is_cancelled()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> RowSink for BulkSink<'_, S> {
    fn int(&mut self, value: i32) {
        self.row.push(ColumnData::I32(Some(value)));
    }

    fn cents(&mut self, value: i64) {
        self.row.push(values::cents(value));
    }

    fn rate(&mut self, ten_thousandths: i32) {
        self.row.push(values::rate(ten_thousandths));
    }

    fn text(&mut self, value: &str) {
        self.row
            .push(ColumnData::String(Some(value.to_owned().into())));
    }

    fn timestamp(&mut self, micros: i64) {
        self.row.push(values::timestamp(micros));
    }

    /// Is of its column's type. Of an order only the carrier can be missing, of a line only the time of delivery.
    fn null(&mut self) {
        self.row.push(match self.columns.get(self.row.len()) {
            Some(&"ol_delivery_d") => ColumnData::DateTime2(None),
            _ => ColumnData::I32(None),
        });
    }

    fn end_row(&mut self) {
        let next = TokenRow::with_capacity(self.columns.len());
        self.batch.push(std::mem::replace(&mut self.row, next));
        if self.batch.len() == BATCH {
            self.flush();
        }
    }
}
