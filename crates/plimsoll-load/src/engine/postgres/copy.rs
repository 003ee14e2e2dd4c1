//! Rows straight into PostgreSQL's binary COPY format (its manual, COPY, "Binary Format").

use std::io::{self, Write};

use bytes::BufMut;

use super::codec::{CENTS, RATE, copy_numeric, server_micros};
use crate::engine::LoadControl;
use crate::engine::sql::part::{PartSink, Pieces};
use crate::workload::tpcc::rows::RowSink;

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";

/// Encodes one COPY.
pub struct CopySink<'a, W: Write> {
    pieces: Pieces<'a, W>,
    columns: i16,
}

impl<'a, W: Write> CopySink<'a, W> {
    pub fn new(columns: usize, to: W, control: &'a LoadControl) -> Self {
        let mut pieces = Pieces::new(to, control);
        let columns = columns as i16;
        pieces.out.put_slice(SIGNATURE);
        pieces.out.put_i32(0); // flags
        pieces.out.put_i32(0); // length of the header's extension
        pieces.out.put_i16(columns);
        Self { pieces, columns }
    }

    pub fn end(mut self) -> io::Result<()> {
        // In the place of the next row's number of columns: the end.
        let start = self.pieces.out.len() - 2;
        self.pieces.out.truncate(start);
        self.pieces.out.put_i16(-1);
        self.pieces.end()
    }
}

impl<W: Write> PartSink for CopySink<'_, W> {
    fn is_closed(&self) -> bool {
        self.pieces.is_closed()
    }
}

impl<W: Write> RowSink for CopySink<'_, W> {
    #[inline]
    fn int(&mut self, value: i32) {
        let column = 4 << 32 | u64::from(value.cast_unsigned());
        self.pieces.out.put_u64(column);
    }

    #[inline]
    fn cents(&mut self, value: i64) {
        copy_numeric(value, CENTS, &mut self.pieces.out);
    }

    #[inline]
    fn rate(&mut self, ten_thousandths: i32) {
        copy_numeric(ten_thousandths.into(), RATE, &mut self.pieces.out);
    }

    #[inline]
    fn text(&mut self, value: &str) {
        self.pieces.out.put_i32(value.len() as i32);
        self.pieces.out.put_slice(value.as_bytes());
    }

    #[inline]
    fn timestamp(&mut self, micros: i64) {
        self.pieces.out.put_i32(8);
        self.pieces.out.put_i64(server_micros(micros));
    }

    #[inline]
    fn null(&mut self) {
        self.pieces.out.put_i32(-1);
    }

    #[inline]
    fn end_row(&mut self) {
        self.pieces.end_row();
        self.pieces.out.put_i16(self.columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was written, and how often.
    #[derive(Default)]
    struct Written {
        bytes: Vec<u8>,
        writes: u32,
    }

    impl Write for &mut Written {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            self.writes += 1;
            self.bytes.write(data)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn pieces_put_together_are_one_copy() {
        let control = LoadControl::default();
        let mut written = Written::default();
        let mut sink = CopySink::new(3, &mut written, &control);
        for order in 0..20_000 {
            for value in [order, 1, 2] {
                sink.int(value);
            }
            sink.end_row();
        }
        sink.end().unwrap();
        let all = written.bytes;
        assert_eq!(all.len(), 19 + 20_000 * 26 + 2);
        assert!(control.done() == 20_000 && written.writes > 1);
        assert_eq!(&all[19..32], [0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(&all[19 + 26..19 + 34], [0, 3, 0, 0, 0, 4, 0, 0]);
        assert_eq!(&all[all.len() - 2..], [0xff, 0xff]);
    }
}
