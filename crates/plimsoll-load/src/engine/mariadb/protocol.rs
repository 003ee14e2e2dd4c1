//! The client/server protocol (the manual's "Client/Server Protocol"): prepared statements, and text. Each request is one
//! write, and its answer is decoded where it was received.

use std::io;

use bytes::{BufMut, BytesMut};
use rustls::ClientConfig;

use super::codec::{ColumnKind, lenenc, text_row, write_params};
use super::failure::MariadbFailure;
use crate::engine::sql::TextRow;
use crate::engine::wire::{ByteStream, Wire};
use crate::workload::statement::Param;

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
/// Of a packet: three bytes of length and its number.
const HEAD: usize = 4;
/// A packet of this size goes on in the next one. None of a load's answers is that long.
const LONGEST: usize = 0xff_ffff;

pub(super) const OK: u8 = 0x00;
pub(super) const ERR: u8 = 0xff;
const EOF: u8 = 0xfe;
const SEND_FILE: u8 = 0xfb;
/// An EOF packet is shorter; a longer one that begins so is a row.
const EOF_BELOW: usize = 9;
const MORE_RESULTS: u16 = 0x0008;
/// For which room is made before their descriptions are there.
const MOST_COLUMNS: usize = 64;

/// A statement that the server has prepared.
#[derive(Debug)]
pub(super) struct MariadbStatement {
    pub id: u32,
    pub columns: Vec<ColumnKind>,
    /// Of the parameters when it was executed last: the server keeps them.
    pub types: Vec<u8>,
}

/// A connection. It says goodbye when it is dropped.
pub(super) struct MariadbWire {
    wire: Wire,
    /// Of the next packet, from whichever side: both count on from a request's.
    number: u8,
    /// An answer has not been received to its end. Nobody asks anything before that, unless a request was given up.
    is_owed: bool,
}

/// What one packet says about the rest of an answer.
enum AnswerStep {
    /// So many rows changed.
    Done { changed: u64, has_more: bool },
    /// Rows of so many columns, whose descriptions may have been left out.
    Rows { columns: usize, are_described: bool },
}

impl MariadbWire {
    /// A connection of which the server has the first word: its greeting.
    pub fn new(stream: Box<dyn ByteStream>) -> Self {
        Self {
            wire: Wire::new(stream),
            number: 0,
            is_owed: true,
        }
    }

    /// Requests can follow.
    pub const fn logged_in(mut self) -> Self {
        self.is_owed = false;
        self
    }

    /// See [`Wire::encrypt`].
    pub async fn encrypt(&mut self, config: ClientConfig, host: &str) -> io::Result<()> {
        self.wire.encrypt(config, host).await
    }

    /// One packet, of a login or of a file, with the next number.
    pub async fn send_packet(&mut self, body: &[u8]) -> Result<(), MariadbFailure> {
        self.write_packet(body);
        let sent = self.wire.send().await;
        sent.map_err(|error| MariadbFailure::lost(&error))
    }

    fn write_packet(&mut self, body: &[u8]) {
        let out = &mut self.wire.out;
        out.clear();
        out.put_u32_le(body.len() as u32 | u32::from(self.number) << 24);
        out.put_slice(body);
        self.number = self.number.wrapping_add(1);
    }

    /// One packet of a login.
    pub async fn receive_packet(&mut self) -> Result<Vec<u8>, MariadbFailure> {
        let length = self.packet().await?;
        let body = self.body(length).to_vec();
        self.consume(length);
        Ok(body)
    }

    pub async fn prepare(&mut self, sql: &str) -> Result<MariadbStatement, MariadbFailure> {
        self.request(|out| {
            out.put_u8(COM_STMT_PREPARE);
            out.put_slice(sql.as_bytes());
        })?;
        self.is_owed = true;
        let statement = self.prepared().await;
        self.is_owed = statement.as_ref().is_err_and(|failure| failure.is_lost);
        statement
    }

    async fn prepared(&mut self) -> Result<MariadbStatement, MariadbFailure> {
        let sent = self.wire.send().await;
        sent.map_err(|error| MariadbFailure::lost(&error))?;
        let length = self.packet().await?;
        let prepared = PreparedAnswer::of(self.body(length));
        self.consume(length);
        let PreparedAnswer {
            id,
            columns,
            params,
        } = prepared?;
        if params > 0 {
            self.columns(params, true, &mut Vec::new()).await?;
        }
        let mut kinds = Vec::new();
        if columns > 0 {
            self.columns(columns, true, &mut kinds).await?;
        }
        Ok(MariadbStatement {
            id,
            columns: kinds,
            types: Vec::new(),
        })
    }

