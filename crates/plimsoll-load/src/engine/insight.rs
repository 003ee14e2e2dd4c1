//! What a database server reports about itself under load: counters, and what its sessions do.

use plimsoll_plan::resolved::ServerKind;
use plimsoll_plan::units::{Bytes, Nanos};
use plimsoll_record::lane::Endpoint;
use plimsoll_record::message::EventKind;

pub use super::readings::{Reading, ServerInsight, SessionCount};
use super::servers::for_each_server;
use crate::error::LoadError;

macro_rules! insight {
    ($($Kind:ident in $folder:ident,)+) => {
        /// A connection that asks whichever server it is; see [`ServerInsight`].
        pub enum Insight {
            $($Kind(Box<super::$folder::Insight>),)+
        }

        impl Insight {
            async fn of_server(
                engine: ServerKind,
                conninfo: &str,
                schema: &str,
            ) -> Result<Self, LoadError> {
                Ok(match engine {
                    $(ServerKind::$Kind => Self::$Kind(Box::new(
                        <super::$folder::Insight as ServerInsight>::connect(conninfo, schema).await?,
                    )),)+
                })
            }

            pub async fn sample_sessions(&mut self) -> Result<Vec<SessionCount>, LoadError> {
                match self {
                    $(Self::$Kind(insight) => insight.sample_sessions().await,)+
                }
            }

            pub async fn read(&mut self) -> Result<Reading, LoadError> {
                match self {
                    $(Self::$Kind(insight) => insight.read().await,)+
                }
            }

            pub async fn size(&mut self) -> Result<Bytes, LoadError> {
                match self {
                    $(Self::$Kind(insight) => insight.size().await,)+
                }
            }

            pub fn rest(&self) -> Nanos {
                match self {
                    $(Self::$Kind(insight) => insight.rest(),)+
                }
            }

            pub fn source(&self) -> String {
                match self {
                    $(Self::$Kind(insight) => insight.source(),)+
                }
            }

            pub fn lacks(&self) -> Vec<EventKind> {
                match self {
                    $(Self::$Kind(insight) => insight.lacks(),)+
                }
            }
        }
    };
}
for_each_server!(insight);

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
                engine,
                conninfo,
                schema,
            } => Self::of_server(*engine, conninfo, schema).await,
            Endpoint::Mock(_) | Endpoint::Sqlite { .. } => Err(LoadError::other(
                "the system",
                "reports nothing about itself",
            )),
        }
    }
}
