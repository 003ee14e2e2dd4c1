//! Carrying out an input on any engine.

use super::input::{Bracket, NewRow, Operation, SysbenchInput};
use super::sql::SysbenchStmt;
use crate::session::{SessionError, TxnEnd};
use crate::workload::statement::Param;

/// What an engine's session gives. Results are received in full and left unread, as sysbench does.
#[allow(async_fn_in_trait)]
pub trait SysbenchConnection {
    /// `writes` lets an engine with a single writer queue for it now.
    async fn begin(&mut self, writes: bool) -> Result<(), SessionError>;
    async fn commit(&mut self) -> Result<(), SessionError>;
    async fn rollback(&mut self) -> Result<(), SessionError>;
    async fn execute(
        &mut self,
        stmt: SysbenchStmt,
        table: u32,
        params: &[Param<'_>],
    ) -> Result<(), SessionError>;
    /// See [`super::sql::SysbenchDialect::insert_next`].
    async fn insert_next(&mut self, table: u32, row: &NewRow) -> Result<(), SessionError>;
}

/// Runs one attempt. On an error the database transaction is rolled back before it is returned.
pub async fn run(
    session: &mut impl SysbenchConnection,
    input: &SysbenchInput,
) -> Result<TxnEnd, SessionError> {
    if input.bracket == Bracket::Autocommit {
        return operations(session, input).await.map(|()| TxnEnd::Committed);
    }
    session.begin(input.bracket == Bracket::Writes).await?;
    let done = match operations(session, input).await {
        Ok(()) => session.commit().await,
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => Ok(TxnEnd::Committed),
        Err(lost @ SessionError::Lost(_)) => Err(lost),
        // An attempt that could not be rolled back has left an unusable connection.
        Err(error) => match session.rollback().await {
            Err(lost @ SessionError::Lost(_)) => Err(lost),
            _ => Err(error),
        },
    }
}

async fn operations(
    session: &mut impl SysbenchConnection,
    input: &SysbenchInput,
) -> Result<(), SessionError> {
    let int = |value: i32| Param::Int(i64::from(value));
    for operation in &input.operations {
        match operation {
            Operation::OfId { stmt, table, id } => {
                session.execute(*stmt, *table, &[int(*id)]).await?
            }
            Operation::Range {
                stmt,
                table,
                first,
                last,
            } => {
                session
                    .execute(*stmt, *table, &[int(*first), int(*last)])
                    .await?;
            }
            Operation::SetText { table, c, id } => {
                session
                    .execute(
                        SysbenchStmt::TextUpdate,
                        *table,
                        &[Param::Text(c), int(*id)],
                    )
                    .await?;
            }
            Operation::Insert {
                table,
                id,
                row: NewRow { k, c, pad },
            } => {
                let row = [int(*id), int(*k), Param::Text(c), Param::Text(pad)];
                session.execute(SysbenchStmt::Insert, *table, &row).await?;
            }
            Operation::InsertNext { table, row } => session.insert_next(*table, row).await?,
        }
    }
    Ok(())
}