    /// Executes a statement, hands the bytes of its rows to `each`, and gives how many rows it changed.
    pub async fn execute<'p>(
        &mut self,
        statement: &mut MariadbStatement,
        params: impl ExactSizeIterator<Item = Param<'p>> + Clone,
        mut each: impl FnMut(&[u8], &[ColumnKind]) -> Result<(), String>,
    ) -> Result<u64, MariadbFailure> {
        self.request(|out| {
            out.put_u8(COM_STMT_EXECUTE);
            out.put_u32_le(statement.id);
            // No cursor, one iteration.
            out.put_u8(0);
            out.put_u32_le(1);
            write_params(out, params, &mut statement.types);
        })?;
        let each = |_, row: &[u8], columns: &[ColumnKind]| each(row, columns);
        self.answer(&mut statement.columns, each).await
    }

    /// A statement as text. Its rows are received and left unread.
    pub async fn query(&mut self, sql: &str) -> Result<(), MariadbFailure> {
        self.request_text(sql)?;
        self.answer(&mut Vec::new(), unread).await.map(drop)
    }

    /// The rows of each result of statements as text. Trailing results without rows may be left out.
    pub async fn text(&mut self, sql: &str) -> Result<Vec<Vec<TextRow>>, MariadbFailure> {
        self.request_text(sql)?;
        let mut results: Vec<Vec<TextRow>> = Vec::new();
        let read = |result, row: &[u8], _: &[ColumnKind]| {
            if results.len() <= result {
                results.resize_with(result + 1, Vec::new);
            }
            results[result].push(text_row(row)?);
            Ok(())
        };
        self.answer(&mut Vec::new(), read).await?;
        Ok(results)
    }

    /// A LOAD DATA, up to the server's request for the file of that name. [`Self::send_packet`] sends its parts then.
    pub async fn begin_load(&mut self, sql: &str, file: &str) -> Result<(), MariadbFailure> {
        self.request_text(sql)?;
        self.is_owed = true;
        let sent = self.wire.send().await;
        sent.map_err(|error| MariadbFailure::lost(&error))?;
        let packet = self.receive_packet().await?;
        match packet.split_first() {
            Some((&SEND_FILE, name)) if name == file.as_bytes() => Ok(()),
            Some((&ERR, rest)) => {
                self.is_owed = false;
                Err(MariadbFailure::of_packet(rest))
            }
            _ => Err(MariadbFailure::out_of_step("no request for the rows")),
        }
    }

    /// The file ends: how many rows were loaded.
    pub async fn end_load(&mut self) -> Result<u64, MariadbFailure> {
        self.write_packet(&[]);
        self.answer(&mut Vec::new(), unread).await
    }

    fn request_text(&mut self, sql: &str) -> Result<(), MariadbFailure> {
        self.request(|out| {
            out.put_u8(COM_QUERY);
            out.put_slice(sql.as_bytes());
        })
    }

    fn request(&mut self, write: impl FnOnce(&mut BytesMut)) -> Result<(), MariadbFailure> {
        if self.is_owed {
            return Err(MariadbFailure::out_of_step("no whole answer before"));
        }
        let out = &mut self.wire.out;
        out.clear();
        out.put_u32_le(0);
        write(out);
        let length = out.len() - HEAD;
        if length >= LONGEST {
            out.clear();
            return Err(MariadbFailure::unreadable("a request of 16 MiB".into()));
        }
        // The number of a request's packet is 0.
        out[..HEAD].copy_from_slice(&(length as u32).to_le_bytes());
        self.number = 1;
        Ok(())
    }

    /// Sends what is written and receives all result sets: an error may come after the first. `each` gets the number of the
    /// set, a row and its columns; what it cannot read is an error of the request and not of the connection.
    async fn answer(
        &mut self,
        columns: &mut Vec<ColumnKind>,
        each: impl FnMut(usize, &[u8], &[ColumnKind]) -> Result<(), String>,
    ) -> Result<u64, MariadbFailure> {
        self.is_owed = true;
        let answer = self.results(columns, each).await;
        self.is_owed = answer.as_ref().is_err_and(|failure| failure.is_lost);
        answer
    }

    async fn results(
        &mut self,
        columns: &mut Vec<ColumnKind>,
        mut each: impl FnMut(usize, &[u8], &[ColumnKind]) -> Result<(), String>,
    ) -> Result<u64, MariadbFailure> {
        let sent = self.wire.send().await;
        let mut unreadable = None;
        let mut set = 0;
        let mut total = 0;
        loop {
            let received = self.step().await;
            // What the server wrote before it closed the connection says more than that it did.
            let step = match (received, &sent) {
                (Err(failure), Err(unsent)) if failure.code.is_none() => {
                    return Err(MariadbFailure::lost(unsent));
                }
                (received, _) => received?,
            };
            let has_more = match step {
                AnswerStep::Done { changed, has_more } => {
                    total += changed;
                    has_more
                }
                AnswerStep::Rows {
                    columns: count,
                    are_described,
                } => {
                    self.columns(count, are_described, columns).await?;
                    let read = |row: &[u8]| {
                        if unreadable.is_none() {
                            unreadable = each(set, row, columns).err();
                        }
                    };
                    let has_more = self.rows(read).await?;
                    set += 1;
                    has_more
                }
            };
            if !has_more {
                break;
            }
        }
        match unreadable {
            Some(why) => Err(MariadbFailure::unreadable(why)),
            None => Ok(total),
        }
    }

    /// The first packet of an answer, or of its next result.
    async fn step(&mut self) -> Result<AnswerStep, MariadbFailure> {
        let length = self.packet().await?;
        let body = self.body(length);
        let step = match body.split_first() {
            Some((&OK, rest)) => Ok(done(rest)),
            Some((&ERR, rest)) => Err(MariadbFailure::of_packet(rest)),
            None | Some((&SEND_FILE, _)) => Ok(None),
            Some(_) => Ok(described(body)),
        };
        self.consume(length);
        step?.ok_or_else(|| MariadbFailure::out_of_step("an answer that cannot be read"))
    }

    /// Descriptions of columns, and the packet that ends them.
    async fn columns(
        &mut self,
        count: usize,
        are_described: bool,
        kinds: &mut Vec<ColumnKind>,
    ) -> Result<(), MariadbFailure> {
        if are_described {
            let mut described = Vec::with_capacity(count.min(MOST_COLUMNS));
            for _ in 0..count {
                let length = self.packet().await?;
                let body = self.body(length);
                // The first field of a description is the catalog, which is "def".
                let failure = match body.split_first() {
                    Some((&ERR, rest)) => Some(MariadbFailure::of_packet(rest)),
                    _ => None,
                };
                described.push(ColumnKind::of_description(body));
                self.consume(length);
                failure.map_or(Ok(()), Err)?;
            }
            *kinds = described;
        }
        let length = self.packet().await?;
        self.consume(length);
        Ok(())
    }

    /// All rows of a result set. Returns whether another result follows.
    async fn rows(&mut self, mut each: impl FnMut(&[u8])) -> Result<bool, MariadbFailure> {
        loop {
            let length = self.packet().await?;
            let body = self.body(length);
            let end = match body.split_first() {
                Some((&ERR, rest)) => Some(Err(MariadbFailure::of_packet(rest))),
                Some((&EOF, rest)) if length < EOF_BELOW => Some(Ok(status_of_end(rest))),
                _ => {
                    each(body);
                    None
                }
            };
            self.consume(length);
            if let Some(end) = end {
                return end.map(|status| status & MORE_RESULTS != 0);
            }
        }
    }

    /// Waits until the next packet is there as a whole; its length.
    async fn packet(&mut self) -> Result<usize, MariadbFailure> {
        loop {
            if let Some(&[a, b, c, number]) = self.wire.unread().first_chunk::<HEAD>() {
                let length = u32::from_le_bytes([a, b, c, 0]) as usize;
                if length == LONGEST {
                    return Err(MariadbFailure::out_of_step("an answer of 16 MiB"));
                }
                if self.wire.unread().len() >= HEAD + length {
                    // A server that ends a connection writes its last words whenever that is.
                    if number != self.number && self.body(length).first() != Some(&ERR) {
                        return Err(MariadbFailure::out_of_step("a packet out of turn"));
                    }
                    self.number = number.wrapping_add(1);
                    return Ok(length);
                }
            }
            let received = self.wire.receive().await;
            received.map_err(|error| MariadbFailure::lost(&error))?;
        }
    }

    fn body(&self, length: usize) -> &[u8] {
        &self.wire.unread()[HEAD..HEAD + length]
    }

    fn consume(&mut self, length: usize) {
        self.wire.consume(HEAD + length);
    }
}

