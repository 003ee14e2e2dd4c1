//! What a database server reports about itself under load: counters, and what its sessions do.

use plimsoll_plan::resolved::ServerKind;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::lane::Endpoint;
use plimsoll_record::message::EventKind;

pub use super::readings::{Reading, SessionCount};
use super::{mariadb, postgres, sqlserver};
use crate::error::LoadError;

/// The call on whichever server it is.
macro_rules! on_any {
    ($insight:expr, $own:ident => $call:expr) => {
        match $insight {
            Insight::Postgres($own) => $call,
            Insight::Mariadb($own) => $call,
            Insight::Sqlserver($own) => $call,
        }
    };
}

/// A connection that asks a server about itself.
pub enum Insight {
    Postgres(Box<postgres::PostgresInsight>),
    Mariadb(Box<mariadb::MariadbInsight>),
    Sqlserver(Box<sqlserver::SqlserverInsight>),
}

impl Insight {
    /// Whether what is at the endpoint can be asked at all.
    pub fn exists_for(endpoint: &Endpoint) -> bool {
        match endpoint {
            Endpoint::Server { .. } => true,
            Endpoint::Mock(_) | Endpoint::Sqlite { .. } => false,
        }
    }

    /// Errors: the server cannot be reached, refuses, or is too old to be asked.
    pub async fn connect(endpoint: &Endpoint) -> Result<Self, LoadError> {
        match endpoint {
            Endpoint::Server {
                engine: ServerKind::Postgres,
                conninfo,
                ..
            } => Ok(Self::Postgres(Box::new(
                postgres::PostgresInsight::connect(conninfo).await?,
            ))),
            Endpoint::Server {
                engine: ServerKind::Mariadb | ServerKind::Mysql,
                conninfo,
                schema,
            } => Ok(Self::Mariadb(Box::new(
                mariadb::MariadbInsight::connect(conninfo, schema).await?,
            ))),
            Endpoint::Server {
                engine: ServerKind::Sqlserver,
                conninfo,
                schema,
            } => Ok(Self::Sqlserver(Box::new(
                sqlserver::SqlserverInsight::connect(conninfo, schema).await?,
            ))),
            Endpoint::Mock(_) | Endpoint::Sqlite { .. } => Err(LoadError::other(
                "the system",
                "reports nothing about itself",
            )),
        }
    }

    /// What plimsoll's own sessions do at this moment; the one that asks is left out.
    pub async fn sample_sessions(&mut self) -> Result<Vec<SessionCount>, LoadError> {
        on_any!(self, own => own.sample_sessions().await)
    }

    /// The least time from an answer to the next sample: a server may show the same again before it.
    pub fn rest(&self) -> Nanos {
        on_any!(self, own => own.rest())
    }

    pub async fn read(&mut self) -> Result<Reading, LoadError> {
        on_any!(self, own => own.read().await)
    }

    /// Of the data.
    pub async fn size(&mut self) -> Result<Bytes, LoadError> {
        on_any!(self, own => own.size().await)
    }

    /// Where the wait states come from.
    pub fn source(&self) -> String {
        on_any!(self, own => own.source())
    }

    /// What this server does not report, and what would change that: each a sentence.
    pub fn lacks(&self) -> Vec<EventKind> {
        on_any!(self, own => own.lacks())
    }
}
