//! What workloads and connections need of each other: a workload writes its statements once and runs them by number; an
//! engine translates what a statement does into its SQL, and has a connection that executes it.

use std::borrow::Cow;

use crate::session::{SessionError, TxnEnd};

/// A parameter of a prepared statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Param<'a> {
    Null,
    Int(i64),
    /// An amount in cents.
    Cents(i64),
    Text(&'a str),
}

/// A column of a result row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Int(i64),
    Cents(i64),
    /// Ten-thousandths.
    Rate(i64),
    Text(String),
}

/// Rows of a result, in order.
pub type Rows = Vec<Vec<Value>>;

/// A statement in SQL that PostgreSQL and SQLite (3.35 and later) both accept.
///
/// Parameters are `$1`, `$2`, …; `{now}` stands for the engine's current time. Amounts come back as [`Value::Cents`] or,
/// where an engine stores cents as integers, [`Value::Int`]; rates likewise as [`Value::Rate`] or [`Value::Int`]
/// ten-thousandths; times as [`Value::Int`] microseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    pub sql: Cow<'static, str>,
    /// The parameter that is an amount of money, counted from 1.
    pub amount: Option<usize>,
    /// The parameter that is compared with a column of at most so many characters, in an index.
    pub name: Option<ComparedName>,
    pub kind: StatementKind,
}

/// A parameter, counted from 1, and the length of the `varchar` column that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedName {
    pub param: usize,
    pub length: u32,
}

/// What engines do in different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementKind {
    /// What [`Statement::sql`] is.
    Plain,
    /// A SELECT of what is committed now, also where the transaction has a snapshot.
    Latest,
    /// Deletes the first row of `SELECT column FROM table WHERE filter ORDER BY column`, and returns its column. The row is
    /// no other session's from then on.
    TakeFirst,
    /// An INSERT that gives the id, which the database would otherwise find.
    GivesId,
}

impl Statement {
    pub fn plain(sql: impl Into<Cow<'static, str>>) -> Self {
        Self {
            sql: sql.into(),
            amount: None,
            name: None,
            kind: StatementKind::Plain,
        }
    }

    pub fn is_select(&self) -> bool {
        self.kind != StatementKind::TakeFirst && self.sql.starts_with("SELECT ")
    }

    /// The text with single spaces, for servers that keep plans by it.
    pub fn compact(&self) -> String {
        self.sql
            .split_ascii_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The table of an INSERT.
    pub fn inserts_into(&self) -> Option<&str> {
        let rest = self.sql.strip_prefix("INSERT INTO ")?;
        rest.split([' ', '(']).next()
    }
}

/// The parts of a [`StatementKind::TakeFirst`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TakenRow<'a> {
    pub column: &'a str,
    pub table: &'a str,
    pub filter: &'a str,
}

impl<'a> TakenRow<'a> {
    /// Those of `SELECT column FROM table WHERE filter ORDER BY column`.
    pub fn parse(select: &'a str) -> Option<Self> {
        let (column, rest) = select.strip_prefix("SELECT ")?.split_once(" FROM ")?;
        let (table, rest) = rest.split_once(" WHERE ")?;
        let (filter, order) = rest.split_once(" ORDER BY ")?;
        (order == column).then_some(Self {
            column,
            table,
            filter,
        })
    }

    /// As PostgreSQL and SQLite do it.
    pub fn delete_returning(&self) -> String {
        let Self {
            column,
            table,
            filter,
        } = self;
        format!(
            "DELETE FROM {table} WHERE {filter} AND {column} = \
             (SELECT {column} FROM {table} WHERE {filter} ORDER BY {column} LIMIT 1) RETURNING {column}"
        )
    }
}

/// `UPDATE … RETURNING …` as two statements, for servers that have no such thing: an UPDATE, which locks the row, and a
/// SELECT of what it has left there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitUpdate {
    pub update: String,
    pub select: String,
}

impl SplitUpdate {
    /// `None` for any other statement.
    pub fn parse(sql: &str) -> Option<Self> {
        let (update, returning) = sql.strip_prefix("UPDATE ")?.split_once(" RETURNING ")?;
        let table = update.split(' ').next()?;
        let (_, filter) = update.rsplit_once(" WHERE ")?;
        Some(Self {
            update: format!("UPDATE {update}"),
            select: format!("SELECT {returning} FROM {table} WHERE {filter}"),
        })
    }
}