impl Drop for MariadbWire {
    fn drop(&mut self) {
        if !self.is_owed && self.request(|out| out.put_u8(COM_QUIT)).is_ok() {
            self.wire.send_if_there_is_room();
        }
    }
}

fn unread(_: usize, _: &[u8], _: &[ColumnKind]) -> Result<(), String> {
    Ok(())
}

/// What the server answers a statement that it has prepared.
struct PreparedAnswer {
    id: u32,
    columns: usize,
    params: usize,
}

impl PreparedAnswer {
    fn of(body: &[u8]) -> Result<Self, MariadbFailure> {
        match body {
            [OK, i, d, e, f, c, g, p, h, ..] => Ok(Self {
                id: u32::from_le_bytes([*i, *d, *e, *f]),
                columns: u16::from_le_bytes([*c, *g]).into(),
                params: u16::from_le_bytes([*p, *h]).into(),
            }),
            [ERR, rest @ ..] => Err(MariadbFailure::of_packet(rest)),
            _ => Err(MariadbFailure::out_of_step(
                "a statement that cannot be read",
            )),
        }
    }
}

/// An OK packet behind its first byte: rows changed, last id, status.
fn done(mut rest: &[u8]) -> Option<AnswerStep> {
    let changed = lenenc(&mut rest)?;
    lenenc(&mut rest)?;
    let status = u16::from_le_bytes(*rest.first_chunk()?);
    Some(AnswerStep::Done {
        changed,
        has_more: status & MORE_RESULTS != 0,
    })
}

