//! The extended query protocol of a measured session (the manual's "Frontend/Backend Protocol", version 3): statements
//! are parsed once, and each execution is one write and, where the answer comes at once, one read.

use std::error::Error;

use postgres_protocol::IsNull;
use postgres_protocol::message::frontend::{self, BindError};
use tokio_postgres::types::{self, BorrowToSql, FromSql, Type};

use super::codec::SqlValue;
use super::failure::PostgresFailure;
use crate::engine::wire::{ByteStream, Wire};
use crate::workload::statement::Value;

const BINARY: i16 = 1;
const CUT_SHORT: &str = "a message that is shorter than it says";
/// Of a message: a letter and four bytes of length, which counts itself.
const HEAD: usize = 5;

type UnreadableValue = Box<dyn Error + Sync + Send>;

/// A statement that the server has parsed.
pub(super) struct PostgresStatement {
    name: String,
    params: Vec<Type>,
    columns: Vec<Type>,
}

/// A connection after its login.
pub(super) struct PostgresWire {
    wire: Wire,
    /// Statements, which are named by number.
    parsed: usize,
    /// How often the server will be ready once it has answered all that was written.
    awaited: u32,
}

struct ServerMessage<'a> {
    tag: u8,
    body: &'a [u8],
}

impl ServerMessage<'_> {
    fn len(&self) -> usize {
        HEAD + self.body.len()
    }
}

/// The first message in what was received, if it is there as a whole.
fn first_message(received: &[u8]) -> Result<Option<ServerMessage<'_>>, PostgresFailure> {
    let Some((head, rest)) = received.split_first_chunk::<HEAD>() else {
        return Ok(None);
    };
    let [tag, length @ ..] = *head;
    let body = usize::try_from(i32::from_be_bytes(length))
        .ok()
        .and_then(|length| length.checked_sub(4))
        .ok_or_else(|| PostgresFailure::out_of_step("a message without a length"))?;
    Ok(rest.get(..body).map(|body| ServerMessage { tag, body }))
}

impl PostgresWire {
    pub fn new(stream: Box<dyn ByteStream>) -> Self {
        Self {
            wire: Wire::new(stream),
            parsed: 0,
            awaited: 0,
        }
    }

    /// Parses all statements in one round trip.
    pub async fn prepare(
        &mut self,
        texts: impl IntoIterator<Item = &str>,
    ) -> Result<Vec<PostgresStatement>, PostgresFailure> {
        let mut names = Vec::new();
        for text in texts {
            let name = format!("plimsoll_{}", self.parsed);
            self.parsed += 1;
            let out = &mut self.wire.out;
            frontend::parse(&name, text, [], out)
                .and_then(|()| frontend::describe(b'S', &name, out))
                .map_err(|error| PostgresFailure::of_request(&error.to_string()))?;
            names.push(name);
        }
        let mut described = Vec::with_capacity(names.len());
        self.sync();
        self.answers(|message| {
            match message.tag {
                b't' => {
                    let params = params_described(message.body).ok_or(CUT_SHORT)?;
                    described.push((types_of(params), Vec::new()));
                }
                b'T' => {
                    let columns = columns_described(message.body).ok_or(CUT_SHORT)?;
                    let (_, last) = described.last_mut().ok_or("columns without parameters")?;
                    *last = types_of(columns);
                }
                _ => {}
            }
            Ok(())
        })
        .await?;
        if described.len() != names.len() {
            return Err(PostgresFailure::out_of_step(
                "statements without parameters",
            ));
        }
        let statements = names.into_iter().zip(described);
        Ok(statements
            .map(|(name, (params, columns))| PostgresStatement {
                name,
                params,
                columns,
            })
            .collect())
    }

    /// Writes one execution; [`Self::changed`] or [`Self::rows`] sends it and all that was written before it.
    pub fn execute<P: BorrowToSql>(
        &mut self,
        statement: &PostgresStatement,
        params: impl IntoIterator<Item = P, IntoIter: ExactSizeIterator>,
    ) -> Result<(), PostgresFailure> {
        let params = params.into_iter();
        if params.len() != statement.params.len() {
            self.forget();
            return Err(PostgresFailure::of_request(
                "parameters that the statement does not have",
            ));
        }
        let out = &mut self.wire.out;
        let bound = frontend::bind(
            "",
            &statement.name,
            [BINARY],
            params.zip(&statement.params),
            |(param, kind), out| {
                let null = param.borrow_to_sql().to_sql_checked(kind, out)?;
                Ok(match null {
                    types::IsNull::Yes => IsNull::Yes,
                    types::IsNull::No => IsNull::No,
                })
            },
            [BINARY],
            out,
        );
        let written = bound.map_err(|error| match error {
            BindError::Conversion(error) => error.to_string(),
            BindError::Serialization(error) => error.to_string(),
        });
        let written =
            written.and_then(|()| frontend::execute("", 0, out).map_err(|e| e.to_string()));
        written.map_err(|why| {
            self.forget();
            PostgresFailure::of_request(&why)
        })
    }

