//! What a database server reports about itself under load: counters, and what its sessions do.

use plimsoll_plan::resolved::ServerKind;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::lane::Endpoint;
use plimsoll_record::message::EventKind;

pub use super::readings::{Reading, SessionCount};
use super::{mariadb, postgres, sqlserver};
use crate::error::LoadError;

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
        match self {
            Self::Postgres(insight) => insight.sample_sessions().await,
            Self::Mariadb(insight) => insight.sample_sessions().await,
            Self::Sqlserver(insight) => insight.sample_sessions().await,
        }
    }

    /// The least time from an answer to the next sample: a server may show the same again before it.
    pub fn rest(&self) -> Nanos {
        match self {
            Self::Postgres(_) | Self::Sqlserver(_) => Nanos::ZERO,
            Self::Mariadb(_) => mariadb::MariadbInsight::REST,
        }
    }

    pub async fn read(&mut self) -> Result<Reading, LoadError> {
        match self {
            Self::Postgres(insight) => insight.read().await,
            Self::Mariadb(insight) => insight.read().await,
            Self::Sqlserver(insight) => insight.read().await,
        }
    }

    /// Of the data.
    pub async fn size(&mut self) -> Result<Bytes, LoadError> {
        match self {
            Self::Postgres(insight) => insight.size().await,
            Self::Mariadb(insight) => insight.size().await,
            Self::Sqlserver(insight) => insight.size().await,
        }
    }

    /// Where the wait states come from.
    pub fn source(&self) -> String {
        match self {
            Self::Postgres(insight) => insight.source(),
            Self::Mariadb(insight) => insight.source(),
            Self::Sqlserver(insight) => insight.source(),
        }
    }

    /// What this server does not report, and what would change that: each a sentence.
    pub fn lacks(&self) -> Vec<EventKind> {
        match self {
            Self::Postgres(insight) => insight.lacks(),
            Self::Mariadb(insight) => insight.lacks(),
            Self::Sqlserver(insight) => insight.lacks(),
        }
    }
}
