//! The engines as a closed set: how a lane gets its sessions.

use std::path::Path;

use plimsoll_plan::resolved::{ServerKind, Workload};
use plimsoll_record::lane::{Endpoint, GeneratorShare, LaneSpec};

use super::mariadb::MariadbSession;
use super::mock::MockSession;
use super::postgres::PostgresSession;
use super::sqlite::{SimulatedSession, SqliteSession, WriterQueue};
use super::sqlserver::SqlserverSession;
use super::work_session::WorkSession;
use crate::clock::LaneClock;
use crate::engine::Session;
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::Input;

/// The call on whichever session it is.
macro_rules! on_any {
    ($any:expr, $session:ident => $call:expr) => {
        match $any {
            AnySession::Mock($session) => $call,
            AnySession::Sqlite($session) => $call,
            AnySession::SimulatedSqlite($session) => $call,
            AnySession::Postgres($session) => $call,
            AnySession::Mariadb($session) => $call,
            AnySession::Sqlserver($session) => $call,
        }
    };
}

/// A session of any engine.
pub enum AnySession {
    Mock(Box<MockSession>),
    Sqlite(Box<WorkSession<SqliteSession>>),
    SimulatedSqlite(Box<SimulatedSession>),
    Postgres(Box<WorkSession<PostgresSession>>),
    Mariadb(Box<WorkSession<MariadbSession>>),
    Sqlserver(Box<WorkSession<SqlserverSession>>),
}

impl Session for AnySession {
    async fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError> {
        on_any!(self, session => session.run(input).await)
    }

    fn take_round_trips(&mut self) -> u64 {
        on_any!(self, session => session.take_round_trips())
    }
}

/// Opens sessions on a lane's endpoint.
pub struct Opener {
    endpoint: Endpoint,
    workload: Workload,
    clock: LaneClock,
    seed: u64,
    share: GeneratorShare,
    /// All users of the lane queue for SQLite's one writer here.
    writers: WriterQueue,
}

impl Opener {
    pub fn new(spec: &LaneSpec, clock: LaneClock) -> Self {
        Self {
            endpoint: spec.endpoint.clone(),
            workload: spec.workload.clone(),
            clock,
            seed: spec.seed.load,
            share: spec.share,
            writers: WriterQueue::default(),
        }
    }

    /// For this generator's connection of this number.
    pub async fn open(&self, own: u32) -> Result<AnySession, LoadError> {
        match &self.endpoint {
            Endpoint::Mock(script) => {
                let user = self.share.number(own);
                let session = MockSession::open(script, self.clock.clone(), self.seed, user)?;
                Ok(AnySession::Mock(Box::new(session)))
            }
            Endpoint::Sqlite { path, pragmas, vfs } => {
                let (path, workload) = (Path::new(path), &self.workload);
                let writers = self.writers.clone();
                Ok(match vfs {
                    None => AnySession::Sqlite(Box::new(SqliteSession::open(
                        path, pragmas, None, writers, workload,
                    )?)),
                    Some(vfs) => AnySession::SimulatedSqlite(Box::new(
                        SimulatedSession::open(path, pragmas, vfs, writers, workload).await?,
                    )),
                })
            }
            Endpoint::Server {
                engine,
                conninfo,
                schema,
            } => {
                let workload = &self.workload;
                Ok(match engine {
                    ServerKind::Postgres => {
                        let session = WorkSession::open(conninfo, schema, workload).await?;
                        AnySession::Postgres(Box::new(session))
                    }
                    ServerKind::Mariadb | ServerKind::Mysql => {
                        let session = WorkSession::open(conninfo, schema, workload).await?;
                        AnySession::Mariadb(Box::new(session))
                    }
                    ServerKind::Sqlserver => {
                        let session = WorkSession::open(conninfo, schema, workload).await?;
                        AnySession::Sqlserver(Box::new(session))
                    }
                })
            }
        }
    }

    /// How many connections share a thread. A blocking engine has a thread for each; the others share one among so many that
    /// a wake-up serves several of them, and need a second only when one core could become the limit.
    pub fn connections_per_worker(&self) -> u32 {
        match self.endpoint {
            Endpoint::Sqlite { .. } => 1,
            Endpoint::Mock(_) | Endpoint::Server { .. } => 16,
        }
    }
}
