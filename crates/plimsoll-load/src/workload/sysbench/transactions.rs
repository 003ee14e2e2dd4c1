//! Carrying out an input on any connection. Results are received in full and left unread, as sysbench does.

use super::input::{Bracket, NewRow, Operation, SysbenchInput};
use super::sql::{Prepared, SysbenchStmt, insert_next};
use crate::session::{SessionError, TxnEnd};
use crate::workload::statement::{Param, SqlSession, TxnAccess, end};

/// Runs one attempt. On an error the database transaction is rolled back before it is returned.
pub async fn run(
    session: &mut impl SqlSession,
    prepared: &Prepared,
    input: &SysbenchInput,
) -> Result<TxnEnd, SessionError> {
    let access = match input.bracket {
        Bracket::Autocommit => {
            return operations(session, prepared, input).await;
        }
        Bracket::Reads => TxnAccess::Read,
        Bracket::Writes => TxnAccess::Write,
    };
    session.begin(access).await?;
    let done = operations(session, prepared, input).await;
    end(session, done).await
}

async fn operations(
    session: &mut impl SqlSession,
    prepared: &Prepared,
    input: &SysbenchInput,
) -> Result<TxnEnd, SessionError> {
    let int = |value: i32| Param::Int(i64::from(value));
    for operation in &input.operations {
        match operation {
            Operation::OfId { stmt, table, id } => {
                let place = prepared.place(*stmt, *table);
                session.execute(place, &[int(*id)]).await?;
            }
            Operation::Range {
                stmt,
                table,
                first,
                last,
            } => {
                let place = prepared.place(*stmt, *table);
                session.execute(place, &[int(*first), int(*last)]).await?;
            }
            Operation::SetText { table, c, id } => {
                let place = prepared.place(SysbenchStmt::TextUpdate, *table);
                session.execute(place, &[Param::Text(c), int(*id)]).await?;
            }
            Operation::Insert {
                table,
                id,
                row: NewRow { k, c, pad },
            } => {
                let place = prepared.place(SysbenchStmt::Insert, *table);
                let row = [int(*id), int(*k), Param::Text(c), Param::Text(pad)];
                session.execute(place, &row).await?;
            }
            Operation::InsertNext { table, row } => {
                let sql = insert_next(*table, row, session.table_syntax());
                session.execute_text(&sql).await?;
            }
        }
    }
    Ok(TxnEnd::Committed)
}
