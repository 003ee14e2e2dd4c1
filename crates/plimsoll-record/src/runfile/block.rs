//! Requests of fio's workers, with histograms of full precision.

use crate::BlockShare;
use rusqlite::Connection;

use super::file::{Result, RunFile};
use super::row::{BadRow, ValueBudget, full_hist, rows};

impl RunFile {
    pub fn block_share(&self, share: &BlockShare) -> Result<()> {
        let BlockShare {
            point,
            worker,
            medium,
            txn,
            requests,
            bytes,
            response,
        } = share;
        self.insert_columns(
            "INSERT OR REPLACE INTO block_share",
            &[
                ("point", point),
                ("worker", worker),
                ("medium", medium),
                ("txn", txn),
                ("requests", requests),
                ("bytes", bytes),
                ("response", &response.encode()),
            ],
        )
    }
}

pub(super) fn block_shares(db: &Connection) -> std::result::Result<Vec<BlockShare>, BadRow> {
    let mut budget = ValueBudget::of_file(db)?;
    let sql = "SELECT * FROM block_share ORDER BY point, worker, txn";
    rows(db, sql, |row| {
        let response = row.get_ref("response")?.as_blob()?;
        Ok(BlockShare {
            point: row.get("point")?,
            worker: row.get("worker")?,
            medium: row.get("medium")?,
            txn: row.get("txn")?,
            requests: row.get("requests")?,
            bytes: row.get("bytes")?,
            response: full_hist("response", response, &mut budget)?,
        })
    })
}
