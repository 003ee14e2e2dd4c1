//! A session that runs a workload on an engine's connection.

use plimsoll_plan::resolved::Workload;

use super::Session;
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::Input;
use crate::workload::statement::SqlSession;
use crate::workload::work::{SessionWork, TpccProcedures, WorkKind};

/// A connection to a server, for a workload's statements or procedures.
#[allow(async_fn_in_trait)]
pub trait ServerConnection: SqlSession + TpccProcedures + Sized {
    /// Opens a connection with all that the work needs prepared, and keeps loaders out of the schema as long as it lives.
    async fn connect(conninfo: &str, schema: &str, work: &SessionWork) -> Result<Self, LoadError>;
    /// The server's number of the connection.
    #[cfg(test)]
    async fn connection_id(&mut self) -> u32;
}

/// Runs the inputs of one workload on a connection.
#[derive(Debug)]
pub struct WorkSession<S> {
    pub(super) connection: S,
    kind: WorkKind,
}

impl<S> WorkSession<S> {
    /// On a connection that was opened for this work.
    pub fn new(connection: S, work: SessionWork) -> Self {
        Self {
            connection,
            kind: work.kind,
        }
    }
}

impl<S: ServerConnection> WorkSession<S> {
    pub async fn open(
        conninfo: &str,
        schema: &str,
        workload: &Workload,
    ) -> Result<Self, LoadError> {
        let work = SessionWork::new(workload);
        let connection = S::connect(conninfo, schema, &work).await?;
        Ok(Self::new(connection, work))
    }
}

impl<S: SqlSession + TpccProcedures> Session for WorkSession<S> {
    async fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError> {
        self.kind.run(&mut self.connection, input).await
    }

    fn take_round_trips(&mut self) -> u64 {
        self.connection.take_round_trips()
    }
}
