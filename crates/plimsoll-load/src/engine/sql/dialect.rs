//! What servers write differently.

use super::client::{ServerClient, SqlClient};
use super::version::OldestServer;
use crate::error::LoadError;
use crate::workload::statement::TableSyntax;

/// What a connection is about to do with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Load,
    /// Measuring or checking: needs the tables to stay.
    Keep,
}

/// A server's SQL as data. In texts, `{schema}` stands for the schema's name as a literal, `{name}` for it as an
/// identifier.
pub(crate) struct Dialect {
    pub table_syntax: &'static TableSyntax,
    pub connect: fn(&str) -> Result<Box<dyn ServerClient>, LoadError>,
    /// Reads the URL, and connects to nothing.
    pub check_url: fn(&str) -> Result<(), LoadError>,
    /// Takes the lock of the schema if it is free.
    pub try_lock: fn(&mut dyn SqlClient, &str, Use) -> Result<bool, LoadError>,
    pub unlock: &'static str,
    /// The mark around an identifier.
    pub quote: char,
    /// Whether a backslash begins an escape in a literal.
    pub escapes: bool,
    pub schema_exists: &'static str,
    /// Where a server can, with plimsoll's mark on it.
    pub create_schema: &'static str,
    pub drop_schema: &'static str,
    /// A row if the schema has that mark. Only where dropping refuses a schema that holds anything.
    pub made_schema: Option<&'static str>,
    pub use_schema: &'static str,
    /// All that is in the schema and could be in a table's way: its name, whether it is a plain table (1 or 0), its owner,
    /// whether the connected role is the owner or a member of it (1 or 0). Servers whose tables have no owner give the
    /// same one for all.
    pub relations: &'static str,
    /// Table, name and type of each column in the schema, in their order.
    pub columns: &'static str,
    /// Procedures of the schema whose names begin as plimsoll's; columns as of `relations`.
    pub routines: &'static str,
    /// Tables of the schema, and what of others would be lost with them or keeps them from being dropped.
    pub dependents: &'static [&'static str],
    pub catalog_types: CatalogTypes,
    /// A statement that keeps everybody else from these tables, until the transaction ends or they are unlocked.
    pub lock_tables: fn(&[&str]) -> String,
    pub tables: &'static str,
    /// Names of the schema's tables, and the bytes that each takes with its indexes.
    pub table_sizes: &'static str,
    /// Whether plimsoll's tables may stand beside the user's.
    pub shares_schemas: bool,
    /// Whether tables can be made in a transaction.
    pub transactional_tables: bool,
    pub boolean: Boolean,
    pub timestamp: &'static str,
    pub now: &'static str,
    /// Microseconds since 1970.
    pub now_micros: &'static str,
    /// `{id}` is the connection whose work is to end.
    pub cancel: &'static str,
    /// The server's number of the connection; `None` where it announces none at the login.
    pub connection_id: Option<&'static str>,
    /// Limits of connections for this user, by several queries: name, how many may be there, how many are.
    pub connection_limits: &'static [&'static str],
    /// Pooler between the client and the server; `None` if none was recognized.
    pub pooler_name: fn(&str, &mut dyn SqlClient) -> Option<&'static str>,
    /// Of `{table}`.
    pub analyze: &'static str,
    /// Lets inserts go on behind the rows that were loaded into `{table}`, which has `{rows}`.
    pub continue_ids: Option<&'static str>,
    /// For a connection that verifies conditions.
    pub check_setup: &'static str,
    /// What PostgreSQL's SQL has and this one writes in another way.
    pub words: &'static [(&'static str, &'static str)],
    /// Begins a transaction that reads one snapshot.
    pub snapshot: &'static str,
    /// Product and version, as [`OldestServer`] has them.
    pub version: &'static str,
    pub oldest: OldestServer,
    /// Version and size of the data.
    pub about: &'static str,
    /// Names and values, by several queries. What a server does not show beyond the first is left out.
    pub settings: &'static [&'static str],
    pub scripts: Scripts,
}

/// What the server's catalog calls the types of markers, without their lengths.
pub(crate) struct CatalogTypes {
    pub integer: &'static str,
    pub text: &'static str,
    pub boolean: &'static str,
    pub timestamp: &'static str,
}

/// How a truth value is written.
pub(crate) struct Boolean {
    pub kind: &'static str,
    pub no: &'static str,
    pub yes: &'static str,
}

pub(crate) const STANDARD_BOOLEAN: Boolean = Boolean {
    kind: "boolean",
    no: "false",
    yes: "true",
};

/// TPC-C's tables and transactions.
pub(crate) struct Scripts {
    /// Whether tables are clustered by their primary keys, in whose order the loaders bring the rows; elsewhere keys are
    /// among the indexes.
    pub clustered: bool,
    pub table_options: &'static str,
    pub indexes: &'static str,
    /// Each is sent as a whole; they are separated by lines of this text.
    pub procedures: &'static str,
    pub separator: &'static str,
    /// How a new schema for them is made.
    pub schema_options: &'static str,
}

impl Dialect {
    pub fn flag(&self, is: bool) -> &'static str {
        if is {
            self.boolean.yes
        } else {
            self.boolean.no
        }
    }

    /// A name as SQL quotes it.
    pub fn identifier(&self, name: &str) -> String {
        let quote = self.quote;
        let doubled = name.replace(quote, &format!("{quote}{quote}"));
        format!("{quote}{doubled}{quote}")
    }

    pub fn literal(&self, text: &str) -> String {
        let doubled = text.replace('\'', "''");
        if self.escapes {
            format!("'{}'", doubled.replace('\\', "\\\\"))
        } else {
            format!("'{doubled}'")
        }
    }

    /// A text of this dialect for a schema.
    pub fn of_schema(&self, text: &str, schema: &str) -> String {
        text.replace("{schema}", &self.literal(schema))
            .replace("{name}", &self.identifier(schema))
    }

    pub fn analyze(&self, table: &str) -> String {
        self.analyze.replace("{table}", table)
    }

    /// SQL that is written for PostgreSQL.
    pub fn translated(&self, sql: &str) -> String {
        self.words
            .iter()
            .fold(sql.to_owned(), |sql, (from, to)| sql.replace(from, to))
    }
}

impl Scripts {
    /// Statements that make the tables.
    pub(super) fn tables(&self, timestamp: &str) -> Vec<String> {
        let lines = include_str!("sql/schema.sql").lines();
        let lines: Vec<&str> = lines
            .filter(|line| self.clustered || !line.contains("PRIMARY KEY"))
            .collect();
        let text = lines.join("\n").replace("{timestamp}", timestamp);
        statements(&text.replace("{options}", self.table_options))
    }

    pub fn procedures(&self) -> impl Iterator<Item = String> {
        self.procedures.split(self.separator).map(str::to_owned)
    }

    /// The statements with which making them begins.
    pub fn drop_procedures(&self) -> Vec<String> {
        self.procedures
            .split(self.separator)
            .filter_map(|text| statements(text).into_iter().next())
            .filter(|first| first.starts_with("DROP "))
            .collect()
    }
}

/// The statements of a file, without its comments.
pub(super) fn statements(text: &str) -> Vec<String> {
    let code: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("--"))
        .collect();
    let code = code.join("\n");
    let statements = code.split(';').map(str::trim);
    statements
        .filter(|sql| !sql.is_empty())
        .map(str::to_owned)
        .collect()
}
