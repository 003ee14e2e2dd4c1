//! The tables of a workload on a server, and how they are reached.

use std::fmt;

use plimsoll_plan::resolved::{Credential, ServerKind};
use plimsoll_plan::units::Bytes;

use crate::engine::servers::engine;
use crate::engine::sql::error::not_loaded;
use crate::engine::sql::{Dialect, ServerClient, guard};

use crate::error::LoadError;

/// The schema on a server of plimsoll's own.
pub const MANAGED_SCHEMA: &str = "plimsoll";

/// What becomes of a finished load of another population.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfOther {
    /// On a server of plimsoll's own.
    Replace,
    /// On a server of the user's, who may want to keep it.
    Refuse,
}

/// Version, settings and size of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFacts {
    /// Number and build, as the server reports it.
    pub version: String,
    /// `name`, `value with unit`, sorted by name: all that are not at their default, and those that decide whether a
    /// commit is durable, whatever they are.
    pub settings: Vec<(String, String)>,
    /// The data's files as the server counts them.
    pub database_size: Bytes,
}

/// How an existing server is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerRoute {
    /// Why connections are not encrypted, where TLS was tried.
    pub without_tls: Option<String>,
    /// The pooler before it, which keeps a connection to the server for each client.
    pub pooler: Option<String>,
}

/// The tables of a schema that plimsoll's loads made, their markers among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CreatedTables {
    pub names: Vec<String>,
    /// With their indexes, as the server counts them; `None` where it does not show that.
    pub size: Option<Bytes>,
    pub schema: LeftSchema,
}

/// What became of the schema of removed tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum LeftSchema {
    /// It holds something else, or nothing was removed from it.
    #[default]
    Used,
    /// Nothing proves that plimsoll made it.
    Empty {
        /// The statement that removes it.
        drop: String,
    },
    /// plimsoll had made it.
    Removed,
}

impl fmt::Display for CreatedTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = match self.names.len() {
            1 => "table",
            _ => "tables",
        };
        write!(f, "{} {tables}", self.names.len())?;
        match self.size {
            Some(size) => write!(f, " ({size})"),
            None => Ok(()),
        }
    }
}

/// What to do with a database's template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateTask {
    /// Make it of the database.
    Keep,
    /// Make the database of it.
    Restore,
}

/// The workload's tables on a server.
#[derive(Clone)]
pub struct Target {
    pub engine: ServerKind,
    /// May hold a password.
    pub conninfo: Credential,
    pub schema: String,
    /// Whether tables there that plimsoll did not make may be changed.
    pub changes_tables: bool,
}

impl Target {
    pub(crate) fn dialect(&self) -> &'static Dialect {
        engine(self.engine).dialect
    }

    pub(crate) fn connect(&self) -> Result<Box<dyn ServerClient>, LoadError> {
        (self.dialect().connect)(&self.conninfo)
    }

    /// A connection to the schema, which holds this data.
    pub(crate) fn open(&self, data: &str) -> Result<Box<dyn ServerClient>, LoadError> {
        let mut client = self.connect()?;
        if !self.exists(client.as_mut())? {
            return Err(self.not_loaded(data, "there is no such schema"));
        }
        let sql = self
            .dialect()
            .of_schema(self.dialect().use_schema, &self.schema);
        client.execute(&guard::what(&self.schema), &sql)?;
        Ok(client)
    }

    /// Whether the schema is there.
    pub(crate) fn exists(&self, client: &mut dyn ServerClient) -> Result<bool, LoadError> {
        let sql = self
            .dialect()
            .of_schema(self.dialect().schema_exists, &self.schema);
        let rows = client.rows(&guard::what(&self.schema), &sql)?;
        Ok(!rows.is_empty())
    }

    /// Names of all that is in the schema.
    pub(crate) fn relations(
        &self,
        client: &mut dyn ServerClient,
    ) -> Result<Vec<String>, LoadError> {
        let sql = self
            .dialect()
            .of_schema(self.dialect().relations, &self.schema);
        let rows = client.rows("inspecting the schema", &sql)?;
        let names = rows.iter().filter_map(|row| row.text(0));
        Ok(names.map(str::to_owned).collect())
    }

    pub(crate) fn not_loaded(&self, data: &str, searched: &str) -> LoadError {
        not_loaded(data, &self.schema, searched)
    }
}
