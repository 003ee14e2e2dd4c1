//! The engines as a closed set: how a lane gets its sessions.

use std::path::Path;

use plimsoll_plan::resolved::{ServerKind, Workload};
use plimsoll_record::lane::{Endpoint, GeneratorShare, LaneSpec};

use super::mock::MockSession;
use super::servers::for_each_server;
use super::sqlite::{SimulatedSession, SqliteSession, WriterQueue};
#[cfg(test)]
use super::work_session::ServerConnection;
use super::work_session::WorkSession;
use crate::clock::LaneClock;
use crate::engine::Session;
use crate::error::LoadError;
use crate::session::{SessionError, TxnEnd};
use crate::workload::Input;
#[cfg(test)]
use crate::workload::statement::SqlSession;

macro_rules! server_session {
    ($($Kind:ident in $folder:ident,)+) => {
        /// A session on any server.
        pub enum ServerSession {
            $($Kind(Box<WorkSession<super::$folder::Session>>),)+
        }

        impl ServerSession {
            async fn open(
                engine: ServerKind,
                conninfo: &str,
                schema: &str,
                workload: &Workload,
            ) -> Result<Self, LoadError> {
                Ok(match engine {
                    $(ServerKind::$Kind => Self::$Kind(Box::new(
                        WorkSession::open(conninfo, schema, workload).await?,
                    )),)+
                })
            }

            /// The server's number of the connection.
            #[cfg(test)]
            pub async fn connection_id(&mut self) -> u32 {
                match self {
                    $(Self::$Kind(session) => session.connection.connection_id().await,)+
                }
            }

            /// A setting of the session.
            #[cfg(test)]
            pub async fn set(&mut self, sql: &str) {
                let set = match self {
                    $(Self::$Kind(session) => session.connection.execute_text(sql).await,)+
                };
                set.expect("a setting of the session");
            }
        }

        impl Session for ServerSession {
            async fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError> {
                match self {
                    $(Self::$Kind(session) => session.run(input).await,)+
                }
            }

            fn take_round_trips(&mut self) -> u64 {
                match self {
                    $(Self::$Kind(session) => session.take_round_trips(),)+
                }
            }
        }
    };
}
for_each_server!(server_session);

/// A session of any engine.
pub enum AnySession {
    Mock(Box<MockSession>),
    Sqlite(Box<WorkSession<SqliteSession>>),
    SimulatedSqlite(Box<SimulatedSession>),
    Server(ServerSession),
}

impl Session for AnySession {
    async fn run(&mut self, input: &Input) -> Result<TxnEnd, SessionError> {
        match self {
            Self::Mock(session) => session.run(input).await,
            Self::Sqlite(session) => session.run(input).await,
            Self::SimulatedSqlite(session) => session.run(input).await,
            Self::Server(session) => session.run(input).await,
        }
    }

    fn take_round_trips(&mut self) -> u64 {
        match self {
            Self::Mock(session) => session.take_round_trips(),
            Self::Sqlite(session) => session.take_round_trips(),
            Self::SimulatedSqlite(session) => session.take_round_trips(),
            Self::Server(session) => session.take_round_trips(),
        }
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
                let session = ServerSession::open(*engine, conninfo, schema, &self.workload);
                Ok(AnySession::Server(session.await?))
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