    /// Writes a statement as text. What was written before it is answered by itself.
    pub fn query(&mut self, sql: &str) -> Result<(), PostgresFailure> {
        if !self.wire.out.is_empty() {
            self.sync();
        }
        frontend::query(sql, &mut self.wire.out).map_err(|error| {
            self.forget();
            PostgresFailure::of_request(&error.to_string())
        })?;
        self.awaited += 1;
        Ok(())
    }

    fn sync(&mut self) {
        frontend::sync(&mut self.wire.out);
        self.awaited += 1;
    }

    fn forget(&mut self) {
        self.wire.out.clear();
        self.awaited = 0;
    }

    /// Sends what is written and gives how many rows its last statement changed. Rows are received and left unread.
    pub async fn changed(&mut self) -> Result<u64, PostgresFailure> {
        if self.awaited == 0 {
            self.sync();
        }
        let mut changed = 0;
        self.answers(|message| {
            if message.tag == b'C' {
                changed = rows_changed(message.body);
            }
            Ok(())
        })
        .await?;
        Ok(changed)
    }

    /// Sends what is written and gives its rows, which are those of `statement`.
    pub async fn rows(
        &mut self,
        statement: &PostgresStatement,
    ) -> Result<Vec<Vec<Value>>, PostgresFailure> {
        let mut rows = Vec::new();
        self.sync();
        self.answers(|message| {
            if message.tag == b'D' {
                rows.push(values(message.body, &statement.columns)?);
            }
            Ok(())
        })
        .await?;
        Ok(rows)
    }

    /// Sends what is written and hands every message to `each`, until the server is ready. What `each` cannot read is an
    /// error of the request and not of the connection.
    async fn answers(
        &mut self,
        mut each: impl FnMut(&ServerMessage<'_>) -> Result<(), UnreadableValue>,
    ) -> Result<(), PostgresFailure> {
        let sent = self.wire.send().await;
        let mut failure = None;
        while self.awaited > 0 {
            let Some(message) = first_message(self.wire.unread())? else {
                // What the server wrote before it closed the connection says more than that it did.
                if let Err(ended) = self.wire.receive().await {
                    return Err(PostgresFailure::lost(&sent.err().unwrap_or(ended)));
                }
                continue;
            };
            match message.tag {
                b'E' => {
                    let reported = PostgresFailure::of_response(message.body);
                    if reported.ends_session {
                        return Err(reported);
                    }
                    failure.get_or_insert(reported);
                }
                b'Z' => self.awaited -= 1,
                _ if failure.is_none() => {
                    let read = each(&message);
                    failure = read.err().map(|why| PostgresFailure::unreadable(&*why));
                }
                _ => {}
            }
            let length = message.len();
            self.wire.consume(length);
        }
        failure.map_or(Ok(()), Err)
    }
}

impl Drop for PostgresWire {
    fn drop(&mut self) {
        self.wire.out.clear();
        frontend::terminate(&mut self.wire.out);
        self.wire.send_if_there_is_room();
    }
}

/// Of a CommandComplete, whose last word is the number: `UPDATE 3`, `INSERT 0 1`, `COMMIT`.
fn rows_changed(body: &[u8]) -> u64 {
    let digits = body.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let digits = digits.strip_suffix(b"\0").unwrap_or(digits);
    std::str::from_utf8(digits)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0)
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

/// The columns of a DataRow: a count, and for each its length (−1 is NULL) and its bytes.
fn values(mut body: &[u8], columns: &[Type]) -> Result<Vec<Value>, UnreadableValue> {
    let count = take(&mut body).map(u16::from_be_bytes).ok_or(CUT_SHORT)?;
    if usize::from(count) != columns.len() {
        return Err("a row with other columns than the statement's".into());
    }
    columns
        .iter()
        .map(|kind| {
            let raw = column(&mut body).ok_or(CUT_SHORT)?;
            SqlValue::from_sql_nullable(kind, raw).map(|value| value.0)
        })
        .collect()
}

/// `Some(None)` is NULL.
fn column<'a>(body: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let Ok(length) = usize::try_from(i32::from_be_bytes(take(body)?)) else {
        return Some(None);
    };
    let (raw, rest) = body.split_at_checked(length)?;
    *body = rest;
    Some(Some(raw))
}

/// Of a ParameterDescription: a count and the types' numbers.
fn params_described(mut body: &[u8]) -> Option<Vec<u32>> {
    let count = u16::from_be_bytes(take(&mut body)?);
    (0..count)
        .map(|_| take(&mut body).map(u32::from_be_bytes))
        .collect()
}

/// Of a RowDescription: a count, and for each column its name, table (4 bytes), place in it (2), type (4), size (2),
/// modifier (4) and format (2).
fn columns_described(mut body: &[u8]) -> Option<Vec<u32>> {
    let count = u16::from_be_bytes(take(&mut body)?);
    (0..count)
        .map(|_| {
            let end = body.iter().position(|byte| *byte == 0)?;
            body = &body[end + 1..];
            take::<6>(&mut body)?;
            let kind = u32::from_be_bytes(take(&mut body)?);
            take::<8>(&mut body)?;
            Some(kind)
        })
        .collect()
}

