//! Rows straight into PostgreSQL's binary COPY format (its manual, COPY, "Binary Format").

use bytes::{BufMut, Bytes, BytesMut};
use tokio::sync::mpsc::Sender;

use super::codec::{CENTS, RATE, copy_numeric, server_micros};
use crate::workload::tpcc::rows::RowSink;

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
/// Rows are handed on in pieces of about this size.
const BATCH: usize = 256 << 10;
/// Room for the longest row (stock, customer) beyond a full batch.
const SPARE: usize = 4 << 10;

/// What a generator hands to its connection.
#[derive(Debug)]
pub enum Piece {
    Begin {
        table: String,
        /// The COPY statement.
        sql: String,
    },
    Rows {
        data: Bytes,
        rows: u64,
    },
    /// The table's chunk is complete.
    End,
}

/// Encodes one chunk and hands it on piece by piece. Blocks while the connection is busy.
pub struct CopySink<'a> {
    out: BytesMut,
    rows: u64,
    columns: i16,
    to: &'a Sender<Piece>,
}

impl<'a> CopySink<'a> {
    pub fn begin(table: &str, columns: &[&str], to: &'a Sender<Piece>) -> Self {
        let mut out = BytesMut::with_capacity(BATCH + SPARE);
        out.put_slice(SIGNATURE);
        out.put_i32(0); // flags
        out.put_i32(0); // length of the header's extension
        let count = columns.len() as i16;
        out.put_i16(count);
        let sink = Self {
            out,
            rows: 0,
            columns: count,
            to,
        };
        let sql = format!(
            "COPY {table} ({}) FROM STDIN (FORMAT binary)",
            columns.join(", ")
        );
        sink.send(Piece::Begin {
            table: table.into(),
            sql,
        });
        sink
    }

    /// Whether the connection has gone, and all further rows go nowhere.
    pub fn is_closed(&self) -> bool {
        self.to.is_closed()
    }

    /// A connection that has failed reports it itself; the rest of its rows then goes nowhere.
    fn send(&self, piece: Piece) {
        let _ = self.to.blocking_send(piece);
    }

    fn flush(&mut self) {
        let data =
            std::mem::replace(&mut self.out, BytesMut::with_capacity(BATCH + SPARE)).freeze();
        let rows = std::mem::take(&mut self.rows);
        self.send(Piece::Rows { data, rows });
    }

    pub fn end(mut self) {
        // In the place of the next row's number of columns: the end.
        let start = self.out.len() - 2;
        self.out.truncate(start);
        self.out.put_i16(-1);
        self.flush();
        self.send(Piece::End);
    }
}

impl RowSink for CopySink<'_> {
    #[inline]
    fn int(&mut self, value: i32) {
        self.out.put_u64(4 << 32 | u64::from(value.cast_unsigned()));
    }

    #[inline]
    fn cents(&mut self, value: i64) {
        copy_numeric(value, CENTS, &mut self.out);
    }

    #[inline]
    fn rate(&mut self, ten_thousandths: i32) {
        copy_numeric(ten_thousandths.into(), RATE, &mut self.out);
    }

    #[inline]
    fn text(&mut self, value: &str) {
        self.out.put_i32(value.len() as i32);
        self.out.put_slice(value.as_bytes());
    }

    #[inline]
    fn timestamp(&mut self, micros: i64) {
        self.out.put_i32(8);
        self.out.put_i64(server_micros(micros));
    }

    #[inline]
    fn null(&mut self) {
        self.out.put_i32(-1);
    }

    #[inline]
    fn end_row(&mut self) {
        self.rows += 1;
        if self.out.len() >= BATCH {
            self.flush();
        }
        self.out.put_i16(self.columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_put_together_are_one_copy() {
        let (to, mut from) = tokio::sync::mpsc::channel(1000);
        let mut sink = CopySink::begin("new_order", &["no_o_id", "no_d_id", "no_w_id"], &to);
        for order in 0..20_000 {
            for value in [order, 1, 2] {
                sink.int(value);
            }
            sink.end_row();
        }
        sink.end();
        let Ok(Piece::Begin { table, sql }) = from.try_recv() else {
            panic!()
        };
        let expected = "COPY new_order (no_o_id, no_d_id, no_w_id) FROM STDIN (FORMAT binary)";
        assert_eq!((table.as_str(), sql.as_str()), ("new_order", expected));
        let (mut all, mut total, mut pieces) = (Vec::new(), 0, 0);
        while let Ok(Piece::Rows { data, rows }) = from.try_recv() {
            all.extend_from_slice(&data);
            (total, pieces) = (total + rows, pieces + 1);
        }
        assert_eq!((all.len(), total), (19 + 20_000 * 26 + 2, 20_000));
        assert!(pieces > 1);
        assert_eq!(&all[19..32], [0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&all[19 + 26..19 + 34], [0, 3, 0, 0, 0, 4, 0, 0]);
        assert_eq!(&all[all.len() - 2..], [0xff, 0xff]);
    }
}