/// The text with each `$n` replaced by what `write` makes of n, counted from 1.
pub fn replace_params(sql: &str, mut write: impl FnMut(usize) -> String) -> String {
    let mut parts = sql.split('$');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let digits = part.find(|c: char| !c.is_ascii_digit());
        let (digits, rest) = part.split_at(digits.unwrap_or(part.len()));
        match digits.parse() {
            Ok(number) => text + &write(number) + rest,
            Err(_) => text + "$" + part,
        }
    })
}

/// What databases write differently in the tables that a workload makes.
pub struct TableSyntax {
    /// Type of ids that the database finds.
    pub id: &'static str,
    /// Behind the columns of a table.
    pub table_options: &'static str,
    /// The type that a sum of integers is read as.
    pub integer: &'static str,
    /// The function that counts a text's characters.
    pub length: &'static str,
    /// What an INSERT has in the place of an id that the database finds; `None`: it leaves the column out.
    pub next_id: Option<&'static str>,
}

/// What a transaction is going to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxnAccess {
    Write,
    /// Each statement may see what was committed before it.
    Read,
    /// All statements see the same state of the data.
    ReadSnapshot,
}

/// A connection that has a workload's statements prepared, by their numbers.
#[allow(async_fn_in_trait)]
pub trait SqlSession {
    /// Opens a database transaction; an engine with a single writer queues for it now.
    async fn begin(&mut self, access: TxnAccess) -> Result<(), SessionError>;
    async fn commit(&mut self) -> Result<(), SessionError>;
    async fn rollback(&mut self) -> Result<(), SessionError>;
    async fn query(
        &mut self,
        statement: impl Into<usize>,
        params: &[Param<'_>],
    ) -> Result<Rows, SessionError>;
    /// A result is received in full and left unread.
    async fn execute(
        &mut self,
        statement: impl Into<usize>,
        params: &[Param<'_>],
    ) -> Result<(), SessionError>;
    /// A statement that is not prepared.
    async fn execute_text(&mut self, sql: &str) -> Result<(), SessionError>;
    fn table_syntax(&self) -> &'static TableSyntax;
    /// Requests sent to the system since the last call (for an embedded engine: statements executed).
    fn take_round_trips(&mut self) -> u64;
}

/// Ends the database transaction of an attempt, as its statements ended.
pub async fn end(
    session: &mut impl SqlSession,
    done: Result<TxnEnd, SessionError>,
) -> Result<TxnEnd, SessionError> {
    let ended = match done {
        Ok(TxnEnd::RolledBack) => return session.rollback().await.map(|()| TxnEnd::RolledBack),
        Ok(TxnEnd::Committed) => session.commit().await.map(|()| TxnEnd::Committed),
        Err(error) => Err(error),
    };
    match ended {
        Err(SessionError::Lost(_)) | Ok(_) => ended,
        // An attempt that could not be rolled back has left an unusable connection.
        Err(error) => match session.rollback().await {
            Err(lost @ SessionError::Lost(_)) => Err(lost),
            _ => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_replaced_by_their_numbers() {
        let text = replace_params("a = $1 AND b = $12", |n| format!("@P{n}"));
        assert_eq!(text, "a = @P1 AND b = @P12");
        assert_eq!(
            replace_params("price = '$'", |n| n.to_string()),
            "price = '$'"
        );
    }

    #[test]
    fn an_update_that_returns_is_two_statements() {
        let split = SplitUpdate::parse("UPDATE t SET a = $2 WHERE id = $1 RETURNING a, b").unwrap();
        assert_eq!(split.update, "UPDATE t SET a = $2 WHERE id = $1");
        assert_eq!(split.select, "SELECT a, b FROM t WHERE id = $1");
        assert_eq!(SplitUpdate::parse("UPDATE t SET a = 1 WHERE id = $1"), None);
    }

    #[test]
    fn the_first_row_is_taken_by_its_own_column_only() {
        let taken = TakenRow::parse("SELECT o FROM t WHERE w = $1 ORDER BY o").unwrap();
        assert_eq!(
            taken.delete_returning(),
            "DELETE FROM t WHERE w = $1 AND o = (SELECT o FROM t WHERE w = $1 ORDER BY o LIMIT 1) RETURNING o"
        );
        assert_eq!(
            TakenRow::parse("SELECT o FROM t WHERE w = $1 ORDER BY p"),
            None
        );
    }
}