/// Types that the driver does not know by number are none of the workloads'.
fn types_of(numbers: Vec<u32>) -> Vec<Type> {
    let kind = |number| Type::from_oid(number).unwrap_or(Type::UNKNOWN);
    numbers.into_iter().map(kind).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    use super::*;

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = (body.len() as u32 + 4).to_be_bytes();
        [&[tag][..], &length, body].concat()
    }

    fn error(severity: &str, code: &str) -> Vec<u8> {
        let fields = format!("S{severity}\0V{severity}\0C{code}\0Mbecause\0\0");
        message(b'E', fields.as_bytes())
    }

    fn ready() -> Vec<u8> {
        message(b'Z', b"I")
    }

    fn pair() -> (PostgresWire, DuplexStream) {
        let (client, server) = duplex(1 << 16);
        (PostgresWire::new(Box::new(client)), server)
    }

    fn statement() -> PostgresStatement {
        PostgresStatement {
            name: "s".into(),
            params: Vec::new(),
            columns: vec![Type::INT4],
        }
    }

    const NOTHING: [i32; 0] = [];

    /// What the server sends before it closes the connection.
    async fn rows_of(answer: &[u8]) -> Result<Vec<Vec<Value>>, PostgresFailure> {
        let (mut wire, mut server) = pair();
        server.write_all(answer).await.unwrap();
        server.shutdown().await.unwrap();
        wire.execute(&statement(), NOTHING).unwrap();
        wire.rows(&statement()).await
    }

    const ROW: &[u8] = &[0, 1, 0, 0, 0, 4, 0, 0, 0, 7];

    #[tokio::test]
    async fn notices_and_changed_settings_are_no_answers() {
        let answer = [
            message(b'N', b"SNOTICE\0Mhello\0\0"),
            message(b'2', b""),
            message(b'D', ROW),
            message(b'S', b"TimeZone\0UTC\0"),
            message(b'C', b"SELECT 1\0"),
            ready(),
        ];
        let rows = rows_of(&answer.concat()).await.unwrap();
        assert_eq!(rows, [[Value::Int(7)]]);
    }

    #[tokio::test]
    async fn an_answer_that_ends_in_a_message_is_a_lost_connection() {
        let whole = [message(b'D', ROW), ready()].concat();
        for length in 0..whole.len() {
            let lost = rows_of(&whole[..length]).await.unwrap_err();
            assert!(lost.ends_session, "{length}: {lost:?}");
        }
    }

    #[tokio::test]
    async fn last_words_are_reported_and_not_the_end_of_the_connection() {
        let lost = rows_of(&error("FATAL", "57P01")).await.unwrap_err();
        assert!(lost.ends_session && lost.text.contains("57P01"), "{lost:?}");
    }

    #[tokio::test]
    async fn after_an_error_the_session_goes_on() {
        let (mut wire, mut server) = pair();
        for code in ["40P01", "57014", "53200"] {
            let answer = [message(b'D', ROW), error("ERROR", code), ready()];
            server.write_all(&answer.concat()).await.unwrap();
            wire.execute(&statement(), NOTHING).unwrap();
            let failed = wire.rows(&statement()).await.unwrap_err();
            assert!(failed.is(code) && !failed.ends_session, "{failed:?}");
        }
        let answer = [message(b'C', b"UPDATE 3\0"), ready()];
        server.write_all(&answer.concat()).await.unwrap();
        wire.execute(&statement(), NOTHING).unwrap();
        assert_eq!(wire.changed().await, Ok(3));
    }

    #[tokio::test]
    async fn a_slow_server_may_send_byte_by_byte() {
        let (mut wire, mut server) = pair();
        let send = async {
            for byte in [message(b'D', ROW), ready()].concat() {
                server.write_all(&[byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let statement = statement();
        wire.execute(&statement, NOTHING).unwrap();
        let (rows, ()) = tokio::join!(wire.rows(&statement), send);
        assert_eq!(rows.unwrap(), [[Value::Int(7)]]);
    }

    #[tokio::test]
    async fn a_request_that_cannot_be_written_leaves_nothing_behind() {
        let (mut wire, mut server) = pair();
        wire.execute(&statement(), NOTHING).unwrap();
        assert!(wire.execute(&statement(), [1]).is_err());
        server.write_all(&ready()).await.unwrap();
        wire.query("SELECT 1").unwrap();
        wire.changed().await.unwrap();
        drop(wire);
        let mut sent = Vec::new();
        server.read_to_end(&mut sent).await.unwrap();
        let query = message(b'Q', b"SELECT 1\0");
        assert_eq!(sent, [query, message(b'X', b"")].concat());
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>, tag in prop::sample::select(&b"tTDCEZ"[..])) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let (mut wire, mut server) = pair();
            runtime.block_on(async {
                server.write_all(&message(tag, &bytes)).await.unwrap();
                server.write_all(&bytes).await.unwrap();
                server.shutdown().await.unwrap();
                let _ = wire.prepare(["SELECT 1"]).await;
            });
            let _ = runtime.block_on(rows_of(&message(tag, &bytes)));
        }
    }
}