/// A number of columns, and, where descriptions may be left out, whether they follow (MARIADB_CLIENT_CACHE_METADATA).
fn described(mut body: &[u8]) -> Option<AnswerStep> {
    let columns = usize::try_from(lenenc(&mut body)?).ok()?;
    Some(AnswerStep::Rows {
        columns,
        are_described: body.first() != Some(&0),
    })
}

/// An EOF packet behind its first byte: warnings, status.
fn status_of_end(rest: &[u8]) -> u16 {
    let status = rest.get(2..).and_then(<[u8]>::first_chunk);
    status.map_or(0, |status| u16::from_le_bytes(*status))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::super::codec::values;
    use super::*;
    use crate::workload::statement::Value;

    const LONG: u8 = 3;

    fn packets(bodies: &[&[u8]]) -> Vec<u8> {
        let packet = |(number, body): (usize, &&[u8])| {
            let length = (body.len() as u32).to_le_bytes();
            [&length[..3], &[number as u8 + 1], body].concat()
        };
        bodies.iter().enumerate().flat_map(packet).collect()
    }

    fn pair() -> (MariadbWire, DuplexStream) {
        let (client, server) = duplex(1 << 16);
        (MariadbWire::new(Box::new(client)).logged_in(), server)
    }

    fn statement() -> MariadbStatement {
        MariadbStatement {
            id: 7,
            columns: vec![ColumnKind::new(LONG, false)],
            types: Vec::new(),
        }
    }

    async fn rows_of(
        wire: &mut MariadbWire,
        statement: &mut MariadbStatement,
    ) -> Result<Vec<Vec<Value>>, MariadbFailure> {
        let mut rows = Vec::new();
        let params = [Param::Int(3)].into_iter();
        wire.execute(statement, params, |row, columns| {
            rows.push(values(row, columns)?);
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    async fn rows_after(answer: &[u8]) -> Result<Vec<Vec<Value>>, MariadbFailure> {
        let (mut wire, mut server) = pair();
        server.write_all(answer).await.unwrap();
        server.shutdown().await.unwrap();
        rows_of(&mut wire, &mut statement()).await
    }

    const NO_DESCRIPTION: &[u8] = &[1, 0];
    const END: &[u8] = &[EOF, 0, 0, 2, 0];
    const MORE: &[u8] = &[EOF, 0, 0, 8, 0];
    const ROW: &[u8] = &[0, 0, 7, 0, 0, 0];
    const DONE: &[u8] = &[OK, 3, 0, 2, 0, 0, 0];
    const DEADLOCK: &[u8] = b"\xff\xbd\x04#40001Deadlock found";

    #[tokio::test]
    async fn rows_come_with_and_without_their_columns() {
        let known = packets(&[NO_DESCRIPTION, END, ROW, ROW, END]);
        let rows = rows_after(&known).await.unwrap();
        assert_eq!(rows, [[Value::Int(7)], [Value::Int(7)]]);
        let description = [&[0; 7][..], &[12, 63, 0, 11, 0, 0, 0, 8, 0, 0, 0, 0, 0]].concat();
        let long = [0, 0, 9, 0, 0, 0, 0, 0, 0, 0];
        for head in [&[1][..], &[1, 1]] {
            let described = packets(&[head, &description, END, &long, END]);
            assert_eq!(rows_after(&described).await.unwrap(), [[Value::Int(9)]]);
        }
    }

    #[tokio::test]
    async fn an_error_may_come_after_the_first_result() {
        let (mut wire, mut server) = pair();
        let answer = packets(&[NO_DESCRIPTION, END, ROW, MORE, DEADLOCK]);
        server.write_all(&answer).await.unwrap();
        let failed = wire.query("CALL p()").await.unwrap_err();
        assert_eq!(
            (failed.code, failed.state.as_str(), failed.is_lost),
            (Some(1213), "40001", false)
        );
        server.write_all(&packets(&[DONE])).await.unwrap();
        let mut statement = statement();
        let none = std::iter::empty();
        let changed = wire.execute(&mut statement, none, |_, _| Ok(()));
        assert_eq!(changed.await, Ok(3), "the session goes on");
    }

    #[tokio::test]
    async fn an_answer_that_ends_in_a_packet_is_a_lost_connection() {
        let whole = packets(&[NO_DESCRIPTION, END, ROW, END]);
        for length in 0..whole.len() {
            let lost = rows_after(&whole[..length]).await.unwrap_err();
            assert!(lost.is_lost, "{length}: {lost:?}");
        }
    }

    #[tokio::test]
    async fn last_words_are_reported_and_not_the_end_of_the_connection() {
        let shutdown = packets(&[b"\xff\x1d\x04#08S01Server shutdown in progress"]);
        let lost = rows_after(&shutdown).await.unwrap_err();
        assert!(lost.is_lost && lost.text().contains("1053"), "{lost:?}");
    }

    #[tokio::test]
    async fn types_are_sent_once() {
        let (mut wire, mut server) = pair();
        let mut statement = statement();
        for has_types in [true, false] {
            server.write_all(&packets(&[DONE])).await.unwrap();
            rows_of(&mut wire, &mut statement).await.unwrap();
            let mut sent = vec![0; HEAD + 10 + 2 + if has_types { 2 } else { 0 } + 8];
            server.read_exact(&mut sent).await.unwrap();
            assert_eq!(sent[HEAD + 11], u8::from(has_types));
            assert_eq!(sent[sent.len() - 8..], 3_i64.to_le_bytes());
        }
    }

    #[tokio::test]
    async fn a_slow_server_may_send_byte_by_byte() {
        let (mut wire, mut server) = pair();
        let answer = packets(&[NO_DESCRIPTION, END, ROW, END]);
        let send = async {
            for byte in answer {
                server.write_all(&[byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let mut statement = statement();
        let (rows, ()) = tokio::join!(rows_of(&mut wire, &mut statement), send);
        assert_eq!(rows.unwrap(), [[Value::Int(7)]]);
    }

    /// The rest of an answer that nobody waits for any more is not taken for the next one.
    #[tokio::test]
    async fn after_a_request_that_was_given_up_the_session_is_lost() {
        let (mut wire, mut server) = pair();
        let whole = packets(&[NO_DESCRIPTION, END, ROW, END]);
        server.write_all(&whole[..9]).await.unwrap();
        let given_up = std::time::Duration::from_millis(1);
        let mut statement = statement();
        let asked = rows_of(&mut wire, &mut statement);
        assert!(tokio::time::timeout(given_up, asked).await.is_err());
        server.write_all(&whole[9..]).await.unwrap();
        assert!(
            rows_of(&mut wire, &mut statement)
                .await
                .unwrap_err()
                .is_lost
        );
    }

    fn runtime() -> tokio::runtime::Runtime {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.build().unwrap()
    }

    proptest! {
        #[test]
        fn rubbish_is_an_error_or_an_answer(bytes: Vec<u8>, bodies: Vec<Vec<u8>>) {
            let bodies: Vec<&[u8]> = bodies.iter().map(Vec::as_slice).collect();
            let described = [&[NO_DESCRIPTION, END][..], &bodies].concat();
            runtime().block_on(async {
                let _ = rows_after(&bytes).await;
                let _ = rows_after(&packets(&bodies)).await;
                let _ = rows_after(&packets(&described)).await;
            });
        }
    }
}
